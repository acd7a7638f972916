//! The members of a file or a symbol, as the readers of the languages tell them apart.

use std::ops::Range;

use tree_sitter::Node;

use super::SymbolKind;
use crate::imports::Import;
use crate::limits;

/// A member of a file or of a symbol.
pub(super) enum Item<'t> {
    Import(Vec<Import>),
    Define(Definition<'t>),
    /// A construct around members, which are the children of this node.
    Group(Node<'t>),
    /// Shown whenever its surroundings are.
    Keep,
    /// Shown only in full.
    Loose,
    /// Belongs to the next definition.
    Attribute(Worth),
    /// A comment that documents the next definition.
    Doc,
    /// A comment that documents the next definition if no blank line is between them.
    Remark,
}

/// True to its name: an attribute that says something about the use of a symbol, or one for the compiler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    Telling,
    Noise,
}

/// A symbol as the reader of a language sees it.
pub(super) struct Definition<'t> {
    pub(super) name: String,
    /// The place of the name, which is not a use.
    pub(super) name_at: Option<usize>,
    pub(super) kind: SymbolKind,
    pub(super) doc: Option<Range<usize>>,
    pub(super) body: Option<Range<usize>>,
    /// The node whose children are members.
    pub(super) inside: Option<Node<'t>>,
    pub(super) is_test: bool,
    /// Annotations inside the node that a skeleton leaves out.
    pub(super) noise: Vec<Range<usize>>,
}

impl<'t> Definition<'t> {
    /// A symbol that is shown whole, named by a node.
    pub(super) fn new(kind: SymbolKind, name: Node<'_>, source: &str) -> Self {
        Self { name_at: Some(name.start_byte()), ..Self::named(kind, text(name, source)) }
    }

    /// A symbol that is shown whole, with a name that is no node.
    pub(super) fn named(kind: SymbolKind, name: &str) -> Self {
        Self {
            name: clean(name),
            name_at: None,
            kind,
            doc: None,
            body: None,
            inside: None,
            is_test: false,
            noise: Vec::new(),
        }
    }

    /// The same with a body of code.
    pub(super) fn body(mut self, body: Option<Node<'_>>) -> Self {
        self.body = body.map(|body| body.byte_range());
        self
    }

    /// The same with a body whose children are members.
    pub(super) fn inside(mut self, body: Option<Node<'t>>) -> Self {
        self.body = body.map(|body| body.byte_range());
        self.inside = body;
        self
    }

    /// The same with a value that is cut if it is long, from the `=` in front of it.
    pub(super) fn value(mut self, value: Option<Node<'_>>) -> Self {
        self.body = value.filter(|value| !is_short(*value)).map(|value| {
            let equals = value.prev_sibling().filter(|equals| equals.kind() == "=");
            equals.unwrap_or(value).start_byte()..value.end_byte()
        });
        self
    }

    pub(super) fn test(mut self, is_test: bool) -> Self {
        self.is_test |= is_test;
        self
    }
}

/// True if a node is short enough to be shown as a value.
pub(super) fn is_short(node: Node<'_>) -> bool {
    node.end_byte() - node.start_byte() <= limits::VALUE_BYTES
}

/// [`Item::Keep`] for a short node.
pub(super) fn keep_short<'t>(node: Node<'_>) -> Item<'t> {
    if is_short(node) { Item::Keep } else { Item::Loose }
}

pub(super) fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The text of a node without the quotes around it.
pub(super) fn unquoted(node: Node<'_>, source: &str) -> String {
    text(node, source).trim_matches(['"', '\'', '`']).to_owned()
}

/// A name on one line, at most [`limits::NAME_BYTES`] long, that does not end a comment.
fn clean(name: &str) -> String {
    let mut clean = String::new();
    for word in name.split_whitespace() {
        if clean.len() + word.len() >= limits::NAME_BYTES {
            let room = limits::NAME_BYTES.saturating_sub(clean.len() + 1);
            let end = word.floor_char_boundary(room);
            clean.push(' ');
            clean.push_str(word.get(..end).unwrap_or_default());
            break;
        }
        if !clean.is_empty() {
            clean.push(' ');
        }
        clean.push_str(word);
    }
    clean.trim().replace("*/", "* /")
}

/// The children of a node, named and not.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// The first named child of a kind.
pub(super) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    node.named_children(&mut node.walk()).find(|child| child.kind() == kind)
}
