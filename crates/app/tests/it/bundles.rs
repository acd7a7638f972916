//! Out of a library and into another: export, preview, import.

use app::outputs::{Exported, ImportChange, ImportPlan};
use app::{Code, Remedy, Report, TomlText};
use persona::{Kind, Name, Scope};
use serde_json::{Value, json};

use crate::world::{
    World, code, in_each_world, input, name, not_found, pieces, refused, suggested, with_files,
};

/// A text that came from no file.
fn unnamed(text: &str) -> TomlText<'_> {
    TomlText::named("import", text)
}

fn changes(plan: &ImportPlan) -> Vec<(Kind, &str, ImportChange)> {
    plan.items.iter().map(|item| (item.kind, item.name.as_str(), item.change)).collect()
}

async fn a_library(world: &World) {
    world.part(Scope::Shared, "who", "identity", "You are careful.").await;
    world
        .persona(
            Scope::Shared,
            json!({ "name": "base", "parts": [{ "name": "who" }], "tool_preset": "editor" }),
        )
        .await;
    world.part(Scope::Project, "calm", "tone", "Be calm.\nBe very calm.").await;
    let arc = json!({ "name": "path", "stages": [{ "name": "b", "order": 2, "parts": ["calm"] }, { "name": "a", "order": 1 }] });
    world.create(Kind::Arc, Scope::Project, arc).await;
    let coder = json!({
        "name": "coder", "extends": "shared:base", "arc": "path", "skills": ["steelman"],
        "parts": [{ "name": "calm", "order": 7, "priority": 3 }, { "name": "plain-tone", "order": 2 }],
        "preferred_models": [{ "provider": "p", "model": "m", "temperature": 0.25 }],
    });
    world.persona(Scope::Project, coder).await;
}

/// A base of the builtins stays one: whatever another library defines, and without a copy.
#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_keeps_the_base_that_its_author_named() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            let reviewer =
                json!({ "name": "reviewer", "extends": "builtin:code_reviewer", "summary": "Mine." });
            world.persona(scope, reviewer).await;
            let bundle = world.library.export(&[(Kind::Persona, name("reviewer"))], None).await.unwrap();
            assert!(bundle.toml.contains("extends = \"builtin:code_reviewer\""), "{}", bundle.toml);
            assert!(!bundle.toml.contains("[personas.code_reviewer]"), "{}", bundle.toml);
            assert!(bundle.missing.is_empty(), "{:?}", bundle.missing);
            let plan = world.library.plan_import(unnamed(&bundle.toml), Some(scope)).await.unwrap();
            assert_eq!(changes(&plan), [(Kind::Persona, "reviewer", ImportChange::Unchanged)], "{scope}");
            let all = world.library.export_all(Some(scope)).await.unwrap();
            assert_eq!((all.toml, all.missing.len()), (bundle.toml, 0), "{scope}");
        }
        // A persona may extend the builtin of its own name, and a plain name beside it carries the base.
        let critic = json!({ "name": "critic", "extends": "builtin:critic", "summary": "Mine." });
        world.persona(Scope::Shared, critic).await;
        let names = [(Kind::Persona, name("critic")), (Kind::Persona, name("reviewer"))];
        let bundle = world.library.export(&names, None).await.unwrap().toml;
        let plan = world.library.plan_import(unnamed(&bundle), Some(Scope::Shared)).await.unwrap();
        assert_eq!(plan.changes(), 0, "{bundle}");
        world
            .persona(Scope::Shared, json!({ "name": "plain", "extends": "doc_writer", "summary": "x" }))
            .await;
        let plain = world.library.export(&[(Kind::Persona, name("plain"))], None).await.unwrap().toml;
        assert!(
            plain.contains("extends = \"doc_writer\"") && plain.contains("[personas.doc_writer]"),
            "{plain}"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_carries_all_that_a_persona_refers_to() {
    in_each_world(async |world| {
        a_library(world).await;
        let bundle = world.library.export(&[(Kind::Persona, name("coder"))], None).await.unwrap().toml;
        let prompt = world.library.prompt(&input(json!({ "name": "coder", "detail": true }))).await.unwrap();
        assert!(bundle.contains("extends = \"base\"\n"), "in a bundle everything is at hand:\n{bundle}");

        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            with_files("", "", async |other| {
                let plan = other.library.plan_import(unnamed(&bundle), Some(scope)).await.unwrap();
                assert_eq!(
                    changes(&plan),
                    [
                        (Kind::Persona, "base", ImportChange::Create),
                        (Kind::Persona, "coder", ImportChange::Create),
                        (Kind::Part, "calm", ImportChange::Create),
                        (Kind::Part, "plain-tone", ImportChange::Builtin),
                        (Kind::Part, "who", ImportChange::Create),
                        (Kind::Skill, "steelman", ImportChange::Builtin),
                        (Kind::Arc, "path", ImportChange::Create),
                        (Kind::ToolPreset, "editor", ImportChange::Builtin),
                    ]
                );
                assert_eq!(
                    other.entity(Kind::Part, scope, "calm").await,
                    Value::Null,
                    "a preview does nothing"
                );
                assert_eq!(other.text(Scope::Project), "");
                let done =
                    other.library.import(&other.author, unnamed(&bundle), Some(scope), None).await.unwrap();
                assert_eq!(done, plan);
                let imported = other.library.prompt(&input(json!({ "name": "coder", "detail": true }))).await;
                assert_eq!(imported.unwrap(), prompt);
                let again = other.library.plan_import(unnamed(&bundle), Some(scope)).await.unwrap();
                let rest: Vec<_> = changes(&again)
                    .into_iter()
                    .filter(|(_, _, change)| {
                        !matches!(change, ImportChange::Unchanged | ImportChange::Builtin)
                    })
                    .collect();
                assert_eq!(rest, [], "into {scope}");
                let exported = other.library.export(&[(Kind::Persona, name("coder"))], None).await.unwrap();
                assert_eq!(exported.toml, bundle, "it comes out as it went in");
            })
            .await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_says_which_fields_change() {
    in_each_world(async |world| {
        a_library(world).await;
        let bundle = world.library.export(&[(Kind::Persona, name("coder"))], None).await.unwrap().toml;
        let changed =
            bundle.replace("temperature = 0.25", "temperature = 0.5").replace("Be very calm.", "Breathe.");
        let plan = world.library.plan_import(unnamed(&changed), Some(Scope::Project)).await.unwrap();
        let updates: Vec<(&str, Vec<&str>)> = plan
            .items
            .iter()
            .filter(|item| item.change == ImportChange::Update)
            .map(|item| {
                (item.name.as_str(), item.fields.iter().map(|change| change.field.as_str()).collect())
            })
            .collect();
        assert_eq!(updates, [("coder", vec!["extends", "preferred_models"]), ("calm", vec!["content"])]);
        let content = plan.items.iter().find(|item| item.name.as_str() == "calm").unwrap().fields[0].clone();
        assert_eq!(
            (content.from, content.to),
            (Some(json!("Be calm.\nBe very calm.")), Some(json!("Be calm.\nBreathe.")))
        );
        let done = world
            .library
            .import(&world.author, unnamed(&changed), Some(Scope::Project), Some("from a friend".into()))
            .await;
        assert_eq!(done.unwrap(), plan);
        let history = world.library.history(Kind::Part, &name("calm"), None, None).await.unwrap();
        assert_eq!((history.scope, history.items.len()), (Scope::Project, 2));
        assert_eq!(history.items[0].message.as_deref(), Some("from a friend"));
        let base = world.entity(Kind::Persona, Scope::Project, "base").await;
        assert_eq!(base["scope"], "project", "what it builds on came along");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_builtin_that_is_hidden_is_imported() {
    in_each_world(async |world| {
        let bundle = world.library.export(&[(Kind::Persona, name("critic"))], None).await.unwrap().toml;
        world.part(Scope::Shared, "critic-voice", "voice", "Whisper.").await;
        let plan =
            world.library.import(&world.author, unnamed(&bundle), Some(Scope::Project), None).await.unwrap();
        let created: Vec<&str> = plan
            .items
            .iter()
            .filter(|item| item.change == ImportChange::Create)
            .map(|item| item.name.as_str())
            .collect();
        assert_eq!(created, ["critic-voice"], "by this name a project's persona would mean the shared one");
    })
    .await;
}

/// Line and column that a refusal is about.
fn place(report: &Report) -> (Option<usize>, Option<usize>) {
    report.subject.place.as_ref().map(|place| (place.line, place.column)).unwrap_or_default()
}

async fn refused_import(world: &World, text: &str, scope: Scope) -> Report {
    let preview = refused(world.library.plan_import(unnamed(text), Some(scope)).await);
    let import = refused(world.library.import(&world.author, unnamed(text), Some(scope), None).await);
    assert_eq!(preview, import, "the preview fails alike");
    import
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_with_an_error_is_refused_as_a_whole() {
    in_each_world(async |world| {
        let fine = "[parts.fine]\npart_type = \"tone\"\ncontent = \"Be fine.\"\n";
        for scope in [Scope::Shared, Scope::Project] {
            let circle = format!("{fine}[personas.a]\nextends = \"b\"\n[personas.b]\nextends = \"a\"\n");
            let circle = refused_import(world, &circle, scope).await;
            assert_eq!((circle.code, circle.remedies), (Code::BaseCycle, vec![Remedy::RemoveExtends]));
            let itself = format!("{fine}[personas.a]\nextends = \"a\"\n");
            assert_eq!(refused_import(world, &itself, scope).await.code, Code::BaseCycle);
            let unknown = format!("{fine}[personas.a]\nextends = \"nothing-like-it\"\n");
            assert_eq!(refused_import(world, &unknown, scope).await.code, Code::BaseNotFound);

            let bad = format!("{fine}[parts.bad]\npart_type = \"tonne\"\n");
            let bad = refused_import(world, &bad, scope).await;
            assert_eq!((bad.code, place(&bad)), (Code::InvalidDocument, (Some(5), Some(13))));
            assert_eq!((bad.subject.kind, bad.subject.name.as_deref()), (Some(Kind::Part), Some("bad")));
            let broken = refused_import(world, "[parts", scope).await;
            assert_eq!((broken.code, place(&broken).0), (Code::InvalidDocument, Some(1)));
            let included = format!("{fine}[skills.x]\ncontent_file = \"x.md\"\n");
            let included = refused_import(world, &included, scope).await;
            assert_eq!((included.code, included.remedies), (Code::IncludeNotAllowed, vec![Remedy::WriteOut]));
            assert_eq!(
                world.entity(Kind::Part, scope, "fine").await,
                Value::Null,
                "nothing is half imported"
            );
        }
        let parts = "[personas.a]\nparts = [\"nowhere\"]\n";
        let nowhere = refused(world.library.import(&world.author, unnamed(parts), None, None).await);
        assert_eq!((nowhere.code, nowhere.subject.name.as_deref()), (Code::NotFound, Some("nowhere")));
        let warned = world.library.plan_import(unnamed(&format!("{fine}[prats.x]\n")), None).await.unwrap();
        assert!(
            warned.warnings[0].starts_with("import:4:2: unknown table \"prats\""),
            "{:?}",
            warned.warnings
        );
        assert_eq!(warned.scope, Scope::Shared);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn namesakes_do_not_fit_into_one_bundle_unless_they_are_the_same() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm, all.").await;
        world.part(Scope::Project, "calm", "tone", "Be calm here.").await;
        for (scope, of) in [(Scope::Shared, "team"), (Scope::Project, "ours")] {
            world.persona(scope, json!({ "name": of, "parts": [{ "name": "calm" }] })).await;
        }
        let both: [(Kind, Name); 2] = [(Kind::Persona, name("team")), (Kind::Persona, name("ours"))];
        let clash = refused(world.library.export(&both, None).await);
        assert_eq!((clash.code, clash.remedies), (Code::NameClash, vec![Remedy::RenameOne]));
        assert_eq!((clash.subject.kind, clash.subject.name.as_deref()), (Some(Kind::Part), Some("calm")));
        world.part(Scope::Project, "calm", "tone", "Be calm, all.").await;
        let bundle = world.library.export(&both, None).await.unwrap().toml;
        assert_eq!(bundle.matches("[parts.calm]").count(), 1);
        let scoped = world.library.export(&[(Kind::Persona, name("ours"))], Some(Scope::Shared)).await;
        assert_eq!(code(scoped), Code::InOtherScope);
        let none = world.library.export(&[(Kind::Persona, name("ourss"))], None).await;
        assert_eq!(suggested(none), not_found("ours"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_is_edited_as_toml() {
    with_files("", "[skills.tidy]\ndescription = \"When\"\n", async |world| {
        let tidy = name("tidy");
        let (text, scope, revision) = world.library.entity_toml(Kind::Skill, &tidy, None).await.unwrap();
        assert_eq!(
            (text.as_str(), scope, revision),
            ("[skills.tidy]\ndescription = \"When\"\n", Scope::Project, 1)
        );
        let save = async |text: &str, revision: i64| {
            let (library, author) = (&world.library, &world.author);
            library
                .save_toml(
                    author,
                    Kind::Skill,
                    &tidy,
                    TomlText::named("personas.toml", text),
                    scope,
                    Some(revision),
                    None,
                )
                .await
        };
        let written = save("[skills.tidy]\ndescription = \"Always\"\n", 1).await.unwrap();
        assert_eq!((written.scope, written.revision), (Scope::Project, 2));
        assert_eq!(code(save("[skills.tidy]\n", 1).await), Code::StaleRevision);
        let renamed = refused(save("[skills.tidi]\n", 2).await);
        assert_eq!((renamed.code, renamed.remedies), (Code::OtherEntry, vec![Remedy::RenameIt]));
        for others in ["[skills.tidy]\n[skills.other]\n", ""] {
            let refusal = refused(save(others, 2).await);
            assert_eq!((refusal.code, refusal.remedies), (Code::OtherEntry, Vec::new()), "{others:?}");
        }
        let error = refused(save("[skills.tidy]\ncontents = \"x\"\ndescription = 3\n", 2).await);
        assert_eq!((error.code, place(&error)), (Code::InvalidDocument, (Some(3), Some(15))));
        // A line that would be dropped silently is an error: an editor shows no warnings.
        for (typed, at) in [
            ("contents = \"x\"", (Some(2), Some(1))),
            ("qqq = 1", (Some(2), Some(1))),
            ("[skill.other]", (Some(2), Some(2))),
            ("[mcp_servers.x]", (None, None)),
        ] {
            let dropped = refused(save(&format!("[skills.tidy]\n{typed}\n"), 2).await);
            assert_eq!((dropped.code, place(&dropped)), (Code::InvalidDocument, at), "{typed}");
        }
        let included = save("[skills.tidy]\ncontent_file = \"x.md\"\n", 2).await;
        assert_eq!(code(included), Code::IncludeNotAllowed);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_imported_with_the_texts_beside_it() {
    in_each_world(async |world| {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("in/bundle.toml");
        std::fs::create_dir_all(directory.path().join("in/prompts")).unwrap();
        std::fs::write(directory.path().join("in/prompts/calm.md"), "Be calm.\n").unwrap();
        std::fs::write(directory.path().join("secret.md"), "Secret.").unwrap();
        let text = |path: &str| format!("[parts.calm]\npart_type = \"tone\"\ncontent_file = \"{path}\"\n");
        for scope in [Scope::Shared, Scope::Project] {
            let bundle = text("prompts/calm.md");
            let import = async |text: &str| {
                let text = TomlText::of_file(&file, text);
                world.library.import(&world.author, text, Some(scope), None).await
            };
            import(&bundle).await.unwrap();
            assert_eq!(world.entity(Kind::Part, scope, "calm").await["content"], "Be calm.\n");
            for path in ["../secret.md", "prompts/none.md"] {
                let refusal = refused(import(&text(path)).await);
                assert_eq!((refusal.code, place(&refusal).0), (Code::InvalidDocument, Some(3)), "{path}");
                assert_eq!(refusal.subject.place.map(|place| place.path), Some(file.display().to_string()));
            }
        }
        let written = world.text(Scope::Project);
        assert!(!written.contains("content_file") && written.contains("Be calm."), "{written}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_names_the_definition_that_a_new_one_hides() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm, all.").await;
        let bundle = "[personas.ours]\nparts = [\"calm\", \"plain-tone\", \"new\"]\n\
                      [parts.calm]\npart_type = \"tone\"\ncontent = \"Be calm here.\"\n\
                      [parts.new]\npart_type = \"goal\"\ncontent = \"Win.\"\n\
                      [skills.steelman]\ncontent = \"Ours.\"\n";
        let plan = world.library.plan_import(unnamed(bundle), Some(Scope::Project)).await.unwrap();
        let told = |plan: &ImportPlan| -> Vec<(String, ImportChange, Option<Scope>, Vec<String>)> {
            let fields = |item: &app::outputs::ImportItem| {
                item.fields.iter().map(|change| change.field.clone()).collect()
            };
            plan.items
                .iter()
                .map(|item| (item.name.to_string(), item.change, item.in_place_of, fields(item)))
                .collect()
        };
        let create = ImportChange::Create;
        let skill = ["content", "description", "tags"].map(str::to_owned).to_vec();
        assert_eq!(
            told(&plan),
            [
                ("ours".to_owned(), create, None, Vec::new()),
                ("calm".to_owned(), create, Some(Scope::Shared), vec!["content".to_owned()]),
                ("new".to_owned(), create, None, Vec::new()),
                ("steelman".to_owned(), create, Some(Scope::Builtin), skill),
            ]
        );
        let content = &plan.items[1].fields[0];
        assert_eq!(
            (&content.from, &content.to),
            (&Some(json!("Be calm, all.")), &Some(json!("Be calm here.")))
        );
        assert_eq!(plan.copied, [], "a file names a builtin as it is");
        let shared = world.library.plan_import(unnamed(bundle), Some(Scope::Shared)).await.unwrap();
        assert_eq!((shared.items[1].change, shared.items[1].in_place_of), (ImportChange::Update, None));
        assert_eq!(pieces(&shared.copied), [(Kind::Part, "plain-tone")]);
        let done = world.library.import(&world.author, unnamed(bundle), Some(Scope::Shared), None).await;
        assert_eq!(done.unwrap(), shared);
        world.entity(Kind::Part, Scope::Shared, "plain-tone").await["revision"]
            .as_i64()
            .expect("it was copied");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_bundle_is_refused() {
    in_each_world(async |world| {
        for empty in ["", "# nothing\n", "[parts]\n", "[persona.ours]\n"] {
            let refusal = refused_import(world, empty, Scope::Project).await;
            assert_eq!(refusal.code, Code::NothingToImport, "{empty:?}");
        }
        assert_eq!(world.text(Scope::Project), "");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_lists_missing_entities() {
    let project = "[personas.ours]\nparts = [\"calm\", \"gone\"]\ntool_preset = \"lost\"\n\
                   [parts.calm]\npart_type = \"tone\"\ncontent = \"Be calm.\"\n";
    with_files("", project, async |world| {
        let export = async |kind, of: &str| world.library.export(&[(kind, name(of))], None).await.unwrap();
        let Exported { toml: bundle, missing, .. } = export(Kind::Persona, "ours").await;
        assert!(bundle.contains("gone") && bundle.contains("[parts.calm]"), "{bundle}");
        assert_eq!(pieces(&missing), [(Kind::Part, "gone"), (Kind::ToolPreset, "lost")]);
        assert_eq!(export(Kind::Persona, "critic").await.missing, []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_library_goes_to_another_one() {
    in_each_world(async |world| {
        a_library(world).await;
        world.create(Kind::Skill, Scope::Global, json!({ "name": "look", "content": "Look." })).await;
        let all = world.library.export_all(None).await.unwrap();
        assert_eq!((all.missing.len(), all.hidden.len()), (0, 0), "{all:?}");
        let shared = world.library.export_all(Some(Scope::Shared)).await.unwrap().toml;
        assert!(shared.contains("[personas.base]") && !shared.contains("[personas.coder]"), "{shared}");
        in_each_world(async |other| {
            let author = &other.author;
            other.library.import(author, unnamed(&all.toml), Some(Scope::Shared), None).await.unwrap();
            assert_eq!(
                other.library.export_all(None).await.unwrap().toml,
                all.toml,
                "it is the same library"
            );
            let again = other.library.plan_import(unnamed(&all.toml), Some(Scope::Shared)).await.unwrap();
            let kept = |change| matches!(change, ImportChange::Unchanged | ImportChange::Builtin);
            assert!(changes(&again).iter().all(|(_, _, change)| kept(*change)), "{again:?}");
        })
        .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_name_in_several_scopes_the_strongest_definition_is_exported() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", &format!("Of {scope}.")).await;
            world.part(scope, "same", "tone", "The same.").await;
        }
        let Exported { toml, hidden, .. } = world.library.export_all(None).await.unwrap();
        assert!(toml.contains("Of project.") && !toml.contains("Of shared."), "{toml}");
        let hidden: Vec<(Scope, &str)> = hidden.iter().map(|it| (it.scope, it.name.as_str())).collect();
        assert_eq!(hidden, [(Scope::Shared, "calm")]);
        // A persona of the database means the weaker one.
        world.persona(Scope::Shared, json!({ "name": "team", "parts": [{ "name": "calm" }] })).await;
        let clash = refused(world.library.export_all(None).await);
        assert_eq!((clash.code, clash.subject.name.as_deref()), (Code::NameClash, Some("calm")));
        let shared = world.library.export_all(Some(Scope::Shared)).await.unwrap().toml;
        assert!(shared.contains("Of shared.") && !shared.contains("Of project."), "{shared}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_a_scope_follows_what_each_reference_means() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Global] {
            world.part(scope, "calm", "tone", &format!("Of {scope}.")).await;
        }
        world.persona(Scope::Project, json!({ "name": "ours", "parts": [{ "name": "calm" }] })).await;
        let project = world.library.export_all(Some(Scope::Project)).await.unwrap().toml;
        assert!(project.contains("Of global.") && !project.contains("Of shared."), "{project}");
        // The base means the part of the database, and both are needed.
        world.persona(Scope::Shared, json!({ "name": "base", "parts": [{ "name": "calm" }] })).await;
        let heir = json!({ "name": "heir", "extends": "base", "parts": [{ "name": "calm" }] });
        world.persona(Scope::Project, heir).await;
        assert_eq!(code(world.library.export_all(Some(Scope::Project)).await), Code::NameClash);
    })
    .await;
}

/// A plan stores nothing, and does not say so.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_names_its_own_steps() {
    with_files("", "", async |world| {
        let text = "[skills.look]\ncontent = \"Look.\"\n";
        let mut steps = Vec::new();
        world.library.follow_plan(unnamed(text), None, &mut |at| steps.push(at.step)).await.unwrap();
        assert_eq!(steps, ["compare", "check"]);
        let mut steps = Vec::new();
        let author = &world.author;
        world
            .library
            .follow_import(author, unnamed(text), None, None, &mut |at| steps.push(at.step))
            .await
            .unwrap();
        assert_eq!(steps, ["compare", "store"]);
    })
    .await;
}
