//! Prints conflicts: each name with the fields that differ.

use app::outputs::Conflict;
use persona::Scope;
use serde_json::Value;

use crate::commands::fields::{excerpts, shown};
use crate::failure::Result;
use crate::output::{Output, Style};

/// Columns of a value without a terminal.
const VALUE_COLUMNS: usize = 90;
/// Columns before a value: the indentation, and the longest name of a scope.
const MARGIN: usize = 13;

pub(super) fn print(conflicts: &[Conflict], output: &mut Output) -> Result<()> {
    for (at, conflict) in conflicts.iter().enumerate() {
        if at > 0 {
            output.blank()?;
        }
        print_one(conflict, output)?;
    }
    output.advise("Resolve one with `masque conflicts NAME --use SCOPE`, or field by field with --merge.")
}

fn print_one(conflict: &Conflict, output: &mut Output) -> Result<()> {
    let Conflict { kind, name, in_force, scopes, identical, fields } = conflict;
    let title = output.styled(Style::Title, format!("{} {name}", kind.spoken()));
    let scopes_in_words = scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ");
    let note = output.styled(Style::Faint, format!("in {scopes_in_words}; {in_force} wins"));
    output.styled_line(&format!("{title}  {note}"))?;
    if *identical {
        return output.line("  the definitions are identical");
    }
    for field in fields {
        let name = output.styled(Style::Name, &field.field);
        output.styled_line(&format!("  {name}"))?;
        let values: Vec<Option<&Value>> = scopes.iter().map(|scope| field.values.get(scope)).collect();
        print_values(scopes, &values, output)?;
    }
    Ok(())
}

fn print_values(scopes: &[Scope], values: &[Option<&Value>], output: &mut Output) -> Result<()> {
    let width = output.width().map_or(VALUE_COLUMNS, |width| width.saturating_sub(MARGIN).max(20));
    let texts: Vec<Option<String>> = values.iter().map(|value| value.map(shown)).collect();
    for ((scope, text), value) in scopes.iter().zip(excerpts(&texts, width)).zip(values) {
        let scope = output.styled(Style::Faint, format!("{scope:<7}"));
        let text = if value.is_some() { text } else { output.styled(Style::Faint, "not set") };
        output.styled_line(&format!("    {scope}  {text}"))?;
    }
    Ok(())
}
