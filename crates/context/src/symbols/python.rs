//! The members of a Python file.

use tree_sitter::Node;

use super::SymbolKind;
use super::item::{Definition, Item, child_of_kind, is_short, text};
use super::reader::Place;
use crate::imports::Import;

pub(super) fn item<'t>(node: Node<'t>, place: Place<'_>) -> Item<'t> {
    let source = place.source;
    match node.kind() {
        "import_statement" | "import_from_statement" | "future_import_statement" => {
            Item::Import(imports(node, source))
        }
        "function_definition" | "class_definition" => {
            definition(node, place).map_or(Item::Loose, Item::Define)
        }
        "decorated_definition" => node
            .child_by_field_name("definition")
            .and_then(|inner| definition(inner, place))
            .map_or(Item::Loose, Item::Define),
        "expression_statement" if place.is_first && is_string(node) => Item::Keep,
        "expression_statement" => assignment(node, place).map_or(Item::Loose, Item::Define),
        "type_alias_statement" => node
            .child_by_field_name("left")
            .map_or(Item::Loose, |left| Item::Define(Definition::new(SymbolKind::Type, left, source))),
        "if_statement" | "try_statement" | "with_statement" => Item::Group(node),
        _ => Item::Loose,
    }
}

fn definition<'t>(node: Node<'t>, place: Place<'_>) -> Option<Definition<'t>> {
    let name = node.child_by_field_name("name")?;
    let block = node.child_by_field_name("body");
    let in_class = place.owner_kind == Some(SymbolKind::Class);
    let kind = match (node.kind(), in_class) {
        ("class_definition", _) => SymbolKind::Class,
        (_, true) => SymbolKind::Method,
        _ => SymbolKind::Function,
    };
    let mut definition = Definition::new(kind, name, place.source);
    let (doc, next) = block.map(docstring).unwrap_or_default();
    definition.doc = doc.map(|doc| doc.byte_range());
    if kind == SymbolKind::Class {
        definition.is_test = definition.name.starts_with("Test");
        return Some(definition.inside(block));
    }
    definition.is_test = definition.name.starts_with("test_");
    definition.body = match (block, doc) {
        (Some(block), Some(_)) => next.map(|next| next.start_byte()..block.end_byte()),
        (Some(block), None) => Some(block.byte_range()),
        (None, _) => None,
    };
    Some(definition)
}

/// The string at the start of a block, and the node after it.
fn docstring(block: Node<'_>) -> (Option<Node<'_>>, Option<Node<'_>>) {
    let mut cursor = block.walk();
    let mut members = block.named_children(&mut cursor).skip_while(Node::is_extra);
    match members.next().filter(|first| is_string(*first)) {
        Some(doc) => (Some(doc), members.next()),
        None => (None, None),
    }
}

/// True for a statement that is a string.
fn is_string(node: Node<'_>) -> bool {
    node.kind() == "expression_statement"
        && node.named_child(0).is_some_and(|first| matches!(first.kind(), "string" | "concatenated_string"))
}

/// `NAME = VALUE`, also with a type, and `NAME: TYPE`.
fn assignment<'t>(node: Node<'t>, place: Place<'_>) -> Option<Definition<'t>> {
    let assignment = child_of_kind(node, "assignment")?;
    let left = assignment.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
    let name = text(left, place.source);
    let kind = match place.owner_kind {
        Some(SymbolKind::Class) => SymbolKind::Field,
        _ if name.chars().any(|c| c.is_ascii_uppercase())
            && !name.chars().any(|c| c.is_ascii_lowercase()) =>
        {
            SymbolKind::Constant
        }
        _ => SymbolKind::Variable,
    };
    let mut definition = Definition::new(kind, left, place.source);
    let value = assignment.child_by_field_name("right").filter(|value| !is_short(*value));
    // The names that a module exports are worth their length.
    definition.body = value.filter(|_| name != "__all__").map(|value| value.byte_range());
    Some(definition)
}

fn imports(node: Node<'_>, source: &str) -> Vec<Import> {
    let mut cursor = node.walk();
    let names = node.children_by_field_name("name", &mut cursor).map(|name| {
        let name =
            if name.kind() == "aliased_import" { name.child_by_field_name("name") } else { Some(name) };
        name.map(|name| text(name, source).to_owned()).unwrap_or_default()
    });
    match node.kind() {
        "import_statement" => names.map(|path| Import { path, names: Vec::new() }).collect(),
        "import_from_statement" => {
            let path = node.child_by_field_name("module_name").map(|path| text(path, source).to_owned());
            let mut names: Vec<String> = names.collect();
            if child_of_kind(node, "wildcard_import").is_some() {
                names.push("*".to_owned());
            }
            path.map(|path| Import { path, names }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
