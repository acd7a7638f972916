//! The versions of everything that a run depends on, and what has changed since.

use std::collections::BTreeMap;

use fidelity::{Piece, TestReport};
use persona::catalog::reach;
use persona::{AnyEntity, Bundle, Entity, Kind, LayerOrigin, Name, Persona, Scope, Stored, TestInput};
use serde::Serialize;
use serde_json::json;
use store::FullRevision;

use super::cache::hash;
use super::plan::{NOW, version_of};
use crate::inputs::RevisionText;
use crate::{Library, Result};

/// Characters of a hash that a report has.
const HASH_CHARS: usize = 8;

/// A definition that replies or their verdicts depend on.
struct Found {
    kind: Kind,
    name: Name,
    scope: Option<Scope>,
    hash: String,
    /// `None` if it is still to be looked up.
    revision: Option<i64>,
}

impl Found {
    fn key(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.name)
    }

    fn stored(kind: Kind, name: &Name, stored: &Stored<AnyEntity>) -> Self {
        Self {
            kind,
            name: name.clone(),
            scope: Some(stored.meta.scope),
            hash: short_hash(&stored.entity.to_json()),
            revision: Some(stored.meta.revision),
        }
    }
}

fn short_hash(value: &serde_json::Value) -> String {
    hash(value)[..HASH_CHARS].to_owned()
}

/// The versions of a persona, its bases, their pieces and presets, and of the test inputs. `frozen` is the
/// persona's revision if it is not the one in use.
pub(super) async fn pieces(
    library: &Library,
    bundle: &Bundle,
    frozen: Option<&FullRevision>,
    inputs: &[Name],
) -> Result<BTreeMap<String, Piece>> {
    let mut then: BTreeMap<(Kind, Name), i64> = BTreeMap::new();
    if let Some(revision) = frozen {
        let (referred, _) = library.scopes.referred(revision).await?;
        let revisions = referred
            .into_iter()
            .map(|it| ((it.then.entity.kind(), it.then.entity.name().clone()), it.then.about.revision));
        then.extend(revisions);
    }
    let mut pieces = BTreeMap::new();
    for found in all(library, bundle, frozen.is_some(), inputs).await? {
        let revision = match (found.revision, frozen) {
            (Some(revision), _) => Some(revision),
            (None, Some(_)) => then.get(&(found.kind, found.name.clone())).copied(),
            (None, None) => {
                let stored = library.scopes.get_any(found.kind, &found.name, found.scope).await?;
                stored.map(|stored| stored.meta.revision)
            }
        };
        pieces.insert(found.key(), Piece { revision, hash: found.hash });
    }
    Ok(pieces)
}

/// A test input as a persona of a scope means it.
pub(super) async fn find_input(
    library: &Library,
    from: Scope,
    name: &Name,
) -> Result<Option<Stored<TestInput>>> {
    match look_up(library, from, Kind::TestInput, name).await? {
        Some(stored) => Ok(stored.of_kind()),
        // A base in a stronger scope, or the caller's own choice.
        None => Ok(library.scopes.get::<TestInput>(name, None).await?),
    }
}

async fn look_up(
    library: &Library,
    from: Scope,
    kind: Kind,
    name: &Name,
) -> Result<Option<Stored<AnyEntity>>> {
    for scope in reach(from, None) {
        if let Some(stored) = library.scopes.get_any(kind, name, Some(scope)).await? {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

async fn all(library: &Library, bundle: &Bundle, is_frozen: bool, inputs: &[Name]) -> Result<Vec<Found>> {
    let mut found = of_bundle(bundle);
    found.extend(settings(library, bundle, is_frozen).await?);
    for name in inputs {
        if let Some(Stored { entity, meta }) = find_input(library, bundle.meta.scope, name).await? {
            let stored = Stored { entity: AnyEntity::from(entity), meta };
            found.push(Found::stored(Kind::TestInput, name, &stored));
        }
    }
    Ok(found)
}

fn of_bundle(bundle: &Bundle) -> Vec<Found> {
    fn put<T: Entity + Serialize>(
        found: &mut Vec<Found>,
        entities: &[T],
        scope: impl Fn(&Name) -> Option<Scope>,
    ) {
        found.extend(entities.iter().map(|entity| Found {
            kind: T::KIND,
            name: entity.name().clone(),
            scope: scope(entity.name()),
            hash: short_hash(&json!(entity)),
            revision: None,
        }));
    }
    let mut found = Vec::new();
    let layers = bundle.bases.iter().map(|base| (&base.persona, &base.meta));
    for (persona, meta) in layers.chain([(&bundle.persona, &bundle.meta)]) {
        found.push(Found {
            kind: Kind::Persona,
            name: persona.name.clone(),
            scope: Some(meta.scope),
            hash: short_hash(&json!(persona)),
            revision: Some(meta.revision),
        });
    }
    let of = |kind: Kind| move |name: &Name| bundle.piece_scope(kind, name);
    for base in &bundle.bases {
        put(&mut found, &base.parts, of(Kind::Part));
        put(&mut found, &base.traits, of(Kind::Trait));
        put(&mut found, &base.skills, of(Kind::Skill));
        put(&mut found, &base.guardrails, of(Kind::Guardrail));
    }
    put(&mut found, &bundle.parts, of(Kind::Part));
    put(&mut found, &bundle.traits, of(Kind::Trait));
    put(&mut found, &bundle.skills, of(Kind::Skill));
    put(&mut found, &bundle.guardrails, of(Kind::Guardrail));
    if let Some(stage) = &bundle.stage {
        put(&mut found, &stage.parts, |name| bundle.part_scope(LayerOrigin::Stage, name));
    }
    found
}

/// The field of a persona that names a setting.
type Setting = fn(&Persona) -> Option<&Name>;

/// The presets and the arc that the strongest layer names. An earlier version has its arc within; its presets
/// are those of now.
async fn settings(library: &Library, bundle: &Bundle, is_frozen: bool) -> Result<Vec<Found>> {
    const SETTINGS: &[(Kind, Setting)] = &[
        (Kind::ToolPreset, |persona| persona.tool_preset.as_ref()),
        (Kind::ToolPreset, |persona| persona.plan_persona.as_ref()?.tool_preset.as_ref()),
        (Kind::BiasProfile, |persona| persona.bias_profile.as_ref()),
        (Kind::ContextPreset, |persona| persona.context_preset.as_ref()),
        (Kind::Arc, |persona| persona.arc.as_ref()),
    ];
    let mut found = Vec::new();
    for (kind, named) in SETTINGS.iter().filter(|(kind, _)| !(is_frozen && *kind == Kind::Arc)) {
        let bases = bundle.bases.iter().rev().map(|base| (&base.persona, base.meta.scope));
        let mut layers = [(&bundle.persona, bundle.meta.scope)].into_iter().chain(bases);
        let strongest = layers.find_map(|(persona, scope)| Some((named(persona)?, scope)));
        let Some((name, scope)) = strongest else { continue };
        let stored = look_up(library, scope, *kind, name).await?;
        found.extend(stored.map(|stored| Found::stored(*kind, name, &stored)));
    }
    Ok(found)
}

/// A version of a persona with its inputs.
type Version = (String, Option<Scope>, String, Vec<Name>);

/// Present versions, each looked up once.
pub(super) struct Present<'a> {
    library: &'a Library,
    known: BTreeMap<Version, Option<BTreeMap<String, String>>>,
}

impl<'a> Present<'a> {
    pub(super) fn new(library: &'a Library) -> Self {
        Self { library, known: BTreeMap::new() }
    }

    /// Names what has changed since the run. A version that is gone has not changed.
    pub(super) async fn mark(&mut self, report: &mut TestReport) {
        let Ok(persona) = Name::parse(&report.persona) else { return };
        for column in &mut report.columns {
            let inputs = column.pieces.keys().filter_map(|key| key.strip_prefix("test_input:"));
            let inputs: Vec<Name> = inputs.filter_map(|name| Name::parse(name).ok()).collect();
            let version = (report.persona.clone(), report.scope, column.column.clone(), inputs);
            if !self.known.contains_key(&version) {
                let current = self.hashes(&persona, &version).await.ok();
                self.known.insert(version.clone(), current);
            }
            let Some(Some(current)) = self.known.get(&version) else { continue };
            let names = column.pieces.keys().chain(current.keys());
            let then = |name: &String| column.pieces.get(name).map(|piece| &piece.hash);
            let mut changed: Vec<String> =
                names.filter(|name| then(name) != current.get(*name)).cloned().collect();
            changed.sort();
            changed.dedup();
            column.changed = changed;
        }
    }

    async fn hashes(&self, persona: &Name, version: &Version) -> Result<BTreeMap<String, String>> {
        let (_, scope, column, inputs) = version;
        let wanted = (column != NOW).then(|| RevisionText(column.clone()));
        let (bundle, _) = version_of(self.library, persona, *scope, wanted.as_ref()).await?;
        let found = all(self.library, &bundle, wanted.is_some(), inputs).await?;
        Ok(found.into_iter().map(|found| (found.key(), found.hash)).collect())
    }
}
