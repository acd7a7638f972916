//! Words that a working copy may have, but not the repository.
//!
//! The search goes over tokens, not over text: comments and strings may name what code may not.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::TidyReport;
use super::tree::Tree;

/// Macros that mean unfinished work, with the advice.
const FORBIDDEN_MACROS: [(&str, &str); 3] = [
    ("dbg", "remove it, or log with tracing"),
    ("todo", "write it, or leave it out"),
    ("unimplemented", "write it, or make the case impossible by its type"),
];

pub(super) fn check(tree: &Tree, report: &mut TidyReport) {
    for (file, _) in tree.rust() {
        // Whatever syn could parse is made of tokens; other files are reported when they are read.
        let Ok(tokens) = file.text.parse::<TokenStream>() else {
            continue;
        };
        let mut found = Vec::new();
        search(tokens, &mut found);
        for (line, message) in found {
            report.violation(&file.path, line, message);
        }
    }
}

fn search(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for window in 0..tokens.len() {
        match &tokens[window..] {
            [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(_), ..]
                if mark.as_char() == '!' =>
            {
                let forbidden = FORBIDDEN_MACROS.iter().find(|(word, _)| name == word);
                if let Some((word, advice)) = forbidden {
                    let line = name.span().start().line;
                    found.push((line, format!("`{word}!`: {advice}")));
                }
            }
            [TokenTree::Punct(mark), TokenTree::Group(attribute), ..]
                if mark.as_char() == '#'
                    && attribute.delimiter() == Delimiter::Bracket
                    && ignores(attribute.stream()) =>
            {
                let line = mark.span().start().line;
                let message = "`#[ignore]`: repair the test or delete it; it never runs";
                found.push((line, message.to_owned()));
            }
            _ => {}
        }
        if let TokenTree::Group(group) = &tokens[window] {
            search(group.stream(), found);
        }
    }
}

/// `ignore`, `ignore = "why"`, and either behind `cfg_attr`.
fn ignores(attribute: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(name), TokenTree::Group(inner), ..] if name == "cfg_attr" => inner
            .stream()
            .into_iter()
            .any(|token| matches!(token, TokenTree::Ident(word) if word == "ignore")),
        [TokenTree::Ident(name), ..] => name == "ignore",
        _ => false,
    }
}
