//! The members of a file of TypeScript or JavaScript.

mod calls;
mod imports;

use tree_sitter::Node;

use super::SymbolKind;
use super::item::{Definition, Item, Worth, child_of_kind, is_short, keep_short, text};
use super::reader::Place;

pub(super) fn item<'t>(node: Node<'t>, place: Place<'_>) -> Item<'t> {
    let source = place.source;
    match node.kind() {
        "comment" => Item::Remark,
        "hash_bang_line" => Item::Keep,
        "decorator" => Item::Attribute(Worth::Telling),
        "import_statement" | "import_alias" => Item::Import(imports::import(node, source)),
        "export_statement" => export(node, place),
        "lexical_declaration" | "variable_declaration" => variables(node, place),
        "ambient_declaration" => ambient(node, place),
        "expression_statement" => statement(node, place),
        "public_field_definition" | "field_definition" => {
            let name = node.child_by_field_name("name").or_else(|| node.child_by_field_name("property"));
            name.map_or(Item::Loose, |name| {
                Item::Define(value(SymbolKind::Field, name, node.child_by_field_name("value"), source))
            })
        }
        "index_signature" => Item::Define(Definition::named(SymbolKind::Field, "[]")),
        _ => match node.child_by_field_name("name") {
            Some(name) => named(node, name, source).map_or(Item::Loose, Item::Define),
            None => Item::Loose,
        },
    }
}

fn named<'t>(node: Node<'t>, name: Node<'_>, source: &str) -> Option<Definition<'t>> {
    let define = |kind| Definition::new(kind, name, source);
    let body = node.child_by_field_name("body");
    Some(match node.kind() {
        "function_declaration"
        | "generator_function_declaration"
        | "function_expression"
        | "generator_function" => define(SymbolKind::Function).body(body),
        "function_signature" => define(SymbolKind::Function),
        "method_definition" => define(SymbolKind::Method).body(body),
        "method_signature" | "abstract_method_signature" => define(SymbolKind::Method),
        "class_declaration" | "abstract_class_declaration" | "class" => {
            define(SymbolKind::Class).inside(body)
        }
        "interface_declaration" => define(SymbolKind::Interface),
        "type_alias_declaration" => define(SymbolKind::Type),
        "enum_declaration" => define(SymbolKind::Enum),
        "internal_module" | "module" => define(SymbolKind::Module).inside(body),
        _ => return None,
    })
}

fn export<'t>(node: Node<'t>, place: Place<'_>) -> Item<'t> {
    if let Some(declaration) = node.child_by_field_name("declaration") {
        return item(declaration, place);
    }
    if node.child_by_field_name("source").is_some() {
        return Item::Import(imports::import(node, place.source));
    }
    let Some(exported) = node.child_by_field_name("value") else { return Item::Keep };
    if let Some(name) = exported.child_by_field_name("name")
        && let Some(definition) = named(exported, name, place.source)
    {
        return Item::Define(definition);
    }
    match exported.kind() {
        "identifier" => Item::Keep,
        _ => Item::Define(of_value(Definition::named(SymbolKind::Variable, "default"), Some(exported))),
    }
}

/// A declaration of variables. One that calls `require` is an import.
fn variables<'t>(node: Node<'t>, place: Place<'_>) -> Item<'t> {
    let source = place.source;
    let mut cursor = node.walk();
    let mut declarators =
        node.named_children(&mut cursor).filter(|child| child.kind() == "variable_declarator");
    let (Some(declarator), more) = (declarators.next(), declarators.next()) else { return Item::Loose };
    let assigned = declarator.child_by_field_name("value");
    if let Some(import) = assigned.and_then(|call| imports::required(call, declarator, source)) {
        return Item::Import(vec![import]);
    }
    let Some(name) = declarator.child_by_field_name("name").filter(|name| name.kind() == "identifier") else {
        return keep_short(node);
    };
    let is_constant = node.child_by_field_name("kind").is_some_and(|kind| kind.kind() == "const");
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Variable };
    if more.is_some() {
        return if is_short(node) { Item::Define(Definition::new(kind, name, source)) } else { Item::Loose };
    }
    Item::Define(value(kind, name, assigned, source))
}

/// A variable or a field with a value.
fn value<'t>(kind: SymbolKind, name: Node<'_>, value: Option<Node<'t>>, source: &str) -> Definition<'t> {
    of_value(Definition::new(kind, name, source), value)
}

/// Gives a symbol the kind and the body of its value: that of a function, of a class, or a long one.
fn of_value<'t>(mut definition: Definition<'t>, value: Option<Node<'t>>) -> Definition<'t> {
    let Some(value) = value else { return definition };
    let body = value.child_by_field_name("body");
    match value.kind() {
        "arrow_function" | "function_expression" | "generator_function" => {
            definition.kind = match definition.kind {
                SymbolKind::Field => SymbolKind::Method,
                _ => SymbolKind::Function,
            };
            let is_block = body.is_some_and(|body| body.kind() == "statement_block");
            definition.body(body.filter(|body| is_block || !is_short(*body)))
        }
        "class" => {
            definition.kind = SymbolKind::Class;
            definition.inside(body)
        }
        _ => definition.value(Some(value)),
    }
}

/// `declare …` and `declare global { … }`.
fn ambient<'t>(node: Node<'t>, place: Place<'_>) -> Item<'t> {
    if let Some(block) = child_of_kind(node, "statement_block") {
        return Item::Define(Definition::named(SymbolKind::Module, "global").inside(Some(block)));
    }
    match node.named_children(&mut node.walk()).find(|child| !child.is_extra()) {
        Some(inner) if inner.kind() != node.kind() => match item(inner, place) {
            Item::Loose => keep_short(node),
            item => item,
        },
        _ => Item::Loose,
    }
}

/// A statement at the top: a directive, a namespace, an assignment of something exported, or a test.
fn statement<'t>(node: Node<'t>, place: Place<'_>) -> Item<'t> {
    let source = place.source;
    let Some(expression) = node.named_child(0) else { return Item::Loose };
    match expression.kind() {
        "string" => Item::Keep,
        "internal_module" => item(expression, place),
        "assignment_expression" => {
            let left =
                expression.child_by_field_name("left").filter(|left| left.kind() == "member_expression");
            let right = expression.child_by_field_name("right");
            let (Some(left), Some(right)) = (left, right) else { return Item::Loose };
            let name = text(left, source);
            let is_export = name.starts_with("module.exports") || name.starts_with("exports.");
            if is_export || matches!(right.kind(), "function_expression" | "arrow_function" | "class") {
                let definition = Definition::named(SymbolKind::Variable, name);
                let mut definition = of_value(definition, Some(right));
                // An assignment keeps its `=`: without a value it is a use.
                definition.body = definition.body.map(|body| body.start.max(right.start_byte())..body.end);
                return Item::Define(definition);
            }
            Item::Loose
        }
        "call_expression" => calls::test(expression, source).map_or(Item::Loose, Item::Define),
        _ => Item::Loose,
    }
}
