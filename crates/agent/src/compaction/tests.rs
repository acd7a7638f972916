use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError};

use super::*;
use crate::messages::tests::any_turns;
use crate::turn::tests::{id, turns, word};

fn words<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> String {
    turns.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_shown(script: &str, expected: &str) {
    assert_eq!(words(in_force(&turns(script))), expected, "{script}");
}

#[test]
fn a_summary_comes_first_and_replaces_the_turns_it_covers() {
    check_shown("", "");
    check_shown("u:a t:b", "u:a t:b");
    check_shown("u:a t:b s1:x", "s:x t:b");
    check_shown("u:a t:b s2:x", "s:x");
    check_shown("u:a t:b u:c s2:x t:d", "s:x u:c t:d");
    check_shown("u:a t:b s1:x u:c s2:y u:d", "s:y u:c u:d");
    check_shown("u:a t:b s1:x u:c s4:y u:d", "s:y u:d");
    check_shown("u:a s9:x", "s:x u:a");
}

/// Every turn is one token.
fn cut_one(turns: &[Turn], keep: usize) -> Option<Uuid> {
    cut(turns, &|_| 1, keep)
}

/// The turns with a summary of what is to be summed up.
fn summed_up(turns: &[Turn], through: Uuid) -> Vec<Turn> {
    let mut turns = turns.to_vec();
    let body = TurnBody::Summary { content: "new".into(), through };
    let id = id(1_000 + turns.len());
    turns.push(Turn { id, created_at: chrono::DateTime::UNIX_EPOCH, body, provider_state: None });
    turns
}

/// Checks the shown turns after a cut; `-` if there was nothing to sum up.
#[track_caller]
fn check(keep: usize, script: &str, expected: &str) {
    let turns = turns(script);
    let through = cut_one(&turns, keep);
    let shown = through.map_or("-".to_owned(), |through| words(in_force(&summed_up(&turns, through))));
    assert_eq!(shown, expected, "{script}, {keep} to keep");
}

#[test]
fn as_little_as_needed_is_summed_up() {
    let script = "u:a t:b u:c t:d u:e t:f u:g";
    check(6, script, "s:new u:c t:d u:e t:f u:g");
    check(5, script, "s:new u:c t:d u:e t:f u:g");
    check(4, script, "s:new u:e t:f u:g");
    check(3, script, "s:new u:e t:f u:g");
    check(1, script, "s:new u:g");
}

#[test]
fn the_last_message_stays_even_if_it_does_not_fit() {
    check(0, "u:a t:b u:c", "s:new u:c");
    check(0, "u:a t:b u:c t:d", "s:new u:c t:d");
    check(0, "u:a", "-");
    check(0, "u:a t:b", "-");
    check(0, "", "-");
    check(0, "u:a t:b t:c", "-");
    check(0, "u:a c:1 r:1", "-");
    check(0, "u:a c:1 c:2 r:1", "-");
    check(0, "u:a c:1", "-");
}

#[test]
fn rounds_of_a_long_run_are_summed_up_whole() {
    check(0, "u:a c:1 r:1 c:2 r:2", "s:new c:2 r:2");
    check(0, "u:a c:1 r:1 t:b c:2 c:3 r:2 r:3", "s:new t:b c:2 c:3 r:2 r:3");
    check(4, "u:a c:1 r:1 c:2 r:2 c:3 r:3", "s:new c:2 r:2 c:3 r:3");
    check(3, "u:a c:1 r:1 c:2 r:2 c:3 r:3", "s:new c:3 r:3");
    check(0, "u:a c:1 r:1 c:2", "s:new c:2");
    check(0, "u:a c:1 e:1 t:b", "s:new t:b");
    check(0, "u:a c:1 c:2 r:1 r:2 u:b c:3 r:3", "s:new u:b c:3 r:3");
}

#[test]
fn a_summary_is_summed_up_with_what_follows_it() {
    check(2, "u:a t:b u:c s2:x t:d u:e", "s:new u:e");
    check(0, "u:a t:b u:c s2:x", "-");
    check(0, "u:a t:b s2:x", "-");
    check(0, "u:a c:1 r:1 s3:x", "-");
    // A summary that is too long by itself makes no room, so that the next boundary is taken.
    check(3, "u:a t:b s2:x u:c t:d u:e", "s:new u:e");
}

#[test]
fn longer_turns_make_more_room() {
    let turns = turns("u:a t:b u:c t:d u:e");
    let tokens = |turn: &Turn| if word(turn) == "t:b" { 100 } else { 1 };
    assert_eq!(cut(&turns, &tokens, 10), Some(id(2)));
    let tokens = |turn: &Turn| if word(turn) == "t:d" { 100 } else { 1 };
    assert_eq!(cut(&turns, &tokens, 10), Some(id(4)));
}

#[test]
fn a_transcript_names_the_speakers() {
    let turns = turns("u:old s1:short u:hi t:hello c:1 r:1 c:2 e:2 u:later");
    let expected = "Summary of what came before: short\n\nUser: hi\n\nAssistant: hello\n\n\
                    Assistant calls look: {}\n\nTool answered: ok\n\n\
                    Assistant calls look: {}\n\nTool failed: no\n\n";
    assert_eq!(transcript(&turns, id(8)), expected);
    assert!(transcript(&turns, id(9)).ends_with("Tool failed: no\n\nUser: later\n\n"));
}

#[test]
fn a_transcript_has_results_in_the_order_of_their_calls() {
    let ordered = transcript(&turns("u:hi c:1 c:2 c:3 r:1 e:2 r:3 c:4 r:4 t:on"), id(99));
    for other in ["r:3 e:2 r:1", "e:2 r:1 r:3"] {
        let script = format!("u:hi c:1 c:2 c:3 {other} c:4 r:4 t:on");
        assert_eq!(transcript(&turns(&script), id(99)), ordered, "{script}");
    }
    assert!(ordered.contains("Tool answered: ok\n\nTool failed: no\n\nTool answered: ok"), "{ordered}");
}

/// Turns as runs leave them: messages, then rounds. The last round may be cut anywhere.
fn any_log() -> impl Strategy<Value = Vec<Turn>> {
    let round = (any::<bool>(), 1..4_usize, any::<bool>());
    let run = (prop::collection::vec(round, 0..4), any::<bool>());
    (prop::collection::vec(run, 1..5), 0..60_usize).prop_map(|(runs, length)| {
        let mut script: Vec<String> = Vec::new();
        for (rounds, ends_with_text) in runs {
            script.push("u:said".to_owned());
            for (has_text, calls, is_reversed) in rounds {
                script.extend(has_text.then(|| "t:said".to_owned()));
                let at = script.len();
                let ids = at..at + calls;
                script.extend(ids.clone().map(|id| format!("c:{id}")));
                let mut results: Vec<String> = ids.map(|id| format!("r:{id}")).collect();
                if is_reversed {
                    results.reverse();
                }
                script.extend(results);
            }
            script.extend(ends_with_text.then(|| "t:said".to_owned()));
        }
        script.truncate(length.max(1));
        turns(&script.join(" "))
    })
}

/// The ids of calls, or of results.
fn ids(turns: &[&Turn], results: bool) -> Vec<String> {
    let id = |turn: &&Turn| match &turn.body {
        TurnBody::ToolCall { call, .. } if !results => Some(call.id.clone()),
        TurnBody::ToolResult { tool_use_id, .. } if results => Some(tool_use_id.clone()),
        _ => None,
    };
    turns.iter().filter_map(id).collect()
}

/// Checks a cut: the new summary is shown, and exactly the turns that it does not cover.
fn one_cut(log: &[Turn], through: Uuid) -> Result<Vec<Turn>, TestCaseError> {
    let before: Vec<&Turn> = in_force(log).collect();
    let at = before.iter().position(|turn| turn.id == through);
    prop_assert!(at.is_some(), "what is summed up was shown");
    let (gone, kept) = before.split_at(at.unwrap_or_default() + 1);
    let log = summed_up(log, through);
    let after: Vec<&Turn> = in_force(&log).collect();
    prop_assert_eq!(covered(after[0]), Some(through));
    prop_assert_eq!(&after[1..], kept);

    // A call and its result are on the same side.
    for result in ids(kept, true) {
        prop_assert!(ids(kept, false).contains(&result), "{} without its call: {}", result, words(&log));
    }
    for call in ids(gone, false) {
        prop_assert!(ids(gone, true).contains(&call), "{} without its result: {}", call, words(&log));
    }

    // Unanswered calls stay.
    let is_user = |turn: &&Turn| matches!(turn.body, TurnBody::User { .. });
    let is_result = |turn: &&Turn| matches!(turn.body, TurnBody::ToolResult { .. });
    prop_assert!(!kept.is_empty());
    let last = before.iter().rposition(is_user).unwrap_or(before.len());
    if !before[last..].iter().any(is_result) {
        prop_assert!(gone.len() <= last, "the last message was summed up: {}", words(&log));
    }
    Ok(log)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x0063_7574),
        ..ProptestConfig::default()
    })]

    #[test]
    fn compaction_stops_when_nothing_is_left(log in any_log(), keep in 0..30_usize, weight in 1..9_u128) {
        // A summary has as many tokens as the longest turn.
        let tokens = |turn: &Turn| {
            if covered(turn).is_some() { weight as usize } else { 1 + (turn.id.as_u128() % weight) as usize }
        };
        // Each summary covers at least one more turn, so that there are at most as many as turns.
        let most = log.len();
        let mut log = log;
        let mut cuts = 0;
        while let Some(through) = cut(&log, &tokens, keep) {
            cuts += 1;
            prop_assert!(cuts <= most, "it does not end: {}", words(&log));
            log = one_cut(&log, through)?;
        }
        // Nothing is left in front of the last place at which a conversation may begin.
        let shown: Vec<&Turn> = in_force(&log).filter(|turn| covered(turn).is_none()).collect();
        prop_assert!(shown.windows(2).all(|pair| !is_boundary(pair[0], pair[1])), "{}", words(&log));
    }

    #[test]
    fn the_rest_fits_where_it_can(log in any_log(), keep in 0..30_usize) {
        let shown: Vec<&Turn> = in_force(&log).collect();
        let boundaries: Vec<usize> =
            (1..shown.len()).filter(|at| is_boundary(shown[at - 1], shown[*at])).collect();
        let fitting = boundaries.iter().find(|at| shown.len() - **at <= keep).or(boundaries.last());
        prop_assert_eq!(cut_one(&log, keep), fitting.map(|at| shown[at - 1].id));
    }

    /// Also of turns that no run could have left.
    #[test]
    fn whatever_the_turns_it_comes_to_an_end(log in any_turns(), keep in 0..9_usize) {
        let most = log.len();
        let mut log = log;
        let mut cuts = 0;
        while let Some(through) = cut_one(&log, keep) {
            cuts += 1;
            prop_assert!(cuts <= most, "it does not end: {}", words(&log));
            prop_assert!(!transcript(&log, through).is_empty());
            log = summed_up(&log, through);
        }
    }
}
