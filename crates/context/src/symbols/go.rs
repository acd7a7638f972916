//! The members of a Go file.

use tree_sitter::Node;

use super::SymbolKind;
use super::item::{Definition, Item, child_of_kind, children, is_short, text, unquoted};
use super::reader::Place;
use crate::imports::Import;

pub(super) fn item<'t>(node: Node<'t>, place: Place<'_>) -> Item<'t> {
    let source = place.source;
    match node.kind() {
        "comment" => Item::Remark,
        "package_clause" => Item::Keep,
        "import_declaration" => Item::Import(imports(node, source)),
        "function_declaration" | "method_declaration" => {
            function(node, source).map_or(Item::Loose, Item::Define)
        }
        "type_declaration" | "const_declaration" | "var_declaration" => {
            let node = child_of_kind(node, "var_spec_list").unwrap_or(node);
            if children(node).iter().any(|child| child.kind() == "(") {
                return Item::Group(node);
            }
            node.named_child(0).and_then(|spec| specification(spec, source)).map_or(Item::Loose, Item::Define)
        }
        "type_spec" | "type_alias" | "const_spec" | "var_spec" => {
            specification(node, source).map_or(Item::Loose, Item::Define)
        }
        _ => Item::Loose,
    }
}

fn function<'t>(node: Node<'t>, source: &str) -> Option<Definition<'t>> {
    let is_method = node.kind() == "method_declaration";
    let kind = if is_method { SymbolKind::Method } else { SymbolKind::Function };
    let definition = Definition::new(kind, node.child_by_field_name("name")?, source);
    let takes_test =
        node.child_by_field_name("parameters").is_some_and(|taken| text(taken, source).contains("testing."));
    let is_named = ["Test", "Benchmark", "Fuzz"].iter().any(|word| definition.name.starts_with(word));
    let is_test = !is_method && (takes_test && is_named || definition.name.starts_with("Example"));
    Some(definition.body(node.child_by_field_name("body")).test(is_test))
}

fn specification<'t>(node: Node<'t>, source: &str) -> Option<Definition<'t>> {
    let name = node.child_by_field_name("name")?;
    let kind = match node.kind() {
        "const_spec" => SymbolKind::Constant,
        "var_spec" => SymbolKind::Variable,
        _ => match node.child_by_field_name("type").map(|of| of.kind()) {
            Some("struct_type") => SymbolKind::Struct,
            Some("interface_type") => SymbolKind::Interface,
            _ => SymbolKind::Type,
        },
    };
    let mut definition = Definition::new(kind, name, source);
    if matches!(kind, SymbolKind::Constant | SymbolKind::Variable) {
        let value = node.child_by_field_name("value").filter(|value| !is_short(*value));
        definition.body = value.map(|value| {
            // The type of a composite literal stays: it is that of the variable.
            let literal = value.named_child(0).filter(|_| value.named_child_count() == 1);
            let inner = literal.filter(|literal| literal.kind() == "composite_literal");
            inner.and_then(|literal| literal.child_by_field_name("body")).unwrap_or(value).byte_range()
        });
    }
    Some(definition)
}

fn imports(node: Node<'_>, source: &str) -> Vec<Import> {
    let list = child_of_kind(node, "import_spec_list").unwrap_or(node);
    let mut cursor = list.walk();
    list.named_children(&mut cursor)
        .filter_map(|spec| {
            let names = spec.child_by_field_name("name").map(|name| match text(name, source) {
                "." => "*".to_owned(),
                name => name.to_owned(),
            });
            let path = unquoted(spec.child_by_field_name("path")?, source);
            Some(Import { path, names: names.into_iter().collect() })
        })
        .collect()
}
