//! An entity's own columns, besides those that all kinds have.

use persona::{
    BiasProfile, CharacterArc, ContextPreset, Guardrail, Name, Part, Persona, Skill, TestInput, ToolPreset,
    Trait,
};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::{DatabaseWrite, links};
use crate::Result;
use crate::documents::REMOVALS;
use database::Value;

/// How an entity is laid out in its table and in the tables of its links.
pub(crate) trait Columns {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>>;

    /// Brings the link tables in line with the definition.
    fn write_links(&self, write: &mut DatabaseWrite, id: i64) -> impl Future<Output = Result<()>> + Send;
}

fn text(value: Option<&String>) -> Value {
    Value::MaybeText(value.cloned())
}

fn name(value: Option<&Name>) -> Value {
    Value::MaybeText(value.map(Name::to_string))
}

/// The summary column is never null: an empty one is not set.
fn summary(value: Option<&String>) -> Value {
    Value::Text(value.cloned().unwrap_or_default())
}

fn json(value: &impl Serialize) -> Result<Value> {
    Ok(Value::Json(serde_json::to_string(value)?))
}

/// Everything that a persona takes away from its base, under the names of the fields.
fn removals(persona: &Persona) -> Result<Value> {
    let document = serde_json::to_value(persona)?;
    let mut kept = Map::new();
    for field in REMOVALS {
        if let Some(Json::Array(list)) = document.get(field) {
            kept.insert(field.to_owned(), Json::Array(list.clone()));
        }
    }
    json(&kept)
}

/// A kind that links nothing says only what its columns hold.
macro_rules! linkless {
    ($($type:ident => |$entity:ident| $columns:expr;)+) => {
        $(impl Columns for $type {
            fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
                let $entity = self;
                Ok($columns)
            }

            async fn write_links(&self, _: &mut DatabaseWrite, _: i64) -> Result<()> {
                Ok(())
            }
        })+
    };
}

linkless! {
    Part => |part| vec![
        ("part_type", Value::from(part.part_type.as_str())),
        ("description", text(part.description.as_ref())),
        ("summary", summary(part.summary.as_ref())),
        ("content", text(part.content.as_ref())),
    ];
    Trait => |item| vec![
        ("trait_type", Value::from(item.trait_type.as_str())),
        ("description", text(item.description.as_ref())),
        ("instruction", text(item.instruction.as_ref())),
    ];
    Skill => |skill| vec![
        ("description", text(skill.description.as_ref())),
        ("content", text(skill.content.as_ref())),
    ];
    Guardrail => |guardrail| vec![
        ("severity", Value::from(guardrail.severity.as_str())),
        ("description", text(guardrail.description.as_ref())),
        ("content", text(guardrail.content.as_ref())),
        ("deny_tools", json(&guardrail.deny_tools)?),
    ];
    ToolPreset => |preset| vec![
        ("description", text(preset.description.as_ref())),
        ("categories", json(&preset.categories)?),
    ];
    BiasProfile => |profile| vec![
        ("description", text(profile.description.as_ref())),
        ("multipliers", json(&profile.multipliers)?),
    ];
    ContextPreset => |preset| vec![
        ("description", text(preset.description.as_ref())),
        ("entries", json(&preset.entries)?),
        ("token_budget", Value::MaybeInt(preset.token_budget.map(i64::from))),
    ];
    TestInput => |input| vec![
        ("description", text(input.description.as_ref())),
        ("content", text(input.content.as_ref())),
        ("expectations", json(&input.expectations)?),
    ];
}

impl Columns for Persona {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
        let plan = self.plan_persona.as_ref().map(serde_json::to_string).transpose()?;
        Ok(vec![
            ("display_name", text(self.display_name.as_ref())),
            ("description", text(self.description.as_ref())),
            ("summary", summary(self.summary.as_ref())),
            ("detail", text(self.detail.as_ref())),
            ("extends", Value::MaybeText(self.extends.as_ref().map(ToString::to_string))),
            ("system_prompt", text(self.system_prompt.as_ref())),
            ("system_prompt_mode", Value::from(self.system_prompt_mode.as_str())),
            ("preferred_models", json(&self.preferred_models)?),
            ("tool_preset", name(self.tool_preset.as_ref())),
            ("bias_profile", name(self.bias_profile.as_ref())),
            ("context_preset", name(self.context_preset.as_ref())),
            (
                "aggregation_strategy",
                Value::from(self.aggregation_strategy.map_or("", |given| given.as_str())),
            ),
            ("max_tool_rounds", Value::MaybeInt(self.max_tool_rounds.map(i64::from))),
            ("plan_persona", Value::MaybeJson(plan)),
            ("parts_mode", Value::from(self.parts_mode.as_str())),
            ("removals", removals(self)?),
        ])
    }

    async fn write_links(&self, write: &mut DatabaseWrite, id: i64) -> Result<()> {
        links::of_persona(write, id, self).await
    }
}

impl Columns for CharacterArc {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
        Ok(vec![
            ("description", text(self.description.as_ref())),
            ("summary", summary(self.summary.as_ref())),
        ])
    }

    async fn write_links(&self, write: &mut DatabaseWrite, id: i64) -> Result<()> {
        links::of_arc(write, id, self).await
    }
}
