//! The compiled text is a product: these are the texts that people paste into a system prompt.

use insta::assert_snapshot;
use persona::{Bundle, CompiledText, Example, Request, View, assemble, compile};

use crate::script::Toks;
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
    let request = Request { limit: Some(1), ..Request::plain(View::Detail) };
    let assembled = assemble(&bundle, &request, &Toks).expect("no overrides");
    let text = compile(&assembled).detail;
    assert!(text.contains("## Protocol") && text.contains("## Guardrails"), "{text}");
    assert!(!text.contains("## Tone") && !text.contains("## Rules"), "{text}");
}
