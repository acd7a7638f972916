use super::*;

/// Plays a script and names the first signal with the word that it came at.
///
/// `a` an action; `a2` with another result; `a!` an error; `$5` tokens; `t1` a tree; `make=x` a failed check;
/// `make=` a green one; `+60` seconds that pass; `beat`, `event`, `child` and `wait`.
fn play(script: &str) -> String {
    let mut now = Duration::ZERO;
    let patience = Patience { tokens: Some(100), ..Patience::default() };
    let mut observer = Observer::new(patience, now);
    for (at, word) in script.split_whitespace().enumerate() {
        let observation = match word {
            "beat" => Observation::Beat,
            "event" => Observation::Event,
            "child" => Observation::ChildAlive,
            "wait" => Observation::Waiting,
            word => match word.split_at(1) {
                ("+", seconds) => {
                    now += Duration::from_secs(seconds.parse().expect("seconds"));
                    continue;
                }
                ("$", tokens) => Observation::Spent(tokens.parse().expect("tokens")),
                ("t", tree) => Observation::Tree(Fingerprint::of(tree)),
                (tool, result) => match word.split_once('=') {
                    Some((command, output)) => Observation::Check {
                        command: command.to_owned(),
                        failure: (!output.is_empty()).then(|| Fingerprint::of_failure(output)),
                    },
                    None => Observation::Action(Action {
                        tool: tool.to_owned(),
                        input: Fingerprint::of(tool),
                        result: Fingerprint::of(result),
                        is_error: result.starts_with('!'),
                    }),
                },
            },
        };
        if let Some(signal) = observer.observe(observation, now) {
            return format!("{}: {}", at + 1, serde_json::to_string(&signal).expect("JSON"));
        }
    }
    String::new()
}

#[track_caller]
fn check(script: &str, expected: &str) {
    assert_eq!(play(script), expected, "{script}");
}

#[test]
fn the_same_action() {
    check("a a a", "");
    check("a a a a", r#"4: {"signal":"same_action","tool":"a","times":4}"#);
    check("a event a $1 a t1 a", r#"7: {"signal":"same_action","tool":"a","times":4}"#);
    check("a a a2 a a", "");
    check("a a b a a b a a c a a", "");
    check("a1 a2 a3 a4 a5", "");
}

#[test]
fn back_and_forth() {
    check("a b a b a b a", "");
    check("a b a b a b a b", r#"8: {"signal":"back_and_forth","tools":["a","b"],"times":4}"#);
    check("c a b a b a b a b", r#"9: {"signal":"back_and_forth","tools":["a","b"],"times":4}"#);
    check("a b1 a b2 a b3 a b4 a b5", "");
    check("a b a b a b c a b a b", "");
}

#[test]
fn errors_in_a_row() {
    check("a!1 a!2 a!3", r#"3: {"signal":"errors_in_a_row","tool":"a","times":3}"#);
    check("a!1 a!2 b a!3 a!4", "");
    check("a!1 b!2 a!3 b!4", "");
    check("a!1 a2 a!3", "");
}

#[test]
fn no_progress() {
    check("$50 $49", "");
    check("$50 $50", r#"2: {"signal":"no_progress","tokens":100}"#);
    check("t1 $60 t2 $60 t2 $39", "");
    check("t1 $60 t1 $40", r#"4: {"signal":"no_progress","tokens":100}"#);
    let mut reader = Observer::new(Patience { tokens: None, ..Patience::default() }, Duration::ZERO);
    assert_eq!(reader.observe(Observation::Spent(u64::MAX), Duration::ZERO), None);
    let mut worker = Observer::new(Patience::default(), Duration::ZERO);
    assert_eq!(worker.observe(Observation::Spent(199_999), Duration::ZERO), None);
    assert!(worker.observe(Observation::Spent(1), Duration::ZERO).is_some());
}

#[test]
fn the_same_check() {
    check("make=boom", "");
    check("make=boom a make=boom", r#"3: {"signal":"same_check_fails","command":"make","times":2}"#);
    check(
        "make=boom:0.31s make=boom:12.7s",
        r#"2: {"signal":"same_check_fails","command":"make","times":2}"#,
    );
    check("make=boom make=bang make=boom", "");
    check("make=boom make= make=boom", "");
    check("make=boom lint=boom", "");
    check("at=0x7f3a at=0xdead", r#"2: {"signal":"same_check_fails","command":"at","times":2}"#);
}

#[test]
fn silence() {
    check("+599 beat", "");
    check("+600 beat", r#"2: {"signal":"silent","seconds":600}"#);
    check("+300 beat +299 beat +1 beat", r#"6: {"signal":"silent","seconds":600}"#);
    check("+599 event +599 beat", "");
    check("+599 child +599 child +599 child +599 beat", "");
    check("+599 child +600 beat", r#"4: {"signal":"silent","seconds":600}"#);
    check("+599 wait +3600 wait +1 beat", "");
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut observer = Observer::new(Patience { tokens: None, ..Patience::default() }, Duration::ZERO);
    for at in 0..10_000_u32 {
        let print = Fingerprint::of(&at.to_string());
        let action = Action { tool: "a".into(), input: print, result: print, is_error: false };
        assert_eq!(observer.observe(Observation::Action(action), Duration::ZERO), None);
        let check = Observation::Check { command: at.to_string(), failure: Some(print) };
        assert_eq!(observer.observe(check, Duration::ZERO), None);
    }
    assert_eq!((observer.actions.len(), observer.checks.len()), (OBSERVED, OBSERVED));
}
