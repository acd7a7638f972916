//! The symbols of a source file: which, where, and the byte ranges that a skeleton is made of.

mod c_family;
mod go;
mod item;
mod java;
mod layout;
mod parse;
mod python;
mod reader;
mod references;
mod rust;
mod script;

use std::ops::Range;

use crate::imports::Import;
use crate::language::Language;
use crate::limits;

pub(crate) use layout::{Frame, Layout};
pub(crate) use parse::errors;

/// A kind of symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    Module,
    Class,
    Struct,
    Enum,
    Union,
    Interface,
    Trait,
    Impl,
    Function,
    Method,
    Type,
    Field,
    Constant,
    Variable,
    Macro,
    Test,
}

impl SymbolKind {
    /// The kind in lower case, for a reader.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Union => "union",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Impl => "impl",
            Self::Function => "function",
            Self::Method => "method",
            Self::Type => "type",
            Self::Field => "field",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Macro => "macro",
            Self::Test => "test",
        }
    }

    /// True if the body of such a symbol has other symbols instead of code.
    pub(crate) fn is_container(self) -> bool {
        matches!(
            self,
            Self::Module
                | Self::Class
                | Self::Struct
                | Self::Enum
                | Self::Union
                | Self::Interface
                | Self::Trait
                | Self::Impl
        )
    }
}

/// A definition in a source file. Symbols are in the order of the source; a symbol inside another one
/// follows it and is one deeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name as other files write it: `parse`, `Store`. That of an `impl` is its type, after `TRAIT for` if
    /// it implements one.
    pub name: String,
    pub kind: SymbolKind,
    /// The number of symbols around this one.
    pub depth: u16,
    /// The lines of `bytes`, from 1. The end is exclusive.
    pub lines: Range<u32>,
    /// Everything that belongs to the symbol: doc comment, attributes, signature and body.
    pub bytes: Range<usize>,
    /// The doc comment: in front of the symbol, or at the start of its body (Python).
    pub doc: Option<Range<usize>>,
    /// The signature without doc comment and body. That of a struct, an enum and an interface of TypeScript has
    /// all members.
    pub signature: Vec<Range<usize>>,
    /// The body, with its braces: of a function, of a symbol with symbols inside, or a long value.
    pub body: Option<Range<usize>>,
    /// True for a test and for everything inside a module or class of tests.
    pub is_test: bool,
}

/// An identifier that a file uses, and how often. A definition is no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub name: String,
    pub count: u32,
}

/// What a source file defines, uses and imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMap {
    pub language: Language,
    pub symbols: Vec<Symbol>,
    /// The identifiers that the file uses, by name, without duplicates.
    pub references: Vec<Reference>,
    pub imports: Vec<Import>,
    pub(crate) layout: Layout,
}

/// Reads the symbols of a source file. Returns `None` if it is larger than [`limits::SOURCE_BYTES`] or takes the
/// parser too much work. A source with errors has the symbols that the parser recovers.
#[must_use]
pub fn read(source: &str, language: Language) -> Option<SourceMap> {
    if source.len() > limits::SOURCE_BYTES {
        return None;
    }
    let tree = parse::parse(source, language)?;
    let root = tree.root_node();
    let mut reader = reader::Reader::new(source, language);
    reader.read(root);
    let references = references::read(root, source, language, &reader.names);
    Some(reader.finish(root.has_error(), references))
}
