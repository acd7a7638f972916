//! Tests that are calls: `describe("…", () => { … })`.

use tree_sitter::Node;

use super::super::SymbolKind;
use super::super::item::{Definition, text};

/// The test that a call defines. The groups of `describe` have their tests inside.
pub(super) fn test<'t>(call: Node<'t>, source: &str) -> Option<Definition<'t>> {
    let function = text(call.child_by_field_name("function")?, source);
    let word = function.split('.').next().unwrap_or_default();
    let kind = match word {
        "describe" | "suite" | "context" => SymbolKind::Module,
        "it" | "test" | "bench" => SymbolKind::Test,
        _ => return None,
    };
    let arguments =
        call.child_by_field_name("arguments").filter(|arguments| arguments.kind() == "arguments")?;
    let mut cursor = arguments.walk();
    let given: Vec<Node<'t>> =
        arguments.named_children(&mut cursor).filter(|given| !given.is_extra()).collect();
    let title = given.first().filter(|title| matches!(title.kind(), "string" | "template_string"))?;
    let callback =
        given.iter().find(|given| matches!(given.kind(), "arrow_function" | "function_expression"))?;
    let body = callback.child_by_field_name("body").filter(|body| body.kind() == "statement_block");
    let definition = Definition::named(kind, text(*title, source).trim_matches(['"', '\'', '`'])).test(true);
    Some(if kind == SymbolKind::Module { definition.inside(body) } else { definition.body(body) })
}
