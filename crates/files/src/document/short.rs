//! Short forms that a file may use, and their meaning.

use persona::field::{Shape, TableType};
use persona::{Field, Kind};
use serde_json::{Map, Value, json};

/// True if an element of a list may be its bare name.
pub(super) fn may_be_a_bare_name(type_name: &str) -> bool {
    TableType::of_type(type_name).is_some_and(|item| item.may_be_bare)
}

/// The order that an element of a list has where it gives none: its position.
pub(super) fn implied_order(type_name: &str, position: usize) -> Option<i32> {
    TableType::of_type(type_name).and_then(|item| order_at(item, position))
}

fn order_at(item: &TableType, position: usize) -> Option<i32> {
    let position = i32::try_from(position).unwrap_or(i32::MAX);
    item.first_order.map(|first| first.saturating_add(position))
}

/// Expands the short forms of an entity that was sent as JSON, so that they mean the same as in a file. Invalid
/// values stay unchanged, for the reader to refuse.
pub fn spell_out(kind: Kind, fields: &mut Map<String, Value>) {
    for field in kind.fields() {
        if let Some(value) = fields.get_mut(field.name) {
            spell_out_field(field, value);
        }
    }
}

fn spell_out_field(field: &Field, value: &mut Value) {
    match (field.shape, value) {
        (Shape::List { item, .. }, Value::Array(list)) => spell_out_list(item, list),
        (Shape::Map { of, .. }, Value::Object(entries)) => {
            entries.values_mut().for_each(|value| spell_out_field(of, value));
        }
        _ => {}
    }
}

fn spell_out_list(item: &TableType, list: &mut [Value]) {
    for (position, element) in list.iter_mut().enumerate() {
        if element.is_string() && item.may_be_bare {
            *element = json!({ "name": element.take() });
        }
        if let (Value::Object(fields), Some(order)) = (element, order_at(item, position)) {
            fields.entry("order").or_insert(order.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use persona::Kind;
    use serde_json::{Value, json};

    use super::spell_out;

    fn check(kind: Kind, short: Value, long: &Value) {
        let Value::Object(mut fields) = short else { panic!("an object is spelled out") };
        spell_out(kind, &mut fields);
        assert_eq!(Value::Object(fields), *long);
    }

    #[test]
    fn a_short_form_means_what_it_means_in_a_file() {
        check(
            Kind::Persona,
            json!({ "parts": ["a", { "name": "b", "priority": 2 }, { "name": "c", "order": -1 }] }),
            &json!({ "parts": [
                { "name": "a", "order": 0 },
                { "name": "b", "order": 1, "priority": 2 },
                { "name": "c", "order": -1 },
            ] }),
        );
        let stages = json!({ "stages": [{ "name": "a" }, { "name": "b", "order": 7 }, "c"] });
        let long = json!({ "stages": [{ "name": "a", "order": 1 }, { "name": "b", "order": 7 }, "c"] });
        check(Kind::Arc, stages, &long);
        let tools = json!({ "categories": { "read": ["read_*", { "name": "fetch", "weight": 1 }] } });
        let long =
            json!({ "categories": { "read": [{ "name": "read_*" }, { "name": "fetch", "weight": 1 }] } });
        check(Kind::ToolPreset, tools, &long);
    }

    #[test]
    fn an_invalid_value_stays_for_the_reader() {
        for wrong in [json!({ "parts": "a" }), json!({ "parts": [5, null] }), json!({ "name": "x" })] {
            check(Kind::Persona, wrong.clone(), &wrong);
        }
        check(
            Kind::ToolPreset,
            json!({ "categories": { "read": "a" } }),
            &json!({ "categories": { "read": "a" } }),
        );
    }
}
