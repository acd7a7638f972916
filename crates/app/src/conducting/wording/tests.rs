use super::*;

fn id(text: &str) -> TicketId {
    TicketId::parse(text).expect("an id")
}

#[test]
fn long_lists_and_texts_are_shortened_visibly() {
    let paths: Vec<String> = (0..10).map(|number| format!("f{number}")).collect();
    assert_eq!(list(&paths), "f0, f1, f2, f3, f4, f5, f6, f7 and 2 more");
    assert_eq!(list(&paths[..8]), "f0, f1, f2, f3, f4, f5, f6, f7");
    assert_eq!(short(&"ä".repeat(401)), format!("{}…", "ä".repeat(400)));
    assert_eq!(end_of(&"ä".repeat(1201)), format!("…{}", "ä".repeat(1200)));
    assert_eq!(end_of("whole"), "whole");
}

#[test]
fn sentences() {
    let run = |exit_code, timed_out| CheckRun {
        command: "make test".to_owned(),
        exit_code,
        timed_out,
        output: "2 failed".to_owned(),
        seconds: 3,
    };
    let all = [
        need(&Need::Cap { account: Account::Ticket { ticket: id("T1") }, unit: CapUnit::Tokens }),
        need(&Need::Step { step: StepKind::Integrate }),
        fault(&Fault::Stuck { signal: Signal::SameAction { tool: "read_file".to_owned(), times: 4 } }),
        fault(&Fault::RedBaseline { run: run(Some(2), false) }),
        evidence(&Evidence::RedCheck { attempt: 1, run: run(None, true) }),
        evidence(&Evidence::Partial { attempt: 1, open: Vec::new() }),
        evidence(&Evidence::Partial { attempt: 1, open: vec!["It has a test.".to_owned()] }),
        evidence(&Evidence::Conflict { paths: vec!["a.rs".to_owned()], with: vec![id("T2")] }),
        objection(&Objection::TestsDeleted { tests: vec!["a.rs: works".to_owned()], declared: false }),
        objection(&Objection::FewerTests { base: 9, head: 7, declared: true }),
    ];
    insta::assert_snapshot!(all.join("\n"));
}
