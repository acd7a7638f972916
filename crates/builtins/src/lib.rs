//! The weakest scope: personas and pieces that are compiled in, read-only.
//!
//! This crate must not know of databases, nor of the other scopes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use persona::catalog::Catalog;
use persona::{
    AnyEntity, BiasProfile, CharacterArc, ContextPreset, Guardrail, Kind, Meta, Name, Part, Persona, Scope,
    Skill, Stored, TestInput, ToolPreset, Trait,
};

use files::document;

const FILES: &[(&str, &str)] = &[
    ("shared.toml", include_str!("../builtin/shared.toml")),
    ("code_reviewer.toml", include_str!("../builtin/code_reviewer.toml")),
    ("test_writer.toml", include_str!("../builtin/test_writer.toml")),
    ("doc_writer.toml", include_str!("../builtin/doc_writer.toml")),
    ("mentor.toml", include_str!("../builtin/mentor.toml")),
    ("discussion.toml", include_str!("../builtin/discussion.toml")),
    ("presets.toml", include_str!("../builtin/presets.toml")),
];

macro_rules! builtins {
    ($($field:ident: $variant:ident($type:ident)),+ $(,)?) => {
        /// Everything that is compiled in, by name.
        #[derive(Debug, Default)]
        pub struct Builtins { $(pub $field: BTreeMap<Name, $type>),+ }

        impl Builtins {
            fn add(&mut self, entity: AnyEntity) {
                match entity { $(AnyEntity::$variant(entity) => {
                    self.$field.insert(entity.name.clone(), entity);
                })+ }
            }

            /// Every builtin.
            pub fn all(&self) -> impl Iterator<Item = AnyEntity> {
                let all: Vec<AnyEntity> =
                    [$(self.$field.values().cloned().map(AnyEntity::from).collect::<Vec<_>>()),+].concat();
                all.into_iter()
            }

            /// The builtin of a kind and name.
            pub fn find(&self, kind: Kind, name: &Name) -> Option<AnyEntity> {
                match kind { $(Kind::$variant => self.$field.get(name).cloned().map(AnyEntity::from)),+ }
            }
        }

        $(impl Builtin for $type {
            fn builtins() -> &'static BTreeMap<Name, Self> {
                &Builtins::get().$field
            }
        })+
    };
}

builtins!(
    personas: Persona(Persona),
    parts: Part(Part),
    traits: Trait(Trait),
    skills: Skill(Skill),
    guardrails: Guardrail(Guardrail),
    arcs: Arc(CharacterArc),
    tool_presets: ToolPreset(ToolPreset),
    bias_profiles: BiasProfile(BiasProfile),
    context_presets: ContextPreset(ContextPreset),
    test_inputs: TestInput(TestInput),
);

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

    fn builtin(name: &Name) -> Option<Stored<Self>> {
        let entity = Self::builtins().get(name)?.clone();
        Some(Stored { entity, meta: Meta::BUILTIN })
    }
}

#[cfg(test)]
mod tests {
    use persona::catalog::{self, PersonaState};

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
        let named: Vec<&str> = builtins.personas.keys().map(Name::as_str).collect();
        assert_eq!(named, ["code_reviewer", "critic", "doc_writer", "mentor", "optimist", "test_writer"]);
        for entity in builtins.all() {
            let name = format!("{} {}", entity.kind(), entity.name());
            entity.check().unwrap_or_else(|error| panic!("{name}: {error}"));
            for reference in entity.references() {
                let there = builtins.find(reference.kind, &reference.name).is_some();
                assert!(there, "{name}: {} {} is missing", reference.kind, reference.name);
            }
        }
        let texts: usize = FILES.iter().map(|(_, text)| text.matches("part_type =").count()).sum();
        assert_eq!(builtins.parts.len(), texts, "a part is defined twice");
    }
}
