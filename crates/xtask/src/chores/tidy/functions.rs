//! How long a function may be, from its opening to its closing brace.
//!
//! Tests may be longer than other code, because a test reads from top to bottom. Exempt is a function whose
//! body is one single table: an array or struct literal, or one of the macros that build data, with nothing
//! in it that decides or loops. A longer table is not harder to read.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Ident, Stmt};

use super::TidyReport;
use super::tree::Tree;

const MAX_LINES: usize = 70;
const MAX_TEST_LINES: usize = 120;

/// Macros whose body is data. `select!` and its like hold code and are not here.
const TABLE_MACROS: [&str; 5] = ["concat", "format", "indoc", "json", "vec"];

pub(super) fn check(tree: &Tree, report: &mut TidyReport) {
    for (file, syntax) in tree.rust() {
        let mut functions = Functions { in_test: file.is_test(), too_long: Vec::new() };
        functions.visit_file(syntax);
        for (line, message) in functions.too_long {
            report.violation(&file.path, line, message);
        }
    }
}

struct Functions {
    /// True inside test code.
    in_test: bool,
    too_long: Vec<(usize, String)>,
}

impl Functions {
    fn measure(&mut self, name: &Ident, attributes: &[Attribute], body: &Block) {
        let limit =
            if self.in_test || attributes.iter().any(is_test_attribute) { MAX_TEST_LINES } else { MAX_LINES };
        let lines = 1 + body.span().end().line - body.span().start().line;
        if lines > limit && !is_table(body) {
            self.too_long.push((
                name.span().start().line,
                format!(
                    "the function {name} has {lines} lines, {limit} are the limit; take a step out of it"
                ),
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig.ident, &function.attrs, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig.ident, &function.attrs, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.measure(&function.sig.ident, &function.attrs, body);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let outside = self.in_test;
        self.in_test |= module.attrs.iter().any(is_cfg_test);
        visit::visit_item_mod(self, module);
        self.in_test = outside;
    }
}

/// `#[test]`, `#[tokio::test]` and `#[rstest]`.
pub(super) fn is_test_attribute(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == "test" || segment.ident == "rstest")
}

pub(super) fn is_cfg_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<Ident>().is_ok_and(|condition| condition == "test")
}

fn is_table(body: &Block) -> bool {
    let [statement] = body.stmts.as_slice() else {
        return false;
    };
    match statement {
        Stmt::Expr(expression, _) => {
            let mut decisions = Decisions(false);
            decisions.visit_expr(expression);
            is_table_expression(expression) && !decisions.0
        }
        Stmt::Macro(statement) => is_table_macro(&statement.mac),
        Stmt::Local(_) | Stmt::Item(_) => false,
    }
}

fn is_table_expression(expression: &Expr) -> bool {
    match expression {
        Expr::Array(_) | Expr::Struct(_) => true,
        Expr::Macro(expression) => is_table_macro(&expression.mac),
        Expr::Reference(reference) => is_table_expression(&reference.expr),
        _ => false,
    }
}

fn is_table_macro(called: &syn::Macro) -> bool {
    let last = called.path.segments.last();
    last.is_some_and(|segment| TABLE_MACROS.iter().any(|name| segment.ident == name))
}

/// True if an expression contains code and is not a plain table.
struct Decisions(bool);

impl<'ast> Visit<'ast> for Decisions {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        let decides = matches!(
            expression,
            Expr::Async(_)
                | Expr::Block(_)
                | Expr::ForLoop(_)
                | Expr::If(_)
                | Expr::Loop(_)
                | Expr::Match(_)
                | Expr::While(_)
        );
        self.0 |= decides;
        visit::visit_expr(self, expression);
    }
}
