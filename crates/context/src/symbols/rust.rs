//! The members of a Rust file.

use tree_sitter::Node;

use super::SymbolKind;
use super::item::{Definition, Item, Worth, child_of_kind, children, keep_short, text};
use super::reader::Place;
use crate::imports::Import;

/// Attributes for the compiler and for tools: they say nothing about how to use an item.
const NOISE: [&str; 14] = [
    "allow",
    "automatically_derived",
    "clippy",
    "cold",
    "deny",
    "expect",
    "forbid",
    "inline",
    "no_coverage",
    "optimize",
    "rustfmt",
    "track_caller",
    "tracing",
    "warn",
];

pub(super) fn item<'t>(node: Node<'t>, before: &str, place: Place<'_>) -> Item<'t> {
    let source = place.source;
    let name = node.child_by_field_name("name");
    match (node.kind(), name) {
        ("line_comment" | "block_comment", _) => comment(text(node, source)),
        ("attribute_item", _) => Item::Attribute(worth(node, source)),
        ("inner_attribute_item", _) if worth(node, source) == Worth::Noise => Item::Loose,
        ("inner_attribute_item" | "shebang", _) => Item::Keep,
        ("use_declaration" | "extern_crate_declaration", _) => Item::Import(imports(node, source, place)),
        ("macro_invocation" | "expression_statement", _) => keep_short(node),
        ("impl_item", _) => implementation(node, source),
        ("foreign_mod_item", _) => Item::Define(
            Definition::named(SymbolKind::Module, "extern").inside(node.child_by_field_name("body")),
        ),
        (_, Some(name)) => named(node, name, before, place).map_or(Item::Loose, Item::Define),
        _ => Item::Loose,
    }
    .module(node, source)
}

fn named<'t>(node: Node<'t>, name: Node<'_>, before: &str, place: Place<'_>) -> Option<Definition<'t>> {
    let define = |kind| Definition::new(kind, name, place.source);
    let body = node.child_by_field_name("body");
    let function = match place.owner_kind {
        Some(SymbolKind::Impl | SymbolKind::Trait) => SymbolKind::Method,
        _ => SymbolKind::Function,
    };
    Some(match node.kind() {
        "mod_item" => define(SymbolKind::Module).inside(body).test(before.contains("cfg(test)")),
        "function_item" => define(function).body(body).test(is_test(before)),
        "function_signature_item" => define(function),
        "struct_item" => define(SymbolKind::Struct),
        "enum_item" => define(SymbolKind::Enum),
        "union_item" => define(SymbolKind::Union),
        "trait_item" => define(SymbolKind::Trait).inside(body),
        "type_item" | "associated_type" => define(SymbolKind::Type),
        "const_item" => define(SymbolKind::Constant).value(node.child_by_field_name("value")),
        "static_item" => define(SymbolKind::Variable).value(node.child_by_field_name("value")),
        "macro_definition" => {
            let mut definition = define(SymbolKind::Macro);
            let open = children(node).into_iter().find(|child| child.kind() == "{");
            definition.body = open.map(|open| open.start_byte()..node.end_byte());
            definition
        }
        _ => return None,
    })
}

fn implementation<'t>(node: Node<'t>, source: &str) -> Item<'t> {
    let of = |field| node.child_by_field_name(field).map(|node| text(node, source));
    let subject = of("type").unwrap_or_default();
    let name = match of("trait") {
        Some(implemented) => format!("{implemented} for {subject}"),
        None => subject.to_owned(),
    };
    Item::Define(Definition::named(SymbolKind::Impl, &name).inside(node.child_by_field_name("body")))
}

impl Item<'_> {
    /// A module in another file is an import of it.
    fn module(self, node: Node<'_>, source: &str) -> Self {
        match (node.kind(), node.child_by_field_name("name"), node.child_by_field_name("body")) {
            ("mod_item", Some(name), None) => {
                Item::Import(vec![Import { path: format!("mod {}", text(name, source)), names: Vec::new() }])
            }
            _ => self,
        }
    }
}

fn comment<'t>(text: &str) -> Item<'t> {
    match text.get(..3) {
        Some("//!" | "/*!") => Item::Keep,
        Some("///" | "/**") if !text.starts_with("////") && !text.starts_with("/***") && text != "/**/" => {
            Item::Doc
        }
        _ => Item::Loose,
    }
}

fn worth(node: Node<'_>, source: &str) -> Worth {
    let path = child_of_kind(node, "attribute").map(|attribute| text(attribute, source)).unwrap_or_default();
    let word = path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    if NOISE.contains(&word) { Worth::Noise } else { Worth::Telling }
}

fn is_test(attributes: &str) -> bool {
    ["#[test", "::test]", "::test(", "#[rstest", "#[bench", "#[quickcheck"]
        .iter()
        .any(|mark| attributes.contains(mark))
}

/// The imports of a `use`, one for each path in front of names. One inside a module of this file that names
/// the file itself is none.
fn imports(node: Node<'_>, source: &str, place: Place<'_>) -> Vec<Import> {
    let mut imports = Vec::new();
    if node.kind() == "extern_crate_declaration" {
        let name = node.child_by_field_name("name").map(|name| text(name, source).to_owned());
        imports.extend(name.map(|path| Import { path, names: Vec::new() }));
    } else if let Some(argument) = node.child_by_field_name("argument") {
        tree(argument, source, "", &mut imports, 0);
    }
    for _ in 0..place.depth {
        imports = imports.into_iter().filter_map(outer).collect();
    }
    imports
}

/// The same import, one module further out.
fn outer(import: Import) -> Option<Import> {
    if import.path == "self" || import.path.starts_with("self::") || import.path == "super" {
        return None;
    }
    let path = match import.path.strip_prefix("super::") {
        Some(path) if path == "super" || path.starts_with("super::") => path.to_owned(),
        Some(path) => format!("self::{path}"),
        None => return Some(import),
    };
    Some(Import { path, ..import })
}

/// Adds the names of a use tree below a prefix.
fn tree(node: Node<'_>, source: &str, prefix: &str, imports: &mut Vec<Import>, depth: u16) {
    if depth > crate::limits::SYMBOL_DEPTH {
        return;
    }
    match node.kind() {
        "use_list" => {
            for child in node.named_children(&mut node.walk()).filter(|child| !child.is_extra()) {
                tree(child, source, prefix, imports, depth + 1);
            }
        }
        "scoped_use_list" => {
            let path = node.child_by_field_name("path").map(|path| text(path, source)).unwrap_or_default();
            if let Some(list) = node.child_by_field_name("list") {
                tree(list, source, &joined(prefix, path), imports, depth + 1);
            }
        }
        "use_as_clause" => {
            if let Some(path) = node.child_by_field_name("path") {
                tree(path, source, prefix, imports, depth + 1);
            }
        }
        "use_wildcard" => {
            let path = text(node, source).trim_end_matches('*').trim_end_matches(':');
            add(imports, joined(prefix, path), "*");
        }
        "self" if !prefix.is_empty() => match prefix.rsplit_once("::") {
            Some((path, name)) => add(imports, path.to_owned(), name),
            None => add(imports, prefix.to_owned(), ""),
        },
        _ => {
            let path = joined(prefix, text(node, source));
            match path.rsplit_once("::") {
                Some((path, name)) => add(imports, path.to_owned(), name),
                None => add(imports, path, ""),
            }
        }
    }
}

fn joined(prefix: &str, path: &str) -> String {
    let path: String = path.split_whitespace().collect();
    match (prefix.is_empty(), path.is_empty()) {
        (true, _) => path,
        (_, true) => prefix.to_owned(),
        _ => format!("{prefix}::{path}"),
    }
}

/// Adds a name to the import of its path, or a new one.
fn add(imports: &mut Vec<Import>, path: String, name: &str) {
    let names = (!name.is_empty()).then(|| name.to_owned());
    match imports.iter_mut().find(|import| import.path == path) {
        Some(import) => import.names.extend(names),
        None => imports.push(Import { path, names: names.into_iter().collect() }),
    }
}
