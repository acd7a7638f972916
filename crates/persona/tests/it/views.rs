//! Answers as a caller receives them: the two views, with their budgets, and the manifest.

use chrono::DateTime;
use insta::assert_json_snapshot;
use persona::{
    AssemblyRequest, Bundle, Compiled, Form, Manifest, Part, PartType, PersonaView, View, assemble, compile,
    manifest, view,
};

use crate::script::{Toks, name};
use crate::wardrobe::{minimal, rich, staged, without_prompt};

fn answer(bundle: &Bundle, request: &AssemblyRequest) -> PersonaView {
    let assembled = assemble(bundle, request, &Toks).unwrap_or_else(|error| panic!("{error}"));
    view(&assembled, request, "toks")
}

fn plain(bundle: &Bundle, asked: View) -> PersonaView {
    answer(bundle, &AssemblyRequest::plain(asked))
}

#[test]
fn a_rich_persona() {
    assert_json_snapshot!("rich_summary", plain(&rich(), View::Summary));
    assert_json_snapshot!("rich_detail", plain(&rich(), View::Detail));
}

#[test]
fn a_persona_in_a_stage() {
    assert_json_snapshot!("staged_summary", plain(&staged(), View::Summary));
}

#[test]
fn a_persona_without_a_system_prompt() {
    assert_json_snapshot!("without_prompt_summary", plain(&without_prompt(), View::Summary));
    assert_json_snapshot!("without_prompt_detail", plain(&without_prompt(), View::Detail));
}

#[test]
fn a_persona_that_has_only_a_name() {
    let expected = r#"{"name":"blank","scope":"builtin","revision":0,"parts":[],"traits":[],"skills":[],"guardrails":[]}"#;
    for asked in [View::Summary, View::Detail] {
        assert_eq!(serde_json::to_string(&plain(&minimal(), asked)).expect("JSON"), expected);
    }
}

#[test]
fn in_full_a_persona_without_fuller_text_keeps_its_summary() {
    let mut bundle = minimal();
    bundle.persona.summary = Some("Listens.".into());
    assert_eq!(plain(&bundle, View::Detail).summary.as_deref(), Some("Listens."));
    bundle.persona.detail = Some("Listens to the end.".into());
    assert_eq!(plain(&bundle, View::Detail).summary, None);
    assert_eq!(plain(&bundle, View::Summary).summary.as_deref(), Some("Listens."));
}

#[test]
fn a_budget_lists_dropped_pieces() {
    let mut bundle = staged();
    bundle.override_parts = vec![Part { name: name("calm"), ..rich().parts[1].clone() }];
    let request = AssemblyRequest {
        view: View::Summary,
        overrides: [(PartType::Tone, name("calm"))].into(),
        types: vec![PartType::Tone, PartType::Identity, PartType::System, PartType::Flaw],
        limit: Some(3),
        max_tokens: Some(1),
        form: Form::Pieces,
    };
    assert_json_snapshot!("budget", answer(&bundle, &request));
}

#[test]
fn a_budget_block_needs_a_budget() {
    let mut bundle = rich();
    bundle.override_parts = vec![Part { name: name("calm"), ..rich().parts[1].clone() }];
    let overrides = [(PartType::Tone, name("calm"))].into();
    let overriding = AssemblyRequest { overrides, ..AssemblyRequest::default() };
    assert_eq!(answer(&bundle, &overriding).budget, None);
    assert_eq!(plain(&bundle, View::Summary).budget, None);
    let budget = answer(&bundle, &AssemblyRequest { limit: Some(99), ..AssemblyRequest::default() }).budget;
    let budget = budget.expect("a limit was given");
    assert!(budget.left_out.is_empty() && !budget.over_budget);
    assert_eq!((budget.tokens, budget.tokenizer), (None, None));
}

#[test]
fn only_a_plain_answer_has_compiled_text_and_only_its_view() {
    let mut bundle = rich();
    bundle.compiled = Some(Compiled {
        summary: "short".into(),
        detail: "long".into(),
        at: DateTime::UNIX_EPOCH,
        fingerprint: compile(&minimal().assembled()).fingerprint,
    });
    let shown = |request: &AssemblyRequest| {
        let answer = answer(&bundle, request);
        (answer.compiled_summary, answer.compiled_detail, answer.compiled_at.is_some(), answer.compiled_stale)
    };
    let summary = AssemblyRequest::plain(View::Summary);
    assert_eq!(shown(&summary), (Some("short".into()), None, true, Some(true)));
    assert_eq!(shown(&AssemblyRequest::plain(View::Detail)), (None, Some("long".into()), true, Some(true)));
    for request in [
        AssemblyRequest { types: vec![PartType::Tone], ..summary.clone() },
        AssemblyRequest { limit: Some(99), ..summary.clone() },
        AssemblyRequest { max_tokens: Some(9999), ..summary },
    ] {
        assert_eq!(shown(&request), (None, None, false, None));
    }
}

#[test]
fn the_manifest_is_structure() {
    assert_json_snapshot!("manifest_staged", manifest(&staged().assembled(), &Toks));
    assert_json_snapshot!("manifest_without_prompt", manifest(&without_prompt().assembled(), &Toks));
    assert_json_snapshot!("manifest_minimal", manifest(&minimal().assembled(), &Toks));
}

#[test]
fn the_manifest_holds_no_content_and_no_instruction() {
    let bundle = staged();
    let json = serde_json::to_string(&manifest(&bundle.assembled(), &Toks)).expect("JSON");
    let Bundle { persona, parts, traits, skills, guardrails, stage, .. } = &bundle;
    let stage = stage.iter().flat_map(|stage| &stage.parts);
    let contents = parts
        .iter()
        .chain(stage)
        .flat_map(|part| [&part.content, &part.summary])
        .chain(traits.iter().map(|item| &item.instruction))
        .chain(skills.iter().map(|item| &item.content))
        .chain(guardrails.iter().map(|item| &item.content))
        .chain([&persona.system_prompt, &persona.detail]);
    for content in contents.flatten() {
        let start: String = content.trim().chars().take(20).collect();
        assert!(!json.contains(&start), "{start:?} is in {json}");
    }
}

#[test]
fn the_manifest_carries_the_tools_that_its_front_fills_in() {
    let mut filled = manifest(&rich().assembled(), &Toks);
    assert!(filled.on_demand_tools.is_empty());
    filled.on_demand_tools.insert("get_agent_part".into(), "loads one part".into());
    let json = serde_json::to_value(&filled).expect("JSON");
    assert_eq!(json["on_demand_tools"]["get_agent_part"], "loads one part");
    assert_eq!(serde_json::from_value::<Manifest>(json).expect("a manifest"), filled);
}
