//! The fingerprint changes with the compiled text, and with nothing else.

use chrono::DateTime;
use persona::{
    AssemblyRequest, Bundle, Compiled, LayerOrigin, MergeMode, Meta, PartType, Scope, Severity, TraitType,
    View, compile, fingerprint, view,
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
    // A description is not part of a prompt.
    check(false, |it| it.parts[5].description = text("Another."));
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
    // The format, and the SHA-256 of two empty openings, each after its length in eight bytes.
    let found = [minimal(), rich(), staged(), without_prompt()].map(|bundle| of(&bundle));
    assert_eq!(
        found,
        [
            "2-374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb",
            "2-fa7d145a12628524f1a5f8bc97dc46b31107bc4d3f5b2ae1b9a492c3c6acc991",
            "2-f4afdae7888296508d08de80edcaaf491ed6707cefe6e2e0ce278f6c915ff812",
            "2-7c78eacb91262689b47eeab11d8541dd0a9231d6d4b1e0f88af1306428a0ed11",
        ]
    );
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
    let stale = |bundle: &Bundle| {
        view(&bundle.assembled(), &AssemblyRequest::plain(View::Summary), "").compiled_stale
    };
    assert_eq!(stale(&bundle), Some(false));
    bundle.persona.tags.clear();
    assert_eq!(stale(&bundle), Some(false));
    bundle.stage = staged().stage;
    assert!(bundle.assembled().parts.iter().any(|placed| placed.origin == LayerOrigin::Stage));
    assert_eq!(stale(&bundle), Some(true));
    bundle.compiled = None;
    assert_eq!(stale(&bundle), None);
}
