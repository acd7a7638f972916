//! A personas.toml of any size, written as people write them: with comments, blank lines, lists over
//! several lines and prompts of a few sentences.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use persona::{Name, Part, Persona, Tags, Trait};

/// A file of so many personas and of every part and trait that they name.
pub(super) fn personas_toml(size: u64, seed: u64) -> Result<String> {
    let library = testkit::generate(seed, size);
    let mut text = String::from("# The personas of this project, and the pieces that they are made of.\n");
    let (mut parts, mut traits) = (BTreeSet::new(), BTreeSet::new());
    for (number, mut persona) in library.personas().enumerate() {
        persona.parts.truncate(2 + number % 2);
        persona.traits.truncate(1);
        write_persona(&mut text, &persona)?;
        parts.extend(persona.parts.into_iter().map(|link| link.name));
        traits.extend(persona.traits);
    }
    text.push_str("\n# ---- Pieces, which any persona may name. ----\n");
    for part in library.parts().filter(|part| parts.contains(&part.name)) {
        write_part(&mut text, &part)?;
    }
    for entity in library.traits().filter(|entity| traits.contains(&entity.name)) {
        write_trait(&mut text, &entity)?;
    }
    Ok(text)
}

/// The text with a line more in a persona's entry: `description`, which no generated persona has.
pub(super) fn described(text: &str, name: &Name, description: &str) -> String {
    let header = format!("[personas.{name}]\n");
    text.replacen(&header, &format!("{header}description = {}\n", quoted(description)), 1)
}

fn write_persona(text: &mut String, persona: &Persona) -> Result<()> {
    let Persona { name, display_name, description, summary, system_prompt, parts, traits, tags, .. } =
        persona;
    // The generator's description is a comment above the persona.
    writeln!(text, "\n# {}", description.as_deref().unwrap_or("A persona."))?;
    writeln!(text, "[personas.{name}]")?;
    write_line(text, "display_name", display_name.as_deref())?;
    write_line(text, "summary", summary.as_deref())?;
    text.push_str(
        "preferred_models = [\n  \
         { provider = \"anthropic\", model = \"large\", temperature = 0.2 }, # where it matters\n  \
         { provider = \"openai\", model = \"small\", max_output_tokens = 4096 },\n]\n",
    );
    write_paragraph(text, "system_prompt", system_prompt.as_deref())?;
    writeln!(text, "parts = [{}]", list(parts.iter().map(|link| link.name.as_str())))?;
    writeln!(text, "traits = [{}]", list(traits.iter().map(Name::as_str)))?;
    write_tags(text, tags)
}

fn write_part(text: &mut String, part: &Part) -> Result<()> {
    writeln!(text, "\n[parts.{}]", part.name)?;
    write_line(text, "part_type", Some(part.part_type.as_str()))?;
    write_line(text, "description", part.description.as_deref())?;
    write_line(text, "summary", part.summary.as_deref())?;
    write_paragraph(text, "content", part.content.as_deref())?;
    write_tags(text, &part.tags)
}

fn write_trait(text: &mut String, entity: &Trait) -> Result<()> {
    writeln!(text, "\n[traits.{}]", entity.name)?;
    write_line(text, "trait_type", Some(entity.trait_type.as_str()))?;
    write_line(text, "description", entity.description.as_deref())?;
    write_line(text, "instruction", entity.instruction.as_deref())?;
    write_tags(text, &entity.tags)
}

fn write_line(text: &mut String, key: &str, value: Option<&str>) -> Result<()> {
    if let Some(value) = value {
        writeln!(text, "{key} = {}", quoted(value))?;
    }
    Ok(())
}

/// A text over several lines, one sentence on each.
fn write_paragraph(text: &mut String, key: &str, value: Option<&str>) -> Result<()> {
    if let Some(value) = value {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace(". ", ".\n");
        writeln!(text, "{key} = \"\"\"\n{value}\"\"\"")?;
    }
    Ok(())
}

fn write_tags(text: &mut String, tags: &Tags) -> Result<()> {
    let tags = list(tags.iter().map(String::as_str));
    if !tags.is_empty() {
        writeln!(text, "tags = [{tags}]")?;
    }
    Ok(())
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    items.map(quoted).collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use files::document;
    use persona::{AnyEntity, Kind};

    use super::*;

    #[test]
    fn a_file_reads_without_a_complaint_and_holds_all_that_it_names() {
        let text = personas_toml(40, 7).expect("it is written");
        let document = document::read(Path::new("personas.toml"), &text).expect("it is TOML");
        assert!(document.problems.is_empty(), "{:?}", document.problems);
        assert_eq!(document.entries[&Kind::Persona].len(), 40);
        for entry in document.all() {
            for reference in entry.entity.references() {
                assert!(document.has(reference.kind, reference.name.as_str()), "{reference:?}");
            }
        }
    }

    #[test]
    fn a_description_is_added_to_one_persona_only() {
        let text = personas_toml(10, 7).expect("it is written");
        let name = Name::parse("p0000003").expect("a lawful name");
        let changed = described(&text, &name, "Version 2.");
        let read = |text: &str| document::read(Path::new("personas.toml"), text).expect("it is TOML");
        let (before, after) = (read(&text), read(&changed));
        for (old, new) in before.all().zip(after.all()) {
            assert_eq!(old == new, *new.entity.name() != name, "{}", new.entity.name());
        }
        let entry = after.get(Kind::Persona, name.as_str()).expect("it is there");
        let AnyEntity::Persona(persona) = &entry.entity else { panic!("a persona") };
        assert_eq!(persona.description.as_deref(), Some("Version 2."));
    }
}
