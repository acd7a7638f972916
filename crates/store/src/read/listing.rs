//! Entities in memory, the builtins and those of files, as lists and searches show them.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use chrono::{DateTime, Utc};
use persona::{AnyEntity, Kind, Name, Scope, with_entity};

use super::{Filter, Found};
use crate::words::Words;
use builtins::Builtins;

/// An entity as a list shows it, and its search words.
#[derive(Debug)]
pub struct Listed {
    pub found: Found,
    words: Words,
}

impl Listed {
    pub fn new(entity: &AnyEntity, scope: Scope, updated_at: Option<DateTime<Utc>>) -> Self {
        let mut found = Found {
            kind: entity.kind(),
            name: entity.name().clone(),
            scope,
            display_name: None,
            part_type: None,
            trait_type: None,
            severity: None,
            description: with_entity!(entity, entity => entity.description.clone()),
            summary: None,
            tags: entity.tags().clone(),
            updated_at,
            extends: None,
            is_derived: false,
            lead: None,
        };
        match entity {
            AnyEntity::Persona(persona) => {
                found.display_name.clone_from(&persona.display_name);
                found.summary.clone_from(&persona.summary);
                found.extends.clone_from(&persona.extends);
                found.lead.clone_from(&persona.system_prompt);
            }
            AnyEntity::Part(part) => {
                found.part_type = Some(part.part_type);
                found.summary.clone_from(&part.summary);
                found.lead.clone_from(&part.content);
            }
            AnyEntity::Trait(item) => {
                found.trait_type = Some(item.trait_type);
                found.lead.clone_from(&item.instruction);
            }
            AnyEntity::Skill(skill) => found.lead.clone_from(&skill.content),
            AnyEntity::Guardrail(guardrail) => {
                found.severity = Some(guardrail.severity);
                found.lead.clone_from(&guardrail.content);
            }
            AnyEntity::Arc(arc) => found.summary.clone_from(&arc.summary),
            AnyEntity::TestInput(input) => found.lead.clone_from(&input.content),
            _ => {}
        }
        Self { found, words: Words::of_entity(entity) }
    }

    pub(super) fn passes(&self, filter: &Filter, words: Option<&[String]>) -> bool {
        let Found { part_type, trait_type, tags, .. } = &self.found;
        filter.part_type.is_none_or(|wanted| *part_type == Some(wanted))
            && filter.trait_type.is_none_or(|wanted| *trait_type == Some(wanted))
            && filter.tags.iter().all(|tag| tags.contains(tag))
            && words.is_none_or(|words| self.words.matches(words))
    }

    pub(super) fn matches(&self, words: &[String]) -> bool {
        self.words.matches(words)
    }

    /// True if its name has one of the words. Such hits come first.
    pub(super) fn is_named(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.words.name.contains(word))
    }
}

/// Entities of all kinds, by name; each name once.
#[derive(Debug, Default)]
pub struct Listings(BTreeMap<Kind, BTreeMap<Name, Arc<Listed>>>);

impl Listings {
    /// Adds an entity, in place of one of the same name.
    pub fn add(&mut self, listed: Arc<Listed>) {
        let of_kind = self.0.entry(listed.found.kind).or_default();
        of_kind.insert(listed.found.name.clone(), listed);
    }

    pub fn has(&self, kind: Kind, name: &Name) -> bool {
        self.0.get(&kind).is_some_and(|of_kind| of_kind.contains_key(name))
    }

    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Listed> {
        self.0.get(&kind).into_iter().flat_map(BTreeMap::values).map(Arc::as_ref)
    }

    /// The entities that have all words, those with a match in the name first.
    pub(super) fn search(&self, words: &[String], kinds: &[Kind]) -> Vec<&Listed> {
        let mut found: Vec<&Listed> =
            kinds.iter().flat_map(|kind| self.of(*kind)).filter(|listed| listed.matches(words)).collect();
        found.sort_by_key(|listed| !listed.is_named(words));
        found
    }
}

/// The builtins; their words are split once.
pub(super) fn builtins() -> &'static Listings {
    static LISTINGS: LazyLock<Listings> = LazyLock::new(|| {
        let mut listings = Listings::default();
        for entity in Builtins::get().all() {
            listings.add(Arc::new(Listed::new(&entity, Scope::Builtin, None)));
        }
        listings
    });
    &LISTINGS
}
