//! An entity of any kind as text for people, field by field: for kinds without a text of their own.

use persona::field::{Shape, ValueView};
use persona::{AnyEntity, Field};

use super::super::fields::shown;
use super::piece_text::body;
use crate::failure::Result;
use crate::output::{Output, Style};

/// Prints short values first, then long texts, then lists.
pub(super) fn print(entity: &AnyEntity, output: &mut Output) -> Result<()> {
    let set: Vec<(&Field, ValueView<'_>)> = entity
        .values()
        .into_iter()
        .filter(|(field, value)| field.name != "name" && !value.is_unset())
        .collect();
    for (field, value) in &set {
        if !field.is_long() && !has_section(field) {
            output.field(&label(field), &shown(&value.to_json()))?;
        }
    }
    for (field, value) in &set {
        if let (true, ValueView::Text(text)) = (field.is_long(), value) {
            body(Some(*text), output)?;
        }
    }
    for (field, value) in &set {
        if let (true, ValueView::List(items)) = (has_section(field), value) {
            output.blank()?;
            output.heading(&capitalized(&label(field)))?;
            items.iter().try_for_each(|item| print_item(item, output))?;
        }
    }
    Ok(())
}

/// True if the entries of a list stand below a heading.
fn has_section(field: &Field) -> bool {
    matches!(field.shape, Shape::Texts(_) | Shape::List { .. })
}

fn label(field: &Field) -> String {
    field.name.replace('_', " ")
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// A text is an item of a list; a table is a line with its first value in front.
fn print_item(item: &ValueView<'_>, output: &mut Output) -> Result<()> {
    let ValueView::Table(fields) = item else {
        return output.paragraph(2, &format!("- {}", shown(&item.to_json())));
    };
    // Fields that are mostly unset need their names.
    if fields.iter().filter(|(_, value)| value.is_unset()).count() * 2 > fields.len() {
        let set = fields.iter().filter(|(_, value)| !value.is_unset());
        let set = set.map(|(field, value)| format!("{} {}", label(field), shown(&value.to_json())));
        return output.paragraph(2, &format!("- {}", set.collect::<Vec<_>>().join(", ")));
    }
    let mut values =
        fields.iter().filter(|(_, value)| !value.is_unset()).map(|(_, value)| shown(&value.to_json()));
    let first = output.styled(Style::Name, values.next().unwrap_or_default());
    let rest = output.styled(Style::Faint, format!("  {}", values.collect::<Vec<_>>().join("  ")));
    output.styled_line(&format!("  {first}{rest}"))
}
