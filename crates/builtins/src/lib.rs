//! The weakest scope: personas and pieces that are compiled in, read-only.
//!
//! This crate must not know of databases, nor of the other scopes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use persona::catalog::Catalog;
use persona::{AnyEntity, Kind, Meta, Name, Scope, Stored};

use files::document;

const FILES: &[(&str, &str)] = &[
    ("shared.toml", include_str!("../builtin/shared.toml")),
    ("code_reviewer.toml", include_str!("../builtin/code_reviewer.toml")),
    ("test_writer.toml", include_str!("../builtin/test_writer.toml")),
    ("doc_writer.toml", include_str!("../builtin/doc_writer.toml")),
    ("mentor.toml", include_str!("../builtin/mentor.toml")),
    ("discussion.toml", include_str!("../builtin/discussion.toml")),
    ("presets.toml", include_str!("../builtin/presets.toml")),
    ("conducting.toml", include_str!("../builtin/conducting.toml")),
    ("persona_editor.toml", include_str!("../builtin/persona_editor.toml")),
];

/// Everything that is compiled in, by kind and name.
#[derive(Debug, Default)]
pub struct Builtins(BTreeMap<Kind, BTreeMap<Name, AnyEntity>>);

impl Builtins {
    /// The builtins, read on first use.
    pub fn get() -> &'static Self {
        static BUILTINS: LazyLock<Builtins> = LazyLock::new(|| {
            let mut builtins = Builtins::default();
            for (file, text) in FILES {
                match document::read(Path::new(file), text) {
                    Ok(document) => {
                        let entries = document.entries.into_values().flat_map(BTreeMap::into_values);
                        entries.for_each(|entry| builtins.add(entry.entity.clone()));
                    }
                    Err(problem) => unreachable!("the builtin files are tested to be well formed: {problem}"),
                }
            }
            builtins
        });
        &BUILTINS
    }

    fn add(&mut self, entity: AnyEntity) {
        self.0.entry(entity.kind()).or_default().insert(entity.name().clone(), entity);
    }

    /// Every builtin.
    pub fn all(&self) -> impl Iterator<Item = AnyEntity> {
        self.0.values().flat_map(BTreeMap::values).cloned()
    }

    /// The builtin of a kind and name.
    pub fn find(&self, kind: Kind, name: &Name) -> Option<AnyEntity> {
        self.0.get(&kind)?.get(name).cloned()
    }

    /// The same with its meta.
    pub fn stored(&self, kind: Kind, name: &Name) -> Option<Stored<AnyEntity>> {
        Some(Stored { entity: self.find(kind, name)?, meta: Meta::BUILTIN })
    }
}

/// The builtins of one kind, by name.
pub fn of<T: Builtin>() -> &'static BTreeMap<Name, T> {
    T::builtins()
}

/// The definitions of the builtin scope, and of no other.
impl Catalog for Builtins {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        if scope == Scope::Builtin { Self::find(self, kind, name) } else { None }
    }
}

/// A kind that can be looked up among the builtins.
pub trait Builtin: Sized + Clone + 'static {
    fn builtins() -> &'static BTreeMap<Name, Self>;
}

macro_rules! builtin {
    ($($variant:ident($type:ident)),+) => {
        $(impl Builtin for persona::$type {
            fn builtins() -> &'static BTreeMap<Name, Self> {
                static OF_KIND: LazyLock<BTreeMap<Name, persona::$type>> = LazyLock::new(|| {
                    let all = Builtins::get().all().filter_map(|entity| persona::$type::try_from(entity).ok());
                    all.map(|entity| (entity.name.clone(), entity)).collect()
                });
                &OF_KIND
            }
        })+
    };
}

persona::each_kind!(builtin);

#[cfg(test)]
mod tests {
    use persona::catalog::{self, PersonaState};
    use persona::{Part, Persona};

    use super::*;

    #[test]
    fn a_builtin_is_put_together_from_builtins() {
        let mentor = Name::parse("mentor").expect("a name");
        let mentor = catalog::build(Builtins::get(), Scope::Builtin, &mentor, PersonaState::default());
        let stage = mentor.expect("it is whole").and_then(|bundle| bundle.stage).expect("it has an arc");
        assert_eq!((stage.position, stage.of), (1, 3));
        assert!(!stage.parts.is_empty());
    }

    #[test]
    fn every_builtin_is_lawful_and_whole() {
        for (file, text) in FILES {
            let document = document::read(Path::new(file), text).expect("it is TOML");
            assert!(document.problems.is_empty(), "{file}: {:?}", document.problems);
        }
        let builtins = Builtins::get();
        let named: Vec<&str> = of::<Persona>().keys().map(Name::as_str).collect();
        assert_eq!(
            named,
            [
                "code_reviewer",
                "code_worker",
                "critic",
                "doc_writer",
                "mentor",
                "optimist",
                "orchestrator",
                "persona_editor",
                "qa_reviewer",
                "tech_lead",
                "test_writer",
            ]
        );
        for entity in builtins.all() {
            let name = format!("{} {}", entity.kind(), entity.name());
            entity.check().unwrap_or_else(|error| panic!("{name}: {error}"));
            for reference in entity.references() {
                let there = builtins.find(reference.kind, &reference.name).is_some();
                assert!(there, "{name}: {} {} is missing", reference.kind, reference.name);
            }
        }
        let texts: usize = FILES.iter().map(|(_, text)| text.matches("part_type =").count()).sum();
        assert_eq!(of::<Part>().len(), texts, "a part is defined twice");
    }
}
