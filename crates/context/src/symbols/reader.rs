//! Reads the symbols of a tree: the walk that all languages share.

use std::ops::Range;

use tree_sitter::Node;

use super::item::{Definition, Item, Worth};
use super::layout::{Frame, Layout, Loose};
use super::{Reference, SourceMap, Symbol, SymbolKind, c_family, go, java, python, rust, script};
use crate::imports::Import;
use crate::language::Language;
use crate::limits;

/// Collects the symbols of a source.
pub(super) struct Reader<'s> {
    source: &'s str,
    language: Language,
    symbols: Vec<Symbol>,
    imports: Vec<Import>,
    layout: Layout,
    /// The places of the names of definitions.
    pub(super) names: Vec<usize>,
    /// The offsets of line breaks.
    breaks: Vec<usize>,
}

/// The surroundings of a member.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    pub(super) source: &'s str,
    /// The symbol around it.
    owner: Option<usize>,
    pub(super) owner_kind: Option<SymbolKind>,
    pub(super) depth: u16,
    is_test: bool,
    /// The number of groups around it.
    groups: u16,
    /// True if only comments are before it.
    pub(super) is_first: bool,
}

/// Comments and attributes in front of a member, and the member before them.
#[derive(Default)]
struct Pending {
    start: Option<usize>,
    end: usize,
    docs: Vec<Range<usize>>,
    remarks: Vec<Range<usize>>,
    noise: Vec<Range<usize>>,
}

/// The member before, which a comment on its line and a separator belong to.
#[derive(Clone, Copy)]
enum Last {
    Nothing,
    Symbol(usize),
    Loose(usize),
    Import(usize),
}

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s str, language: Language) -> Self {
        let breaks =
            source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        Self {
            source,
            language,
            symbols: Vec::new(),
            imports: Vec::new(),
            layout: Layout::default(),
            names: Vec::new(),
            breaks,
        }
    }

    pub(super) fn read(&mut self, root: Node<'_>) {
        let place = Place {
            source: self.source,
            owner: None,
            owner_kind: None,
            depth: 0,
            is_test: false,
            groups: 0,
            is_first: true,
        };
        self.members(root, place);
    }

    pub(super) fn finish(mut self, has_error: bool, references: Vec<Reference>) -> SourceMap {
        self.layout.has_error = has_error;
        SourceMap {
            language: self.language,
            symbols: self.symbols,
            references,
            imports: self.imports,
            layout: self.layout,
        }
    }

    /// Reads the children of a node. Returns the range from the first to the last of them.
    fn members(&mut self, parent: Node<'_>, mut place: Place<'s>) -> Option<Range<usize>> {
        let mut cursor = parent.walk();
        let mut pending = Pending::default();
        let mut last = Last::Nothing;
        let mut hull: Option<Range<usize>> = None;
        place.is_first = true;
        let mut more = cursor.goto_first_child();
        while more {
            let node = cursor.node();
            let field = cursor.field_name();
            more = cursor.goto_next_sibling();
            if !node.is_named() {
                if matches!(node.kind(), ";" | ",") {
                    self.extend(last, node.end_byte());
                    last = Last::Nothing;
                }
                continue;
            }
            if node.is_missing() || is_header(parent, field) {
                continue;
            }
            let bytes = self.trimmed(node.byte_range());
            hull = Some(hull.map_or(bytes.start, |hull| hull.start)..bytes.end);
            if node.is_extra() && self.is_beside(last, bytes.start) {
                self.extend(last, bytes.end);
                continue;
            }
            last = self.member(node, bytes, place, &mut pending);
            place.is_first &= node.is_extra();
        }
        self.drop_pending(&mut pending, place);
        hull
    }

    fn member(
        &mut self,
        node: Node<'_>,
        bytes: Range<usize>,
        place: Place<'s>,
        pending: &mut Pending,
    ) -> Last {
        let before = pending.start.and_then(|start| self.source.get(start..bytes.start)).unwrap_or_default();
        match self.item(node, before, place) {
            Item::Doc => {
                pending.add(&bytes);
                pending.docs.push(bytes);
            }
            Item::Remark => {
                if !pending.is_adjacent(self.source, bytes.start) {
                    self.drop_pending(pending, place);
                }
                pending.add(&bytes);
                pending.remarks.push(bytes);
            }
            Item::Attribute(worth) => {
                pending.add(&bytes);
                if worth == Worth::Noise {
                    pending.noise.push(bytes);
                }
            }
            Item::Keep => self.drop_pending(pending, place),
            Item::Import(imports) => {
                let start = pending.attributes().unwrap_or(bytes.start);
                self.drop_pending(pending, place);
                self.imports.extend(imports);
                self.layout.imports.push(start..bytes.end);
                return Last::Import(self.layout.imports.len() - 1);
            }
            Item::Loose => {
                let start = pending.attributes().unwrap_or(bytes.start);
                self.drop_pending(pending, place);
                return self.loose(start..bytes.end, place, node.is_error());
            }
            Item::Group(inside) => return self.group(node, inside, bytes, place, pending),
            Item::Define(definition) => return self.define(node, definition, bytes, place, pending),
        }
        Last::Nothing
    }

    fn item<'t>(&self, node: Node<'t>, before: &str, place: Place<'s>) -> Item<'t> {
        if node.is_error() {
            return Item::Group(node);
        }
        match self.language {
            Language::Rust => rust::item(node, before, place),
            Language::Python => python::item(node, place),
            Language::TypeScript | Language::Tsx | Language::JavaScript => script::item(node, place),
            Language::Go => go::item(node, place),
            Language::C | Language::Cpp => c_family::item(node, place, self.language),
            Language::Java => java::item(node, place),
        }
    }

    /// Reads a construct around members. One without definitions and imports is loose.
    fn group(
        &mut self,
        node: Node<'_>,
        inside: Node<'_>,
        bytes: Range<usize>,
        place: Place<'s>,
        pending: &mut Pending,
    ) -> Last {
        let is_documented = self.language == Language::Go && pending.is_adjacent(self.source, bytes.start);
        let start = match pending.start {
            Some(start) if is_documented => {
                *pending = Pending::default();
                start
            }
            _ => bytes.start,
        };
        self.drop_pending(pending, place);
        let before = (self.symbols.len(), self.layout.imports.len());
        let (loose, frames) = (self.layout.loose.len(), self.layout.frames.len());
        let mut blocks = Vec::new();
        if place.groups < limits::SYMBOL_DEPTH {
            let place = Place { groups: place.groups + 1, ..place };
            self.blocks(inside, place, &mut blocks);
        }
        if before == (self.symbols.len(), self.layout.imports.len()) {
            self.layout.loose.truncate(loose);
            self.layout.frames.truncate(frames);
            return self.loose(start..bytes.end, place, node.is_error());
        }
        if !node.is_error() {
            let needs_filler = self.language == Language::Python;
            self.layout.frames.push(Frame { bytes: Some(start..bytes.end), blocks, needs_filler });
        }
        Last::Nothing
    }

    /// Reads the blocks of a construct: in Python those of its clauses, elsewhere the node itself.
    fn blocks(&mut self, node: Node<'_>, place: Place<'s>, blocks: &mut Vec<Range<usize>>) {
        if self.language != Language::Python || node.is_error() {
            blocks.extend(self.members(node, place));
            return;
        }
        for child in super::item::children(node) {
            match child.kind() {
                "block" => {
                    self.members(child, place);
                    blocks.push(self.trimmed(child.byte_range()));
                }
                kind if kind.ends_with("_clause") => self.blocks(child, place, blocks),
                _ => {}
            }
        }
    }

    fn define(
        &mut self,
        node: Node<'_>,
        definition: Definition<'_>,
        bytes: Range<usize>,
        place: Place<'s>,
        pending: &mut Pending,
    ) -> Last {
        if !pending.remarks.is_empty() && !pending.is_adjacent(self.source, bytes.start) {
            self.drop_pending(pending, place);
        }
        let pending = std::mem::take(pending);
        let index = self.symbols.len();
        let start = pending.start.unwrap_or(bytes.start);
        let noise = pending.noise.into_iter().chain(definition.noise);
        self.layout.loose.extend(noise.map(|bytes| Loose { owner: Some(index), bytes, is_error: false }));
        let in_front = pending.docs.first().or(pending.remarks.first()).map(|doc| doc.start);
        let last_doc = pending.docs.last().or(pending.remarks.last()).map(|doc| doc.end);
        let doc = definition.doc.or(in_front.zip(last_doc).map(|(start, end)| start..end));
        let is_deep = place.depth >= limits::SYMBOL_DEPTH;
        let body = definition.body.filter(|_| !(is_deep && definition.inside.is_some()));
        let is_test = place.is_test || definition.is_test;
        let bytes = start..bytes.end;
        if node.has_error() {
            self.layout.broken.push(index);
        }
        self.names.extend(definition.name_at);
        self.symbols.push(Symbol {
            name: definition.name,
            kind: definition.kind,
            depth: place.depth,
            lines: self.lines(&bytes),
            signature: signature(&bytes, doc.as_ref(), body.as_ref(), self.source),
            bytes,
            doc,
            body,
            is_test,
        });
        if let Some(inside) = definition.inside.filter(|_| !is_deep) {
            let place = Place {
                owner: Some(index),
                owner_kind: Some(definition.kind),
                depth: place.depth + 1,
                is_test,
                ..place
            };
            self.members(inside, place);
            if self.language == Language::Python {
                let blocks = vec![self.trimmed(inside.byte_range())];
                self.layout.frames.push(Frame { bytes: None, blocks, needs_filler: true });
            }
        }
        Last::Symbol(index)
    }

    fn loose(&mut self, bytes: Range<usize>, place: Place<'s>, is_error: bool) -> Last {
        self.layout.loose.push(Loose { owner: place.owner, bytes, is_error });
        Last::Loose(self.layout.loose.len() - 1)
    }

    /// Turns comments that document nothing into loose ones. Attributes stay where they are.
    fn drop_pending(&mut self, pending: &mut Pending, place: Place<'s>) {
        let pending = std::mem::take(pending);
        for bytes in pending.docs.into_iter().chain(pending.remarks) {
            self.loose(bytes, place, false);
        }
    }

    /// Adds a separator or a comment on the same line to the member before it.
    fn extend(&mut self, last: Last, end: usize) {
        match last {
            Last::Symbol(index) => {
                if let Some(symbol) = self.symbols.get_mut(index) {
                    symbol.bytes.end = end;
                }
            }
            Last::Loose(index) => {
                if let Some(loose) = self.layout.loose.get_mut(index) {
                    loose.bytes.end = end;
                }
            }
            Last::Import(index) => {
                if let Some(import) = self.layout.imports.get_mut(index) {
                    import.end = end;
                }
            }
            Last::Nothing => {}
        }
    }

    /// True if a comment starts on the line where the member before it ends.
    fn is_beside(&self, last: Last, start: usize) -> bool {
        let end = match last {
            Last::Symbol(index) => self.symbols.get(index).map(|symbol| symbol.bytes.end),
            Last::Loose(index) => self.layout.loose.get(index).map(|loose| loose.bytes.end),
            Last::Import(index) => self.layout.imports.get(index).map(|import| import.end),
            Last::Nothing => None,
        };
        end.and_then(|end| self.source.get(end..start)).is_some_and(|gap| !gap.contains('\n'))
    }

    /// A range without white space at its end: some grammars count the line break.
    fn trimmed(&self, bytes: Range<usize>) -> Range<usize> {
        let length = self.source.get(bytes.clone()).map_or(0, |text| text.trim_end().len());
        bytes.start..bytes.start + length
    }

    fn lines(&self, bytes: &Range<usize>) -> Range<u32> {
        let line =
            |at: usize| u32::try_from(self.breaks.partition_point(|end| *end < at)).unwrap_or(u32::MAX - 2);
        line(bytes.start) + 1..line(bytes.end.saturating_sub(1)) + 2
    }
}

impl Pending {
    fn add(&mut self, bytes: &Range<usize>) {
        self.start.get_or_insert(bytes.start);
        self.end = bytes.end;
    }

    /// The start of the attributes, if there are no comments.
    fn attributes(&self) -> Option<usize> {
        self.start.filter(|_| self.docs.is_empty() && self.remarks.is_empty())
    }

    /// True if no blank line is between the last comment or attribute and this place.
    fn is_adjacent(&self, source: &str, at: usize) -> bool {
        self.start.is_some()
            && source
                .get(self.end..at)
                .is_some_and(|gap| gap.bytes().filter(|byte| *byte == b'\n').count() < 2)
    }
}

/// True for a child that belongs to the head of a construct: a condition, the name of a macro.
fn is_header(parent: Node<'_>, field: Option<&str>) -> bool {
    parent.kind().starts_with("preproc_") && matches!(field, Some("name" | "condition"))
}

/// The parts of a symbol that are neither doc comment nor body.
fn signature(
    bytes: &Range<usize>,
    doc: Option<&Range<usize>>,
    body: Option<&Range<usize>>,
    source: &str,
) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = bytes.start;
    let mut cuts: Vec<&Range<usize>> = doc.into_iter().chain(body).collect();
    cuts.sort_by_key(|cut| (cut.start, std::cmp::Reverse(cut.end)));
    for cut in cuts {
        if cut.start >= start {
            parts.push(start..cut.start);
        }
        start = start.max(cut.end);
    }
    parts.push(start..bytes.end);
    parts.retain(|part| source.get(part.clone()).is_some_and(|text| !text.trim().is_empty()));
    for part in &mut parts {
        let text = source.get(part.clone()).unwrap_or_default();
        let leading = text.len() - text.trim_start().len();
        *part = part.start + leading..part.start + text.trim_end().len();
    }
    parts
}
