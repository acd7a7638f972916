//! The compiled text is a product: these are the texts that people paste into a system prompt.

use insta::assert_snapshot;
use persona::{AssemblyRequest, Bundle, Compiled, CompiledText, Example, Persona, View, assemble, compile};

use crate::script::{Toks, bundle, name};
use crate::wardrobe::{minimal, rich, staged, without_prompt};

/// Compiles, and sees to what no golden text would show: a text ends with one line end.
fn compiled(bundle: &Bundle) -> CompiledText {
    let compiled = compile(&bundle.assembled());
    for text in [&compiled.summary, &compiled.detail] {
        assert_eq!(text.trim_end().len() + usize::from(!text.is_empty()), text.len(), "{text:?}");
        assert!(!text.starts_with('\n') && !text.contains('\r'), "{text:?}");
    }
    compiled
}

#[test]
fn a_rich_persona() {
    let text = compiled(&rich());
    assert_snapshot!("rich_summary", text.summary);
    assert_snapshot!("rich_detail", text.detail);
}

#[test]
fn a_persona_in_a_stage() {
    let text = compiled(&staged());
    assert_snapshot!("staged_summary", text.summary);
    assert_snapshot!("staged_detail", text.detail);
}

#[test]
fn a_persona_without_a_system_prompt() {
    let text = compiled(&without_prompt());
    assert_snapshot!("without_prompt_summary", text.summary);
    assert_snapshot!("without_prompt_detail", text.detail);
}

#[test]
fn a_persona_that_has_only_a_name_says_nothing() {
    let text = compiled(&minimal());
    assert_eq!((text.summary.as_str(), text.detail.as_str()), ("", ""));
}

#[test]
fn blank_texts_leave_no_trace() {
    let blank = || Some(" \n".to_owned());
    let mut bundle = without_prompt();
    let before = compiled(&bundle);
    bundle.persona.system_prompt = blank();
    bundle.persona.summary = blank();
    bundle.parts[0].content = blank();
    bundle.parts[1].summary = blank();
    bundle.traits[0].description = blank();
    bundle.skills[0].content = blank();
    bundle.skills[1].description = blank();
    bundle.guardrails[0].description = blank();
    assert_eq!(compiled(&bundle), before);
    bundle.parts[0].summary = blank();
    let text = compiled(&bundle);
    assert!(!text.summary.contains("## Tone") && !text.detail.contains("## Tone"), "{}", text.detail);
}

#[test]
fn examples_follow_the_parts() {
    let mut bundle = rich();
    let before = compiled(&bundle);
    let example = |user: &str, persona: &str| Example { user: user.to_owned(), persona: persona.to_owned() };
    bundle.persona.examples = vec![example("Hi.", "Good day."), example("Why?", "- one\n- two")];
    let after = compiled(&bundle);
    let block = "## Examples\n\n- **User**: Hi.\n- **You**: Good day.\n- **User**: Why?\n- **You**:\n  - one\n  - two\n\n";
    let at = after.detail.find(block).expect("the examples");
    assert_eq!(after.detail.replacen(block, "", 1), before.detail);
    assert!(after.detail[at + block.len()..].starts_with("## Traits"), "{}", after.detail);
    assert_eq!(after.summary, before.summary, "a summary has none");
    assert_ne!(after.fingerprint, before.fingerprint);
    assert!(persona::prompt(&bundle.assembled()).contains(block), "a running persona has them too");
}

#[test]
fn dropped_pieces_are_not_in_the_text() {
    let bundle = rich();
    let request = AssemblyRequest { limit: Some(1), ..AssemblyRequest::plain(View::Detail) };
    let assembled = assemble(&bundle, &request, &Toks).expect("no overrides");
    let text = compile(&assembled).detail;
    assert!(text.contains("## Protocol") && text.contains("## Guardrails"), "{text}");
    assert!(!text.contains("## Tone") && !text.contains("## Rules"), "{text}");
}

#[test]
fn nothing_is_cut_out_of_a_piece_without_a_summary() {
    let mut bundle = bundle(Persona::new(name("strict")));
    bundle.persona.system_prompt = Some("You are e.g. a tester. You must never push.".to_owned());
    let json = serde_json::json!({
        "parts": [{ "name": "steps", "part_type": "protocol", "description": "For changes.", "content": "1. Read the ADR.\n2. Run make check." }],
        "traits": [{ "name": "wary", "trait_type": "cognitive", "instruction": "Doubt. Then check." }],
        "skills": [{ "name": "bisect", "content": "Halve it. Halve it again." }],
        "guardrails": [{ "name": "safe", "content": "Never force-push.\nNever delete a branch." }],
    });
    let read = |kind: &str| json[kind].clone();
    bundle.parts = serde_json::from_value(read("parts")).expect("parts");
    bundle.traits = serde_json::from_value(read("traits")).expect("traits");
    bundle.skills = serde_json::from_value(read("skills")).expect("skills");
    bundle.guardrails = serde_json::from_value(read("guardrails")).expect("guardrails");
    bundle.persona.parts = serde_json::from_value(serde_json::json!([{ "name": "steps" }])).expect("links");
    bundle.persona.traits = vec![name("wary")];
    bundle.persona.skills = vec![name("bisect")];
    bundle.persona.guardrails = vec![name("safe")];
    let text = compiled(&bundle);
    let view = |asked| {
        let request = AssemblyRequest::plain(asked);
        let view =
            persona::view(&assemble(&bundle, &request, &Toks).expect("no overrides"), &request, "toks");
        serde_json::to_string(&view).expect("JSON").replace("\\n", "\n")
    };
    for text in [text.summary, text.detail, view(View::Summary), view(View::Detail)] {
        for said in [
            "You are e.g. a tester. You must never push.",
            "1. Read the ADR.\n2. Run make check.",
            "Doubt. Then check.",
            "Halve it. Halve it again.",
            "Never force-push.",
            "Never delete a branch.",
        ] {
            assert!(text.contains(said), "{said:?} is not in {text}");
        }
        assert!(!text.contains("For changes."), "a description is about a part: {text}");
    }
}

#[test]
fn text_of_another_format_is_not_shown() {
    let mut bundle = rich();
    let text = compiled(&bundle);
    let at = chrono::DateTime::UNIX_EPOCH;
    let (summary, detail) = ("Cut.".to_owned(), "Cut too.".to_owned());
    bundle.compiled = Some(Compiled { summary, detail, at, fingerprint: "0".repeat(64) });
    let shown = |bundle: &Bundle| {
        let view = persona::view(&bundle.assembled(), &AssemblyRequest::default(), "toks");
        (view.compiled_summary, view.compiled_stale)
    };
    assert_eq!(shown(&bundle), (None, None));
    let CompiledText { summary, detail, fingerprint } = text;
    bundle.compiled = Some(Compiled { summary: summary.clone(), detail, at, fingerprint });
    assert_eq!(shown(&bundle), (Some(summary), Some(false)));
}
