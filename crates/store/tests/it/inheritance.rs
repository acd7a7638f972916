//! Personas that build on others, in shared and on builtins: whole chains, and what is wrong with one.

use persona::{AsReport as _, Bundle, ChainError, Code, Persona, View, limits};
use store::{Error, Store};
use testkit::on_each_engine;

use crate::samples::{
    base, change, extending, full_persona, keep, keep_pieces, linking, name, names, open, part, persona,
    remove, render, tone, trait_,
};

async fn bundle(store: &Store, of: &str) -> Bundle {
    store.load(&name(of), &[]).await.unwrap().unwrap().bundle.clone()
}

async fn refused(store: &Store, of: &str) -> Error {
    let loaded = store.load(&name(of), &[]).await;
    let error = loaded.map(|_| format!("{of} is loaded")).unwrap_err();
    let again = store.rendered(&name(of), View::Summary, render).await.map(|_| ()).unwrap_err();
    assert_eq!(again.report(), error.report());
    error
}

/// The code of a chain that cannot be loaded, and the chain.
async fn refused_chain(store: &Store, of: &str) -> (Code, String) {
    let error = refused(store, of).await;
    let Error::Chain(error) = error else { panic!("{error:?}") };
    let chain = match &error {
        ChainError::Cycle { back_to, chain, .. } => format!("{chain} → {back_to}"),
        ChainError::TooDeep(chain) => chain.to_string(),
        ChainError::Missing { chain, base, .. } | ChainError::Upwards(chain, base) => {
            format!("{chain} → {base}")
        }
    };
    (error.code(), chain)
}

/// The bases of a persona, root first.
fn bases(bundle: &Bundle) -> Vec<String> {
    bundle.bases.iter().map(|base| format!("{}:{}", base.meta.scope, base.persona.name)).collect()
}

async fn prompt(store: &Store, of: &str) -> String {
    persona::compile(&bundle(store, of).await.assembled()).detail
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_goes_through_shared_into_the_builtins() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        keep(&store, &full_persona("root")).await;
        keep(&store, &tone("dry")).await;
        keep(&store, &trait_("curious")).await;
        let middle = Persona {
            extends: base("shared:root"),
            traits: names(&["curious"]),
            remove_traits: names(&["bold"]),
            system_prompt: Some("You are in the middle.".to_owned()),
            ..linking("middle", &["dry"])
        };
        let middle = keep(&store, &middle).await;
        keep(&store, &extending("leaf", "middle")).await;
        let leaf = bundle(&store, "leaf").await;
        assert_eq!(bases(&leaf), ["builtin:critic", "shared:root", "shared:middle"]);
        let above = &leaf.bases[2];
        assert_eq!((&above.persona, &above.meta), (&middle.entity, &middle.meta));
        assert_eq!((&above.parts[..], &above.traits[..]), (&[tone("dry")][..], &[trait_("curious")][..]));
        let root = &leaf.bases[1];
        assert_eq!(root.persona, full_persona("root"), "removals included");
        assert_eq!((root.parts.len(), root.traits.len(), root.skills.len()), (2, 2, 1));
        assert_eq!(root.arc.as_ref().unwrap().arc.name, name("path"));
        assert_eq!(root.arc.as_ref().unwrap().parts, [tone("cold")]);
        let critic = &leaf.bases[0];
        assert_eq!(critic.parts.len(), critic.persona.parts.len());
        assert!(!critic.parts.is_empty() && !critic.guardrails.is_empty());
        assert_eq!(leaf.stage.as_ref().unwrap().stage, name("start"), "of the arc that it inherits");

        let assembled = leaf.assembled();
        let traits: Vec<&str> = assembled.traits.iter().map(|item| item.name.as_str()).collect();
        assert!(traits.contains(&"patient") && traits.contains(&"curious"), "{traits:?}");
        assert!(!traits.contains(&"bold"), "{traits:?}");
        let text = prompt(&store, "leaf").await;
        assert!(text.contains("You are in the middle."), "{text}");
        assert!(!text.contains("You review code."), "the middle one replaces it: {text}");
        store.close().await;
    })
    .await;
}

/// Without a scope, a base is looked up from the persona's own scope downwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_base_is_in_shared_before_it_is_a_builtin() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &extending("mine", "critic")).await;
        keep(&store, &extending("exact", "builtin:critic")).await;
        assert_eq!(bases(&bundle(&store, "mine").await), ["builtin:critic"]);
        // A persona may build on the builtin that it hides.
        keep(&store, &extending("critic", "builtin:critic")).await;
        assert_eq!(bases(&bundle(&store, "critic").await), ["builtin:critic"]);
        assert_eq!(bases(&bundle(&store, "mine").await), ["builtin:critic", "shared:critic"]);
        assert_eq!(bases(&bundle(&store, "exact").await), ["builtin:critic"]);
        store.close().await;
    })
    .await;
}

/// Whatever changes in a base is in the next answer for those that build on it.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_base_is_seen_above() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &part("warm", persona::PartType::Tone, "Be warm.")).await;
        keep(&store, &linking("root", &["warm"])).await;
        keep(&store, &extending("middle", "root")).await;
        keep(&store, &extending("leaf", "middle")).await;
        let answer = async || {
            store.rendered(&name("leaf"), View::Detail, render).await.unwrap().unwrap().json().to_owned()
        };
        assert!(answer().await.contains("Be warm."));
        change::<persona::Part>(&store, "warm", |part| part.content = Some("Be hot.".to_owned())).await;
        assert!(answer().await.contains("Be hot."));
        change::<Persona>(&store, "root", |root| root.system_prompt = Some("Rooted.".to_owned())).await;
        assert!(answer().await.contains("Rooted."));
        change::<Persona>(&store, "middle", |middle| middle.extends = None).await;
        let plain = answer().await;
        assert!(!plain.contains("Rooted.") && !plain.contains("Be hot."), "{plain}");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_circle_is_printed() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &persona("a")).await;
        keep(&store, &extending("b", "a")).await;
        keep(&store, &extending("c", "shared:b")).await;
        keep(&store, &extending("outside", "c")).await;
        change::<Persona>(&store, "a", |a| a.extends = base("c")).await;
        keep(&store, &extending("self", "self")).await;
        for (of, chain) in [
            ("a", "shared:a → shared:c → shared:b → shared:a"),
            ("outside", "shared:outside → shared:c → shared:b → shared:a → shared:c"),
            ("self", "shared:self → shared:self"),
        ] {
            assert_eq!(refused_chain(&store, of).await, (Code::BaseCycle, chain.to_owned()));
        }
        // Other personas load as before, and the circle can be opened again.
        keep(&store, &persona("fine")).await;
        assert!(bundle(&store, "fine").await.bases.is_empty());
        change::<Persona>(&store, "a", |a| a.extends = None).await;
        assert_eq!(bases(&bundle(&store, "outside").await), ["shared:a", "shared:b", "shared:c"]);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_is_at_most_so_deep() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &persona("p1")).await;
        for at in 2..=limits::CHAIN + 1 {
            keep(&store, &extending(&format!("p{at}"), &format!("p{}", at - 1))).await;
        }
        let deepest = format!("p{}", limits::CHAIN);
        assert_eq!(bundle(&store, &deepest).await.bases.len(), limits::CHAIN - 1);
        let (code, chain) = refused_chain(&store, &format!("p{}", limits::CHAIN + 1)).await;
        assert_eq!(code, Code::TooManyBases);
        assert!(chain.starts_with("shared:p17 → shared:p16 → ") && chain.contains("→ shared:p2"), "{chain}");
        // A builtin at the end counts like any other.
        change::<Persona>(&store, "p1", |root| root.extends = base("builtin:critic")).await;
        assert_eq!(refused(&store, &deepest).await.code(), Code::TooManyBases);
        let one_less = format!("p{}", limits::CHAIN - 1);
        assert_eq!(bundle(&store, &one_less).await.bases.len(), limits::CHAIN - 1);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_base_is_printed_with_its_chain() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &persona("root")).await;
        keep(&store, &extending("middle", "root")).await;
        keep(&store, &extending("leaf", "middle")).await;
        let mut write = crate::samples::begin(&store).await;
        let root = crate::samples::held::<Persona>(&mut write, "root").await;
        assert_eq!(write.users(&root).await.unwrap().len(), 1, "who deletes it can know");
        drop(write);
        remove::<Persona>(&store, "root").await;
        let chain = "shared:leaf → shared:middle → root".to_owned();
        assert_eq!(refused_chain(&store, "leaf").await, (Code::BaseMissing, chain));
        for (of, extends, code) in [
            ("scoped", "shared:critic", Code::BaseMissing),
            ("builtin", "builtin:middle", Code::BaseMissing),
            ("upwards", "global:middle", Code::OutOfReach),
            ("far", "project:middle", Code::OutOfReach),
        ] {
            keep(&store, &extending(of, extends)).await;
            assert_eq!(refused_chain(&store, of).await, (code, format!("shared:{of} → {extends}")));
        }
        store.close().await;
    })
    .await;
}
