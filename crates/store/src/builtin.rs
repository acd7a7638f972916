//! The weakest scope: personas and pieces that are compiled in, read-only.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use persona::{
    ActiveStage, Bundle, CharacterArc, Compiled, Guardrail, Kind, Meta, Name, Part, Persona, Skill, Stored,
    Trait,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const FILES: &[(&str, &str)] = &[
    ("shared.toml", include_str!("../builtin/shared.toml")),
    ("code_reviewer.toml", include_str!("../builtin/code_reviewer.toml")),
    ("test_writer.toml", include_str!("../builtin/test_writer.toml")),
    ("doc_writer.toml", include_str!("../builtin/doc_writer.toml")),
    ("mentor.toml", include_str!("../builtin/mentor.toml")),
    ("discussion.toml", include_str!("../builtin/discussion.toml")),
];

/// Everything that is compiled in, by name.
#[derive(Debug, Default)]
pub struct Builtins {
    pub personas: BTreeMap<Name, Persona>,
    pub parts: BTreeMap<Name, Part>,
    pub traits: BTreeMap<Name, Trait>,
    pub skills: BTreeMap<Name, Skill>,
    pub guardrails: BTreeMap<Name, Guardrail>,
    pub arcs: BTreeMap<Name, CharacterArc>,
}

/// A builtin persona's state, which is kept in the database.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct BuiltinState {
    pub(crate) stage: Option<Name>,
    pub(crate) compiled: Option<Compiled>,
}

/// A file as it is written: entities under their kind and name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    personas: BTreeMap<String, toml::Table>,
    parts: BTreeMap<String, toml::Table>,
    traits: BTreeMap<String, toml::Table>,
    skills: BTreeMap<String, toml::Table>,
    guardrails: BTreeMap<String, toml::Table>,
    arcs: BTreeMap<String, toml::Table>,
}

impl Builtins {
    /// The builtins, read on first use.
    pub fn get() -> &'static Self {
        static BUILTINS: LazyLock<Builtins> = LazyLock::new(|| {
            let mut builtins = Builtins::default();
            for (file, text) in FILES {
                if let Err(error) = builtins.add(text) {
                    unreachable!("the builtin {file} is tested to be well formed: {error}");
                }
            }
            builtins
        });
        &BUILTINS
    }

    fn add(&mut self, text: &str) -> Result<(), toml::de::Error> {
        let file: File = toml::from_str(text)?;
        read_into(&mut self.personas, file.personas)?;
        read_into(&mut self.parts, file.parts)?;
        read_into(&mut self.traits, file.traits)?;
        read_into(&mut self.skills, file.skills)?;
        read_into(&mut self.guardrails, file.guardrails)?;
        read_into(&mut self.arcs, file.arcs)
    }

    /// The names of a kind, in order.
    pub fn names(&self, kind: Kind) -> Vec<&Name> {
        match kind {
            Kind::Persona => self.personas.keys().collect(),
            Kind::Part => self.parts.keys().collect(),
            Kind::Trait => self.traits.keys().collect(),
            Kind::Skill => self.skills.keys().collect(),
            Kind::Guardrail => self.guardrails.keys().collect(),
            Kind::Arc => self.arcs.keys().collect(),
        }
    }

    /// A builtin persona with all its pieces, in the stage that its state says or the first one.
    pub(crate) fn bundle(&self, name: &Name, state: BuiltinState) -> Option<Bundle> {
        let persona = self.personas.get(name)?.clone();
        let stage = persona.arc.as_ref().and_then(|arc| self.stage(arc, state.stage.as_ref()));
        Some(Bundle {
            parts: pick(&self.parts, persona.parts.iter().map(|link| &link.name)),
            traits: pick(&self.traits, &persona.traits),
            skills: pick(&self.skills, &persona.skills),
            guardrails: pick(&self.guardrails, &persona.guardrails),
            persona,
            meta: Meta::BUILTIN,
            stage,
            compiled: state.compiled,
            override_parts: Vec::new(),
        })
    }

    fn stage(&self, arc: &Name, current: Option<&Name>) -> Option<ActiveStage> {
        let arc = self.arcs.get(arc)?;
        let walk = arc.walk();
        let at = walk.iter().position(|stage| Some(&stage.name) == current).unwrap_or(0);
        let stage = walk.get(at)?;
        Some(ActiveStage {
            arc: arc.name.clone(),
            stage: stage.name.clone(),
            order: stage.order,
            of: walk.len() as i64,
            position: at as i64 + 1,
            description: stage.description.clone(),
            condition: stage.condition.clone(),
            parts: pick(&self.parts, &stage.parts),
        })
    }
}

fn read_into<T: DeserializeOwned>(
    entities: &mut BTreeMap<Name, T>,
    tables: BTreeMap<String, toml::Table>,
) -> Result<(), toml::de::Error> {
    for (key, mut table) in tables {
        table.insert("name".to_owned(), toml::Value::String(key.clone()));
        let name = Name::parse(&key).map_err(serde::de::Error::custom)?;
        let entity = T::deserialize(table)?;
        entities.insert(name, entity);
    }
    Ok(())
}

fn pick<'a, T: Clone>(known: &BTreeMap<Name, T>, names: impl IntoIterator<Item = &'a Name>) -> Vec<T> {
    names.into_iter().filter_map(|name| known.get(name).cloned()).collect()
}

/// A kind that can be looked up among the builtins.
pub(crate) trait Builtin: Sized + Clone + 'static {
    fn builtins() -> &'static BTreeMap<Name, Self>;

    fn builtin(name: &Name) -> Option<Stored<Self>> {
        let entity = Self::builtins().get(name)?.clone();
        Some(Stored { entity, meta: Meta::BUILTIN })
    }
}

macro_rules! builtin {
    ($($type:ident => $field:ident),+) => {
        $(impl Builtin for $type {
            fn builtins() -> &'static BTreeMap<Name, Self> {
                &Builtins::get().$field
            }
        })+
    };
}

builtin!(
    Persona => personas, Part => parts, Trait => traits,
    Skill => skills, Guardrail => guardrails, CharacterArc => arcs
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_lawful_and_whole() {
        let builtins = Builtins::get();
        let named: Vec<&str> = builtins.personas.keys().map(Name::as_str).collect();
        assert_eq!(named, ["code_reviewer", "critic", "doc_writer", "mentor", "optimist", "test_writer"]);
        for (name, persona) in &builtins.personas {
            persona.check().unwrap_or_else(|error| panic!("{name}: {error}"));
            let bundle = builtins.bundle(name, BuiltinState::default()).expect("it is there");
            assert_eq!(bundle.parts.len(), persona.parts.len(), "{name}: a part is missing");
            assert_eq!(bundle.traits.len(), persona.traits.len(), "{name}: a trait is missing");
            assert_eq!(bundle.skills.len(), persona.skills.len(), "{name}: a skill is missing");
            assert_eq!(bundle.guardrails.len(), persona.guardrails.len(), "{name}: a guardrail is missing");
        }
        let texts: usize = FILES.iter().map(|(_, text)| text.matches("part_type =").count()).sum();
        assert_eq!(builtins.parts.len(), texts, "a part is defined twice");
        builtins.parts.values().for_each(|part| part.check().expect("lawful"));
        builtins.arcs.values().for_each(|arc| arc.check().expect("lawful"));
        let mentor = builtins.bundle(&Name::parse("mentor").expect("a name"), BuiltinState::default());
        let stage = mentor.and_then(|bundle| bundle.stage).expect("the mentor has an arc");
        assert_eq!((stage.position, stage.of), (1, 3));
        assert!(!stage.parts.is_empty());
    }
}
