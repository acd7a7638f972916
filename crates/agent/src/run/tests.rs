use chrono::DateTime;
use llm::{ToolInput, Usage};
use serde_json::{Map, json};

use super::*;
use crate::turn::tests::{id, turns};

mod random;

/// Drives a run as `app` does, and stores its turns in order.
struct Driver {
    run: Run,
    kept: Vec<Turn>,
    /// The index of the current reply's first turn.
    reply: usize,
    calls: u32,
    pauses: u32,
}

impl Driver {
    fn new(max_tool_rounds: u32) -> Self {
        Self { run: Run::new(max_tool_rounds), kept: turns("u:go"), reply: 1, calls: 0, pauses: 0 }
    }

    fn keep(&mut self, turns: Vec<NewTurn>) {
        for NewTurn { body, provider_state } in turns {
            let id = id(self.kept.len() + 1);
            self.kept.push(Turn { id, created_at: DateTime::UNIX_EPOCH, body, provider_state });
        }
    }

    fn event(&mut self, event: llm::ReplyEvent) {
        let turns = self.run.on_event(event);
        self.keep(turns);
    }

    fn text(&mut self, text: &str) {
        for piece in text.split_inclusive('l') {
            self.event(llm::ReplyEvent::TextDelta(piece.to_owned()));
        }
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str) {
        let (input, malformed) = ToolInput::parse(arguments).into_parts();
        let call = ToolCall { id: id.to_owned(), name: name.to_owned(), input };
        self.event(llm::ReplyEvent::ToolCall(CallBlock { call, malformed, state: None }));
    }

    fn finish(&mut self, stop: StopReason) {
        let rounds = self.run.rounds;
        self.event(llm::ReplyEvent::Finished { stop, usage: Usage::default(), model: None });
        self.pauses += u32::from(self.run.rounds > rounds && self.run.pending.is_empty());
        self.reply = self.kept.len();
    }

    /// The tool of the pending call at this place answers.
    fn answer(&mut self, at: usize) {
        let Some(call) = self.run.pending().get(at) else { return };
        let tool_use_id = call.call.id.clone();
        let body = TurnBody::ToolResult {
            tool_use_id: tool_use_id.clone(),
            output: "ok".into(),
            is_error: false,
            refusal: None,
        };
        self.keep(vec![body.into()]);
        self.run.on_result(&tool_use_id);
        self.reply = self.kept.len();
    }

    /// The attempt failed: what it left is taken back.
    fn discard(&mut self) {
        self.run.discard();
        self.kept.truncate(self.reply);
    }

    fn cancel(&mut self) {
        let turns = self.run.cancel();
        self.keep(turns);
        self.reply = self.kept.len();
    }

    fn fail(&mut self) {
        self.discard();
        let turns = self.run.fail();
        self.keep(turns);
        self.reply = self.kept.len();
    }

    /// A word of a script.
    fn play(&mut self, word: &str) {
        let (name, arguments) = word.split_at(word.find('{').unwrap_or(word.len()));
        let state = || Some(ProviderState { provider: "x".into(), data: json!("signed") });
        match name {
            "text" => self.text("hello"),
            // A whole text, as adapters say it that know where it ends.
            "text." => {
                self.text("hello");
                self.event(llm::ReplyEvent::TextEnd { state: None });
            }
            "state" => self.event(llm::ReplyEvent::TextEnd { state: state() }),
            "think" => self.event(llm::ReplyEvent::ReasoningDelta("hm".into())),
            "end" => self.finish(StopReason::EndTurn),
            "calls" => self.finish(StopReason::ToolUse),
            "limit" => self.finish(StopReason::MaxTokens),
            "refuse" => self.finish(StopReason::Refusal),
            "pause" => self.finish(StopReason::Pause),
            "cancel" => self.cancel(),
            "fail" => self.fail(),
            "discard" => self.discard(),
            "answer" => self.answer(0),
            "plan" => {
                self.run.end_after_tools(End::EndTurn);
                if let Step::Finished(_) = self.run.step() {
                    self.reply = self.kept.len();
                }
            }
            // Anything else is a tool: `tool` is another one each time.
            _ => {
                self.calls += 1;
                let id = format!("id{}", self.calls);
                let other = format!("{{\"n\":{}}}", self.calls);
                self.call(&id, name, if name == "tool" { &other } else { arguments });
            }
        }
    }

    /// The turns after the user's message, a word each, and the run's step.
    fn shown(&self) -> String {
        let words = self.kept[1..].iter().map(|turn| match &turn.body {
            TurnBody::User { .. } => "user",
            TurnBody::AssistantText { .. } => "text",
            TurnBody::ToolCall { malformed: None, .. } => "call",
            TurnBody::ToolCall { .. } => "bad",
            TurnBody::ToolResult { is_error: false, .. } => "ok",
            TurnBody::ToolResult { .. } => "error",
            TurnBody::Summary { .. } => "summary",
        });
        let step = match self.run.step() {
            Step::CallModel => "call_model",
            Step::RunTools => "run_tools",
            Step::Finished(end) => end.as_str(),
        };
        words.chain(["=>", step]).collect::<Vec<_>>().join(" ")
    }
}

/// Plays replies, separated by `|`. Between two replies, the called tools answer.
fn play(max_tool_rounds: u32, script: &str) -> Driver {
    let mut driver = Driver::new(max_tool_rounds);
    for word in script.split_whitespace() {
        if word == "|" {
            while driver.run.step() == Step::RunTools {
                driver.answer(0);
            }
        } else {
            driver.play(word);
        }
    }
    driver
}

#[track_caller]
fn check(script: &str, expected: &str) {
    check_rounds(50, script, expected);
}

#[track_caller]
fn check_rounds(max_tool_rounds: u32, script: &str, expected: &str) {
    assert_eq!(play(max_tool_rounds, script).shown(), expected, "{script}");
}

#[test]
fn a_reply_becomes_flat_turns() {
    check("", "=> call_model");
    check("text", "=> call_model");
    check("text end", "text => end_turn");
    check("text. end", "text => end_turn");
    check("text. text end", "text text => end_turn");
    check("think end", "=> end_turn");
    check("state end", "text => end_turn");
    check("text tool tool", "text call call => call_model");
    check("text tool tool calls", "text call call => run_tools");
    check("text tool tool calls |", "text call call ok ok => call_model");
    check("text tool tool calls | text end", "text call call ok ok text => end_turn");
    check("text tool text tool calls | end", "text call text call ok ok => end_turn");
    check("text. tool text. tool calls | end", "text call text call ok ok => end_turn");
    check("tool calls | tool calls | text end", "call ok call ok text => end_turn");
    check("tool tool calls answer", "call call ok => run_tools");
    check("tool tool calls answer answer", "call call ok ok => call_model");
}

#[test]
fn a_reply_without_calls_ends_with_the_models_reason() {
    check("text end", "text => end_turn");
    check("text calls", "text => end_turn");
    check("text limit", "text => max_tokens");
    check("limit", "=> max_tokens");
    check("text refuse", "text => refusal");
    check("refuse", "=> refusal");
}

#[test]
fn a_reply_with_calls_goes_on_unless_it_was_cut() {
    // Several servers say that the turn ended although there are calls.
    check("tool end", "call => run_tools");
    check("tool pause", "call => run_tools");
    check("tool limit", "call error => max_tokens");
    check("text tool tool limit", "text call call error error => max_tokens");
    check("tool refuse", "call error => refusal");
    check("tool calls | tool text limit", "call ok call text error => max_tokens");
}

#[test]
fn a_pause_has_the_model_called_again() {
    check("text pause", "text => call_model");
    check("text pause text pause text end", "text text text => end_turn");
    check_rounds(2, "pause pause", "=> call_model");
    check_rounds(2, "pause pause pause", "=> max_tool_rounds");
    check_rounds(2, "text pause tool calls | tool calls |", "text call ok call error => max_tool_rounds");
}

#[test]
fn rounds_are_limited() {
    check_rounds(0, "text end", "text => end_turn");
    check_rounds(0, "tool calls", "call error => max_tool_rounds");
    check_rounds(1, "tool tool calls | text end", "call call ok ok text => end_turn");
    check_rounds(1, "tool calls | tool tool calls", "call ok call call error error => max_tool_rounds");
    check_rounds(2, "tool calls | tool calls | end", "call ok call ok => end_turn");
    check_rounds(2, "tool calls | tool calls | tool calls", "call ok call ok call error => max_tool_rounds");
    assert_eq!(Run::new(u32::MAX).max_tool_rounds, limits::MOST_TOOL_ROUNDS);
}

#[test]
fn the_default_is_fifty_rounds() {
    let mut script = "tool calls | ".repeat(50);
    assert_eq!(play(limits::MAX_TOOL_ROUNDS, &script).run.step(), Step::CallModel);
    script.push_str("tool calls");
    assert_eq!(play(limits::MAX_TOOL_ROUNDS, &script).run.step(), Step::Finished(End::MaxToolRounds));
}

#[track_caller]
fn check_loop(batches: &[&str], expected: &str) {
    let script = batches.join(" calls | ") + " calls |";
    let shown = play(50, &script).shown();
    assert_eq!(shown.split_once("=> ").expect("a step").1, expected, "{script}");
}

#[test]
fn the_fifth_identical_batch_is_a_loop() {
    check(
        "read calls | read calls | read calls | read calls |",
        "call ok call ok call ok call ok => call_model",
    );
    check(
        "read calls | read calls | read calls | read calls | read calls",
        "call ok call ok call ok call ok call error => loop_detected",
    );
    check_loop(&["read{\"a\":1}"; 4], "call_model");
    check_loop(&["read{\"a\":1}"; 5], "loop_detected");
    // The order of keys says nothing, however deep.
    let (one, other) = (r#"read{"a":1,"b":{"c":2,"d":3}}"#, r#"read{"b":{"d":3,"c":2},"a":1}"#);
    check_loop(&[one, other, one, other, one], "loop_detected");
    // Text beside the calls says nothing either.
    check_loop(&["read", "text read", "think read", "read text", "text. read"], "loop_detected");
    check_loop(&["read write"; 5], "loop_detected");
    // Arguments that cannot be read, the same each time.
    check_loop(&["read{oops"; 5], "loop_detected");
}

#[test]
fn other_batches_are_no_loop() {
    check_loop(&["tool"; 9], "call_model");
    check_loop(&["read", "read", "read", "read", "write"], "call_model");
    check_loop(&["read", "read", "write", "read", "read", "read", "read"], "call_model");
    check_loop(&["read", "read", "write", "read", "read", "read", "read", "read"], "loop_detected");
    check_loop(&["read write", "write read", "read write", "write read", "read write"], "call_model");
    check_loop(&["read", "read read", "read", "read", "read"], "call_model");
    check_loop(
        &["read{\"a\":1}", "read{\"a\":2}", "read{\"a\":1}", "read{\"a\":2}", "read{\"a\":1}"],
        "call_model",
    );
    check_loop(
        &["read{\"a\":1}", "read{\"a\":\"1\"}", "read{\"a\":1}", "read{\"a\":1}", "read{\"a\":1}"],
        "call_model",
    );
    check_loop(&["read{oops", "read{ouch", "read{oops", "read{oops", "read{oops"], "call_model");
}

#[test]
fn ids_of_calls_say_nothing() {
    let mut driver = Driver::new(50);
    for at in 0..5 {
        // Some servers use the same id for every call, others never again.
        driver.call(if at % 2 == 0 { "same" } else { "other" }, "read", "{}");
        driver.finish(StopReason::ToolUse);
        driver.answer(0);
    }
    assert_eq!(driver.run.step(), Step::Finished(End::LoopDetected));
}

#[test]
fn cancelling_keeps_the_reply_and_closes_every_call() {
    check("cancel", "=> cancelled");
    check("text cancel", "text => cancelled");
    check("text. cancel", "text => cancelled");
    check("text tool cancel", "text call error => cancelled");
    check("text tool text cancel", "text call text error => cancelled");
    check("tool tool calls cancel", "call call error error => cancelled");
    check("tool tool calls answer cancel", "call call ok error => cancelled");
    check("tool calls | cancel", "call ok => cancelled");
    check("tool calls | text tool cancel", "call ok text call error => cancelled");
    // Too late: an end stays what it was.
    check("text end cancel", "text => end_turn");
    check("tool limit cancel", "call error => max_tokens");
    check("fail cancel", "=> failed");
    check("cancel fail cancel", "=> cancelled");
    // Late events are ignored.
    check("cancel text tool end", "=> cancelled");
    check("text tool cancel tool calls |", "text call error => cancelled");
    check("text end text tool calls |", "text => end_turn");
    check("tool calls tool text end", "call => run_tools");
}

#[test]
fn a_failed_attempt_leaves_nothing() {
    check("text tool discard", "=> call_model");
    check("text tool discard text end", "text => end_turn");
    check("text discard end", "=> end_turn");
    check("text discard tool calls |", "call ok => call_model");
    check("tool calls | text. tool discard text end", "call ok text => end_turn");
    check("fail", "=> failed");
    check("text tool fail", "=> failed");
    check("tool calls fail", "call error => failed");
    check("tool tool calls answer fail", "call call ok error => failed");
    check("text end fail", "text => end_turn");
    // An attempt that failed counts neither as a round nor as a repetition.
    check_rounds(1, "tool discard tool discard tool calls | end", "call ok => end_turn");
    check("read discard read discard read discard read discard read discard read calls", "call => run_tools");
}

#[test]
fn a_run_can_end_with_its_tools() {
    check("tool plan calls answer", "call ok => end_turn");
    check("tool tool calls plan answer", "call call ok => run_tools");
    check("tool tool calls plan answer answer", "call call ok ok => end_turn");
    check("tool tool calls answer plan answer", "call call ok ok => end_turn");
    // The last result came first.
    check("tool calls answer plan", "call ok => end_turn");
    check("tool calls plan cancel", "call error => cancelled");
    check("text end plan", "text => end_turn");
    check("text limit plan", "text => max_tokens");
    check("text plan end", "text => end_turn");
    check("text plan limit", "text => max_tokens");
}

#[test]
fn arguments_that_cannot_be_read_are_a_call_too() {
    check("read{oops calls | text end", "bad ok text => end_turn");
    let driver = play(50, "read{oops calls");
    let call = &driver.run.pending()[0];
    assert!(call.call.input.is_empty());
    let malformed = call.malformed.as_deref().expect("it is malformed");
    assert!(malformed.ends_with("; what arrived was: {oops"), "{malformed}");
    let long = play(50, &format!("read{{{} calls", "ä".repeat(100_000)));
    assert!(long.run.pending()[0].malformed.as_ref().expect("it is malformed").len() < 1_200);
}

#[test]
fn the_stored_text_is_the_streamed_text() {
    let mut driver = Driver::new(50);
    driver.text("hello world");
    assert_eq!(driver.run.text_bytes(), 11);
    let state = ProviderState { provider: "x".into(), data: json!({"signature": "s"}) };
    driver.event(llm::ReplyEvent::TextEnd { state: Some(state.clone()) });
    assert_eq!(driver.run.text_bytes(), 0);
    let input: Map<String, Value> = [("path".to_owned(), json!("a.md"))].into_iter().collect();
    let call = ToolCall { id: "toolu_1".into(), name: "read".into(), input };
    let block = CallBlock { call: call.clone(), malformed: None, state: Some(state.clone()) };
    driver.event(llm::ReplyEvent::ToolCall(block));
    driver.finish(StopReason::ToolUse);
    let kept: Vec<_> =
        driver.kept[1..].iter().map(|turn| (turn.body.clone(), turn.provider_state.clone())).collect();
    let text = TurnBody::AssistantText { content: "hello world".into() };
    let body = TurnBody::ToolCall { call: call.clone(), malformed: None };
    assert_eq!(kept, [(text, Some(state.clone())), (body, Some(state))]);
    assert_eq!(driver.run.pending(), [PendingCall { call, malformed: None }]);
}

#[track_caller]
fn check_resumed(script: &str, expected: &str) {
    let run = Run::resume(50, &turns(script));
    let pending: Vec<&str> = run.pending().iter().map(|pending| pending.call.id.as_str()).collect();
    let Run { rounds, repeats, .. } = run;
    assert_eq!(format!("{} rounds {rounds} repeats {repeats}", pending.join(",")), expected, "{script}");
}

#[test]
fn a_run_is_found_again_where_it_stopped() {
    check_resumed("", " rounds 0 repeats 0");
    check_resumed("u:go", " rounds 0 repeats 0");
    check_resumed("u:go c:a", "a rounds 1 repeats 1");
    check_resumed("u:go t:x c:a t:y c:b", "a,b rounds 1 repeats 1");
    check_resumed("u:go c:a c:b r:a", "b rounds 1 repeats 1");
    check_resumed("u:go c:a c:b e:b", "a rounds 1 repeats 1");
    check_resumed("u:go c:a r:a", " rounds 1 repeats 1");
    check_resumed("u:go c:a r:a t:x c:b", "b rounds 2 repeats 2");
    // Some providers use an id again: an older result does not answer the newer call.
    check_resumed("u:go c:a r:a c:a", "a rounds 2 repeats 2");
    check_resumed("u:go c:a c:a r:a", "a rounds 1 repeats 1");
    check_resumed("u:go c:a r:a c:b c:a r:a", "b rounds 2 repeats 1");
    // Turns before the last message belong to another run.
    check_resumed("u:go c:a r:a t:x u:on", " rounds 0 repeats 0");
    check_resumed("u:go c:a u:on", " rounds 0 repeats 0");
    check_resumed("u:go c:a r:a u:on c:b", "b rounds 1 repeats 1");
    // A summary in between changes nothing.
    check_resumed("u:go c:a r:a s3:short c:b", "b rounds 2 repeats 2");
}

/// The step of a resumed run: at once, and after the result of the given call.
#[track_caller]
fn check_planned(script: &str, answered: &str, expected: [Step; 2]) {
    let mut run = Run::resume(50, &turns(script));
    let before = run.step();
    run.on_result(answered);
    assert_eq!([before, run.step()], expected, "{script}");
}

#[test]
fn a_plan_that_was_handed_over_ends_the_run_that_is_found_again() {
    let ended = Step::Finished(End::EndTurn);
    check_planned("u:go x:plan c:a r:plan", "a", [Step::RunTools, ended]);
    check_planned("u:go c:a x:plan r:plan", "a", [Step::RunTools, ended]);
    check_planned("u:go c:b r:b t:x c:a x:plan r:plan", "a", [Step::RunTools, ended]);
    // Its process was gone before it could say so.
    check_planned("u:go x:plan r:plan", "", [ended; 2]);
    check_planned("u:go x:plan c:a r:plan r:a", "", [ended; 2]);
    // A plan that was refused, or that is still to be handed over, ends nothing.
    check_planned("u:go x:plan c:a e:plan", "a", [Step::RunTools, Step::CallModel]);
    check_planned("u:go x:plan c:a r:a", "plan", [Step::RunTools, Step::CallModel]);
    // Nor does one that was handed over before the last message.
    check_planned("u:go x:plan r:plan u:on", "", [Step::CallModel; 2]);
    check_planned("u:go x:plan r:plan u:on c:a", "a", [Step::RunTools, Step::CallModel]);
    // Some providers use an id again, and then the first of them is answered first.
    check_planned("u:go x:a c:a r:a", "a", [Step::RunTools, ended]);
    check_planned("u:go c:a x:a r:a", "a", [Step::RunTools, Step::CallModel]);
}

/// The reasons of the results that a script leaves, and its end.
#[track_caller]
fn check_refusals(script: &str, expected: &str) {
    let driver = play(2, script);
    let reasons = driver.kept.iter().filter_map(|turn| match &turn.body {
        TurnBody::ToolResult { refusal: Some(refusal), .. } => Some(refusal.to_string()),
        TurnBody::ToolResult { refusal: None, .. } => Some("ok".to_owned()),
        _ => None,
    });
    assert_eq!(reasons.collect::<Vec<_>>().join(", "), expected, "{script}");
}

#[test]
fn results_say_why_a_tool_was_not_run() {
    check_refusals("tool calls |", "ok");
    check_refusals("tool tool calls cancel", "cancelled, cancelled");
    check_refusals("tool cancel", "cancelled");
    check_refusals("tool calls fail", "the run failed");
    check_refusals("tool limit", "the run ended");
    check_refusals("tool refuse", "the run ended");
    check_refusals("tool calls | tool calls | tool calls", "ok, ok, the run ended");
    let surplus = format!("{}calls |", "tool ".repeat(limits::CALLS_PER_REPLY + 1));
    let expected = format!("too many calls{}", ", ok".repeat(limits::CALLS_PER_REPLY));
    check_refusals(&surplus, &expected);
}
