//! Prints tool presets and bias profiles, below their title.

use persona::{BiasProfile, PresetTool, ToolPreset};

use super::piece_text::fields;
use crate::failure::Result;
use crate::output::{Output, Style};

pub(super) fn tool_preset(preset: &ToolPreset, output: &mut Output) -> Result<()> {
    let ToolPreset { name: _, description, categories, tags } = preset;
    fields(description.as_deref(), None, tags, output)?;
    for (category, tools) in categories {
        output.blank()?;
        output.heading(category)?;
        tools.iter().try_for_each(|tool| print_tool(tool, output))?;
    }
    Ok(())
}

fn print_tool(tool: &PresetTool, output: &mut Output) -> Result<()> {
    let approval = tool.approval.map(|approval| format!("{approval}, ")).unwrap_or_default();
    let name = output.styled(Style::Name, &tool.name);
    let note = output.styled(Style::Faint, format!("  {approval}weight {}", tool.weight()));
    output.styled_line(&format!("  {name}{note}"))?;
    for (parameter, hint) in &tool.parameter_bias {
        output.paragraph(4, &format!("{parameter}: {hint}"))?;
    }
    Ok(())
}

pub(super) fn bias_profile(profile: &BiasProfile, output: &mut Output) -> Result<()> {
    let BiasProfile { name: _, description, multipliers, tags } = profile;
    fields(description.as_deref(), None, tags, output)?;
    if !multipliers.is_empty() {
        output.blank()?;
        output.heading("Multipliers")?;
    }
    let widest = multipliers.keys().map(|category| crate::output::width_of(category)).max().unwrap_or(0);
    for (category, multiplier) in multipliers {
        let gap = " ".repeat(widest - crate::output::width_of(category));
        let category = output.styled(Style::Name, category);
        output.styled_line(&format!("  {category}{gap}  {multiplier}"))?;
    }
    Ok(())
}
