//! The database resolves names in SQL, to answer in one round trip; `persona` resolves them in
//! memory. Both mean the same on random libraries.

use std::collections::BTreeMap;

use builtins::Builtins;
use persona::catalog::{Catalog, PersonaState, build, resolve};
use persona::{
    AnyEntity, AsReport as _, Base, Bundle, CharacterArc, Kind, LoadedArc, Meta, Name, Part, PartLink,
    Persona, Scope, Stage,
};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use scopes::{Draft, Overrides, Scopes};
use testkit::{Database, Files, on_each_engine};

use super::keep_in;
use crate::samples::{arc, name, persona, stage, tone, trait_};

const LIBRARIES: u64 = 10;
/// The last of each is the name of a builtin, too.
const PERSONAS: [&str; 4] = ["a", "b", "c", "critic"];
const ARCS: [&str; 2] = ["v", "w"];

/// Everything that was written, and the builtins.
#[derive(Default)]
struct Written(BTreeMap<(Scope, Kind, Name), AnyEntity>);

impl Catalog for Written {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        match scope {
            Scope::Builtin => Builtins::get().find(kind, name),
            _ => self.0.get(&(scope, kind, name.clone())).cloned(),
        }
    }
}

impl Written {
    /// Names of a kind that a definition of a scope may write down: in shared, a link needs its
    /// piece there.
    fn names(&self, scope: Scope, kind: Kind, all: &[String], random: &mut StdRng) -> Vec<Name> {
        let all = all.iter().map(|text| name(text));
        let may = all.filter(|name| scope.is_file() || self.0.contains_key(&(scope, kind, name.clone())));
        may.filter(|_| random.random_bool(0.5)).collect()
    }

    async fn keep<T: store::Keep + persona::Entity>(&mut self, scopes: &Scopes, scope: Scope, entity: T) {
        keep_in(scopes, scope, &entity).await;
        self.0.insert((scope, T::KIND, entity.name().clone()), entity.into());
    }
}

fn with_builtin(names: &[&str], builtin: Option<&Name>) -> Vec<String> {
    let builtin = builtin.map(Name::to_string);
    names.iter().map(|name| (*name).to_owned()).chain(builtin).collect()
}

async fn write_random(scopes: &Scopes, random: &mut StdRng) -> Written {
    let parts = with_builtin(&["x", "y"], builtins::of::<Part>().keys().next());
    let traits = with_builtin(&["t"], builtins::of::<persona::Trait>().keys().next());
    let mut written = Written::default();
    for scope in [Scope::Shared, Scope::Global, Scope::Project] {
        for of in &parts {
            if random.random_bool(0.5) {
                let part = Part { content: Some(format!("{of} of {scope}")), ..tone(of) };
                written.keep(scopes, scope, part).await;
            }
        }
        for of in &traits {
            if random.random_bool(0.5) {
                written.keep(scopes, scope, trait_(of)).await;
            }
        }
        for of in ARCS {
            if random.random_bool(0.5) {
                let parts = written.names(scope, Kind::Part, &parts, random);
                let walk = vec![Stage { parts, ..stage("begin", 1, &[]) }, stage("end", 2, &[])];
                written.keep(scopes, scope, CharacterArc { ..arc(of, walk) }).await;
            }
        }
        for of in PERSONAS {
            if random.random_bool(0.7) {
                let persona = random_persona(&written, scope, of, (&parts, &traits), random);
                written.keep(scopes, scope, persona).await;
            }
        }
    }
    written
}

fn random_persona(
    written: &Written,
    scope: Scope,
    of: &str,
    (parts, traits): (&[String], &[String]),
    random: &mut StdRng,
) -> Persona {
    let arcs = ARCS.map(str::to_owned);
    let link = |(order, name)| PartLink { name, order, priority: 0 };
    let base = random.random_bool(0.6).then(|| {
        let base = PERSONAS.choose(random).expect("there are some");
        let named = Scope::ALL.choose(random).filter(|_| random.random_bool(0.3));
        named.map_or_else(|| (*base).to_owned(), |named| format!("{named}:{base}"))
    });
    Persona {
        extends: base.map(|base| base.parse().expect("a base")),
        parts: (0..).zip(written.names(scope, Kind::Part, parts, random)).map(link).collect(),
        traits: written.names(scope, Kind::Trait, traits, random),
        arc: written.names(scope, Kind::Arc, &arcs, random).pop(),
        ..persona(of)
    }
}

/// Without what only a history knows, and in the order of names: links say where a piece belongs.
fn plain(mut bundle: Bundle) -> Bundle {
    bundle.meta = Meta { scope: bundle.meta.scope, ..Meta::BUILTIN };
    bundle.parts.sort_by(|one, other| one.name.cmp(&other.name));
    bundle.traits.sort_by(|one, other| one.name.cmp(&other.name));
    bundle.piece_scopes.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    bundle.bases = bundle.bases.into_iter().map(plain_base).collect();
    bundle
}

fn plain_base(mut base: Base) -> Base {
    base.meta = Meta { scope: base.meta.scope, ..Meta::BUILTIN };
    base.parts.sort_by(|one, other| one.name.cmp(&other.name));
    base.traits.sort_by(|one, other| one.name.cmp(&other.name));
    base.skills.sort_by(|one, other| one.name.cmp(&other.name));
    base.guardrails.sort_by(|one, other| one.name.cmp(&other.name));
    base.piece_scopes.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    base.arc = base.arc.map(plain_arc);
    base
}

fn plain_arc(mut arc: LoadedArc) -> LoadedArc {
    arc.parts.sort_by(|one, other| one.name.cmp(&other.name));
    arc.parts.dedup();
    arc
}

async fn check(scopes: &Scopes, written: &Written, seed: u64) -> usize {
    let mut chained = 0;
    let personas = written.0.keys().filter(|(_, kind, _)| *kind == Kind::Persona);
    for (scope, _, of) in personas {
        let expected = build(written, *scope, of, PersonaState::default());
        let loaded = scopes.load(of, Some(*scope), &Overrides::new()).await;
        match (expected, loaded) {
            (Ok(expected), Ok(loaded)) => {
                let expected = plain(expected.expect("it was written"));
                chained += expected.bases.len();
                let loaded = plain(loaded.expect("it was written").bundle.clone());
                assert_eq!(loaded, expected, "{scope}:{of} of seed {seed}");
            }
            (Err(expected), Err(refused)) => {
                assert_eq!(refused.report(), expected.report(), "{scope}:{of} of seed {seed}");
            }
            (expected, loaded) => panic!("{scope}:{of} of seed {seed}: {expected:?}, but {loaded:?}"),
        }
    }
    chained
}

/// A stored persona, read as a draft, is what it is when it is loaded.
async fn check_drafts(scopes: &Scopes, written: &Written, seed: u64) {
    let generation = scopes.database().generation().unwrap();
    for ((scope, _, of), entity) in &written.0 {
        let AnyEntity::Persona(persona) = entity else { continue };
        let draft = Draft { scope: *scope, persona: persona.clone(), pieces: Vec::new() };
        let catalog = scopes.draft_catalog(draft, &Overrides::new()).await.unwrap();
        let drafted = scopes.draft_bundle(&catalog, None).await;
        let loaded = scopes.load(of, Some(*scope), &Overrides::new()).await;
        match (drafted, loaded) {
            (Ok(drafted), Ok(loaded)) => {
                let loaded = loaded.expect("it was written").bundle.clone();
                assert_eq!(plain(drafted), plain(loaded), "{scope}:{of} of seed {seed}");
            }
            (Err(drafted), Err(loaded)) => {
                assert_eq!(drafted.report(), loaded.report(), "{scope}:{of} of seed {seed}");
            }
            (drafted, loaded) => panic!("{scope}:{of} of seed {seed}: {drafted:?}, but {loaded:?}"),
        }
        for reference in entity.references().into_iter().filter(|it| it.kind != Kind::Persona) {
            let there = resolve(*scope, None, |scope| written.find(scope, reference.kind, &reference.name));
            let found = catalog.scope_of(*scope, reference.kind, &reference.name);
            assert_eq!(found, there.map(|(scope, _)| scope), "{scope}:{of} {reference:?} of seed {seed}");
        }
    }
    assert_eq!(scopes.database().generation().unwrap(), generation, "nothing was written");
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_and_the_resolver_mean_the_same() {
    let mut chained = 0;
    for seed in 0..LIBRARIES {
        let counts = std::sync::Mutex::new(0);
        on_each_engine(async |database: &Database| {
            let files = Files::new();
            let scopes = files.open(database).await;
            let written = write_random(&scopes, &mut StdRng::seed_from_u64(seed)).await;
            *counts.lock().unwrap() += check(&scopes, &written, seed).await;
            check_drafts(&scopes, &written, seed).await;
            scopes.close().await;
        })
        .await;
        chained += counts.into_inner().unwrap();
    }
    assert!(chained >= 20, "the libraries have chains: {chained}");
}
