//! Loading: a persona with everything that it refers to, in one statement, and from the cache while
//! nothing changed.

use std::sync::Arc;

use persona::{Bundle, CharacterArc, CompiledText, Name, Part, PartType, Persona, Scope};
use scopes::Scopes;
use store::Store;
use testkit::on_each_engine;

use crate::samples::{
    begin, change, full_persona, guardrail, held, keep, keep_pieces, name, open, part, persona, remove,
    settle, skill, tone, trait_,
};

async fn bundle(store: &Store, of: &str, overrides: &[&str]) -> Bundle {
    let overrides: Vec<Name> = overrides.iter().map(|of| name(of)).collect();
    let overrides: Vec<&Name> = overrides.iter().collect();
    store.load(&name(of), &overrides).await.unwrap().unwrap().bundle.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_comes_with_everything() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        let stored = keep(&store, &full_persona("guide")).await;
        let loaded = bundle(&store, "guide", &[]).await;
        assert_eq!((loaded.persona, loaded.meta), (stored.entity, stored.meta));
        assert_eq!(loaded.parts, [tone("cold"), tone("warm")]);
        assert_eq!(loaded.traits, [trait_("bold"), trait_("patient")]);
        assert_eq!(loaded.skills, [skill("tracing")]);
        assert_eq!(loaded.guardrails, [guardrail("honest")]);
        assert_eq!(loaded.stage.unwrap().parts, [tone("cold")]);
        assert!(loaded.compiled.is_none() && loaded.override_parts.is_empty());

        keep(&store, &persona("bare")).await;
        let bare = bundle(&store, "bare", &[]).await;
        assert_eq!(bare.persona, persona("bare"));
        assert!(bare.parts.is_empty() && bare.stage.is_none() && bare.compiled.is_none());
        assert!(store.load(&name("missing"), &[]).await.unwrap().is_none());
        let stage = bundle(&store, "mentor", &[]).await.stage.unwrap();
        assert_eq!((stage.position, stage.of), (1, 3));
        assert!(!stage.parts.is_empty());
        assert!(store.load(&name("missing"), &[&name("warm")]).await.unwrap().is_none());
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overrides_bring_their_parts() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &persona("guide")).await;
        keep(&store, &tone("warm")).await;
        let builtin = builtins::of::<Part>().values().next().unwrap();
        let loaded = bundle(&store, "guide", &["warm", builtin.name.as_str(), "gone"]).await;
        assert_eq!(loaded.override_parts, [tone("warm"), builtin.clone()]);
        assert!(bundle(&store, "guide", &[]).await.override_parts.is_empty(), "nothing of it is cached");
        // An override means the part that hides a builtin.
        let hiding = part(builtin.name.as_str(), PartType::Flaw, "Mine.");
        keep(&store, &hiding).await;
        assert_eq!(bundle(&store, "guide", &[builtin.name.as_str()]).await.override_parts, [hiding]);
        // On a builtin persona too.
        let critic = bundle(&store, "critic", &["warm"]).await;
        assert_eq!((critic.override_parts, critic.meta.scope), (vec![tone("warm")], Scope::Builtin));
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn builtins_have_state_too() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let mentor = &builtins::of::<Persona>()[&name("mentor")];
        let arc = &builtins::of::<CharacterArc>()[mentor.arc.as_ref().unwrap()];
        let walk = arc.walk();
        let loaded = bundle(&store, "mentor", &[]).await;
        assert_eq!((&loaded.persona, loaded.meta.scope), (mentor, Scope::Builtin));
        assert_eq!(loaded.parts.len(), mentor.parts.len());
        assert_eq!(loaded.stage.unwrap().stage, walk[0].name);
        for (at, stage) in walk.iter().enumerate().rev() {
            let mut write = begin(&store).await;
            write.set_builtin_stage(&mentor.name, &arc.name, &stage.name).await.unwrap();
            assert_eq!(write.builtin_stage(&mentor.name).await.unwrap(), Some(stage.name.clone()));
            write.commit().await.unwrap();
            let active = bundle(&store, "mentor", &[]).await.stage.unwrap();
            assert_eq!((active.stage, active.position), (stage.name.clone(), at as i64 + 1));
            assert_eq!(active.parts.len(), stage.parts.len());
        }
        // A stage that a later Masque no longer has is as good as none.
        let mut write = begin(&store).await;
        write.set_builtin_stage(&mentor.name, &arc.name, &name("of-old")).await.unwrap();
        assert_eq!(write.builtin_stage(&mentor.name).await.unwrap(), None);
        write.commit().await.unwrap();
        assert_eq!(bundle(&store, "mentor", &[]).await.stage.unwrap().position, 1);
        store.close().await;
    })
    .await;
}

fn text(of: &Bundle) -> CompiledText {
    persona::compile(&of.assembled())
}

fn stale(of: &Bundle) -> bool {
    of.compiled.as_ref().unwrap().fingerprint != persona::fingerprint(&of.assembled())
}

#[tokio::test(flavor = "multi_thread")]
async fn compiled_text_is_kept_and_goes_stale() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let scopes = Scopes::of_database(store.clone());
        keep_pieces(&store).await;
        keep(&store, &full_persona("guide")).await;
        for (of, scope) in [("guide", Scope::Shared), ("critic", Scope::Builtin)] {
            let before = bundle(&store, of, &[]).await;
            assert!(before.compiled.is_none());
            let kept = scopes.store_compiled(scope, &name(of), &text(&before)).await.unwrap();
            let after = bundle(&store, of, &[]).await;
            assert_eq!(after.compiled.as_ref(), Some(&kept), "the time to the microsecond too");
            assert!(!stale(&after));
            assert_eq!(after.meta, before.meta);
        }
        let edits: [fn(&mut Part); 2] =
            [|part| part.content = Some("Be new.".to_owned()), |part| part.part_type = PartType::Voice];
        for edit in edits {
            change::<Part>(&store, "cold", edit).await;
            let loaded = bundle(&store, "guide", &[]).await;
            assert!(stale(&loaded));
            scopes.store_compiled(Scope::Shared, &name("guide"), &text(&loaded)).await.unwrap();
            assert!(!stale(&bundle(&store, "guide", &[]).await));
        }
        keep(&store, &part("stern", PartType::Tone, "Be stern.")).await;
        change::<CharacterArc>(&store, "path", |arc| arc.stages[1].parts.push(name("stern"))).await;
        assert!(!stale(&bundle(&store, "guide", &[]).await), "a stage in which it does not stand");
        let mut write = begin(&store).await;
        let guide = held::<Persona>(&mut write, "guide").await;
        write.set_stage(&guide, &name("path"), &name("end")).await.unwrap();
        write.commit().await.unwrap();
        assert!(stale(&bundle(&store, "guide", &[]).await), "another stage is another prompt");
        // It stays with the persona under a new name, and goes with it.
        change::<Persona>(&store, "guide", |persona| persona.name = name("leader")).await;
        assert!(bundle(&store, "leader", &[]).await.compiled.is_some());
        remove::<Persona>(&store, "leader").await;
        keep(&store, &full_persona("leader")).await;
        assert!(bundle(&store, "leader", &[]).await.compiled.is_none());
        let compiled =
            CompiledText { summary: String::new(), detail: String::new(), fingerprint: String::new() };
        scopes.store_compiled(Scope::Shared, &name("missing"), &compiled).await.unwrap();
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_persona_comes_from_the_cache() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("warm")).await;
        keep(&store, &crate::samples::linking("guide", &["warm"])).await;
        let load = async || store.load(&name("guide"), &[]).await.unwrap().unwrap();
        settle(&store, "guide").await;
        let cached = load().await;
        assert!(Arc::ptr_eq(&cached, &load().await));
        let with_override = store.load(&name("guide"), &[&name("warm")]).await.unwrap().unwrap();
        assert!(!Arc::ptr_eq(&cached, &with_override));
        assert!(Arc::ptr_eq(&cached, &load().await));
        // A piece that changes takes the persona out of the cache.
        change::<Part>(&store, "warm", |part| part.content = Some("Be warm.".to_owned())).await;
        let fresh = load().await;
        assert_eq!(fresh.bundle.parts[0].content.as_deref(), Some("Be warm."));
        change::<Persona>(&store, "guide", |persona| persona.name = name("leader")).await;
        assert!(store.load(&name("guide"), &[]).await.unwrap().is_none());
        remove::<Persona>(&store, "leader").await;
        assert!(store.load(&name("leader"), &[]).await.unwrap().is_none());
        store.close().await;
    })
    .await;
}
