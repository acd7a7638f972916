//! The fingerprint changes with the compiled text, and with nothing else.

use chrono::DateTime;
use persona::{
    Bundle, Compiled, LayerOrigin, MergeMode, Meta, PartType, Request, Scope, Severity, TraitType, View,
    compile, fingerprint, view,
};

use crate::script::name;
use crate::wardrobe::{minimal, rich, staged, without_prompt};

fn of(bundle: &Bundle) -> String {
    fingerprint(&bundle.assembled())
}

/// Asserts that an edit of the rich persona changes text and fingerprint, or neither.
#[track_caller]
fn check(changes: bool, edit: impl FnOnce(&mut Bundle)) {
    let mut edited = rich();
    edit(&mut edited);
    assert_ne!(edited, rich(), "the edit does nothing");
    let (before, after) = (compile(&rich().assembled()), compile(&edited.assembled()));
    let text_changes = before.summary != after.summary || before.detail != after.detail;
    assert_eq!(text_changes, changes, "whether the text changes");
    assert_eq!(before.fingerprint != after.fingerprint, changes, "whether the fingerprint changes");
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn it_changes_with_the_personas_texts() {
    check(true, |it| it.persona.summary = text("Another."));
    check(true, |it| it.persona.summary = None);
    check(true, |it| it.persona.system_prompt = text("Another."));
    check(true, |it| it.persona.system_prompt = None);
}

#[test]
fn it_changes_with_the_parts() {
    check(true, |it| it.parts[0].summary = text("Another."));
    check(true, |it| it.parts[0].content = text("Another."));
    check(true, |it| it.parts[0].content = None);
    check(true, |it| it.parts[0].part_type = PartType::Soul);
    // The last part has no summary, so its description is used.
    check(true, |it| it.parts[5].description = text("Another."));
    check(true, |it| it.persona.parts[0].order = 99);
    check(true, |it| drop(it.persona.parts.pop()));
    check(true, |it| it.stage = staged().stage);
}

#[test]
fn it_changes_with_traits_skills_and_guardrails() {
    check(true, |it| it.persona.traits.swap(0, 1));
    check(true, |it| drop(it.persona.traits.pop()));
    check(true, |it| it.traits[0].description = text("Another."));
    check(true, |it| it.traits[0].instruction = text("Another."));
    check(true, |it| {
        it.traits[0].name = name("wary");
        it.persona.traits[0] = name("wary");
    });
    check(true, |it| it.persona.skills.swap(0, 1));
    check(true, |it| it.skills[0].description = text("Another."));
    check(true, |it| it.skills[0].content = text("Another."));
    check(true, |it| it.skills[2].content = None);
    check(true, |it| drop(it.persona.guardrails.pop()));
    check(true, |it| it.guardrails[0].severity = Severity::Critical);
    // This one keeps its place among them; only its label changes.
    check(true, |it| it.guardrails[2].severity = Severity::Medium);
    check(true, |it| it.guardrails[3].severity = Severity::Low);
    check(true, |it| it.guardrails[1].description = text("Another."));
    check(true, |it| it.guardrails[1].content = text("Another."));
}

#[test]
fn it_ignores_fields_outside_the_text() {
    check(false, |it| it.persona.name = name("another"));
    check(false, |it| it.persona.display_name = None);
    // With a summary and a system prompt, description and detail are about the persona.
    check(false, |it| it.persona.description = text("Another."));
    check(false, |it| it.persona.detail = text("Another."));
    check(false, |it| it.persona.tags.clear());
    check(false, |it| it.persona.preferred_models.clear());
    check(false, |it| it.persona.parts_mode = MergeMode::Append);
    check(false, |it| it.persona.tool_preset = Some(name("careful")));
    check(false, |it| it.meta = Meta { scope: Scope::Project, revision: 8, ..Meta::BUILTIN });
}

#[test]
fn it_ignores_unused_fields_of_pieces() {
    check(false, |it| it.persona.parts[0].priority = -1);
    check(false, |it| it.persona.parts[0].order = 11);
    check(false, |it| it.parts[0].description = text("Another."));
    check(false, |it| it.parts[0].tags = vec!["new".to_owned()]);
    check(false, |it| {
        it.parts[0].name = name("who-else");
        it.persona.parts[0].name = name("who-else");
    });
    check(false, |it| it.parts.reverse());
    check(false, |it| it.traits[0].trait_type = TraitType::Social);
    check(false, |it| it.skills[0].tags = vec!["new".to_owned()]);
    check(false, |it| it.guardrails[1].deny_tools.clear());
    // Guardrails are sorted by severity, then in the author's order.
    check(false, |it| it.persona.guardrails.swap(0, 1));
    check(false, |it| it.override_parts = rich().parts);
}

#[test]
fn it_ignores_the_texts_of_the_stage() {
    let mut edited = staged();
    let stage = edited.stage.as_mut().expect("it is in a stage");
    stage.description = None;
    stage.condition = None;
    stage.position = 3;
    assert_eq!(of(&edited), of(&staged()));
    edited.stage.as_mut().expect("it is in a stage").parts.pop();
    assert_ne!(of(&edited), of(&staged()));
}

#[test]
fn fields_do_not_run_together() {
    let with = |summary: &str, content: &str| {
        let mut bundle = minimal();
        bundle.persona.summary = text(summary);
        bundle.persona.system_prompt = text(content);
        of(&bundle)
    };
    assert_ne!(with("ab", "c"), with("a", "bc"));
}

/// Text that was compiled by an earlier run is recognised by a later one. Where a golden text
/// changes though its persona did not, `FORMAT` in compile.rs must change, and with it these.
#[test]
fn it_is_the_same_in_every_run() {
    // SHA-256 of "1" (the format) and two empty openings, each after its length in eight bytes.
    assert_eq!(of(&minimal()), "0645345c90daea1828b0e3841ea7754160088359018e961e878efc4cc8319cbc");
    assert_eq!(of(&rich()), "ffdcc341069dadc2f4a7f43851add9187cdadf382d637dddd78431b343c859ad");
    assert_eq!(of(&staged()), "79b82ec818c3b2fa050809d7efbb7262943b4909097d5270d8aaf8e15a9f66d0");
    assert_eq!(of(&without_prompt()), "e0f0c54688481677cca70d9d67c55858eb9df9aa0677b7f8e27d7f1286ca4d58");
}

#[test]
fn compiled_text_is_stale_once_a_piece_has_changed() {
    let mut bundle = rich();
    let text = compile(&bundle.assembled());
    bundle.compiled = Some(Compiled {
        summary: text.summary,
        detail: text.detail,
        at: DateTime::UNIX_EPOCH,
        fingerprint: text.fingerprint,
    });
    let stale =
        |bundle: &Bundle| view(&bundle.assembled(), &Request::plain(View::Summary), "").compiled_stale;
    assert_eq!(stale(&bundle), Some(false));
    bundle.persona.tags.clear();
    assert_eq!(stale(&bundle), Some(false));
    bundle.stage = staged().stage;
    assert!(bundle.assembled().parts.iter().any(|placed| placed.origin == LayerOrigin::Stage));
    assert_eq!(stale(&bundle), Some(true));
    bundle.compiled = None;
    assert_eq!(stale(&bundle), None);
}
