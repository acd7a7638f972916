//! A piece inside `create_agent_persona`: an existing name, or a definition.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use persona::{
    Name, PartType, Severity, Tags, TraitType, guardrail_fields, part_fields, skill_fields, trait_fields,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use super::settable::declare;

/// A name, or a definition to create.
#[derive(Debug, Clone)]
pub enum NameOrDefinition<T> {
    Name(Name),
    Definition(T),
}

pub type PartRef = NameOrDefinition<PartDefinition>;
pub type TraitRef = NameOrDefinition<TraitDefinition>;
pub type SkillRef = NameOrDefinition<SkillDefinition>;
pub type GuardrailRef = NameOrDefinition<GuardrailDefinition>;

/// Declares the definition of a piece that is created with a persona.
macro_rules! definition {
    ($name:ident { $($(#[$meta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(inline)]
        pub struct $name { $($(#[$meta])* pub $field: $type,)* }
    };
}

// A part without a type is an existing one, with its place.
part_fields!(declare, { update definition PartDefinition {} {
    #[serde(alias = "order")]
    part_order: Option<i32>,
    priority: Option<i32>,
} });
trait_fields!(declare, { create definition TraitDefinition {} {} });
skill_fields!(declare, { create definition SkillDefinition {} {} });
guardrail_fields!(declare, { create definition GuardrailDefinition {} {} });

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOrDefinition<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrDefinitionVisitor(PhantomData))
    }
}

/// Unlike an untagged enum, keeps the error inside a definition.
struct NameOrDefinitionVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NameOrDefinitionVisitor<T> {
    type Value = NameOrDefinition<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name or a definition")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Name::parse(text).map(NameOrDefinition::Name).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(NameOrDefinition::Definition)
    }
}

impl<T: JsonSchema> JsonSchema for NameOrDefinition<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Ref", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, generator.subschema_for::<T>()] })
    }
}
