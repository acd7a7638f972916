//! The builtins as lists and searches show them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use persona::{Entity, Kind, Scope};

use super::{Filter, Found};
use crate::builtin::Builtin;
use crate::words;

/// A builtin as a list shows it, and the words that it is found by.
#[derive(Debug)]
pub(super) struct BuiltinEntry {
    pub(super) found: Found,
    pub(super) words: words::Words,
}

impl BuiltinEntry {
    pub(super) fn passes(&self, filter: &Filter, words: Option<&[String]>) -> bool {
        let Found { part_type, trait_type, tags, .. } = &self.found;
        filter.part_type.is_none_or(|wanted| *part_type == Some(wanted))
            && filter.trait_type.is_none_or(|wanted| *trait_type == Some(wanted))
            && filter.tags.iter().all(|tag| tags.contains(tag))
            && words.is_none_or(|words| self.words.matches(words))
    }
}

/// The builtins of a kind, by name; their words are split once.
pub(super) fn builtin_list(kind: Kind) -> &'static [BuiltinEntry] {
    static LISTS: LazyLock<BTreeMap<Kind, Vec<BuiltinEntry>>> =
        LazyLock::new(|| Kind::ALL.iter().map(|kind| (*kind, builtin_entries(*kind))).collect());
    LISTS.get(&kind).map_or(&[], Vec::as_slice)
}

fn builtin_entries(kind: Kind) -> Vec<BuiltinEntry> {
    fn entries<T: Builtin + Entity + words::Searchable>(fill: impl Fn(&T, &mut Found)) -> Vec<BuiltinEntry> {
        let entries = T::builtins().values().map(|entity| {
            let mut found = Found {
                kind: T::KIND,
                name: entity.name().clone(),
                scope: Scope::Builtin,
                display_name: None,
                part_type: None,
                trait_type: None,
                severity: None,
                description: None,
                summary: None,
                tags: entity.tags().clone(),
                updated_at: None,
                lead: None,
            };
            fill(entity, &mut found);
            BuiltinEntry { found, words: entity.words() }
        });
        entries.collect()
    }
    match kind {
        Kind::Persona => entries(|entity: &persona::Persona, found| {
            found.display_name.clone_from(&entity.display_name);
            found.description.clone_from(&entity.description);
            found.summary.clone_from(&entity.summary);
            found.lead.clone_from(&entity.system_prompt);
        }),
        Kind::Part => entries(|entity: &persona::Part, found| {
            found.part_type = Some(entity.part_type);
            found.description.clone_from(&entity.description);
            found.summary.clone_from(&entity.summary);
            found.lead.clone_from(&entity.content);
        }),
        Kind::Trait => entries(|entity: &persona::Trait, found| {
            found.trait_type = Some(entity.trait_type);
            found.description.clone_from(&entity.description);
        }),
        Kind::Skill => {
            entries(|entity: &persona::Skill, found| found.description.clone_from(&entity.description))
        }
        Kind::Guardrail => entries(|entity: &persona::Guardrail, found| {
            found.severity = Some(entity.severity);
            found.description.clone_from(&entity.description);
        }),
        Kind::Arc => entries(|entity: &persona::CharacterArc, found| {
            found.description.clone_from(&entity.description);
            found.summary.clone_from(&entity.summary);
        }),
    }
}
