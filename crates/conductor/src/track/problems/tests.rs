use crate::{Setup, Ticket, TicketId, Track};

/// A track of tickets, written `a b>a c>a,b`.
fn track(script: &str) -> Track {
    let id = |text: &str| TicketId::parse(text).expect("an id");
    let tickets = script.split_whitespace().map(|word| {
        let (name, below) = word.split_once('>').unwrap_or((word, ""));
        let mut ticket = Ticket::new(id(name), "t");
        ticket.depends_on = below.split(',').filter(|it| !it.is_empty()).map(id).collect();
        ticket
    });
    Track { tickets: tickets.collect(), ..Track::new("t") }
}

fn said(track: &Track) -> String {
    track.problems().iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
}

#[track_caller]
fn check(script: &str, expected: &str) {
    assert_eq!(said(&track(script)), expected, "{script}");
}

/// Checks a track of one ticket with an edit.
#[track_caller]
fn edited(edit: impl FnOnce(&mut Track), expected: &str) {
    let mut track = track("a");
    edit(&mut track);
    assert_eq!(said(&track), expected);
}

#[test]
fn ids_and_dependencies() {
    check("a b>a c>a,b", "");
    check("", "the track has no tickets");
    check("a a", "ticket a: id: the ticket a has the same id");
    check("T1 t1", "ticket t1: id: the ticket T1 has the same id");
    check("T1 t1 x>t1", "ticket t1: id: the ticket T1 has the same id");
    check("a>a", "ticket a: depends_on[0]: the ticket depends on itself");
    check("login b>logn", "ticket b: depends_on[0]: there is no ticket logn; did you mean \"login\"?");
    check("T1 b>t1", "ticket b: depends_on[0]: there is no ticket t1; did you mean \"T1\"?");
    check("a b>zebra", "ticket b: depends_on[0]: there is no ticket zebra");
}

#[test]
fn bounds_of_patience() {
    let silence = "escalation.silence: must be a number from 1 to 86400, not 0";
    edited(|track| track.escalation.silence = 0, silence);
    edited(|track| track.escalation.tokens_without_change = 0, "");
    let tokens =
        "escalation.tokens_without_change: must be a number from 0 to 4503599627370496, not 4503599627370497";
    edited(|track| track.escalation.tokens_without_change = (1 << 52) + 1, tokens);
}

#[test]
fn cycles() {
    check("a>b b>a", "the tickets wait for each other: a → b → a");
    check("x a>c b>a c>b y>c", "the tickets wait for each other: a → c → b → a");
    check("y>c a>c b>a c>b", "the tickets wait for each other: a → c → b → a");
    check(
        "a>b b>a c>d d>c",
        "the tickets wait for each other: a → b → a | the tickets wait for each other: c → d → c",
    );
    check("a>a b>a", "ticket a: depends_on[0]: the ticket depends on itself");
    assert!(track("a>b b>a").problems()[0].is_cycle());
}

#[test]
fn a_long_cycle_is_found_fast_and_shown_short() {
    let script: String = (0..20_000).map(|at| format!("t{at}>t{} ", (at + 1) % 20_000)).collect();
    let said = said(&track(&script));
    assert!(said.contains("t0 → t1 → ") && said.ends_with("→ … (19980 more) → t0"), "{said}");
}

#[test]
fn fields_of_the_track() {
    edited(|it| it.title = " ".into(), "title: must not be empty");
    edited(|it| it.title = "a\nb".into(), "title: must be one line, without control characters");
    edited(|it| it.title = "é".repeat(201), "title: has 201 characters, at most 200 are allowed");
    edited(|it| it.goal = "x".repeat(65_537), "goal: has 65537 bytes, at most 65536 are allowed");
    edited(|it| it.check = Some(String::new()), "check: must not be empty");
    edited(|it| it.concurrency = 0, "concurrency: must be a number from 1 to 256, not 0");
    edited(|it| it.review.rounds = 0, "review.rounds: must be a number from 1 to 100, not 0");
    edited(|it| it.escalation.red_checks = 0, "escalation.red_checks: must be a number from 1 to 100, not 0");
    edited(|it| it.base = Some("-x".into()), "base: \"-x\" is not the name of a branch");
    edited(|it| it.base = Some("feature/x".into()), "");
    edited(
        |it| it.caps.day.tokens = Some(0),
        "caps.day.tokens: must be a number from 1 to 4503599627370496, not 0",
    );
    edited(
        |it| it.setup = Some(Setup { copy: vec!["/.env".into(), "../x".into()], ..Setup::default() }),
        "setup.copy[1]: \"../x\" is outside of the project; write a path relative to its root",
    );
    edited(
        |it| it.scope = vec!["src/[".into()],
        "scope[0]: \"src/[\" is not a glob: unclosed character class; missing ']'",
    );
}

#[test]
fn fields_of_tickets() {
    edited(|it| it.tickets[0].title.clear(), "ticket a: title: must not be empty");
    edited(|it| it.tickets[0].acceptance = vec![" ".into()], "ticket a: acceptance[0]: must not be empty");
    edited(|it| it.tickets[0].check = Some(" ".into()), "ticket a: check: must not be empty");
    edited(
        |it| it.tickets[0].files = vec!["/etc/passwd".into()],
        "ticket a: files[0]: \"/etc/passwd\" is outside of the project; write a path relative to its root",
    );
    edited(
        |it| it.tickets[0].depends_on = vec![it.tickets[0].id.clone(); 257],
        &format!(
            "ticket a: depends_on: has 257 entries, at most 256 are allowed{} | 157 more problems",
            (0..99)
                .map(|at| format!(" | ticket a: depends_on[{at}]: the ticket depends on itself"))
                .collect::<String>()
        ),
    );
}

#[test]
fn a_field_has_a_path() {
    let problems = track("a b>zebra").problems();
    assert_eq!(problems[0].field().map(super::Field::path).as_deref(), Some("tickets[1].depends_on[0]"));
}
