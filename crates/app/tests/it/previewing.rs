//! Previews of unsaved personas: they say what saving would give, and save nothing.

use std::time::Duration;

use app::inputs::{GetPersona, PreviewPersona};
use app::outputs::PersonaPreview;
use app::{Code, Error, LintOptions};
use persona::{Kind, LayerOrigin, Scope, limits};
use serde_json::{Value, json};

use crate::world::{World, code, in_each_world, input, name, refused, suggested, with_files};

const GLOBAL: &str = r#"
[personas.coder]
system_prompt = "You code."
parts = ["calm", { name = "steps", priority = 5 }]
traits = ["brief"]

[parts.calm]
part_type = "tone"
content = "Be calm."

[parts.steps]
part_type = "protocol"
summary = "In steps."
content = "1. Read.\n2. Write."

[traits.brief]
trait_type = "social"
instruction = "Be brief."
"#;

const PROJECT: &str = r#"
[personas.coder]
extends = "global:coder"
system_prompt = "You test first."
system_prompt_mode = "append"
guardrails = ["no-secrets"]
"#;

async fn try_preview(world: &World, fields: Value) -> Result<PersonaPreview, Error> {
    world.library.preview_persona(input::<PreviewPersona>(fields), &LintOptions::default()).await
}

async fn preview(world: &World, fields: Value) -> PersonaPreview {
    let shown = fields.to_string();
    let previewed = try_preview(world, fields).await.unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert_eq!(previewed.blocks.iter().map(|block| block.tokens).sum::<usize>(), previewed.tokens.total);
    previewed
}

fn text(previewed: &PersonaPreview) -> String {
    previewed.blocks.iter().map(|block| block.text.as_str()).collect()
}

/// Each block as `layer scope id`.
fn origins(previewed: &PersonaPreview) -> Vec<String> {
    let layer = |layer: LayerOrigin| serde_json::to_value(layer).unwrap().as_str().unwrap().to_owned();
    previewed
        .blocks
        .iter()
        .map(|block| format!("{} {} {}", layer(block.layer), block.scope, block.id))
        .collect()
}

/// The compiled text of a stored persona.
async fn compiled(world: &World, request: Value) -> String {
    world.library.prompt(&input::<GetPersona>(request)).await.unwrap().text
}

/// A persona as `GET` gives it, for a preview.
async fn stored(world: &World, scope: Scope, of: &str) -> Value {
    world.entity(Kind::Persona, scope, of).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_what_saving_would_compile() {
    with_files(GLOBAL, PROJECT, async |world| {
        for template in ["code_reviewer", "critic", "doc_writer", "mentor", "optimist", "test_writer"] {
            let draft = stored(world, Scope::Builtin, template).await;
            for (detail, max_tokens) in [(true, None), (false, None), (true, Some(120)), (true, Some(400))] {
                let previewed = json!({ "entity": draft, "detail": detail, "max_tokens": max_tokens });
                let request = json!({ "name": template, "detail": detail, "max_tokens": max_tokens });
                assert_eq!(
                    text(&preview(world, without_null(previewed)).await),
                    compiled(world, without_null(request)).await
                );
            }
        }
        let draft = stored(world, Scope::Project, "coder").await;
        let previewed = preview(world, json!({ "entity": draft })).await;
        assert_eq!((previewed.scope, previewed.name.as_str()), (Scope::Project, "coder"));
        assert_eq!(text(&previewed), compiled(world, json!({ "name": "coder" })).await);
        assert_eq!(
            origins(&previewed),
            [
                "base global persona:global:coder",
                "own project persona:coder",
                "base global part:calm",
                "base global part:steps",
                "base global trait:brief",
                "own builtin guardrail:no-secrets",
            ]
        );
        let [base, ..] = &previewed.blocks[..] else { panic!("no blocks") };
        assert_eq!(base.base.as_ref().map(persona::Name::as_str), Some("coder"));
        assert_eq!((base.field.as_str(), base.text.as_str()), ("system_prompt", "You code.\n\n"));
    })
    .await;
}

fn without_null(mut fields: Value) -> Value {
    fields.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    fields
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_compiled_as_it_would_be_saved() {
    with_files(GLOBAL, PROJECT, async |world| {
        world.part(Scope::Shared, "dry", "tone", "Be dry.").await;
        let mut draft = stored(world, Scope::Project, "coder").await;
        draft["system_prompt"] = "You fix bugs.".into();
        draft["parts"] = json!([{ "name": "dry", "priority": 9 }]);
        draft["remove_traits"] = json!(["brief"]);
        let fields = json!({ "entity": draft, "overrides": { "protocol": "steps" }, "max_tokens": 500 });
        let previewed = preview(world, fields).await;
        assert_eq!(
            origins(&previewed),
            [
                "base global persona:global:coder",
                "own project persona:coder",
                "own shared part:dry",
                "override global part:steps",
                "own builtin guardrail:no-secrets",
            ]
        );
        world.create(Kind::Persona, Scope::Project, draft).await;
        let request = json!({ "name": "coder", "overrides": { "protocol": "steps" }, "max_tokens": 500 });
        assert_eq!(text(&previewed), compiled(world, request).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_of_pieces_take_the_place_of_stored_ones() {
    with_files(GLOBAL, PROJECT, async |world| {
        let draft = stored(world, Scope::Project, "coder").await;
        let calm = json!({ "name": "calm", "part_type": "tone", "content": "Be very calm." });
        let piece = |kind: &str, entity: &Value| json!({ "kind": kind, "entity": entity });
        let fields = json!({ "entity": draft, "pieces": [piece("part", &calm)] });
        let previewed = preview(world, fields).await;
        let block = previewed.blocks.iter().find(|block| block.id == "part:calm").unwrap();
        assert_eq!((block.text.as_str(), block.scope), ("## Tone\n\nBe very calm.\n\n", Scope::Global));
        // One that is not stored yet, in the scope of the persona.
        let mut linked = draft.clone();
        linked["parts"] = json!([{ "name": "new" }]);
        let new = json!({ "name": "new", "part_type": "goal", "content": "Win." });
        assert_eq!(code(try_preview(world, json!({ "entity": linked })).await), Code::NotFound);
        let previewed = preview(world, json!({ "entity": linked, "pieces": [piece("part", &new)] })).await;
        assert!(
            origins(&previewed).contains(&"own project part:new".to_owned()),
            "{:?}",
            origins(&previewed)
        );
        // A stronger scope's draft does not change what a weaker persona means.
        let base = stored(world, Scope::Global, "coder").await;
        let mut stronger = piece("part", &calm);
        stronger["scope"] = "project".into();
        let previewed =
            preview(world, json!({ "entity": base, "scope": "global", "pieces": [stronger] })).await;
        assert!(!text(&previewed).contains("very calm"), "{}", text(&previewed));
        // A draft of an arc, with a part that only it names.
        let arc = json!({ "name": "growth", "stages": [{ "name": "young", "order": 1, "parts": ["new"] }] });
        let mut walking = draft.clone();
        walking["arc"] = "growth".into();
        let pieces = json!([piece("arc", &arc), piece("part", &new)]);
        let previewed =
            preview(world, json!({ "entity": walking, "pieces": pieces, "stage": "young" })).await;
        assert_eq!(previewed.stage, Some(name("young")));
        assert!(
            origins(&previewed).contains(&"stage project part:new".to_owned()),
            "{:?}",
            origins(&previewed)
        );
        let twice = json!({ "entity": draft, "pieces": [piece("part", &calm), piece("part", &calm)] });
        let report = refused(try_preview(world, twice).await);
        assert_eq!(
            (report.code, report.subject.field.as_deref()),
            (Code::NamedTwice, Some("pieces[1].entity.name"))
        );
        let many: Vec<Value> = (0..=limits::DRAFT_PIECES).map(|_| piece("part", &calm)).collect();
        assert_eq!(
            code(try_preview(world, json!({ "entity": draft, "pieces": many })).await),
            Code::OutOfRange
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_of_the_current_stage_or_of_the_named_one() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "shy", "tone", "Be shy.").await;
        world.part(Scope::Shared, "bold", "tone", "Be bold.").await;
        let stage =
            |name: &str, order: i32, part: &str| json!({ "name": name, "order": order, "parts": [part] });
        let arc = json!({ "name": "growth", "stages": [stage("young", 1, "shy"), stage("old", 2, "bold")] });
        world.create(Kind::Arc, Scope::Shared, arc).await;
        let draft = json!({ "name": "hero", "system_prompt": "You travel.", "arc": "growth" });
        let stage_of =
            async |fields: Value| preview(world, fields).await.stage.map(|stage| stage.to_string());
        // The first stage before it is saved, then the current one.
        assert_eq!(stage_of(json!({ "entity": draft })).await.as_deref(), Some("young"));
        world.create(Kind::Persona, Scope::Shared, draft.clone()).await;
        let assign = json!({ "persona": "hero", "arc": "growth", "stage": "old" });
        world.library.assign_arc(&world.author, input(assign)).await.unwrap();
        assert_eq!(stage_of(json!({ "entity": draft })).await.as_deref(), Some("old"));
        let young = preview(world, json!({ "entity": draft, "stage": "young" })).await;
        assert_eq!(young.stage, Some(name("young")));
        assert!(text(&young).contains("Be shy."), "{}", text(&young));
        let unknown = try_preview(world, json!({ "entity": draft, "stage": "yung" })).await;
        assert_eq!(suggested(unknown), (Code::UnknownStage, Some("young".to_owned())));
        let settled = json!({ "name": "hero", "system_prompt": "You rest." });
        assert_eq!(code(try_preview(world, json!({ "entity": settled, "stage": "old" })).await), Code::NoArc);
        // In a file, and with an inherited arc.
        let heir = json!({ "name": "heir", "extends": "hero" });
        assert_eq!(stage_of(json!({ "entity": heir, "scope": "project" })).await.as_deref(), Some("young"));
    })
    .await;
}

/// Bad definitions, each as one field or more of a persona.
fn wrong() -> Vec<Value> {
    vec![
        json!({ "parts": [{ "name": "gone" }] }),
        json!({ "parts": [{ "name": "ours" }] }),
        json!({ "traits": ["gone"] }),
        json!({ "skills": ["gone"] }),
        json!({ "guardrails": ["gone"] }),
        json!({ "arc": "gone" }),
        json!({ "test_inputs": ["gone"] }),
        json!({ "tool_preset": "gone" }),
        json!({ "bias_profile": "gone" }),
        json!({ "plan_persona": { "tool_preset": "gone" } }),
        json!({ "extends": "gone" }),
        json!({ "extends": "project:ours" }),
        json!({ "extends": "draft" }),
        json!({ "extends": "shared:draft" }),
        json!({ "extends": "mentr" }),
        json!({ "system_prompt": 3 }),
        json!({ "colour": "blue" }),
        json!({ "parts": [{ "name": "a b" }] }),
        json!({ "aggregation_strategy": "atuo" }),
        json!({ "summary": "x".repeat(limits::SHORT_TEXT_BYTES + 1) }),
        json!({ "system_prompt": "a\u{0}b" }),
        json!({ "parts": [{ "name": "calm-tone" }, { "name": "calm-tone" }] }),
        json!({ "name": "a b" }),
        json!({}),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_refuses_what_a_write_refuses() {
    let project = "[personas.ours]\nsystem_prompt = \"Ours.\"\n[parts.ours]\npart_type = \"tone\"\ncontent = \"Ours.\"\n\
                   [personas.broken]\nsystem_promt = 3\nsystem_prompt = 3\n";
    with_files("", project, async |world| {
        let mut seen = 0;
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            for change in wrong() {
                let mut entity = json!({ "name": "draft" });
                entity.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
                let previewed = try_preview(world, json!({ "entity": entity, "scope": scope })).await;
                let name = entity["name"].as_str().unwrap().to_owned();
                let save = json!({ "kind": "persona", "name": name, "entity": entity, "scope": scope, "if_revision": 0 });
                let saved = match serde_json::from_value(save) {
                    Ok(save) => world.library.save_entity(&world.author, save).await,
                    Err(_) => continue,
                };
                match (previewed, saved) {
                    (Err(previewed), Err(saved)) => {
                        seen += 1;
                        assert_eq!(previewed.report(), saved.report(), "{scope} {change}");
                    }
                    (Ok(_), Ok(_)) => {
                        let delete = json!({ "kind": "persona", "name": "draft", "scope": scope });
                        world.library.delete_entity(&world.author, input(delete)).await.unwrap();
                    }
                    (previewed, saved) => panic!("{scope} {change}: {previewed:?}, but {saved:?}"),
                }
            }
        }
        assert!(seen > 50, "{seen}");
        let says = json!({ "name": "draft", "system_prompt": "You plan." });
        assert_eq!(code(try_preview(world, json!({ "entity": says, "scope": "builtin" })).await), Code::BuiltinFixed);
        let nameless = refused(try_preview(world, json!({ "entity": { "summary": "x" } })).await);
        assert_eq!((nameless.code, nameless.subject.field.as_deref()), (Code::MissingField, Some("entity.name")));
        let broken = json!({ "name": "broken", "system_prompt": "You plan." });
        let previewed = refused(try_preview(world, json!({ "entity": broken, "scope": "project" })).await);
        let saved = refused(world.try_create(Kind::Persona, Scope::Project, broken).await);
        assert_eq!(previewed, saved);
        let override_ = json!({ "entity": says, "overrides": { "tone": "clam-tone" } });
        assert_eq!(code(try_preview(world, override_).await), Code::UnknownOverride);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preset_that_was_missing_before_is_left_to_lint() {
    let project = "[personas.ours]\nsystem_prompt = \"Ours.\"\ntool_preset = \"gone\"\n";
    with_files("", project, async |world| {
        let draft = stored(world, Scope::Project, "ours").await;
        let previewed = preview(world, json!({ "entity": draft })).await;
        let found: Vec<_> =
            previewed.problems.iter().map(|it| (it.rule.as_str(), it.field.as_deref())).collect();
        assert_eq!(found, [("unknown-reference", Some("tool_preset"))]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn problems_name_the_place_in_the_draft() {
    in_each_world(async |world| {
        let draft = json!({
            "name": "guide",
            "system_prompt": "You guide.\nYou gu\u{200b}ide them.",
            "parts": [{ "name": "long-winded" }],
            "preferred_models": [{ "provider": "antropic", "model": "m" }],
        });
        let part = json!({ "name": "long-winded", "part_type": "tone", "content": "Say {{x of it." });
        let lint = LintOptions { providers: Some(["anthropic".to_owned()].into()), ..LintOptions::default() };
        let fields = json!({ "entity": draft, "pieces": [{ "kind": "part", "entity": part }] });
        let previewed = world.library.preview_persona(input(fields), &lint).await.unwrap();
        let hidden = previewed.problems.iter().find(|found| found.rule.as_str() == "hidden-unicode").unwrap();
        assert_eq!(
            (hidden.field.as_deref(), hidden.line, hidden.column),
            (Some("system_prompt"), Some(2), Some(7))
        );
        let provider =
            previewed.problems.iter().find(|found| found.rule.as_str() == "unknown-provider").unwrap();
        assert_eq!(provider.candidates, ["anthropic"]);
        assert!(previewed.problems.iter().all(|found| found.path.is_none()), "{:?}", previewed.problems);
        let builtin = stored(world, Scope::Builtin, "code_reviewer").await;
        assert_eq!(preview(world, json!({ "entity": builtin })).await.problems, []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written() {
    with_files(GLOBAL, PROJECT, async |world| {
        world
            .persona(Scope::Shared, json!({ "name": "team", "system_prompt": "We.", "traits": ["curious"] }))
            .await;
        let before = world.contents().await;
        let mut changes = world.library.changes();
        for (scope, of) in [(Scope::Project, "coder"), (Scope::Shared, "team"), (Scope::Builtin, "mentor")] {
            let mut draft = stored(world, scope, of).await;
            draft["system_prompt"] = "Another text.".into();
            // A builtin that a shared persona would get as a copy.
            draft["guardrails"] = json!(["no-secrets"]);
            let arc = json!({ "kind": "arc", "entity": { "name": "new", "stages": [] } });
            for fields in [
                json!({ "entity": draft }),
                json!({ "entity": draft, "pieces": [arc], "max_tokens": 50 }),
                json!({ "entity": draft, "overrides": { "tone": "plain-tone" } }),
            ] {
                preview(world, fields).await;
            }
            world.library.explain_draft(input(json!({ "entity": draft }))).await.unwrap();
        }
        for fields in
            [json!({ "entity": { "name": "x" } }), json!({ "entity": { "name": "x", "extends": "gone" } })]
        {
            try_preview(world, fields).await.unwrap_err();
        }
        assert_eq!(world.contents().await, before);
        let heard = tokio::time::timeout(Duration::from_millis(700), changes.next()).await;
        assert!(heard.is_err(), "{heard:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_that_cannot_be_written_has_previews() {
    with_files(GLOBAL, PROJECT, async |world| {
        let library = world
            .reopened(|options| {
                if let Some(files) = &mut options.files {
                    files.writable = false;
                }
            })
            .await;
        let draft = stored(world, Scope::Project, "coder").await;
        let fields = input::<PreviewPersona>(json!({ "entity": draft }));
        assert!(!library.preview_persona(fields, &LintOptions::default()).await.unwrap().blocks.is_empty());
        library.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_explained_as_a_stored_persona_is() {
    with_files(GLOBAL, PROJECT, async |world| {
        let draft = stored(world, Scope::Project, "coder").await;
        let explained = world.library.explain_draft(input(json!({ "entity": draft }))).await.unwrap();
        let mut stored = world.library.explain(&input(json!({ "name": "coder" }))).await.unwrap();
        // A draft has no revision yet.
        stored.layers.last_mut().unwrap().revision = Some(0);
        assert_eq!(explained, stored);
        let mut changed = draft.clone();
        changed["traits"] = json!(["new"]);
        let new = json!({ "name": "new", "trait_type": "social", "instruction": "Be new." });
        let fields = json!({ "entity": changed, "pieces": [{ "kind": "trait", "entity": new }] });
        let explained = world.library.explain_draft(input(fields)).await.unwrap();
        let item = explained.items.iter().find(|item| item.name == "new").unwrap();
        assert_eq!((item.piece_scope, item.not_found), (Some(Scope::Project), false));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_blocks_of_a_stored_persona_make_up_its_text() {
    with_files(GLOBAL, PROJECT, async |world| {
        for request in
            [json!({ "name": "coder" }), json!({ "name": "coder", "detail": false, "max_tokens": 20 })]
        {
            let origins = world.library.text_origins(&input(request.clone())).await.unwrap();
            let text: String = origins.blocks.iter().map(|block| block.text.as_str()).collect();
            assert_eq!(text, compiled(world, request).await);
            assert_eq!(origins.tokens.total, origins.blocks.iter().map(|block| block.tokens).sum::<usize>());
        }
    })
    .await;
}
