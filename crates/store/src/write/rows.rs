//! An entity's own columns, besides those that all kinds have.

use persona::{CharacterArc, Guardrail, Name, Part, Persona, Skill, Trait};
use serde::Serialize;

use super::{Write, links};
use crate::Result;
use crate::engine::Value;

/// How an entity is laid out in its table and in the tables of its links.
pub(crate) trait Columns {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>>;

    /// Brings the link tables in line with the definition.
    fn write_links(&self, write: &mut Write, id: i64) -> impl Future<Output = Result<()>> + Send;
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

impl Columns for Persona {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
        let plan = self.plan_persona.as_ref().map(serde_json::to_string).transpose()?;
        Ok(vec![
            ("display_name", text(self.display_name.as_ref())),
            ("description", text(self.description.as_ref())),
            ("summary", summary(self.summary.as_ref())),
            ("detail", text(self.detail.as_ref())),
            ("system_prompt", text(self.system_prompt.as_ref())),
            ("system_prompt_mode", Value::from(self.system_prompt_mode.as_str())),
            ("preferred_models", json(&self.preferred_models)?),
            ("tool_preset", name(self.tool_preset.as_ref())),
            ("bias_profile", name(self.bias_profile.as_ref())),
            ("context_preset", name(self.context_preset.as_ref())),
            ("aggregation_strategy", Value::from(self.aggregation_strategy.as_str())),
            ("plan_persona", Value::MaybeJson(plan)),
            ("parts_mode", Value::from(self.parts_mode.as_str())),
        ])
    }

    async fn write_links(&self, write: &mut Write, id: i64) -> Result<()> {
        links::of_persona(write, id, self).await
    }
}

impl Columns for Part {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
        Ok(vec![
            ("part_type", Value::from(self.part_type.as_str())),
            ("description", text(self.description.as_ref())),
            ("summary", summary(self.summary.as_ref())),
            ("content", text(self.content.as_ref())),
        ])
    }

    async fn write_links(&self, _: &mut Write, _: i64) -> Result<()> {
        Ok(())
    }
}

impl Columns for Trait {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
        Ok(vec![
            ("trait_type", Value::from(self.trait_type.as_str())),
            ("description", text(self.description.as_ref())),
            ("instruction", text(self.instruction.as_ref())),
        ])
    }

    async fn write_links(&self, _: &mut Write, _: i64) -> Result<()> {
        Ok(())
    }
}

impl Columns for Skill {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
        Ok(vec![("description", text(self.description.as_ref())), ("content", text(self.content.as_ref()))])
    }

    async fn write_links(&self, _: &mut Write, _: i64) -> Result<()> {
        Ok(())
    }
}

impl Columns for Guardrail {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
        Ok(vec![
            ("severity", Value::from(self.severity.as_str())),
            ("description", text(self.description.as_ref())),
            ("content", text(self.content.as_ref())),
            ("deny_tools", json(&self.deny_tools)?),
        ])
    }

    async fn write_links(&self, _: &mut Write, _: i64) -> Result<()> {
        Ok(())
    }
}

impl Columns for CharacterArc {
    fn columns(&self) -> Result<Vec<(&'static str, Value)>> {
        Ok(vec![
            ("description", text(self.description.as_ref())),
            ("summary", summary(self.summary.as_ref())),
        ])
    }

    async fn write_links(&self, write: &mut Write, id: i64) -> Result<()> {
        links::of_arc(write, id, self).await
    }
}
