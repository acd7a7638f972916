//! Verdicts over calls, as scripts.

use chrono::DateTime;
use llm::ToolCall;
use persona::ToolPreset;
use uuid::Uuid;

use super::*;
use crate::selection::tests::{TOOLS, preset, tools};
use crate::turn::tests::call;
use crate::{Chosen, select_below};

/// The set-up of a script, before its call.
#[derive(Default)]
struct Scene {
    mode: Mode,
    preset: Option<ToolPreset>,
    above: Vec<ToolPreset>,
    deny: Vec<String>,
    is_untrusted: bool,
    policy: ApprovalPolicy,
    is_watched: bool,
    decisions: Decisions,
    concerns: Vec<Concern>,
}

/// `yes`, `no`, with `!` behind it if it is to be remembered; then the reason.
fn answer(words: &str, tool: &str, id: &str) -> Approval {
    let (word, reason) = words.split_once(' ').map_or((words, None), |(word, why)| (word, Some(why)));
    let (word, remember) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
    let approved = match word {
        "yes" => true,
        "no" => false,
        other => panic!("{other} is not an answer"),
    };
    let (reason, answered_at) = (reason.map(str::to_owned), DateTime::UNIX_EPOCH);
    Approval {
        session: Uuid::nil(),
        call: call(id, tool),
        asked_at: DateTime::UNIX_EPOCH,
        answer: Some(ApprovalAnswer { approved, reason, remember, answered_at }),
    }
}

impl Scene {
    /// One line of a script. `preset ask` gives every tool that approval; `preset a=ask b` lists
    /// tools. Decisions: `this yes` is about the call itself, `earlier write_file yes!` about an
    /// earlier one, `above write_file no!` about one of a session above.
    fn set(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let listed = |rest: &str| match rest {
            "auto" | "ask" | "deny" => preset(&format!("all: *={rest}")),
            entries => preset(&format!("all: {entries}")),
        };
        let about = |rest: &str| {
            let (tool, answered) = rest.split_once(' ').expect("a tool and an answer");
            answer(answered, tool, "another")
        };
        match word {
            "mode" => self.mode = rest.parse().expect("a mode"),
            "preset" => self.preset = Some(listed(rest)),
            "delegated" => self.above.push(listed(rest)),
            "guardrail" => self.deny.push(rest.to_owned()),
            "untrusted" => self.is_untrusted = true,
            "policy" => self.policy = rest.parse().expect("a policy"),
            "watched" => self.is_watched = true,
            "protected" => self.concerns.push(Concern::Protected("personas.toml".to_owned())),
            "secret" => self.concerns.push(Concern::Secret(".env".to_owned())),
            "this" => self.decisions.add_own([answer(rest, "write_file", "this")]),
            "earlier" => self.decisions.add_own([about(rest)]),
            "above" => self.decisions.add_inherited([about(rest)]),
            other => panic!("{other} sets nothing up"),
        }
    }

    fn chosen<'a>(&'a self, preset: Option<&'a ToolPreset>) -> Chosen<'a> {
        let auto_counts = !self.is_untrusted;
        Chosen { mode: self.mode, preset, bias: None, deny: &self.deny, auto_counts }
    }

    fn judge(&self, pending: &PendingCall) -> String {
        let tools = tools(TOOLS);
        let above: Vec<_> = self.above.iter().map(|preset| self.chosen(Some(preset))).collect();
        let offer = select_below(&tools, &self.chosen(self.preset.as_ref()), &above);
        let circumstances = Circumstances {
            mode: self.mode,
            offer: &offer,
            tools: &tools,
            decisions: &self.decisions,
            policy: self.policy,
            is_watched: self.is_watched,
        };
        match circumstances.judge(pending, &self.concerns) {
            Verdict::Run(selected) => {
                assert_eq!(selected.tool.name, pending.call.name);
                "run".to_owned()
            }
            Verdict::Ask => "ask".to_owned(),
            Verdict::Refuse(Refused { refusal, .. }) => format!("refused: {refusal}"),
        }
    }
}

fn judge(script: &str) -> String {
    let mut scene = Scene::default();
    for line in script.split('|').map(str::trim) {
        let Some(called) = line.strip_prefix("call ") else {
            scene.set(line);
            continue;
        };
        let (name, malformed) = match called.strip_suffix(" {") {
            Some(name) => (name, Some("EOF".to_owned())),
            None => (called, None),
        };
        return scene.judge(&PendingCall { call: call("this", name), malformed });
    }
    panic!("{script} makes no call");
}

#[track_caller]
fn check(script: &str, expected: &str) {
    assert_eq!(judge(script), expected, "{script}");
}

#[test]
fn without_a_preset_reading_is_free_and_acting_asks() {
    check("call read_file", "run");
    check("call load_skill", "run");
    check("call delegate", "run");
    check("call write_file", "ask");
    check("call run_command", "ask");
    check("call mcp__docs__find", "run");
    check("call mcp__docs__drop", "ask");
}

#[test]
fn a_servers_own_hint_grants_nothing() {
    check("call mcp__wiki__find", "ask");
    check("preset mcp__* | call mcp__wiki__find", "ask");
    check("preset mcp__* | call mcp__docs__find", "run");
    check("mode plan | call mcp__wiki__find", "ask");
    check("mode plan | call mcp__docs__find", "run");
    check("policy read | call mcp__wiki__find", "refused: nobody to ask");
    check("preset auto | call mcp__wiki__find", "run");
    check("untrusted | preset auto | call mcp__wiki__find", "ask");
}

#[test]
fn presets() {
    check("preset auto | call write_file", "run");
    check("preset ask | call write_file", "ask");
    check("preset ask | call read_file", "ask");
    check("preset deny | call read_file", "refused: not offered");
    check("preset write_file=auto | call write_file", "run");
    check("preset write_file=auto | call run_command", "refused: not offered");
    check("preset write_file | call write_file", "ask");
    check("preset read_file | call read_file", "run");
    check("preset *=auto write_file=ask | call write_file", "ask");
    check("preset *=auto write_file=deny | call write_file", "refused: not offered");
    check("preset read_file | call load_skill", "run");
}

#[test]
fn a_foreign_presets_auto_does_not_count() {
    check("untrusted | preset auto | call write_file", "ask");
    check("untrusted | preset auto | call read_file", "run");
    check("untrusted | preset ask | call read_file", "ask");
    check("untrusted | preset deny | call read_file", "refused: not offered");
    check("untrusted | preset auto | policy refuse | call write_file", "refused: nobody to ask");
}

#[test]
fn only_the_user_allows_a_call_with_a_concern() {
    check("protected | preset auto | call write_file", "ask");
    check("protected | earlier write_file yes! | call write_file", "ask");
    check("protected | above write_file yes! | call write_file", "ask");
    check("protected | earlier write_file no! | call write_file", "refused: rejected by the user");
    check("protected | this yes | call write_file", "run");
    check("protected | this no | call write_file", "refused: rejected by the user");
    check("protected | preset auto | policy refuse | call write_file", "refused: nobody to ask");
    check("protected | policy all | call write_file", "refused: nobody to ask");
    check("protected | policy all | watched | call write_file", "ask");
    check("protected | policy all_unattended | watched | call write_file", "refused: nobody to ask");
    check("policy all_unattended | watched | call write_file", "run");
    check("protected | guardrail write_* | this yes | call write_file", "refused: not offered");
    check("secret | call read_file", "ask");
    check("secret | mode plan | call read_file", "ask");
    check("secret | policy read | call read_file", "refused: nobody to ask");
    check("secret | policy read | watched | call read_file", "refused: nobody to ask");
    check("secret | policy all | watched | call read_file", "ask");
}

#[test]
fn guardrails_beat_everything() {
    check("guardrail write_* | preset auto | call write_file", "refused: not offered");
    check("guardrail write_* | policy all | call write_file", "refused: not offered");
    check("guardrail * | call load_skill", "refused: not offered");
    check("guardrail write_file | this yes | call write_file", "refused: not offered");
}

#[test]
fn policies() {
    check("preset ask | policy refuse | call write_file", "refused: nobody to ask");
    check("preset ask | policy refuse | call read_file", "refused: nobody to ask");
    check("preset ask | policy read | call read_file", "run");
    check("preset ask | policy read | call write_file", "refused: nobody to ask");
    check("preset ask | policy all | call write_file", "run");
    check("policy edit | call read_file", "run");
    check("policy edit | call write_file", "run");
    check("policy edit | call run_command", "ask");
    check("protected | policy edit | call write_file", "ask");
    check("guardrail write_* | policy edit | call write_file", "refused: not offered");
    check("preset ask | policy ask | call write_file", "ask");
    check("policy ask_viewer | call write_file", "refused: nobody to ask");
    check("policy ask_viewer | watched | call write_file", "ask");
    check("policy refuse | watched | call write_file", "refused: nobody to ask");
    // A preset's approval needs no policy.
    check("preset auto | policy refuse | call write_file", "run");
    // No policy brings back what a preset hides.
    check("preset deny | policy all | call write_file", "refused: not offered");
}

#[test]
fn decisions_count_before_the_policy() {
    check("this yes | policy refuse | call write_file", "run");
    check("this no | policy all | call write_file", "refused: rejected by the user");
    check("this no not that file | call write_file", "refused: rejected by the user");
    check("earlier write_file yes | call write_file", "ask");
    check("earlier write_file yes! | call write_file", "run");
    check("earlier write_file no! | policy all | call write_file", "refused: rejected by the user");
    check("earlier run_command yes! | call write_file", "ask");
    // A decision about the call counts before one about its tool.
    check("earlier write_file no! | this yes | call write_file", "run");
    check("earlier write_file yes! | this no | call write_file", "refused: rejected by the user");
    // Of two about the tool, the first one counts.
    check(
        "earlier write_file no! | earlier write_file yes! | call write_file",
        "refused: rejected by the user",
    );
}

#[test]
fn delegates_inherit_decisions_and_the_nearest_counts() {
    check("above write_file yes! | call write_file", "run");
    check("above write_file no! | policy all | call write_file", "refused: rejected by the user");
    check("above write_file yes | call write_file", "ask");
    check(
        "earlier write_file no! | above write_file yes! | call write_file",
        "refused: rejected by the user",
    );
    check("above write_file yes! | above write_file no! | call write_file", "run");
}

#[test]
fn delegates_may_do_what_all_above_them_may() {
    check("preset auto | delegated auto | call write_file", "run");
    check("preset auto | delegated ask | call write_file", "ask");
    check("preset ask | delegated auto | call write_file", "ask");
    check("preset auto | delegated deny | call write_file", "refused: not offered");
    check("preset auto | delegated read_file | call write_file", "refused: not offered");
    check("preset auto | delegated auto | delegated ask | call write_file", "ask");
    check("delegated write_file=ask | policy all | call write_file", "run");
    check(
        "preset auto | delegated write_file=ask | policy refuse | call write_file",
        "refused: nobody to ask",
    );
}

#[test]
fn plan_mode_hides_what_can_act() {
    check("mode plan | call read_file", "run");
    check("mode plan | call plan_exit", "run");
    check("mode plan | call delegate", "run");
    check("mode plan | call write_file", "refused: plan mode");
    check("mode plan | preset auto | policy all | call write_file", "refused: plan mode");
    check("mode plan | this yes | call write_file", "refused: plan mode");
    check("mode plan | call wriet_file", "refused: not offered");
    check("call plan_exit", "refused: not offered");
}

#[test]
fn calls_that_mean_nothing() {
    check("call wriet_file", "refused: not offered");
    check("call read_file {", "refused: malformed arguments");
    check("policy all | call nothing {", "refused: malformed arguments");
}

#[test]
fn the_model_learns_what_to_do_instead() {
    let tools = tools("files/read_file files/write_file!");
    let chosen = Chosen { mode: Mode::Plan, preset: None, bias: None, deny: &[], auto_counts: true };
    let offer = crate::select(&tools, &chosen);
    let decisions = Decisions::default();
    let circumstances = Circumstances {
        mode: Mode::Plan,
        offer: &offer,
        tools: &tools,
        decisions: &decisions,
        policy: ApprovalPolicy::Ask,
        is_watched: false,
    };
    let message = |name: &str| match circumstances
        .judge(&PendingCall { call: call("a", name), malformed: None }, &[])
    {
        Verdict::Refuse(refused) => refused.message,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        message("write_file"),
        "write_file was not run: plan mode has read-only tools only; available tools: read_file."
    );
    assert_eq!(message("wriet"), "Unknown tool \"wriet\"; available tools: read_file.");
    assert!(message(&"x".repeat(1_000)).len() < 200);
}

#[test]
fn the_mode_is_checked_again_when_a_tool_begins() {
    let tools = tools("files/read_file files/write_file!");
    let (reads, acts) = (tools[0].annotations, tools[1].annotations);
    let claims = Annotations { is_claimed: true, ..reads };
    let begin =
        |tool: usize, now, mode| check_begin(&tools[tool], now, mode).map_err(|refused| refused.refusal);
    assert_eq!(begin(1, acts, Mode::Build), Ok(()));
    assert_eq!(begin(0, reads, Mode::Plan), Ok(()));
    assert_eq!(begin(1, acts, Mode::Plan), Err(Refusal::PlanMode));
    // A server changed the tool since the verdict.
    assert_eq!(begin(0, acts, Mode::Plan), Err(Refusal::PlanMode));
    assert_eq!(begin(0, acts, Mode::Build), Err(Refusal::NotOffered));
    assert_eq!(begin(0, claims, Mode::Build), Err(Refusal::NotOffered));
}

#[test]
fn decisions_are_read_only_if_a_call_asks() {
    let tools = tools("files/read_file files/write_file!");
    let chosen = Chosen { mode: Mode::Build, preset: None, bias: None, deny: &[], auto_counts: true };
    let offer = crate::select(&tools, &chosen);
    let needs = |name: &str| {
        let pending =
            PendingCall { call: ToolCall { name: name.to_owned(), ..ToolCall::default() }, malformed: None };
        Circumstances::needs_decisions(&offer, &pending, &[])
    };
    assert_eq!([needs("read_file"), needs("write_file"), needs("nothing")], [false, true, false]);
}
