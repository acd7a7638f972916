//! Prints parts, traits, skills, guardrails and arcs, below their title.

use persona::{CharacterArc, Guardrail, Name, Part, Skill, Stage, Tags, Trait};

use crate::failure::Result;
use crate::output::{Output, Style};

pub(super) fn part(entity: &Part, output: &mut Output) -> Result<()> {
    let Part { name: _, part_type, description, summary, content, tags } = entity;
    output.field("type", part_type.as_str())?;
    fields(description.as_deref(), summary.as_deref(), tags, output)?;
    body(content.as_deref(), output)
}

pub(super) fn trait_(entity: &Trait, output: &mut Output) -> Result<()> {
    let Trait { name: _, trait_type, description, instruction, tags } = entity;
    output.field("type", trait_type.as_str())?;
    fields(description.as_deref(), None, tags, output)?;
    body(instruction.as_deref(), output)
}

pub(super) fn skill(entity: &Skill, output: &mut Output) -> Result<()> {
    let Skill { name: _, description, content, tags } = entity;
    fields(description.as_deref(), None, tags, output)?;
    body(content.as_deref(), output)
}

pub(super) fn guardrail(entity: &Guardrail, output: &mut Output) -> Result<()> {
    let Guardrail { name: _, severity, description, content, deny_tools, tags } = entity;
    output.field("severity", severity.as_str())?;
    fields(description.as_deref(), None, tags, output)?;
    if !deny_tools.is_empty() {
        output.field("deny tools", &deny_tools.join(", "))?;
    }
    body(content.as_deref(), output)
}

pub(super) fn arc(entity: &CharacterArc, output: &mut Output) -> Result<()> {
    let CharacterArc { name, description, summary, stages: _, tags } = entity;
    fields(description.as_deref(), summary.as_deref(), tags, output)?;
    let stages = entity.walk();
    if stages.is_empty() {
        output.blank()?;
        return output.line(format!("No stages yet; add one with `masque arc add-stage {name} STAGE`."));
    }
    for (at, stage) in stages.iter().enumerate() {
        output.blank()?;
        print_stage(at + 1, stage, output)?;
    }
    Ok(())
}

fn print_stage(position: usize, stage: &Stage, output: &mut Output) -> Result<()> {
    let Stage { name, order, description, condition, parts } = stage;
    let name = output.styled(Style::Name, name);
    let note = output.styled(Style::Faint, format!("order {order}"));
    output.styled_line(&format!("{position}. {name}  {note}"))?;
    if let Some(description) = description {
        output.paragraph(3, description)?;
    }
    if let Some(condition) = condition {
        output.paragraph(3, &format!("Condition: {condition}"))?;
    }
    if !parts.is_empty() {
        let parts: Vec<&str> = parts.iter().map(Name::as_str).collect();
        output.paragraph(3, &format!("Parts: {}", parts.join(", ")))?;
    }
    Ok(())
}

pub(super) fn fields(
    description: Option<&str>,
    summary: Option<&str>,
    tags: &Tags,
    output: &mut Output,
) -> Result<()> {
    if let Some(description) = description {
        output.field("description", description)?;
    }
    if let Some(summary) = summary {
        output.field("summary", summary)?;
    }
    if !tags.is_empty() {
        output.field("tags", &tags.join(", "))?;
    }
    Ok(())
}

pub(super) fn body(text: Option<&str>, output: &mut Output) -> Result<()> {
    match text {
        Some(text) => {
            output.blank()?;
            output.paragraph(0, text)
        }
        None => Ok(()),
    }
}
