use serde_json::json;

use super::*;
use crate::{Newcomer, Sid, Tool};

const SPEECH: &str = "One two. Three four. Five.";

fn read_as(kind: &AskKind, whispers: bool, text: &str, acts: Vec<Act>) -> Result<Reply, String> {
    let seats = Seats::new(&["Ana", "Ben", "Cleo Day", "王小明"].map(Newcomer::player));
    let hears = Visible::only([SeatId(0), SeatId(1), SeatId(2)]);
    let floor = Floor { hears, whispers, blocks: Vec::new(), depth: 0 };
    let tools = [Tool::action("vote", "Votes."), Tool::information("purse", "Counts.")];
    let reader =
        Reader { seat: SeatId(0), seats: &seats, kind, floor: Some(&floor), tools: &tools, offered: SPEECH };
    reader.read(&Answer { text: text.to_owned(), acts })
}

/// Asserts what an answer of Ana says: `words`, `words > 1 2` for a whisper, `-` for nothing, and what was
/// dropped.
#[track_caller]
fn check(text: &str, expected: &str) {
    let reply = match read_as(&AskKind::Turn, true, text, Vec::new()) {
        Ok(reply) => reply,
        Err(reason) => return assert_eq!(format!("invalid: {reason}"), expected, "{text:?}"),
    };
    let mut shown = match &reply.say {
        None => "-".to_owned(),
        Some(Line { audience: Audience::All, content, .. }) => content.clone(),
        Some(Line { audience: Audience::Only(seats), content, .. }) => {
            let seats: Vec<String> = seats.iter().map(|seat| seat.0.to_string()).collect();
            format!("{content} > {}", seats.join(" "))
        }
    };
    for dropped in &reply.dropped {
        shown += &match dropped {
            Dropped::SpokeFor { name, text } => format!(" | for {name}: {text}"),
            Dropped::OnlyFirst { count } => format!(" | of {count}"),
            other => format!(" | {other:?}"),
        };
    }
    assert_eq!(shown, expected, "{text:?}");
}

#[test]
fn speech_comes_as_text_or_as_json() {
    check("Hello there.", "Hello there.");
    check(r#"{"say": "Hello", "to": "all"}"#, "Hello");
    check(r#"{"say": "Hello"}"#, "Hello");
    check("```json\n{\"say\": \"Hello\"}\n```", "Hello");
    check(r#"{"say": "psst", "to": "ben"}"#, "psst > 1");
    // All who can hear it are named.
    check(r#"{"say": "psst", "to": ["Ben", "Cleo Day"]}"#, "psst");
    check(r#"[{"say": "one"}, {"say": "two"}]"#, "one | of 2");
    check("{\"say\": \"one\"}\n{\"say\": \"two\"}", "one | of 2");
    check("a\u{7}b\tc", "ab\tc");
}

#[test]
fn a_pass_is_always_possible() {
    for text in ["", "  ", "pass", "PASS.", "(pass)", r#"{"pass": true}"#, r#"{"say": "", "pass": false}"#] {
        check(text, "-");
    }
    check(r#"{"say": null, "pass": true}"#, "-");
    check("I pass the salt.", "I pass the salt.");
}

#[test]
fn unreadable_answers_are_invalid() {
    check(r#"{"say": "Hel"#, "invalid: Your answer is no valid JSON.");
    check(r#"{"mood": "good"}"#, r#"invalid: Your answer has neither "say" nor "pass"."#);
    check(
        r#"{"say": "psst", "to": "Dora"}"#,
        r#"invalid: "to" is "all" or one of those who can hear you: Ben, Cleo Day."#,
    );
    // Present, and out of earshot.
    check(
        r#"{"say": "psst", "to": "王小明"}"#,
        r#"invalid: "to" is "all" or one of those who can hear you: Ben, Cleo Day."#,
    );
    check(r#"{"say": "psst", "to": "Ana"}"#, r#"invalid: "to" names nobody but you."#);
    let refused = read_as(&AskKind::Turn, false, r#"{"say": "psst", "to": "Ben"}"#, Vec::new());
    assert!(refused.is_err_and(|reason| reason.starts_with("You cannot whisper now.")));
}

#[test]
fn nobody_speaks_for_another_player() {
    check("Ana: hello", "hello");
    check("**Ana:** hello", "hello");
    check("I think so.\nBen: me too", "I think so. | for Ben: Ben: me too");
    check(
        "I think so.\n**Cleo Day**: me too\nAna: yes",
        "I think so. | for Cleo Day: **Cleo Day**: me too\nAna: yes",
    );
    check("So.\n[王小明]：好", "So. | for 王小明: [王小明]：好");
    check(
        "So.\n{\"n\":3,\"from\":\"Ben\",\"to\":\"all\",\"say\":\"hi\"}",
        "So. | for Ben: {\"n\":3,\"from\":\"Ben\",\"to\":\"all\",\"say\":\"hi\"}",
    );
    check(r#"{"say": "So.\nBen: yes"}"#, "So. | for Ben: Ben: yes");
    check(r#"{"from": "Ana", "say": "hello"}"#, "hello");
    let refused = "invalid: You are Ana. Never write a line for another player.";
    check(r#"{"from": "Ben", "say": "hello"}"#, refused);
    check("Ben: hello", refused);
    // Naming somebody is no line of theirs.
    check("Ben, you are right: it is late.", "Ben, you are right: it is late.");
    check("My list:\nBenefits: many", "My list:\nBenefits: many");
}

#[test]
fn long_speeches_are_cut() {
    let long = "ä".repeat(limits::SPEECH_BYTES);
    let reply = read_as(&AskKind::Turn, false, &long, Vec::new()).expect("a reply");
    assert_eq!(reply.say.expect("a line").content.len(), limits::SPEECH_BYTES);
    assert_eq!(reply.dropped, [Dropped::TooLong { bytes: limits::SPEECH_BYTES }]);
}

#[test]
fn actions_are_calls_or_json() {
    let vote = || Act::new("vote", json!({"player": "Ben"}));
    let read = |text: &str, acts: Vec<Act>| read_as(&AskKind::Turn, false, text, acts);
    assert_eq!(read("", vec![vote()]).expect("a reply").act, Some(vote()));
    let written = r#"{"tool": "vote", "input": {"player": "Ben"}}"#;
    assert_eq!(read(written, Vec::new()).expect("a reply").act, Some(vote()));
    let both = read("I am sure.", vec![vote(), vote()]).expect("a reply");
    assert_eq!((both.act, both.dropped), (Some(vote()), vec![Dropped::OnlyFirst { count: 2 }]));
    assert!(both.say.is_some());
    let unknown = read("", vec![Act::new("fly", json!({}))]);
    assert_eq!(unknown, Err("Call one of these tools, or pass: vote.".to_owned()));
    // A look that its caller already answered is no move.
    assert_eq!(read("", vec![Act::new("purse", json!({}))]).expect("a reply").act, None);
}

/// Asserts the sentence end and the bid of an answer to an offer.
#[track_caller]
fn check_cut(text: &str, expected: Result<Option<(usize, i64)>, ()>) {
    let kind = AskKind::Offer { to: Sid(1), sentences: vec![String::new(); 3] };
    let read = read_as(&kind, false, text, Vec::new());
    let found = read.map(|reply| reply.cut.map(|cut| (cut.end, cut.bid))).map_err(|_| ());
    assert_eq!(found, expected, "{text}");
}

#[test]
fn interrupts_name_a_sentence_or_a_beginning() {
    check_cut("", Ok(None));
    check_cut("No, I listen.", Ok(None));
    check_cut(r#"{"cut": 2, "bid": 7}"#, Ok(Some((2, 7))));
    check_cut(r#"{"cut": 1, "bid": 99}"#, Ok(Some((1, 10))));
    check_cut(r#"{"tool": "interrupt", "input": {"after": 3}}"#, Ok(Some((3, 0))));
    check_cut(r#"{"cut": null}"#, Ok(None));
    check_cut(r#"{"cut": 0, "bid": 0, "pass": true}"#, Ok(None));
    check_cut(r#"{"target_speech_content": "One two. Th", "content": "Wait"}"#, Ok(Some((2, 0))));
    check_cut(r#"{"target_speech_content": "Two"}"#, Err(()));
    check_cut(r#"{"cut": 0}"#, Err(()));
    check_cut(r#"{"cut": 4}"#, Err(()));
    check_cut(r#"{"cut": "two"}"#, Err(()));
}
