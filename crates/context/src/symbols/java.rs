//! The members of a Java file.

use tree_sitter::Node;

use super::SymbolKind;
use super::item::{Definition, Item, child_of_kind, children, text};
use super::reader::Place;
use crate::imports::Import;

pub(super) fn item<'t>(node: Node<'t>, place: Place<'_>) -> Item<'t> {
    let source = place.source;
    match node.kind() {
        "line_comment" | "block_comment" => Item::Remark,
        "package_declaration" | "module_declaration" | "enum_constant" => Item::Keep,
        "import_declaration" => Item::Import(import(node, source)),
        "enum_body_declarations" => Item::Group(node),
        "field_declaration" | "constant_declaration" => field(node, place).map_or(Item::Loose, Item::Define),
        _ => match node.child_by_field_name("name") {
            Some(name) => named(node, name, source).map_or(Item::Loose, Item::Define),
            None => Item::Loose,
        },
    }
}

fn named<'t>(node: Node<'t>, name: Node<'_>, source: &str) -> Option<Definition<'t>> {
    let define = |kind| Definition::new(kind, name, source);
    let body = node.child_by_field_name("body");
    let mut definition = match node.kind() {
        "class_declaration" => define(SymbolKind::Class).inside(body),
        "record_declaration" => define(SymbolKind::Struct).inside(body),
        "enum_declaration" => define(SymbolKind::Enum).inside(body),
        "interface_declaration" | "annotation_type_declaration" => define(SymbolKind::Interface).inside(body),
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => {
            define(SymbolKind::Method).body(body)
        }
        "annotation_type_element_declaration" => define(SymbolKind::Method),
        _ => return None,
    };
    annotate(&mut definition, node, source);
    Some(definition)
}

/// Marks tests, and annotations for the compiler as noise.
fn annotate(definition: &mut Definition<'_>, node: Node<'_>, source: &str) {
    let Some(modifiers) = child_of_kind(node, "modifiers") else { return };
    for annotation in modifiers.named_children(&mut modifiers.walk()) {
        let name = annotation.child_by_field_name("name").map(|name| text(name, source)).unwrap_or_default();
        match name {
            "Test" | "ParameterizedTest" | "RepeatedTest" | "TestFactory" => definition.is_test = true,
            "SuppressWarnings" | "Generated" => definition.noise.push(annotation.byte_range()),
            _ => {}
        }
    }
}

fn field<'t>(node: Node<'t>, place: Place<'_>) -> Option<Definition<'t>> {
    let declarator = node.child_by_field_name("declarator")?;
    let name = declarator.child_by_field_name("name")?;
    let modifiers = child_of_kind(node, "modifiers").map(|modifiers| text(modifiers, place.source));
    let is_constant = node.kind() == "constant_declaration"
        || modifiers.is_some_and(|modifiers| modifiers.contains("static") && modifiers.contains("final"));
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Field };
    let mut definition =
        Definition::new(kind, name, place.source).value(declarator.child_by_field_name("value"));
    annotate(&mut definition, node, place.source);
    Some(definition)
}

/// `import a.b.C;` is the path `a.b.C`; of a static import and of all names of a package, the last is a name.
fn import(node: Node<'_>, source: &str) -> Vec<Import> {
    let Some(path) = node.named_children(&mut node.walk()).find(|child| child.kind().ends_with("identifier"))
    else {
        return Vec::new();
    };
    let path: String = text(path, source).split_whitespace().collect();
    if child_of_kind(node, "asterisk").is_some() {
        return vec![Import { path, names: vec!["*".to_owned()] }];
    }
    let is_static = children(node).iter().any(|child| child.kind() == "static");
    match path.rsplit_once('.').filter(|_| is_static) {
        Some((of, name)) => vec![Import { path: of.to_owned(), names: vec![name.to_owned()] }],
        None => vec![Import { path, names: Vec::new() }],
    }
}
