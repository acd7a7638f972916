//! An entity of any kind, for whatever treats all kinds alike: files, history, import, lint.

use serde::Serialize;
use serde_json::Value;

use crate::{
    BiasProfile, CharacterArc, ContextPreset, Entity, Guardrail, Invalid, Kind, Name, Part, Persona,
    Reference, Rename, Skill, Tags, TestInput, ToolPreset, Trait,
};

/// Runs an expression with `$type` standing for the type of a kind.
#[macro_export]
macro_rules! with_kind {
    ($kind:expr, $type:ident => $body:expr) => {
        match $kind {
            $crate::Kind::Persona => {
                type $type = $crate::Persona;
                $body
            }
            $crate::Kind::Part => {
                type $type = $crate::Part;
                $body
            }
            $crate::Kind::Trait => {
                type $type = $crate::Trait;
                $body
            }
            $crate::Kind::Skill => {
                type $type = $crate::Skill;
                $body
            }
            $crate::Kind::Guardrail => {
                type $type = $crate::Guardrail;
                $body
            }
            $crate::Kind::Arc => {
                type $type = $crate::CharacterArc;
                $body
            }
            $crate::Kind::ToolPreset => {
                type $type = $crate::ToolPreset;
                $body
            }
            $crate::Kind::BiasProfile => {
                type $type = $crate::BiasProfile;
                $body
            }
            $crate::Kind::ContextPreset => {
                type $type = $crate::ContextPreset;
                $body
            }
            $crate::Kind::TestInput => {
                type $type = $crate::TestInput;
                $body
            }
        }
    };
}

macro_rules! any_entity {
    ($($variant:ident($type:ident)),+ $(,)?) => {
        /// An entity of any kind. Serialized, it is the entity itself.
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

any_entity!(
    Persona(Persona),
    Part(Part),
    Trait(Trait),
    Skill(Skill),
    Guardrail(Guardrail),
    Arc(CharacterArc),
    ToolPreset(ToolPreset),
    BiasProfile(BiasProfile),
    ContextPreset(ContextPreset),
    TestInput(TestInput),
);

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

    pub fn references(&self) -> Vec<Reference> {
        with_entity!(self, entity => Entity::references(entity))
    }

    pub fn follow_rename(&mut self, rename: &Rename) -> bool {
        with_entity!(self, entity => Entity::follow_rename(entity, rename))
    }

    /// The definition as JSON: all fields that are set.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
