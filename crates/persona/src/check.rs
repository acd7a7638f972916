//! Whether a definition may be kept: bounds, ranges and characters that no store can hold.

use std::collections::BTreeSet;

use crate::limits;
use crate::{CharacterArc, Guardrail, Name, Part, Persona, Skill, Trait};

/// A definition that cannot be kept, with the field and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct Invalid {
    pub field: String,
    pub problem: String,
}

pub(crate) type Checked = Result<(), Invalid>;

pub(crate) fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Checked {
    Err(Invalid { field: field.into(), problem: problem.into() })
}

fn text(field: &str, value: Option<&str>, most: usize, advice: &str) -> Checked {
    let Some(value) = value else { return Ok(()) };
    if value.len() > most {
        let length = value.len();
        return invalid(field, format!("has {length} bytes, at most {most} are allowed; {advice}"));
    }
    if value.contains('\0') {
        return invalid(field, "contains a NUL character; remove it");
    }
    Ok(())
}

pub(crate) fn short(field: &str, value: Option<&String>) -> Checked {
    text(field, value.map(String::as_str), limits::SHORT_TEXT_BYTES, "split it")
}

pub(crate) fn long(field: &str, value: Option<&String>) -> Checked {
    text(field, value.map(String::as_str), limits::LONG_TEXT_BYTES, "split it")
}

pub(crate) fn count(field: &str, length: usize, most: usize) -> Checked {
    if length > most {
        return invalid(field, format!("has {length} entries, at most {most} are allowed"));
    }
    Ok(())
}

pub(crate) fn words(field: &str, values: &[String], most: usize) -> Checked {
    short_words(field, values.iter().map(String::as_str), most, limits::TAG_CHARS)
}

/// Names of tools, or patterns of them.
pub(crate) fn tools<'a>(field: &str, names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> Checked {
    short_words(field, names, most, limits::TOOL_CHARS)
}

/// Names of a tool's parameters.
pub(crate) fn parameters<'a>(field: &str, names: impl ExactSizeIterator<Item = &'a str>) -> Checked {
    short_words(field, names, limits::PARAMETERS, limits::TOOL_CHARS)
}

fn short_words<'a>(
    field: &str,
    values: impl ExactSizeIterator<Item = &'a str>,
    most_values: usize,
    most: usize,
) -> Checked {
    count(field, values.len(), most_values)?;
    for value in values {
        if value.trim().is_empty() {
            return invalid(field, "has an empty entry; remove it");
        }
        if value.chars().count() > most || value.chars().any(char::is_control) {
            let shown: String = value.chars().take(20).collect();
            return invalid(field, format!("{shown:?} must be one line of at most {most} characters"));
        }
    }
    Ok(())
}

fn distinct<'a>(field: &str, names: impl Iterator<Item = &'a Name>) -> Checked {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return invalid(field, format!("names {name} twice; once is enough"));
        }
    }
    Ok(())
}

fn links(field: &str, names: &[Name]) -> Checked {
    count(field, names.len(), limits::LINKS)?;
    distinct(field, names.iter())
}

pub(crate) fn range(field: &str, value: Option<f64>, low: f64, high: f64) -> Checked {
    match value {
        Some(value) if !(low..=high).contains(&value) => {
            invalid(field, format!("{value} is outside {low} to {high}"))
        }
        _ => Ok(()),
    }
}

impl Persona {
    pub fn check(&self) -> Checked {
        if let Some(display_name) = &self.display_name {
            let most = limits::DISPLAY_NAME_CHARS;
            if display_name.chars().count() > most || display_name.chars().any(char::is_control) {
                return invalid("display_name", format!("must be one line of at most {most} characters"));
            }
        }
        short("description", self.description.as_ref())?;
        short("summary", self.summary.as_ref())?;
        long("detail", self.detail.as_ref())?;
        long("system_prompt", self.system_prompt.as_ref())?;
        words("tags", &self.tags, limits::TAGS)?;
        count("parts", self.parts.len(), limits::LINKS)?;
        distinct("parts", self.parts.iter().map(|link| &link.name))?;
        links("traits", &self.traits)?;
        links("skills", &self.skills)?;
        links("guardrails", &self.guardrails)?;
        count("preferred_models", self.preferred_models.len(), limits::PREFERRED_MODELS)?;
        for (index, model) in self.preferred_models.iter().enumerate() {
            let field = |name: &str| format!("preferred_models[{index}].{name}");
            for (name, value) in [("provider", &model.provider), ("model", &model.model)] {
                if value.trim().is_empty() {
                    return invalid(field(name), "must not be empty");
                }
                text(&field(name), Some(value), limits::DISPLAY_NAME_CHARS, "shorten it")?;
            }
            range(&field("temperature"), model.temperature, 0.0, 2.0)?;
            range(&field("top_p"), model.top_p, 0.0, 1.0)?;
            if model.max_output_tokens == Some(0) {
                return invalid(field("max_output_tokens"), "must be at least 1");
            }
        }
        if self.max_tool_rounds.is_some_and(|rounds| !(1..=limits::TOOL_ROUNDS).contains(&rounds)) {
            return invalid("max_tool_rounds", format!("must be from 1 to {}", limits::TOOL_ROUNDS));
        }
        links("test_inputs", &self.test_inputs)?;
        links("remove_parts", &self.remove_parts)?;
        links("remove_traits", &self.remove_traits)?;
        links("remove_skills", &self.remove_skills)?;
        links("remove_guardrails", &self.remove_guardrails)?;
        links("remove_test_inputs", &self.remove_test_inputs)?;
        words("remove_tags", &self.remove_tags, limits::TAGS)?;
        if let Some(plan) = &self.plan_persona {
            long("plan_persona.instruction", plan.instruction.as_ref())?;
            text("plan_persona.model", plan.model.as_deref(), limits::SHORT_TEXT_BYTES, "shorten it")?;
            if plan.model.as_ref().is_some_and(|model| model.trim().is_empty()) {
                return invalid("plan_persona.model", "is empty; name a model, or leave it out");
            }
        }
        Ok(())
    }
}

impl Part {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        short("summary", self.summary.as_ref())?;
        long("content", self.content.as_ref())?;
        words("tags", &self.tags, limits::TAGS)?;
        if self.content_or_summary().is_empty() {
            return invalid("content", "a part without text says nothing; give content or summary");
        }
        Ok(())
    }
}

impl Trait {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        long("instruction", self.instruction.as_ref())?;
        words("tags", &self.tags, limits::TAGS)
    }
}

impl Skill {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        long("content", self.content.as_ref())?;
        words("tags", &self.tags, limits::TAGS)
    }
}

impl Guardrail {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        long("content", self.content.as_ref())?;
        tools("deny_tools", self.deny_tools.iter().map(String::as_str), limits::DENY_TOOLS)?;
        words("tags", &self.tags, limits::TAGS)
    }
}

impl CharacterArc {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        short("summary", self.summary.as_ref())?;
        words("tags", &self.tags, limits::TAGS)?;
        count("stages", self.stages.len(), limits::STAGES)?;
        distinct("stages", self.stages.iter().map(|stage| &stage.name))?;
        for stage in &self.stages {
            let field = |name: &str| format!("stages.{}.{name}", stage.name);
            short(&field("description"), stage.description.as_ref())?;
            short(&field("condition"), stage.condition.as_ref())?;
            count(&field("parts"), stage.parts.len(), limits::STAGE_PARTS)?;
            distinct(&field("parts"), stage.parts.iter())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PreferredModel;

    fn persona(edit: impl FnOnce(&mut Persona)) -> String {
        let mut persona = Persona::new(Name::parse("p").expect("a name"));
        edit(&mut persona);
        persona.check().err().map(|error| error.to_string()).unwrap_or_default()
    }

    fn model(temperature: Option<f64>, top_p: Option<f64>) -> PreferredModel {
        PreferredModel {
            provider: "anthropic".into(),
            model: "m".into(),
            temperature,
            top_p,
            max_output_tokens: None,
        }
    }

    #[test]
    fn what_cannot_be_kept_is_named() {
        assert_eq!(persona(|_| ()), "");
        assert_eq!(
            persona(|p| p.summary = Some("a\0b".into())),
            "summary: contains a NUL character; remove it"
        );
        assert!(
            persona(|p| p.detail = Some("x".repeat(limits::LONG_TEXT_BYTES + 1)))
                .starts_with("detail: has 262145 bytes")
        );
        assert!(persona(|p| p.tags = vec![" ".into()]).starts_with("tags: has an empty entry"));
        assert_eq!(
            persona(|p| p.preferred_models = vec![model(Some(2.5), None)]),
            "preferred_models[0].temperature: 2.5 is outside 0 to 2"
        );
        assert_eq!(
            persona(|p| p.preferred_models = vec![model(None, Some(f64::NAN))]),
            "preferred_models[0].top_p: NaN is outside 0 to 1"
        );
        for (rounds, problem) in [
            (0, "max_tool_rounds: must be from 1 to 1000"),
            (1, ""),
            (1_000, ""),
            (1_001, "max_tool_rounds: must be from 1 to 1000"),
        ] {
            assert_eq!(persona(|p| p.max_tool_rounds = Some(rounds)), problem);
        }
        let twice = Name::parse("warm").expect("a name");
        assert_eq!(
            persona(|p| p.traits = vec![twice.clone(), twice]),
            "traits: names warm twice; once is enough"
        );
    }
}
