//! Which definition a name means: the caller's names start at the strongest scope, those in a
//! definition at its own.

use database::Location;
use persona::{AsReport as _, Code};
use persona::{BiasProfile, Kind, LayerOrigin, Part, PartType, Persona, Scope, TestInput, ToolPreset};
use scopes::{Error, FileScopes, Overrides, Scopes};
use store::Action;
use testkit::{Files, on_each_engine};

use super::{begin_in, held_in, load, reread};
use crate::samples::{arc, attribution, extending, keep, linking, name, open, part, persona, render, stage};

fn contents(parts: &[Part]) -> Vec<&str> {
    parts.iter().map(|part| part.content.as_deref().unwrap()).collect()
}

/// A file with a persona, and the part `voice` that it links.
fn with_voice(scope: Scope, persona: &str) -> String {
    format!(
        "[personas.{persona}]\nparts = [\"voice\"]\n\n[parts.voice]\npart_type = \"voice\"\ncontent = \"as {scope} has it\"\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn the_strongest_scope_that_has_a_name_gives_it() {
    on_each_engine(async |database| {
        let files = Files::new();
        let scopes = files.open(database).await;
        let critic = name("critic");
        let resolved = async || {
            let stored = scopes.get::<Persona>(&critic, None).await.unwrap().unwrap();
            let loaded = scopes.load(&critic, None, &Overrides::new()).await.unwrap().unwrap();
            assert_eq!(loaded.bundle.persona, stored.entity);
            assert_eq!(
                (loaded.bundle.meta.scope, loaded.bundle.meta.revision),
                (stored.meta.scope, stored.meta.revision)
            );
            stored.meta.scope
        };
        let in_scopes = async || scopes.scopes_of(Kind::Persona, &critic).await.unwrap();
        assert_eq!((resolved().await, in_scopes().await), (Scope::Builtin, vec![Scope::Builtin]));
        keep(scopes.database(), &persona("critic")).await;
        assert_eq!(resolved().await, Scope::Shared);
        files.write(Scope::Project, "[personas.critic]\nsummary = \"the project's\"\n");
        reread(&scopes, Scope::Project).await;
        assert_eq!(resolved().await, Scope::Project);
        files.write(Scope::Global, "[personas.critic]\nsummary = \"the user's\"\n");
        reread(&scopes, Scope::Global).await;
        assert_eq!(resolved().await, Scope::Project);
        let all = [Scope::Project, Scope::Global, Scope::Shared, Scope::Builtin];
        assert_eq!(in_scopes().await, all);
        assert!(scopes.scopes_of(Kind::Part, &critic).await.unwrap().is_empty(), "of that kind only");

        // Each of them can be asked for by itself.
        for (scope, summary) in [(Scope::Project, Some("the project's")), (Scope::Global, Some("the user's"))]
        {
            let stored = scopes.get::<Persona>(&critic, Some(scope)).await.unwrap().unwrap();
            assert_eq!((stored.entity.summary.as_deref(), stored.meta.scope), (summary, scope));
            assert_eq!((stored.meta.revision, stored.meta.guid), (1, None));
            assert!(stored.meta.created_at.is_some());
            let any = scopes.get_any(Kind::Persona, &critic, Some(scope)).await.unwrap().unwrap();
            assert_eq!(any.meta, stored.meta);
        }
        for scope in all {
            let loaded = scopes.load(&critic, Some(scope), &Overrides::new()).await.unwrap().unwrap();
            assert_eq!(loaded.bundle.meta.scope, scope);
            let answer =
                scopes.rendered(&critic, Some(scope), persona::View::Summary, render).await.unwrap().unwrap();
            assert_eq!(answer.json().contains("the user's"), scope == Scope::Global);
        }
        files.write(Scope::Project, "");
        reread(&scopes, Scope::Project).await;
        assert_eq!(resolved().await, Scope::Global);
        assert!(scopes.load(&critic, Some(Scope::Project), &Overrides::new()).await.unwrap().is_none());
        scopes.close().await;
    })
    .await;
}

/// A project's part never changes what a persona of the user's or the team's means by its name.
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_looks_from_its_own_scope_downwards() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &part("voice", PartType::Voice, "as shared has it")).await;
        keep(&store, &linking("team", &["voice"])).await;
        store.close().await;
        files.write(Scope::Global, &with_voice(Scope::Global, "user"));
        files.write(Scope::Project, &with_voice(Scope::Project, "here"));
        let scopes = files.open(database).await;
        for (of, expected) in [("here", "project"), ("user", "global"), ("team", "shared")] {
            let bundle = load(&scopes, of).await;
            assert_eq!(contents(&bundle.parts), [format!("as {expected} has it")], "{of}");
            assert!(bundle.piece_scopes.is_empty(), "{of}: {:?}", bundle.piece_scopes);
        }
        // An entity that its own scope lacks comes from the next weaker one, with its scope.
        files.write(Scope::Project, "[personas.here]\nparts = [\"voice\", \"plain-tone\"]\n");
        reread(&scopes, Scope::Project).await;
        let bundle = load(&scopes, "here").await;
        assert_eq!(bundle.parts[0].content.as_deref(), Some("as global has it"));
        let places: Vec<(&str, Scope)> =
            bundle.piece_scopes.iter().map(|piece| (piece.name.as_str(), piece.scope)).collect();
        assert_eq!(places, [("voice", Scope::Global), ("plain-tone", Scope::Builtin)]);
        files.write(Scope::Global, "");
        reread(&scopes, Scope::Global).await;
        assert_eq!(load(&scopes, "here").await.parts[0].content.as_deref(), Some("as shared has it"));
        scopes.close().await;
    })
    .await;
}

/// An arc is looked up from the persona's scope, and what its stages name from the arc's.
#[tokio::test(flavor = "multi_thread")]
async fn an_arc_means_what_its_own_scope_says() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &part("calm", PartType::Tone, "calm as shared has it")).await;
        keep(&store, &arc("shared-path", vec![stage("one", 1, &["calm"])])).await;
        store.close().await;
        files.write(
            Scope::Global,
            "[arcs.path]\nstages = [{ name = \"one\", parts = [\"calm\"] }]\n\
             [parts.calm]\npart_type = \"tone\"\ncontent = \"calm as global has it\"\n",
        );
        files.write(
            Scope::Project,
            "[personas.walker]\narc = \"path\"\n[personas.sharer]\narc = \"shared-path\"\n\
             [parts.calm]\npart_type = \"tone\"\ncontent = \"calm as project has it\"\n",
        );
        let scopes = files.open(database).await;
        let staged = async |of: &str| load(&scopes, of).await.stage.unwrap().parts;
        assert_eq!(contents(&staged("walker").await), ["calm as global has it"]);
        assert_eq!(contents(&staged("sharer").await), ["calm as shared has it"]);
        scopes.close().await;
    })
    .await;
}

/// The persona's own parts and those of its stage may have one name, and come from two scopes.
#[tokio::test(flavor = "multi_thread")]
async fn a_stage_says_where_the_arc_and_its_parts_are_from() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &part("calm", PartType::Tone, "calm as shared has it")).await;
        keep(&store, &arc("shared-path", vec![stage("one", 1, &["calm"])])).await;
        keep(&store, &Persona { arc: Some(name("shared-path")), ..persona("team") }).await;
        keep(&store, &extending("heir", "team")).await;
        keep(&store, &extending("apprentice", "mentor")).await;
        store.close().await;
        let own_part = "[parts.calm]\npart_type = \"tone\"\ncontent = \"calm as project has it\"\n";
        files.write(
            Scope::Global,
            "[arcs.global-path]\nstages = [{ name = \"one\", parts = [\"calm\", \"bold\", \"plain-tone\"] }, { name = \"two\", parts = [\"critic-voice\"] }]\n\
             [parts.bold]\npart_type = \"voice\"\ncontent = \"bold\"\n[personas.base]\narc = \"shared-path\"\n",
        );
        let personas = "[personas.walker]\narc = \"path\"\n[personas.user]\narc = \"global-path\"\nparts = [\"calm\"]\n\
            [personas.sharer]\narc = \"shared-path\"\nparts = [\"calm\"]\n[personas.pupil]\nextends = \"base\"\nparts = [\"calm\"]\n\
            [personas.sequel]\nextends = \"mentor\"\n[arcs.path]\nstages = [{ name = \"one\", parts = [\"calm\"] }]\n";
        files.write(Scope::Project, &format!("{personas}{own_part}"));
        let scopes = files.open(database).await;
        let (project, global, shared, builtin) =
            (Scope::Project, Scope::Global, Scope::Shared, Scope::Builtin);
        for (of, expected, elsewhere) in [
            ("walker", project, vec![]),
            ("user", global, vec![("calm", shared), ("plain-tone", builtin)]),
            ("sharer", shared, vec![]),
            ("pupil", shared, vec![]),
            ("team", shared, vec![]),
            ("heir", shared, vec![]),
            ("sequel", builtin, vec![]),
            ("apprentice", builtin, vec![]),
            ("mentor", builtin, vec![]),
        ] {
            let bundle = load(&scopes, of).await;
            let stage = bundle.stage.clone().unwrap_or_else(|| panic!("{of} has no stage"));
            let places: Vec<(&str, Scope)> =
                stage.piece_scopes.iter().map(|piece| (piece.name.as_str(), piece.scope)).collect();
            assert_eq!((stage.scope, places), (expected, elsewhere), "{of}");
            if matches!(of, "user" | "sharer" | "pupil") {
                let calm = name("calm");
                assert_eq!(bundle.part_scope(LayerOrigin::Own, &calm), Some(project), "{of}");
                assert_eq!(bundle.part_scope(LayerOrigin::Stage, &calm), Some(shared), "{of}");
            }
        }
        // Without a part of its own, the project's arc means the team's.
        files.write(Scope::Project, personas);
        reread(&scopes, Scope::Project).await;
        let stage = load(&scopes, "walker").await.stage.unwrap();
        assert_eq!((stage.scope, stage.piece_scopes[0].scope), (project, shared));
        scopes.close().await;
    })
    .await;
}

/// Overrides are the caller's names: they start at the strongest scope, whatever they are put on.
#[tokio::test(flavor = "multi_thread")]
async fn overrides_start_at_the_strongest_scope() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        for of in ["voice", "team-voice"] {
            keep(&store, &part(of, PartType::Voice, "as shared has it")).await;
        }
        keep(&store, &linking("team", &["voice"])).await;
        store.close().await;
        files.write(Scope::Global, &with_voice(Scope::Global, "user"));
        files.write(Scope::Project, &with_voice(Scope::Project, "here"));
        let scopes = files.open(database).await;
        let overridden = async |of: &str, by: &str| -> Vec<String> {
            let overrides = Overrides::from([(PartType::Voice, name(by))]);
            let loaded = scopes.load(&name(of), None, &overrides).await.unwrap().unwrap();
            contents(&loaded.bundle.override_parts).into_iter().map(str::to_owned).collect()
        };
        let from = async |of: &str, by: &str| {
            let overrides = Overrides::from([(PartType::Voice, name(by))]);
            let loaded = scopes.load(&name(of), None, &overrides).await.unwrap().unwrap();
            assert!(loaded.bundle.override_scopes.iter().all(|piece| piece.name == name(by)));
            loaded.bundle.part_scope(LayerOrigin::Override, &name(by)).unwrap()
        };
        for of in ["here", "user", "team", "critic"] {
            assert_eq!(overridden(of, "voice").await, ["as project has it"], "{of}");
            assert_eq!(overridden(of, "team-voice").await, ["as shared has it"], "{of}");
            assert_eq!(overridden(of, "critic-voice").await.len(), 1, "{of}: a builtin");
            assert_eq!(from(of, "voice").await, Scope::Project, "{of}");
            assert_eq!(from(of, "team-voice").await, Scope::Shared, "{of}");
            assert_eq!(from(of, "critic-voice").await, Scope::Builtin, "{of}");
            assert!(overridden(of, "nobody").await.is_empty(), "{of}");
        }
        // They leave no trace in the next answer.
        assert!(load(&scopes, "team").await.override_parts.is_empty());
        files.write(Scope::Project, "");
        reread(&scopes, Scope::Project).await;
        assert_eq!(overridden("team", "voice").await, ["as global has it"]);
        assert_eq!(from("team", "voice").await, Scope::Global);
        // A file's part in place of a builtin one leaves no word of the builtin.
        let critic = "[parts.critic-voice]\npart_type = \"voice\"\ncontent = \"as project has it\"\n";
        files.write(Scope::Project, critic);
        reread(&scopes, Scope::Project).await;
        for of in ["team", "user", "critic"] {
            assert_eq!(overridden(of, "critic-voice").await, ["as project has it"], "{of}");
            assert_eq!(from(of, "critic-voice").await, Scope::Project, "{of}");
        }
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_in_the_library_can_stand_in_a_file() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(
            Scope::Project,
            "[tool_presets.mine]\ncategories.files = [{ name = \"read_*\", weight = 5 }]\n\
             [bias_profiles.mine]\nmultipliers = { files = 2.0 }\n\
             [context_presets.mine]\nentries = [{ glob = \"src/**\", view = \"full\" }]\n\
             [test_inputs.mine]\ncontent = \"Hello.\"\n[traits.mine]\ntrait_type = \"social\"\n\
             [skills.mine]\ncontent = \"x\"\n[guardrails.mine]\nseverity = \"high\"\n\
             [arcs.mine]\nstages = [{ name = \"one\" }]\n[parts.mine]\npart_type = \"goal\"\ncontent = \"x\"\n[personas.mine]\nsummary = \"x\"\n",
        );
        let scopes = files.open(database).await;
        assert!(scopes.problems().is_empty(), "{:?}", scopes.problems());
        for kind in Kind::ALL {
            assert_eq!(scopes.scopes_of(*kind, &name("mine")).await.unwrap(), [Scope::Project], "{kind}");
            let found = scopes.get_any(*kind, &name("mine"), None).await.unwrap().unwrap();
            assert_eq!((found.entity.kind(), found.meta.revision), (*kind, 1));
        }
        assert_eq!(scopes.all(Scope::Project).await.unwrap().len(), Kind::ALL.len());
        assert!(scopes.all(Scope::Shared).await.unwrap().is_empty());
        let preset = scopes.get::<ToolPreset>(&name("mine"), None).await.unwrap().unwrap().entity;
        assert_eq!(preset.categories["files"][0].weight, Some(5));
        let bias = scopes.get::<BiasProfile>(&name("mine"), None).await.unwrap().unwrap().entity;
        assert_eq!(bias.multipliers["files"].to_bits(), 2.0_f64.to_bits());
        let input = scopes.get::<TestInput>(&name("mine"), None).await.unwrap().unwrap().entity;
        assert_eq!(input.content.as_deref(), Some("Hello."));
        scopes.close().await;
    })
    .await;
}

/// Names that several scopes define, and those that name one.
#[tokio::test(flavor = "multi_thread")]
async fn conflicts_and_references_are_found() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &persona("both")).await;
        keep(&store, &persona("alone")).await;
        keep(&store, &part("voice", PartType::Voice, "x")).await;
        let removing = Persona { remove_parts: vec![name("voice")], ..extending("heir", "both") };
        keep(&store, &removing).await;
        keep(&store, &linking("speaker", &["voice"])).await;
        store.close().await;
        files.write(Scope::Global, "[personas.both]\n[personas.files]\n[parts.own]\npart_type = \"goal\"\ncontent = \"x\"\n");
        files.write(
            Scope::Project,
            "[personas.files]\nextends = \"both\"\nparts = [\"own\"]\n[parts.voice]\npart_type = \"voice\"\ncontent = \"x\"\n",
        );
        let scopes = files.open(database).await;
        let twice = scopes.defined_twice().await.unwrap();
        let twice: Vec<String> = twice.iter().map(|(kind, name)| format!("{kind} {name}")).collect();
        assert_eq!(twice, ["persona both", "persona files", "part voice"]);
        let naming = async |scope: Scope, kind: Kind, of: &str| -> Vec<String> {
            let found = scopes.naming(scope, kind, &name(of)).await.unwrap();
            found.iter().map(|entity| entity.name().to_string()).collect()
        };
        assert_eq!(naming(Scope::Shared, Kind::Persona, "both").await, ["heir"]);
        assert_eq!(naming(Scope::Shared, Kind::Part, "voice").await, ["heir"], "links follow by themselves");
        assert!(naming(Scope::Shared, Kind::Trait, "voice").await.is_empty());
        assert!(naming(Scope::Shared, Kind::Arc, "voice").await.is_empty());
        assert_eq!(naming(Scope::Project, Kind::Persona, "both").await, ["files"]);
        assert_eq!(naming(Scope::Project, Kind::Part, "own").await, ["files"]);
        assert!(naming(Scope::Global, Kind::Part, "own").await.is_empty());
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unwritable_scope_is_refused() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, "[personas.mine]\nsummary = \"x\"\n");
        let local = Location::parse(&files.local(database).location).unwrap();
        let open_with = async |given: FileScopes| Scopes::open(open(database).await, given).await.unwrap();
        let refused = async |scopes: &Scopes, scope: Scope| {
            let error = scopes.write(scope, attribution()).await.map(|_| "it can be written to").unwrap_err();
            error.code()
        };
        let scopes = open_with(FileScopes {
            writable: false,
            local: local.clone(),
            ..files.scopes(&files.local(database))
        })
        .await;
        let mut write = begin_in(&scopes, Scope::Project).await;
        let mine = held_in::<Persona>(&mut write, "mine").await;
        for refused in [
            write.insert(&persona("new"), Action::Create).await.map(drop),
            write.replace(&mine, &persona("renamed"), Action::Rename).await.map(drop),
            write.remove(&mine).await,
        ] {
            let error = refused.unwrap_err();
            assert_eq!(error.code(), Code::ReadOnlyScope);
        }
        assert_eq!(write.commit().await.unwrap_err().code(), Code::WriteFailed);
        assert_eq!(files.read(Scope::Project), "[personas.mine]\nsummary = \"x\"\n");
        assert_eq!(refused(&scopes, Scope::Builtin).await, Code::BuiltinFixed);
        assert_eq!(begin_in(&scopes, Scope::Shared).await.scope(), Scope::Shared);
        assert_eq!(load(&scopes, "mine").await.meta.scope, Scope::Project, "reading is allowed");
        scopes.close().await;

        let scopes = open_with(FileScopes { global: None, ..files.scopes(&files.local(database)) }).await;
        let closed = scopes.write(Scope::Global, attribution()).await.map(drop);
        assert!(matches!(closed, Err(Error::NotOpen { scope: Scope::Global })), "{closed:?}");
        scopes.close().await;

        let scopes = open_with(FileScopes { project: None, ..files.scopes(&files.local(database)) }).await;
        let closed = scopes.write(Scope::Project, attribution()).await.map(drop);
        assert!(matches!(closed, Err(Error::NotOpen { scope: Scope::Project })), "{closed:?}");
        assert!(scopes.path(Scope::Project).is_none());
        assert_eq!(scopes.path(Scope::Global), Some(files.path(Scope::Global).as_path()));
        assert!(scopes.load(&name("mine"), None, &Overrides::new()).await.unwrap().is_none());
        scopes.close().await;

        // A project in the configuration directory is the user's own file, once; so is one to which a
        // link in there leads.
        files.write(Scope::Global, "[personas.once]\n");
        let link = files.directory_of(Scope::Project).join("linked.toml");
        #[cfg(unix)]
        std::os::unix::fs::symlink(files.path(Scope::Global), &link).unwrap();
        for path in [files.path(Scope::Global), link] {
            let twice = FileScopes { project: Some(path), ..files.scopes(&files.local(database)) };
            let scopes = open_with(twice).await;
            assert_eq!(scopes.scopes_of(Kind::Persona, &name("once")).await.unwrap(), [Scope::Global]);
            assert!(scopes.path(Scope::Project).is_none());
            scopes.close().await;
        }
    })
    .await;
}
