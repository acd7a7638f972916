//! The members of a file of C or C++.

use tree_sitter::Node;

use super::SymbolKind;
use super::item::{Definition, Item, child_of_kind, children, keep_short, text};
use super::reader::Place;
use crate::imports::Import;
use crate::language::Language;
use crate::limits;

pub(super) fn item<'t>(node: Node<'t>, place: Place<'_>, language: Language) -> Item<'t> {
    match wrapped(node).map(|inner| bare(inner, place, language)) {
        Some(Item::Keep | Item::Loose) => keep_short(node),
        Some(item) => item,
        None => bare(node, place, language),
    }
}

/// The declaration inside `template <…>` and `extern "C"`.
fn wrapped(mut node: Node<'_>) -> Option<Node<'_>> {
    let mut is_wrapped = false;
    for _ in 0..limits::SYMBOL_DEPTH {
        let inner = match node.kind() {
            "template_declaration" => {
                node.named_children(&mut node.walk()).filter(|child| !child.is_extra()).last()
            }
            "linkage_specification" => node.child_by_field_name("body"),
            _ => return Some(node).filter(|_| is_wrapped),
        };
        node = inner?;
        is_wrapped = true;
    }
    None
}

fn bare<'t>(node: Node<'t>, place: Place<'_>, language: Language) -> Item<'t> {
    let source = place.source;
    match node.kind() {
        "comment" => Item::Remark,
        "preproc_include" => Item::Import(import(node, source)),
        "preproc_def" | "preproc_function_def" => macro_definition(node, source),
        "preproc_call" | "access_specifier" | "using_declaration" | "namespace_alias_definition" => {
            Item::Keep
        }
        "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" | "preproc_else" => {
            Item::Group(node)
        }
        "declaration_list" => Item::Group(node),
        "friend_declaration" => keep_short(node),
        "declaration" | "field_declaration" => {
            declaration(node, place).map_or_else(|| keep_short(node), Item::Define)
        }
        "function_definition" => function(node, place).map_or(Item::Loose, Item::Define),
        "type_definition" => {
            let name = node.child_by_field_name("declarator").and_then(declared);
            name.map_or(Item::Keep, |name| Item::Define(Definition::new(SymbolKind::Type, name, source)))
        }
        "alias_declaration" | "concept_definition" => match node.child_by_field_name("name") {
            Some(name) => Item::Define(Definition::new(SymbolKind::Type, name, source)),
            None => Item::Loose,
        },
        "namespace_definition" => {
            let body = node.child_by_field_name("body");
            Item::Define(match node.child_by_field_name("name") {
                Some(name) => Definition::new(SymbolKind::Module, name, source).inside(body),
                None => Definition::named(SymbolKind::Module, "namespace").inside(body),
            })
        }
        _ => type_specifier(node, source, language),
    }
}

/// The kind of a specifier of a type.
fn kind_of(kind: &str) -> Option<SymbolKind> {
    Some(match kind {
        "struct_specifier" => SymbolKind::Struct,
        "class_specifier" => SymbolKind::Class,
        "union_specifier" => SymbolKind::Union,
        "enum_specifier" => SymbolKind::Enum,
        _ => return None,
    })
}

/// A type by itself. In C++ its members are symbols; an enum and a type of C are shown whole.
fn type_specifier<'t>(node: Node<'t>, source: &str, language: Language) -> Item<'t> {
    let Some(kind) = kind_of(node.kind()) else { return Item::Loose };
    let Some(body) = node.child_by_field_name("body") else { return Item::Keep };
    let definition = match node.child_by_field_name("name") {
        Some(name) => Definition::new(kind, name, source),
        None => Definition::named(kind, kind.word()),
    };
    if language == Language::Cpp && kind != SymbolKind::Enum {
        return Item::Define(definition.inside(Some(body)));
    }
    Item::Define(definition)
}

/// A declaration of a function, a variable or a field, or of a type together with variables.
fn declaration<'t>(node: Node<'t>, place: Place<'_>) -> Option<Definition<'t>> {
    let of = node.child_by_field_name("type");
    if let Some(of) = of.filter(|of| of.child_by_field_name("body").is_some()) {
        let kind = kind_of(of.kind())?;
        let named = of.child_by_field_name("name");
        let name = named.or_else(|| node.child_by_field_name("declarator").and_then(declared))?;
        return Some(Definition::new(kind, name, place.source));
    }
    let declarator = node.child_by_field_name("declarator")?;
    let name = declared(declarator)?;
    let is_member = is_member(place);
    let is_constant = children(node).iter().any(|child| {
        child.kind() == "type_qualifier"
            && matches!(text(*child, place.source), "const" | "constexpr" | "constinit")
    });
    let kind = match (declares_function(declarator), is_member, is_constant) {
        (true, true, _) => SymbolKind::Method,
        (true, false, _) => SymbolKind::Function,
        (_, true, _) => SymbolKind::Field,
        (_, _, true) => SymbolKind::Constant,
        _ => SymbolKind::Variable,
    };
    let value = declarator.child_by_field_name("value").or_else(|| node.child_by_field_name("default_value"));
    Some(Definition::new(kind, name, place.source).value(value))
}

fn function<'t>(node: Node<'t>, place: Place<'_>) -> Option<Definition<'t>> {
    let declarator = node.child_by_field_name("declarator")?;
    let name = declared(declarator).unwrap_or(declarator);
    let kind = if is_member(place) || name.kind() == "qualified_identifier" {
        SymbolKind::Method
    } else {
        SymbolKind::Function
    };
    let mut definition = Definition::new(kind, name, place.source);
    if matches!(definition.name.as_str(), "TEST" | "TEST_F" | "TEST_P" | "TYPED_TEST" | "TEST_CASE") {
        definition = Definition::named(SymbolKind::Test, text(declarator, place.source)).test(true);
    }
    definition = definition.body(node.child_by_field_name("body"));
    // The initialisers of a constructor are code.
    if let Some((body, list)) = definition.body.as_mut().zip(child_of_kind(node, "field_initializer_list")) {
        body.start = list.start_byte();
    }
    Some(definition)
}

fn is_member(place: Place<'_>) -> bool {
    matches!(place.owner_kind, Some(SymbolKind::Class | SymbolKind::Struct | SymbolKind::Union))
}

/// The name inside a declarator. That of an operator is all of it.
fn declared(mut node: Node<'_>) -> Option<Node<'_>> {
    for _ in 0..limits::SYMBOL_DEPTH {
        if node.kind().ends_with("identifier") || matches!(node.kind(), "operator_name" | "destructor_name") {
            return Some(node);
        }
        let inner = node.child_by_field_name("declarator");
        node = inner.or_else(|| {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).find(|child| {
                child.kind().ends_with("declarator")
                    || child.kind().ends_with("identifier")
                    || child.kind() == "operator_name"
                    || child.kind() == "destructor_name"
            })
        })?;
    }
    None
}

/// True if a declarator is that of a function, not of a pointer to one.
fn declares_function(mut node: Node<'_>) -> bool {
    for _ in 0..limits::SYMBOL_DEPTH {
        if node.kind() == "function_declarator" {
            let inner = node.child_by_field_name("declarator");
            return inner.is_none_or(|inner| inner.kind() != "parenthesized_declarator");
        }
        let inner = node.child_by_field_name("declarator").or_else(|| {
            node.named_children(&mut node.walk()).find(|child| child.kind().ends_with("declarator"))
        });
        match inner {
            Some(inner) => node = inner,
            None => return false,
        }
    }
    false
}

/// A macro. One without a value is a guard.
fn macro_definition<'t>(node: Node<'t>, source: &str) -> Item<'t> {
    let name = node.child_by_field_name("name");
    let value = node.child_by_field_name("value");
    let (Some(name), Some(value)) = (name, value) else { return Item::Keep };
    let kind = if node.kind() == "preproc_def" { SymbolKind::Constant } else { SymbolKind::Macro };
    Item::Define(Definition::new(kind, name, source).value(Some(value)))
}

fn import(node: Node<'_>, source: &str) -> Vec<Import> {
    let path = node.child_by_field_name("path").map(|path| text(path, source).trim_matches('"').to_owned());
    path.map(|path| Import { path, names: Vec::new() }).into_iter().collect()
}
