//! The kinds of entity: one row each, and one file that describes its fields.
//!
//! A new kind is a row here, a file in `kinds/`, and a table in the database. CONTRIBUTING.md lists
//! the files.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Value;

use crate::field::{Described, Shape, TableType, ValueView};
use crate::kind::vocabulary;
use crate::{Entity, Field, Invalid, Name, Reference, Rename, Tags};

mod arc;
mod bias_profile;
mod context_preset;
mod expectation;
mod persona;
mod pieces;
mod test_input;
mod tool_preset;

pub use arc::{CharacterArc, Stage};
pub use bias_profile::BiasProfile;
pub use context_preset::{ContextEntry, ContextPreset};
pub use expectation::{
    Ending, Expectation, ExpectationTable, FormatRules, JsonRules, LabelledReply, Language, OverlapRules,
    Person, Range, ReplyChoice,
};
pub use persona::{
    Anchor, AnchorPlace, Example, Fidelity, PartLink, Persona, PlanPersona, PreferredModel, Probe,
};
pub use pieces::{Guardrail, Part, Skill, Trait};
pub use test_input::TestInput;
pub use tool_preset::{PresetTool, ToolPreset};

/// Lists the kinds once: the variant, its type, its word on every wire, how sentences say it, and
/// what it is.
macro_rules! kinds {
    ($($variant:ident($type:ident) = $word:literal, $spoken:literal, $about:literal;)+) => {
        vocabulary! {
            /// The kinds of entity. The order is that of the search index: new kinds come last.
            Kind, "kind" { $($variant = $word),+ }
        }

        impl Kind {
            /// The kind in words, as sentences have it.
            pub const fn spoken(self) -> &'static str {
                match self { $(Self::$variant => $spoken),+ }
            }

            /// The table of a personas.toml with the entities of this kind.
            pub const fn table(self) -> &'static str {
                match self { $(Self::$variant => concat!($word, "s")),+ }
            }

            /// The meaning of the kind, in a sentence.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),+ }
            }

            /// The fields of a definition, its name first.
            pub const fn fields(self) -> &'static [Field] {
                match self { $(Self::$variant => <$type as Described>::FIELDS),+ }
            }
        }

        /// Runs an expression with `$type` standing for the type of a kind.
        #[macro_export]
        macro_rules! with_kind {
            ($kind:expr, $alias:ident => $body:expr) => {
                match $kind {
                    $($crate::Kind::$variant => {
                        type $alias = $crate::$type;
                        $body
                    })+
                }
            };
        }

        /// Calls a macro with every kind as `Variant(Type)`.
        #[macro_export]
        macro_rules! each_kind {
            ($callback:ident) => {
                $callback! { $($variant($type)),+ }
            };
        }

        /// An entity of any kind, for code that treats all kinds alike. Serialized, it is the entity
        /// itself.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        #[expect(clippy::large_enum_variant, reason = "most of them are personas")]
        pub enum AnyEntity { $($variant($type)),+ }

        $(impl From<$type> for AnyEntity {
            fn from(entity: $type) -> Self { Self::$variant(entity) }
        }

        impl TryFrom<AnyEntity> for $type {
            type Error = AnyEntity;

            fn try_from(entity: AnyEntity) -> Result<Self, AnyEntity> {
                match entity { AnyEntity::$variant(entity) => Ok(entity), other => Err(other) }
            }
        })+

        /// Runs an expression with `$entity` standing for the entity inside.
        #[macro_export]
        macro_rules! with_entity {
            ($any:expr, $entity:ident => $body:expr) => {
                match $any { $($crate::AnyEntity::$variant($entity) => $body),+ }
            };
        }
    };
}

kinds! {
    Persona(Persona) = "persona", "persona", "A named configuration that an agent loads, made of the other kinds";
    Part(Part) = "part", "part", "A reusable building block of behaviour, of one of 16 types";
    Trait(Trait) = "trait", "trait", "An atomic unit of personality";
    Skill(Skill) = "skill", "skill", "Instructions for a task, loaded on demand";
    Guardrail(Guardrail) = "guardrail", "guardrail", "A prohibition that no budget drops";
    Arc(CharacterArc) = "arc", "arc", "A sequence of stages for a persona";
    ToolPreset(ToolPreset) = "tool_preset", "tool preset", "The tools that a persona may use, by category";
    BiasProfile(BiasProfile) = "bias_profile", "bias profile", "A persona's preferences among categories of tools";
    ContextPreset(ContextPreset) = "context_preset", "context preset", "The files that a persona sees";
    TestInput(TestInput) = "test_input", "test input", "An input to test a persona with";
}

impl Kind {
    /// The kind with this table in a personas.toml.
    pub fn of_table(table: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.table() == table)
    }

    /// The fields under which a persona names entities of this kind, apart from its base.
    pub fn named_under(self) -> impl Iterator<Item = &'static Field> {
        let fields = Self::Persona.fields().iter();
        fields.filter(move |field| {
            let is_link = field.inherit != crate::field::Inherit::Removes && self != Self::Persona;
            is_link && field.shape.names() == Some(self)
        })
    }
}

/// The tables inside lists, of all kinds.
fn items() -> &'static [&'static TableType] {
    static ITEMS: LazyLock<Vec<&'static TableType>> = LazyLock::new(|| {
        fn item(shape: Shape) -> Option<&'static TableType> {
            match shape {
                Shape::List { item, .. } => Some(item),
                Shape::Map { of, .. } => item(of.shape),
                _ => None,
            }
        }
        let fields = Kind::ALL.iter().flat_map(|kind| kind.fields());
        fields.filter_map(|field| item(field.shape)).collect()
    });
    &ITEMS
}

impl TableType {
    /// The entry of a list with this Rust type.
    pub fn of_type(type_name: &str) -> Option<&'static Self> {
        items().iter().copied().find(|item| item.type_name == type_name)
    }
}

/// The fields of the kind or of the list's entry with this Rust type.
pub fn fields_of_type(type_name: &str) -> Option<&'static [Field]> {
    let kind =
        Kind::ALL.iter().find(|kind| with_kind!(**kind, T => <T as Described>::TYPE_NAME == type_name));
    kind.map(|kind| kind.fields()).or_else(|| TableType::of_type(type_name).map(|item| item.fields))
}

impl AnyEntity {
    /// Reads a definition of a kind, `name` included.
    pub fn from_json(kind: Kind, value: Value) -> Result<Self, serde_json::Error> {
        with_kind!(kind, T => serde_json::from_value::<T>(value).map(Self::from))
    }

    pub fn kind(&self) -> Kind {
        fn kind_of<T: Entity>(_: &T) -> Kind {
            T::KIND
        }
        with_entity!(self, entity => kind_of(entity))
    }

    pub fn name(&self) -> &Name {
        with_entity!(self, entity => entity.name())
    }

    pub fn set_name(&mut self, name: Name) {
        with_entity!(self, entity => entity.set_name(name));
    }

    pub fn tags(&self) -> &Tags {
        with_entity!(self, entity => entity.tags())
    }

    pub fn check(&self) -> Result<(), Invalid> {
        with_entity!(self, entity => entity.check())
    }

    /// The rules that the definition breaks, as far as the first ones.
    pub fn mistakes(&self, most: usize) -> Vec<Invalid> {
        with_entity!(self, entity => entity.mistakes(most))
    }

    /// Calls `visit` with every value of every field, its path and the field that describes it.
    pub fn walk_values<'a>(&'a self, visit: &mut dyn FnMut(&str, &'static Field, &ValueView<'a>)) {
        with_entity!(self, entity => entity.walk_values(visit));
    }

    /// The value of every field, in order.
    pub fn values(&self) -> Vec<(&'static Field, ValueView<'_>)> {
        let values = with_entity!(self, entity => entity.values());
        values.into_iter().map(|(field, value)| (field, value.view())).collect()
    }

    pub fn references(&self) -> Vec<Reference> {
        with_entity!(self, entity => entity.references())
    }

    pub fn follow_rename(&mut self, rename: &Rename) -> bool {
        with_entity!(self, entity => entity.follow_rename(rename))
    }

    /// The definition as JSON: all fields that are set.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
