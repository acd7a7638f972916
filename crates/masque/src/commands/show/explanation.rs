//! `show --explain`: the layer and scope of every field and piece of a persona.

use persona::explain::{
    ExplainedField, ExplainedItem, ExplainedPart, Explanation, Layer, Removed, ReplacedPart,
};
use persona::{LayerOrigin, PartType, Scope};
use serde_json::Value;

use super::super::fields;
use crate::failure::Result;
use crate::output::{Column, Output, Style, Table, layer_mark, layer_style, one_line};

const COLUMNS: [Column; 5] = [
    Column::Fixed("WHAT"),
    Column::Fixed("FROM"),
    Column::Optional("SCOPE"),
    Column::Optional("NOTE"),
    Column::Stretched("VALUE"),
];

/// The column of the layer.
const FROM: usize = 1;

/// The note on a missing reference.
const NOT_FOUND: &str = "not found";

pub(super) fn print(explanation: &Explanation, output: &mut Output) -> Result<()> {
    let own = explanation.layers.iter().find(|layer| layer.role == LayerOrigin::Own);
    let revision = own.and_then(|layer| layer.revision).unwrap_or_default();
    super::title(&explanation.name, None, explanation.scope, revision, output)?;
    let layers: Vec<String> = explanation.layers.iter().map(layer).collect();
    output.field("layers", &format!("{} (the last wins)", layers.join(" < ")))?;
    output.blank()?;
    let mut rows: Vec<Vec<String>> = explanation.fields.iter().map(field).collect();
    rows.extend(explanation.parts.iter().map(part));
    rows.extend(explanation.items.iter().map(item));
    if rows.is_empty() {
        return output.line("No fields and no pieces yet.");
    }
    let roles: Vec<Option<LayerOrigin>> = rows.iter().map(|row| role(explanation, &row[FROM])).collect();
    for (row, role) in rows.iter_mut().zip(&roles) {
        if let Some(role) = role {
            row[FROM] = format!("{} {}", layer_mark(*role), row[FROM]);
        }
    }
    let table = Table::fitted(&COLUMNS, &rows, output.width());
    table.header(output)?;
    for (row, role) in rows.iter().zip(roles) {
        let from = role.map_or(Style::Plain, layer_style);
        table.styled_row(output, row, &[(0, Style::Name), (FROM, from)])?;
    }
    if !explanation.removed.is_empty() {
        output.blank()?;
    }
    for Removed { list, name, from, by } in &explanation.removed {
        output.line(format!("{by} removes {} {name} of {from}", singular(list)))?;
    }
    Ok(())
}

fn layer(layer: &Layer) -> String {
    let Layer { name, scope, revision, role } = layer;
    let mark = layer_mark(*role);
    match (role, revision) {
        (LayerOrigin::Stage, _) => format!("{mark} stage {scope}:{name}"),
        // Builtins have no revision.
        (_, Some(revision @ 1..)) if *scope != Scope::Builtin => {
            format!("{mark} {scope}:{name} (revision {revision})")
        }
        _ => format!("{mark} {scope}:{name}"),
    }
}

/// The role of the layer that a `from` names.
fn role(explanation: &Explanation, from: &str) -> Option<LayerOrigin> {
    let is_meant = |layer: &&Layer| from == format!("{}:{}", layer.scope, layer.name);
    explanation.layers.iter().rfind(is_meant).map(|layer| layer.role)
}

fn field(field: &ExplainedField) -> Vec<String> {
    let ExplainedField { field, from, value, appends_to, overrides, piece_scope, not_found } = field;
    let note = notes(&[("below", appends_to), ("instead of", overrides)]);
    let lost = if *not_found { format!(" ({NOT_FOUND})") } else { String::new() };
    row(field.clone(), &format!("{}{lost}", shown(value)), from, *piece_scope, note)
}

fn part(part: &ExplainedPart) -> Vec<String> {
    let ExplainedPart { name, part_type, order, priority, from, piece_scope, not_found: _, replaced } = part;
    let part_type = part_type.map_or(NOT_FOUND, PartType::as_str);
    let value = format!("{part_type}, order {order}, priority {priority}");
    let replaced: Vec<String> =
        replaced.iter().map(|ReplacedPart { name, from }| format!("{name} of {from}")).collect();
    row(format!("part {name}"), &value, from, *piece_scope, notes(&[("instead of", &replaced)]))
}

fn item(item: &ExplainedItem) -> Vec<String> {
    let ExplainedItem { list, name, from, overrides, piece_scope, not_found } = item;
    let note = notes(&[("also in", overrides)]);
    let value = if *not_found { NOT_FOUND } else { "" };
    row(format!("{} {name}", singular(list)), value, from, *piece_scope, note)
}

fn row(what: String, value: &str, from: &str, kept: Option<Scope>, note: String) -> Vec<String> {
    let kept = kept.map(|scope| scope.to_string()).unwrap_or_default();
    vec![what, from.to_owned(), kept, note, one_line(value)]
}

fn notes(notes: &[(&str, &Vec<String>)]) -> String {
    let given = notes.iter().filter(|(_, layers)| !layers.is_empty());
    given.map(|(word, layers)| format!("{word} {}", layers.join(", "))).collect::<Vec<_>>().join("; ")
}

/// The singular of a list's name.
fn singular(list: &str) -> String {
    list.strip_suffix('s').unwrap_or(list).replace('_', " ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let item = |item: &Value| match (item["provider"].as_str(), item["model"].as_str()) {
                (Some(provider), Some(model)) => format!("{provider}/{model}"),
                _ => fields::shown(item),
            };
            items.iter().map(item).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
