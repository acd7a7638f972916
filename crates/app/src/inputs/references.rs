//! A piece inside `create_agent_persona`: the name of one that exists, or a whole definition.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use persona::{Name, PartType, Severity, Tags, TraitType};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};

/// A name, or a definition that is created too.
#[derive(Debug, Clone)]
pub enum Reference<T> {
    Name(Name),
    Definition(T),
}

pub type PartRef = Reference<PartDefinition>;
pub type TraitRef = Reference<TraitDefinition>;
pub type SkillRef = Reference<SkillDefinition>;
pub type GuardrailRef = Reference<GuardrailDefinition>;

/// A part to create and link; with nothing but a place, a part that exists already.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PartDefinition {
    pub name: Name,
    pub part_type: Option<PartType>,
    pub description: Option<String>,
    pub summary: Option<String>,
    pub content: Option<String>,
    pub tags: Option<Tags>,
    #[serde(alias = "order")]
    pub part_order: Option<i32>,
    pub priority: Option<i32>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct TraitDefinition {
    pub name: Name,
    pub trait_type: TraitType,
    pub description: Option<String>,
    pub instruction: Option<String>,
    pub tags: Option<Tags>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct SkillDefinition {
    pub name: Name,
    pub description: Option<String>,
    pub content: Option<String>,
    pub tags: Option<Tags>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct GuardrailDefinition {
    pub name: Name,
    pub severity: Option<Severity>,
    pub description: Option<String>,
    pub content: Option<String>,
    pub deny_tools: Option<Vec<String>>,
    pub tags: Option<Tags>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Reference<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrDefinition(PhantomData))
    }
}

/// Unlike an untagged enum, keeps the message of what is wrong inside a definition.
struct NameOrDefinition<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NameOrDefinition<T> {
    type Value = Reference<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name or a definition")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Name::parse(text).map(Reference::Name).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Reference::Definition)
    }
}

impl<T: JsonSchema> JsonSchema for Reference<T> {
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
