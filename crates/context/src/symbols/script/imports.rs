//! Imports: `import`, `export … from`, `require`.

use tree_sitter::Node;

use super::super::item::{child_of_kind, text, unquoted};
use crate::imports::Import;

/// The import of an `import` or of an `export … from`.
pub(super) fn import(node: Node<'_>, source: &str) -> Vec<Import> {
    let clause = child_of_kind(node, "import_require_clause");
    let Some(path) = clause.unwrap_or(node).child_by_field_name("source") else { return Vec::new() };
    let mut names = Vec::new();
    for child in node.named_children(&mut node.walk()) {
        match child.kind() {
            "import_clause" | "export_clause" | "namespace_export" => collect(child, source, &mut names),
            "import_require_clause" => names.push("*".to_owned()),
            _ => {}
        }
    }
    if node.kind() == "export_statement" && names.is_empty() {
        names.push("*".to_owned());
    }
    vec![Import { path: unquoted(path, source), names }]
}

fn collect(clause: Node<'_>, source: &str, names: &mut Vec<String>) {
    for child in clause.named_children(&mut clause.walk()) {
        match child.kind() {
            "identifier" if clause.kind() == "import_clause" => names.push("default".to_owned()),
            "namespace_import" | "identifier" => names.push("*".to_owned()),
            "named_imports" => collect(child, source, names),
            "import_specifier" | "export_specifier" => {
                names.extend(child.child_by_field_name("name").map(|name| text(name, source).to_owned()));
            }
            _ => {}
        }
    }
}

/// The import of `NAMES = require("PATH")`.
pub(super) fn required(call: Node<'_>, declarator: Node<'_>, source: &str) -> Option<Import> {
    let function = call.child_by_field_name("function")?;
    if text(function, source) != "require" {
        return None;
    }
    let path = child_of_kind(call.child_by_field_name("arguments")?, "string")?;
    let pattern = declarator.child_by_field_name("name")?;
    let names = match pattern.kind() {
        "object_pattern" => {
            let mut cursor = pattern.walk();
            let named = pattern.named_children(&mut cursor).filter_map(|child| match child.kind() {
                "pair_pattern" => child.child_by_field_name("key"),
                "shorthand_property_identifier_pattern" => Some(child),
                _ => None,
            });
            named.map(|name| text(name, source).to_owned()).collect()
        }
        _ => vec!["*".to_owned()],
    };
    Some(Import { path: unquoted(path, source), names })
}
