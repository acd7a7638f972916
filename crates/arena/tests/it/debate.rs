//! Debate: the order of speeches, cross-examination, the verdict.

use super::play::{Play, check};

const DEBATE: &str = "debate Ana Ben Jo; motion=Bread beats cake; rounds=1";

fn verdict(proposition: i64, opposition: i64) -> String {
    let keys = ["argument", "evidence", "delivery"];
    let points = |side: &str, points: i64| keys.map(|key| format!("\"{side}_{key}\":{points}")).join(",");
    let (one, two) = (points("proposition", proposition), points("opposition", opposition));
    format!("Jo verdict {{{one},{two},\"reasons\":\"So it was.\"}}")
}

#[test]
fn speeches_follow_the_agenda() {
    check(
        &format!(
            "{DEBATE} | Ana: a1 | Ben: b1 | Ana: a2 | Ben: q1 | Ana: a3 | Ben: b2 | Ana: q2 | Ben: b3 | Ben: b4 | \
             Ana: a4 | {}",
            verdict(7, 5)
        ),
        "[The motion: Bread beats cake] | Ana: a1 | Ben: b1 | Ana: a2 | Ben: q1 | Ana: a3 | Ben: b2 | Ana: q2 | \
         Ben: b3 | Ben: b4 | Ana: a4 | (finished)",
    );
    check(
        &format!(
            "{DEBATE}; cross_examination=false | Ana: a1 | Ben: b1 | Ana: a2 | Ben: b2 | Ben: b3 | Ana: a3"
        ),
        "[The motion: Bread beats cake] | Ana: a1 | Ben: b1 | Ana: a2 | Ben: b2 | Ben: b3 | Ana: a3 | (finished)",
    );
}

/// Asserts the end of a debate and its winners.
#[track_caller]
fn check_end(clauses: &str, expected: &str) {
    let play = Play::of(&format!("{DEBATE}; cross_examination=false | {clauses}"));
    let ending = play.table.ending().expect("an end");
    let winners = play.table.seats().names(ending.winners.iter().copied());
    assert_eq!(format!("{} ({winners})", ending.text), expected);
}

#[test]
fn the_points_decide() {
    check_end(&verdict(7, 5), "The proposition wins, 21 to 15. Jo: So it was. (Ana)");
    check_end(&verdict(0, 10), "The opposition wins, 0 to 30. Jo: So it was. (Ben)");
    check_end(&verdict(5, 5), "A draw, 15 to 15. Jo: So it was. ()");
}

#[test]
fn a_judge_without_a_verdict_decides_nothing() {
    check_end("", "The debate ends without a verdict. ()");
    check_end("Jo times out", "The debate ends without a verdict. ()");
    check_end(
        &format!("{} | {}", verdict(11, 5), verdict(6, 5)),
        "The proposition wins, 18 to 15. Jo: So it was. (Ana)",
    );
    check_end(&format!("{} | Jo verdict {{}}", verdict(11, 5)), "The debate ends without a verdict. ()");
}

#[test]
fn the_questioner_alone_cuts_in_on_answers() {
    let before = "Ana: Open. Open. | Ben passes | Ana: Point one. Point two. | Ben: Why?";
    let play = Play::of(&format!(
        "{DEBATE} | {before} | Ana: It is so. It was so. | Ben cuts 1 | Ben: Prove it! | Ana: Here is the proof."
    ));
    let shown = play.shown();
    assert!(shown.contains("Ana: It is so. – | Ben!: Prove it! | Ana: Here is the proof."), "{shown}");
    let offers = play.prompts.iter().filter(|(ask, _)| matches!(ask.kind, arena::AskKind::Offer { .. }));
    assert_eq!(offers.count(), 1, "one for the first answer, none for statements or the answer's rest");
    let none = Play::of(&format!("{DEBATE}; interrupts=0 | {before} | Ana: It is so. It was so."));
    assert!(none.prompts.iter().all(|(ask, _)| !matches!(ask.kind, arena::AskKind::Offer { .. })));
}

#[test]
fn sides_can_be_named() {
    let script = r#"debate Ana Ben Cleo Dan Jo; motion=x; rounds=2; cross_examination=false; judge=Ana;
        proposition=["Jo","Ben"]; opposition=["Dan"] | Jo: o1 | Dan: o2 | Jo: s1 | Dan: s2 | Ben: s3 | Dan: s4 | Dan: c1 | Jo: c2"#;
    check(
        script,
        "[The motion: x] | Jo: o1 | Dan: o2 | Jo: s1 | Dan: s2 | Ben: s3 | Dan: s4 | Dan: c1 | Jo: c2 | (finished)",
    );
}
