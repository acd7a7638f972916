//! Parts, traits, skills, guardrails and arcs as text for people.

use app::outputs::Document;
use persona::{CharacterArc, Guardrail, Meta, Name, Part, Skill, Stage, Tags, Trait};

use crate::failure::Result;
use crate::output::{Output, Style};

pub(super) fn part(document: &Document<Part>, output: &mut Output) -> Result<()> {
    let Part { name, part_type, description, summary, content, tags } = &document.entity;
    head(name, &document.meta, output)?;
    output.field("type", part_type.as_str())?;
    fields(description.as_deref(), summary.as_deref(), tags, output)?;
    body(content.as_deref(), output)
}

pub(super) fn trait_(document: &Document<Trait>, output: &mut Output) -> Result<()> {
    let Trait { name, trait_type, description, instruction, tags } = &document.entity;
    head(name, &document.meta, output)?;
    output.field("type", trait_type.as_str())?;
    fields(description.as_deref(), None, tags, output)?;
    body(instruction.as_deref(), output)
}

pub(super) fn skill(document: &Document<Skill>, output: &mut Output) -> Result<()> {
    let Skill { name, description, content, tags } = &document.entity;
    head(name, &document.meta, output)?;
    fields(description.as_deref(), None, tags, output)?;
    body(content.as_deref(), output)
}

pub(super) fn guardrail(document: &Document<Guardrail>, output: &mut Output) -> Result<()> {
    let Guardrail { name, severity, description, content, deny_tools, tags } = &document.entity;
    head(name, &document.meta, output)?;
    output.field("severity", severity.as_str())?;
    fields(description.as_deref(), None, tags, output)?;
    if !deny_tools.is_empty() {
        output.field("deny tools", &deny_tools.join(", "))?;
    }
    body(content.as_deref(), output)
}

pub(super) fn arc(document: &Document<CharacterArc>, output: &mut Output) -> Result<()> {
    let CharacterArc { name, description, summary, stages: _, tags } = &document.entity;
    head(name, &document.meta, output)?;
    fields(description.as_deref(), summary.as_deref(), tags, output)?;
    let stages = document.entity.walk();
    if stages.is_empty() {
        output.blank()?;
        return output
            .line(format!("It has no stages yet; add one with `masque arc add-stage {name} STAGE`."));
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

fn head(name: &Name, meta: &Meta, output: &mut Output) -> Result<()> {
    super::title(name, None, meta.scope, meta.revision, output)
}

fn fields(description: Option<&str>, summary: Option<&str>, tags: &Tags, output: &mut Output) -> Result<()> {
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

fn body(text: Option<&str>, output: &mut Output) -> Result<()> {
    match text {
        Some(text) => {
            output.blank()?;
            output.paragraph(0, text)
        }
        None => Ok(()),
    }
}
