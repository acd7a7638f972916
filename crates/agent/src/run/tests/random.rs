//! Runs of any events, results and cancellations in any order.

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseResult};

use super::*;
use crate::turn::tests::word;

#[derive(Debug, Clone)]
enum Action {
    Word(&'static str),
    /// Whose id may have been used before, also in the same reply.
    Call {
        id: &'static str,
        name: &'static str,
    },
    Answer(usize),
}

fn action(words: &'static [&'static str]) -> impl Strategy<Value = Action> {
    let call = (prop::sample::select(vec!["a", "b", "c"]), prop::sample::select(vec!["read", "write"]));
    prop_oneof![
        4 => prop::sample::select(words).prop_map(Action::Word),
        2 => call.prop_map(|(id, name)| Action::Call { id, name }),
        2 => (0..3_usize).prop_map(Action::Answer),
        2 => Just(Action::Word("calls")),
    ]
}

fn act(driver: &mut Driver, action: &Action) {
    match action {
        Action::Word(word) => driver.play(word),
        Action::Call { id, name } => driver.call(id, name, "{}"),
        Action::Answer(at) => driver.answer(*at),
    }
}

/// Every call has one result after it, and every result one call before it.
fn each_call_has_one_result(kept: &[Turn]) -> TestCaseResult {
    let shown: Vec<String> = kept.iter().map(word).collect();
    let mut open: Vec<&str> = Vec::new();
    for turn in kept {
        match &turn.body {
            TurnBody::ToolCall { call, .. } => open.push(&call.id),
            TurnBody::ToolResult { tool_use_id, .. } => {
                let at = open.iter().position(|id| id == tool_use_id);
                prop_assert!(at.is_some(), "{} answers nothing: {:?}", tool_use_id, shown);
                open.swap_remove(at.unwrap_or_default());
            }
            TurnBody::AssistantText { .. } | TurnBody::User { .. } | TurnBody::Summary { .. } => {}
        }
    }
    prop_assert!(open.is_empty(), "{:?} without a result: {:?}", open, shown);
    Ok(())
}

/// The turns that were kept tell all that the live run knows, except for pauses.
fn resumes_as_it_is(driver: &Driver, max_tool_rounds: u32) -> TestCaseResult {
    let live = &driver.run;
    let found = Run::resume(max_tool_rounds, &driver.kept);
    prop_assert_eq!(found.step(), live.step());
    prop_assert_eq!(found.pending(), live.pending());
    prop_assert_eq!(found.rounds + driver.pauses, live.rounds);
    prop_assert_eq!(found.repeats, live.repeats);
    prop_assert_eq!(found.last_batch, live.last_batch);
    Ok(())
}

const ANYTHING: &[&str] = &[
    "text",
    "text.",
    "state",
    "think",
    "tool",
    "read{oops",
    "end",
    "limit",
    "refuse",
    "pause",
    "cancel",
    "fail",
    "discard",
    "plan",
];
const REPLIES: &[&str] = &["text", "text.", "tool", "read{oops"];
/// Actions that do not end a run.
const GOING_ON: &[&str] = &["text", "text.", "state", "think", "tool", "read{oops", "pause", "discard"];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x0072_756e),
        ..ProptestConfig::default()
    })]

    #[test]
    fn however_a_run_ends_each_call_has_one_result(
        max_tool_rounds in 0..6_u32,
        actions in prop::collection::vec(action(ANYTHING), 0..40),
    ) {
        let mut driver = Driver::new(max_tool_rounds);
        for action in &actions {
            let before = driver.run.step();
            let kept = driver.kept.len();
            act(&mut driver, action);
            if let Step::Finished(_) = driver.run.step() {
                each_call_has_one_result(&driver.kept)?;
            }
            if let Step::Finished(_) = before {
                prop_assert_eq!(driver.run.step(), before, "an end stays");
                prop_assert_eq!(driver.kept.len(), kept, "nothing comes after the end");
            }
        }
        driver.cancel();
        prop_assert!(matches!(driver.run.step(), Step::Finished(_)));
        each_call_has_one_result(&driver.kept)?;
    }

    #[test]
    fn a_run_is_resumed_as_it_was(
        max_tool_rounds in 3..9_u32,
        actions in prop::collection::vec(action(GOING_ON), 0..60),
    ) {
        let mut driver = Driver::new(max_tool_rounds);
        // A restart loses a reply that is still arriving, so only states between replies are compared.
        let mut is_between = true;
        for action in &actions {
            let step = driver.run.step();
            act(&mut driver, action);
            let is_event = !matches!(action, Action::Answer(_) | Action::Word("discard"));
            is_between = match action {
                Action::Word("calls" | "pause" | "discard") => true,
                _ => is_between && !(is_event && step == Step::CallModel),
            };
            if let Step::Finished(_) = driver.run.step() {
                break;
            }
            if is_between {
                resumes_as_it_is(&driver, max_tool_rounds)?;
            }
        }
    }

    /// A run that is put together anew at every stop comes to the same end as one that never stopped.
    #[test]
    fn stopping_changes_nothing(actions in prop::collection::vec(action(REPLIES), 0..80)) {
        let mut whole = Driver::new(6);
        let mut stopped = Driver::new(6);
        for action in &actions {
            act(&mut whole, action);
            act(&mut stopped, action);
            let is_between = matches!(action, Action::Word("calls") | Action::Answer(_));
            if is_between && stopped.run.step() == Step::RunTools {
                stopped.run = Run::resume(6, &stopped.kept);
            }
            prop_assert_eq!(whole.run.step(), stopped.run.step());
        }
        prop_assert_eq!(whole.kept, stopped.kept);
    }
}
