//! The identifiers that a source uses.

use std::collections::HashMap;
use std::sync::OnceLock;

use tree_sitter::Node;

use super::Reference;
use super::parse::next;
use crate::language::Language;

/// Counts the identifiers of a tree, without those at the given places: the names of definitions.
pub(super) fn read(
    root: Node<'_>,
    source: &str,
    language: Language,
    definitions: &[usize],
) -> Vec<Reference> {
    let is_identifier = identifiers(language);
    let mut definitions = definitions.to_vec();
    definitions.sort_unstable();
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if is_identifier.get(usize::from(node.kind_id())).copied().unwrap_or_default() {
            let name = source.get(node.byte_range()).unwrap_or_default();
            if !name.is_empty() && definitions.binary_search(&node.start_byte()).is_err() {
                *counts.entry(name).or_default() += 1;
            }
        }
        if !cursor.goto_first_child() && !next(&mut cursor) {
            break;
        }
    }
    let mut references: Vec<Reference> =
        counts.into_iter().map(|(name, count)| Reference { name: name.to_owned(), count }).collect();
    references.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    references
}

/// For each kind of node of a grammar, true if it is an identifier. Labels are not.
fn identifiers(language: Language) -> &'static [bool] {
    static KINDS: [OnceLock<Vec<bool>>; 9] = [const { OnceLock::new() }; 9];
    let Some(kinds) = KINDS.get(language as usize) else { return &[] };
    kinds.get_or_init(|| {
        let grammar = language.grammar();
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        (0..count)
            .map(|id| {
                grammar.node_kind_is_named(id)
                    && grammar.node_kind_for_id(id).is_some_and(|kind| {
                        (kind.ends_with("identifier") || kind.starts_with("shorthand_property_identifier"))
                            && !matches!(
                                kind,
                                "statement_identifier"
                                    | "scoped_identifier"
                                    | "scoped_type_identifier"
                                    | "nested_identifier"
                                    | "nested_type_identifier"
                                    | "qualified_identifier"
                                    | "blank_identifier"
                            )
                    })
            })
            .collect()
    })
}
