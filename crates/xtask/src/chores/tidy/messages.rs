//! No code outside of tests looks into a message: whatever a caller acts on is a field of the error.
//!
//! A message is an expression that reads as one ([`Readers::is_message`]), or a variable that holds one. Looking into
//! it means to search it, take it apart, or compare it. Rearranging its lines does not count: a search for
//! whitespace is allowed. [`exceptions`] lists the functions that read errors which offer nothing but text.

use std::collections::HashSet;
use std::path::PathBuf;

use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Lit, Member, Pat, Token};

use super::functions::{is_cfg_test, is_test_attribute};
use super::tree::Tree;
use super::{TidyReport, exceptions};

/// Names of variables, fields and methods that hold the words of an error.
const MESSAGE_NAMES: [&str; 8] =
    ["complaint", "detail", "error_message", "message", "said", "sentence", "stderr", "why"];

/// Names of variables, fields and methods that hold an error.
const ERROR_NAMES: [&str; 12] = [
    "cause",
    "e",
    "err",
    "error",
    "expect_err",
    "failure",
    "fault",
    "mistake",
    "problem",
    "refusal",
    "source",
    "unwrap_err",
];

/// Names that mean the words of an error where they are searched, and something else elsewhere: a `reason`
/// may be a word of a fixed list.
const SEARCHED_NAMES: [&str; 5] = ["err", "error", "failure", "problem", "reason"];

/// Methods that hand on the text they are called on.
const PASSING_METHODS: [&str; 17] = [
    "as_deref",
    "as_ref",
    "as_str",
    "borrow",
    "clone",
    "into_owned",
    "to_ascii_lowercase",
    "to_lowercase",
    "to_owned",
    "trim",
    "trim_end",
    "trim_start",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "expect",
    "lines",
];

/// Methods that look into a text.
const SEARCHING_METHODS: [&str; 23] = [
    "contains",
    "ends_with",
    "eq",
    "eq_ignore_ascii_case",
    "find",
    "match_indices",
    "matches",
    "ne",
    "replace",
    "replacen",
    "rfind",
    "rmatches",
    "rsplit",
    "rsplit_once",
    "rsplitn",
    "split",
    "split_at",
    "split_once",
    "split_terminator",
    "splitn",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
];

pub(super) fn check(tree: &Tree, report: &mut TidyReport) {
    let mut used = HashSet::new();
    let for_tests = modules_for_tests(tree);
    for (file, syntax) in tree.rust().filter(|(file, _)| !file.is_test() && !for_tests.contains(&file.path)) {
        let mut readers = Readers::default();
        readers.visit_file(syntax);
        for Found { line, function } in readers.found {
            match exceptions::of(&file.path, &function) {
                Some(exception) => {
                    used.insert(exception);
                }
                None => report.violation(
                    &file.path,
                    line,
                    format!("{function} looks into a message; act on a code, a variant or a field instead"),
                ),
            }
        }
    }
    exceptions::check_used(tree, &used, report);
}

/// The files of modules that are declared as `#[cfg(test)] mod name;`.
fn modules_for_tests(tree: &Tree) -> HashSet<PathBuf> {
    let mut files = HashSet::new();
    for (file, syntax) in tree.rust() {
        let is_root = file.path.file_name().is_some_and(|name| name == "lib.rs" || name == "main.rs");
        let directory = if is_root { file.path.with_file_name("") } else { file.path.with_extension("") };
        for item in &syntax.items {
            if let syn::Item::Mod(module) = item
                && module.content.is_none()
                && module.attrs.iter().any(is_cfg_test)
            {
                files.insert(directory.join(format!("{}.rs", module.ident)));
            }
        }
    }
    files
}

struct Found {
    line: usize,
    function: String,
}

/// Finds the places that look into a message.
#[derive(Default)]
struct Readers {
    /// The innermost named function.
    function: String,
    /// Variables of that function that hold a message.
    holders: HashSet<String>,
    found: Vec<Found>,
}

impl Readers {
    fn enter(&mut self, name: &syn::Ident, attributes: &[syn::Attribute], walk: impl FnOnce(&mut Self)) {
        if attributes.iter().any(|attribute| is_test_attribute(attribute) || is_cfg_test(attribute)) {
            return;
        }
        let outer =
            (std::mem::replace(&mut self.function, name.to_string()), std::mem::take(&mut self.holders));
        walk(self);
        (self.function, self.holders) = outer;
    }

    fn report(&mut self, span: proc_macro2::Span) {
        let line = span.start().line;
        self.found.push(Found { line, function: self.function.clone() });
    }

    /// True if the expression reads as the words of an error.
    fn is_message(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Path(path) => {
                let held = |name: &syn::Ident| self.holders.contains(&name.to_string());
                is_named(expression, &MESSAGE_NAMES) || path.path.get_ident().is_some_and(held)
            }
            Expr::Field(_) => is_named(expression, &MESSAGE_NAMES),
            Expr::MethodCall(call) if call.args.is_empty() && call.method == "to_string" => {
                is_named(&call.receiver, &ERROR_NAMES)
            }
            Expr::MethodCall(call) => {
                let passes = PASSING_METHODS.iter().any(|word| call.method == word);
                (call.args.is_empty() && is_named(expression, &MESSAGE_NAMES))
                    || (passes && self.is_message(&call.receiver))
            }
            Expr::Macro(called) => is_worded_error(&called.mac),
            other => inner(other).is_some_and(|inner| self.is_message(inner)),
        }
    }

    /// True also for an error that is a text itself, and for any value that becomes text on the spot.
    fn is_searchable_message(&self, expression: &Expr) -> bool {
        let is_worded = |call: &syn::ExprMethodCall| call.args.is_empty() && call.method == "to_string";
        matches!(expression, Expr::MethodCall(call) if is_worded(call))
            || is_named(expression, &SEARCHED_NAMES)
            || self.is_message(expression)
    }

    fn search_macro(&mut self, called: &syn::Macro) {
        let expressions = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(arguments) = expressions.parse2(called.tokens.clone()) {
            for argument in &arguments {
                self.visit_expr(argument);
            }
        } else {
            self.search_blocks(called.tokens.clone());
        }
    }

    /// Searches the blocks in the tokens of a macro with a syntax of its own, as `select!` has.
    fn search_blocks(&mut self, tokens: proc_macro2::TokenStream) {
        for token in tokens {
            let proc_macro2::TokenTree::Group(group) = token else { continue };
            match Block::parse_within.parse2(group.stream()) {
                Ok(statements) => statements.iter().for_each(|statement| self.visit_stmt(statement)),
                Err(_) => self.search_blocks(group.stream()),
            }
        }
    }
}

impl<'ast> Visit<'ast> for Readers {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.enter(&function.sig.ident, &function.attrs, |this| visit::visit_item_fn(this, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.enter(&function.sig.ident, &function.attrs, |this| visit::visit_impl_item_fn(this, function));
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.enter(&function.sig.ident, &function.attrs, |this| visit::visit_trait_item_fn(this, function));
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !module.attrs.iter().any(is_cfg_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        if let Some(init) = &local.init
            && let Pat::Ident(variable) = &local.pat
        {
            let name = variable.ident.to_string();
            // A later variable of the same name takes the place of an earlier one.
            if self.is_message(&init.expr) {
                self.holders.insert(name);
            } else {
                self.holders.remove(&name);
            }
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        let searches = SEARCHING_METHODS.iter().any(|word| call.method == word)
            && self.is_searchable_message(&call.receiver)
            && !call.args.first().is_some_and(is_whitespace);
        let matches = call.method == "is_match" && call.args.iter().any(|argument| self.is_message(argument));
        if searches || matches {
            self.report(call.method.span());
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        visit::visit_expr_binary(self, binary);
        if let BinOp::Eq(_) | BinOp::Ne(_) = binary.op {
            let sides = [(&binary.left, &binary.right), (&binary.right, &binary.left)];
            if sides.iter().any(|(one, other)| self.is_message(one) && is_text(other)) {
                self.report(syn::spanned::Spanned::span(&binary.op));
            }
        }
    }

    fn visit_expr_match(&mut self, matched: &'ast syn::ExprMatch) {
        visit::visit_expr_match(self, matched);
        if self.is_message(&matched.expr) && matched.arms.iter().any(|arm| is_text_pattern(&arm.pat)) {
            self.report(matched.match_token.span);
        }
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.search_macro(called);
    }
}

/// True if the last name of the expression is one of the words.
fn is_named(expression: &Expr, words: &[&str]) -> bool {
    let is_one = |name: &syn::Ident| words.iter().any(|word| name == word);
    match expression {
        Expr::Path(path) => path.path.get_ident().is_some_and(is_one),
        Expr::Field(field) => matches!(&field.member, Member::Named(name) if is_one(name)),
        Expr::MethodCall(call) => is_one(&call.method),
        other => inner(other).is_some_and(|inner| is_named(inner, words)),
    }
}

/// The expression without what does not change its meaning here: a reference, parentheses, a range of it.
fn inner(expression: &Expr) -> Option<&Expr> {
    match expression {
        Expr::Reference(reference) => Some(&reference.expr),
        Expr::Unary(unary) => Some(&unary.expr),
        Expr::Paren(paren) => Some(&paren.expr),
        // A part of a text, but not a member of a JSON object.
        Expr::Index(index) if matches!(&*index.index, Expr::Range(_)) => Some(&index.expr),
        Expr::Try(tried) => Some(&tried.expr),
        _ => None,
    }
}

/// `format!("{error}")`, with or without words around it.
fn is_worded_error(called: &syn::Macro) -> bool {
    let is_format = called.path.segments.last().is_some_and(|segment| segment.ident == "format");
    let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(called.tokens.clone());
    let Some(arguments) = arguments.ok().filter(|_| is_format) else { return false };
    arguments.iter().any(|argument| match argument {
        Expr::Lit(literal) => matches!(&literal.lit, Lit::Str(text) if shows_error(&text.value())),
        other => is_named(other, &ERROR_NAMES) || is_named(other, &MESSAGE_NAMES),
    })
}

/// True if a format string names an error, as in `cannot open: {error}`.
fn shows_error(format: &str) -> bool {
    let mut names = format.split('{').skip(1).filter_map(|rest| rest.split(['}', ':']).next());
    names.any(|name| ERROR_NAMES.contains(&name) || MESSAGE_NAMES.contains(&name))
}

/// A literal of whitespace or of a control character, as `'\n'`.
fn is_whitespace(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Char(char) => char.value().is_whitespace() || char.value().is_control(),
            Lit::Str(text) => text.value().chars().all(|c| c.is_whitespace() || c.is_control()),
            _ => false,
        },
        Expr::Array(array) => array.elems.iter().all(is_whitespace),
        _ => false,
    }
}

/// A string literal, or a constant.
fn is_text(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(literal) => matches!(&literal.lit, Lit::Str(text) if !text.value().is_empty()),
        Expr::Path(path) => path.path.segments.last().is_some_and(|last| is_constant(&last.ident)),
        Expr::Reference(reference) => is_text(&reference.expr),
        Expr::Paren(paren) => is_text(&paren.expr),
        _ => false,
    }
}

fn is_constant(name: &syn::Ident) -> bool {
    let name = name.to_string();
    name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn is_text_pattern(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => matches!(&literal.lit, Lit::Str(text) if !text.value().is_empty()),
        Pat::Or(or) => or.cases.iter().any(is_text_pattern),
        Pat::Paren(paren) => is_text_pattern(&paren.pat),
        Pat::TupleStruct(tuple) => tuple.elems.iter().any(is_text_pattern),
        _ => false,
    }
}
