//! Personas in files that build on others: down the scopes, never up, and no deeper than allowed.

use persona::{AsReport as _, Bundle, ChainError, Code, Persona, Scope, limits};
use scopes::{Error, Overrides, Scopes};
use testkit::{Database, Files, on_each_engine};

use super::{begin_in, held_in, load, reread};
use crate::samples::{arc, extending, full_persona, keep, keep_pieces, name, open, part, persona, stage};

fn bases(bundle: &Bundle) -> Vec<String> {
    bundle.bases.iter().map(|base| format!("{}:{}", base.meta.scope, base.persona.name)).collect()
}

/// The code of a chain that cannot be loaded, and the chain.
async fn refused(scopes: &Scopes, of: &str) -> (Code, String) {
    let error = scopes.load(&name(of), None, &Overrides::new()).await.unwrap_err();
    let Error::Store(store::Error::Chain(error)) = error else { panic!("{error:?}") };
    let chain = match &error {
        ChainError::Cycle { back_to, chain, .. } => format!("{chain} → {back_to}"),
        ChainError::TooDeep(chain) => chain.to_string(),
        ChainError::Missing { chain, base, .. } | ChainError::Upwards(chain, base) => {
            format!("{chain} → {base}")
        }
    };
    (error.code(), chain)
}

async fn open_with(files: &Files, database: &Database, global: &str, project: &str) -> Scopes {
    files.write(Scope::Global, global);
    files.write(Scope::Project, project);
    files.open(database).await
}

/// The same name in every scope, each building on the next weaker one.
#[tokio::test(flavor = "multi_thread")]
async fn a_chain_goes_down_all_scopes() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep_pieces(&store).await;
        let shared = keep(&store, &Persona { extends: "builtin:critic".parse().ok(), ..full_persona("critic") }).await;
        store.close().await;
        let global = "[personas.critic]\nextends = \"shared:critic\"\ntraits = [\"mine\"]\nremove_traits = [\"bold\"]\n\
                      [traits.mine]\ntrait_type = \"social\"\n";
        let project = "[personas.critic]\nextends = \"global:critic\"\nsystem_prompt = \"Here.\"\nsystem_prompt_mode = \"append\"\n";
        let scopes = open_with(&files, database, global, project).await;
        let critic = load(&scopes, "critic").await;
        assert_eq!(bases(&critic), ["builtin:critic", "shared:critic", "global:critic"]);
        assert_eq!(critic.bases[1].meta, shared.meta);
        assert_eq!((critic.bases[1].parts.len(), critic.bases[1].guardrails.len()), (2, 1));
        let assembled = critic.assembled();
        let traits: Vec<&str> = assembled.traits.iter().map(|item| item.name.as_str()).collect();
        assert!(traits.contains(&"mine") && traits.contains(&"patient") && !traits.contains(&"bold"), "{traits:?}");
        let prompt = assembled.persona.system_prompt.as_deref().unwrap();
        assert!(prompt.ends_with("You review code.\n\nHere."), "{prompt}");
        // The weaker ones are what they were.
        let shared_alone = scopes.load(&name("critic"), Some(Scope::Shared), &Overrides::new()).await.unwrap().unwrap();
        assert_eq!(bases(&shared_alone.bundle), ["builtin:critic"]);
        scopes.close().await;
    })
    .await;
}

/// Without a scope, a base is looked up from the definition's own scope.
#[tokio::test(flavor = "multi_thread")]
async fn a_base_without_a_scope_is_the_nearest_below() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &persona("base")).await;
        keep(&store, &extending("team", "base")).await;
        store.close().await;
        let global = "[personas.base]\n[personas.user]\nextends = \"base\"\n";
        let project =
            "[personas.base]\n[personas.here]\nextends = \"base\"\n[personas.far]\nextends = \"user\"\n";
        let scopes = open_with(&files, database, global, project).await;
        assert_eq!(bases(&load(&scopes, "here").await), ["project:base"]);
        assert_eq!(bases(&load(&scopes, "user").await), ["global:base"]);
        assert_eq!(bases(&load(&scopes, "team").await), ["shared:base"]);
        assert_eq!(bases(&load(&scopes, "far").await), ["global:base", "global:user"]);
        files.write(Scope::Global, "[personas.user]\nextends = \"base\"\n");
        reread(&scopes, Scope::Global).await;
        assert_eq!(bases(&load(&scopes, "far").await), ["shared:base", "global:user"]);
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_chain_is_an_error_with_the_chain() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &extending("team", "nobody")).await;
        store.close().await;
        let global = "[personas.up]\nextends = \"project:here\"\n[personas.one]\nextends = \"two\"\n[personas.two]\nextends = \"one\"\n";
        let project = "[personas.here]\n[personas.self]\nextends = \"self\"\n[personas.gone]\nextends = \"shared:here\"\n\
                       [personas.round]\nextends = \"global:one\"\n[personas.broken]\nextends = \"team\"\n";
        let scopes = open_with(&files, database, global, project).await;
        for (of, code, chain) in [
            ("up", Code::OutOfReach, "global:up → project:here"),
            ("self", Code::BaseCycle, "project:self → project:self"),
            ("gone", Code::BaseMissing, "project:gone → shared:here"),
            ("round", Code::BaseCycle, "project:round → global:one → global:two → global:one"),
            ("broken", Code::BaseMissing, "project:broken → shared:team → nobody"),
        ] {
            assert_eq!(refused(&scopes, of).await, (code, chain.to_owned()), "{of}");
        }
        assert!(bases(&load(&scopes, "here").await).is_empty(), "its neighbours are well");
        scopes.close().await;
    })
    .await;
}

/// Eight in the project, four in the user's file, three in shared and a builtin: sixteen.
#[tokio::test(flavor = "multi_thread")]
async fn a_chain_through_all_scopes_is_at_most_so_deep() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &extending("s1", "builtin:critic")).await;
        keep(&store, &extending("s2", "s1")).await;
        keep(&store, &extending("s3", "s2")).await;
        store.close().await;
        let entry = |of: String, on: String| format!("[personas.{of}]\nextends = \"{on}\"\n");
        let mut global = entry("g1".to_owned(), "s3".to_owned());
        global.extend((2..=4).map(|at| entry(format!("g{at}"), format!("g{}", at - 1))));
        let mut project = entry("p1".to_owned(), "g4".to_owned());
        project.extend((2..=9).map(|at| entry(format!("p{at}"), format!("p{}", at - 1))));
        let scopes = open_with(&files, database, &global, &project).await;
        let deepest = load(&scopes, "p8").await;
        assert_eq!(deepest.bases.len(), limits::CHAIN - 1);
        assert_eq!(bases(&deepest)[..3], ["builtin:critic", "shared:s1", "shared:s2"]);
        assert_eq!(refused(&scopes, "p9").await.0, Code::TooManyBases);
        scopes.close().await;
    })
    .await;
}

/// An arc comes with the base that has it, from whichever scope, and the heir's stage is its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_persona_in_a_file_inherits_an_arc() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &part("hushed", persona::PartType::Voice, "Hush.")).await;
        keep(&store, &part("loud", persona::PartType::Voice, "Shout.")).await;
        keep(&store, &arc("climb", vec![stage("early", 1, &["hushed"]), stage("late", 2, &["loud"])])).await;
        keep(&store, &Persona { arc: Some(name("climb")), ..persona("climber") }).await;
        keep(&store, &extending("under", "climber")).await;
        store.close().await;
        let global = "[personas.user]\nextends = \"under\"\n";
        let project = "[personas.direct]\nextends = \"climber\"\n[personas.deep]\nextends = \"user\"\n\
                       [personas.pupil]\nextends = \"builtin:mentor\"\n";
        let scopes = open_with(&files, database, global, project).await;
        for of in ["direct", "deep", "user"] {
            let stage = load(&scopes, of).await.stage.unwrap_or_else(|| panic!("{of} has no stage"));
            assert_eq!((stage.arc, stage.stage), (name("climb"), name("early")), "{of}");
            assert_eq!(stage.parts[0].content.as_deref(), Some("Hush."), "{of}");
        }
        assert!(load(&scopes, "pupil").await.stage.is_some());
        let mut write = begin_in(&scopes, Scope::Project).await;
        for of in ["direct", "deep"] {
            let held = held_in::<Persona>(&mut write, of).await;
            write.set_stage(&held, &name("climb"), &name("late")).await.unwrap();
            assert_eq!(write.stage(&held).await.unwrap(), Some(name("late")));
        }
        write.commit().await.unwrap();
        for of in ["direct", "deep"] {
            let stage = load(&scopes, of).await.stage.unwrap();
            assert_eq!((stage.stage, stage.position), (name("late"), 2), "{of}");
            assert_eq!(stage.parts[0].content.as_deref(), Some("Shout."), "{of}");
        }
        assert_eq!(load(&scopes, "climber").await.stage.unwrap().stage, name("early"));
        assert_eq!(load(&scopes, "user").await.stage.unwrap().stage, name("early"));
        scopes.close().await;
    })
    .await;
}
