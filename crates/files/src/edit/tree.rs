//! One entry as written: its tables, and their lines and headers.

use std::ops::Range;

use persona::Kind;

use super::outline::{Outline, comments_above, line_end, line_start};
use super::syntax::{Assign, Header, Key, Shape, Statement, statements};

/// A line `key = value` that belongs to the entry.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) assign: Assign,
    /// The end of the content above it. Its comments begin below this offset.
    pub(crate) floor: usize,
}

impl Line {
    /// The line with its end and the comment lines directly above it.
    pub(crate) fn region(&self, text: &str) -> Range<usize> {
        let line = line_start(text, self.assign.start());
        comments_above(text, self.floor, line)..line_end(text, self.assign.end())
    }

    /// The blanks that the line begins with.
    pub(crate) fn indent<'t>(&self, text: &'t str) -> &'t str {
        &text[line_start(text, self.assign.start())..self.assign.start()]
    }
}

/// A header that belongs to the entry, with the lines below it.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Its place among all sections of the file.
    pub(crate) section: usize,
    pub(crate) header: Header,
    /// The last of its own lines.
    pub(crate) last_line: Option<usize>,
}

/// The places where the key of the entry is written. A rename changes them.
pub(crate) type NameKeys = Vec<Key>;

/// The form in which an entry is written.
#[derive(Debug)]
pub(crate) enum Written {
    /// Headers, or lines with dotted keys.
    Table(Table),
    /// `name = { … }` on a line.
    Line(usize),
    /// Inside `personas = { … }`: that line, and which of its items.
    Nested { line: usize, item: usize },
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) lines: Vec<Line>,
    pub(crate) parts: Vec<Part>,
    pub(crate) names: NameKeys,
    pub(crate) written: Written,
}

impl Entry {
    /// True if it has sections of its own, apart from all other entries.
    pub(crate) fn is_apart(&self) -> bool {
        matches!(self.written, Written::Table(_)) && self.parts.len() == self.names.len()
    }
}

/// A table that is written as headers and lines.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) fields: Vec<(String, Node)>,
    /// The part whose header is this table's own.
    pub(crate) header: Option<usize>,
    /// The last line that writes one of its fields with dotted keys, and how many of the line's
    /// keys name the table itself.
    pub(crate) dotted: Option<(usize, usize)>,
}

#[derive(Debug)]
pub(crate) enum Node {
    Line(usize),
    Table(Table),
    /// `[[…]]`, once for each element.
    Tables(Vec<Table>),
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// The table below a key, created if missing. `None` if the key is something else.
    fn below(&mut self, key: &str) -> Option<&mut Self> {
        if self.get(key).is_none() {
            self.fields.push((key.to_owned(), Node::Table(Self::default())));
        }
        let (_, node) = self.fields.iter_mut().find(|(name, _)| name == key)?;
        match node {
            Node::Table(table) => Some(table),
            Node::Tables(tables) => tables.last_mut(),
            Node::Line(_) => None,
        }
    }

    /// All lines and parts in it, those of its tables included.
    pub(crate) fn collect(&self, lines: &mut Vec<usize>, parts: &mut Vec<usize>) {
        parts.extend(self.header);
        for (_, node) in &self.fields {
            node.collect(lines, parts);
        }
    }
}

impl Node {
    pub(crate) fn collect(&self, lines: &mut Vec<usize>, parts: &mut Vec<usize>) {
        match self {
            Self::Line(line) => lines.push(*line),
            Self::Table(table) => table.collect(lines, parts),
            Self::Tables(tables) => tables.iter().for_each(|table| table.collect(lines, parts)),
        }
    }
}

/// The parts of a file that can have entries of a kind without headers of their own: the lines before
/// the first header and those below `[personas]`.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) lines: Vec<SharedLine>,
}

#[derive(Debug)]
pub(crate) struct SharedLine {
    pub(crate) line: Line,
    /// The number of keys before the entry's name: one at the root, none below the header.
    pub(crate) before: usize,
}

impl Shared {
    /// `None` if the text is not well formed.
    pub(crate) fn new(outline: &Outline<'_>, kind: Kind) -> Option<Self> {
        let mut lines = Vec::new();
        let root = outline.root();
        if !outline.text[root.clone()].trim().is_empty() {
            let floor = if outline.text.starts_with('\u{feff}') { 3 } else { 0 };
            lines.extend(lines_of(outline.text, root, floor)?.into_iter().filter_map(|line| {
                let hit = line.assign.keys.first()?.text == kind.table();
                hit.then_some(SharedLine { line, before: 1 })
            }));
        }
        for (index, section) in outline.sections.iter().enumerate() {
            if section.keys == 1 && !section.array && outline.key(section, 0)? == kind.table() {
                let floor = line_end(outline.text, section.open);
                let below = lines_of(outline.text, outline.range(index), floor)?;
                lines.extend(below.into_iter().map(|line| SharedLine { line, before: 0 }));
            }
        }
        Some(Self { lines })
    }

    /// The line that is the whole table of the kind, `personas = …`.
    pub(crate) fn whole_kind(&self) -> Option<&Line> {
        let whole = |line: &&SharedLine| line.line.assign.keys.len() <= line.before;
        self.lines.iter().find(whole).map(|line| &line.line)
    }
}

/// The assignments of a stretch of text.
fn lines_of(text: &str, range: Range<usize>, floor: usize) -> Option<Vec<Line>> {
    let mut floor = floor;
    let mut lines = Vec::new();
    for statement in statements(text, range)? {
        if let Statement::Assign(assign) = statement {
            let end = line_end(text, assign.end());
            lines.push(Line { assign, floor });
            floor = end;
        }
    }
    Some(lines)
}

/// Collects an entry. The headers of `sections` name it. `None` if the file does not have the entry, or
/// writes it in an unsupported form.
pub(crate) fn gather(
    outline: &Outline<'_>,
    sections: &[usize],
    shared: &Shared,
    name: &str,
) -> Option<Entry> {
    let mut gather = Gather {
        lines: Vec::new(),
        parts: Vec::new(),
        names: Vec::new(),
        root: Table::default(),
        whole: None,
    };
    for line in &shared.lines {
        gather.shared_line(line, name)?;
    }
    for section in sections {
        gather.section(outline, *section)?;
    }
    let Gather { lines, parts, names, root, whole } = gather;
    if names.is_empty() {
        return None;
    }
    let written = match whole {
        Some(_) if !root.fields.is_empty() || root.header.is_some() => return None,
        Some(written) => written,
        None => Written::Table(root),
    };
    Some(Entry { lines, parts, names, written })
}

struct Gather {
    lines: Vec<Line>,
    parts: Vec<Part>,
    names: NameKeys,
    root: Table,
    whole: Option<Written>,
}

impl Gather {
    fn shared_line(&mut self, shared: &SharedLine, name: &str) -> Option<()> {
        let keys = &shared.line.assign.keys;
        let Some(key) = keys.get(shared.before) else {
            return self.nested(&shared.line, name);
        };
        if key.text != name {
            return Some(());
        }
        self.names.push(key.clone());
        let line = self.lines.len();
        self.lines.push(shared.line.clone());
        let below = shared.before + 1;
        if keys.len() == below {
            self.whole = Some(Written::Line(line));
            return Some(());
        }
        place(&mut self.root, &shared.line.assign.keys, below, line)
    }

    /// An entry inside `personas = { … }`.
    fn nested(&mut self, line: &Line, name: &str) -> Option<()> {
        let Shape::Table(items) = &line.assign.value.shape else { return Some(()) };
        for (item, assign) in items.iter().enumerate() {
            let Some(key) = assign.keys.first().filter(|key| key.text == name) else { continue };
            // Dotted keys inside an inline table are unusual enough to give up.
            if assign.keys.len() > 1 {
                return None;
            }
            self.names.push(key.clone());
            self.whole = Some(Written::Nested { line: self.lines.len(), item });
        }
        self.lines.push(line.clone());
        Some(())
    }

    fn section(&mut self, outline: &Outline<'_>, section: usize) -> Option<()> {
        let mut statements = statements(outline.text, outline.range(section))?.into_iter();
        let Some(Statement::Header(header)) = statements.next() else { return None };
        self.names.push(header.keys.get(1)?.clone());
        let part = self.parts.len();
        let (last, path) =
            header.keys[2..].split_last().map_or((None, &[][..]), |(last, path)| (Some(last), path));
        let mut table = &mut self.root;
        for key in path {
            table = table.below(&key.text)?;
        }
        table = match last {
            Some(last) if header.array => table.push_element(&last.text)?,
            Some(last) => table.below(&last.text)?,
            None if header.array => return None,
            None => table,
        };
        table.header = Some(part);
        let mut floor = line_end(outline.text, header.span.end);
        let mut last_line = None;
        for statement in statements {
            let Statement::Assign(assign) = statement else { return None };
            let line = self.lines.len();
            place(table, &assign.keys, 0, line)?;
            let end = line_end(outline.text, assign.end());
            self.lines.push(Line { assign, floor });
            floor = end;
            last_line = Some(line);
        }
        self.parts.push(Part { section, header, last_line });
        Some(())
    }
}

impl Table {
    fn push_element(&mut self, key: &str) -> Option<&mut Self> {
        if self.get(key).is_none() {
            self.fields.push((key.to_owned(), Node::Tables(Vec::new())));
        }
        let (_, node) = self.fields.iter_mut().find(|(name, _)| name == key)?;
        let Node::Tables(tables) = node else { return None };
        tables.push(Self::default());
        tables.last_mut()
    }
}

/// Puts a line into the tables that its keys name, those before `from` left out.
fn place(table: &mut Table, keys: &[Key], from: usize, line: usize) -> Option<()> {
    let (last, path) = keys[from..].split_last()?;
    let mut table = table;
    if from > 0 {
        table.dotted = Some((line, from));
    }
    for (depth, key) in path.iter().enumerate() {
        table = table.below(&key.text)?;
        table.dotted = Some((line, from + depth + 1));
    }
    table.fields.push((last.text.clone(), Node::Line(line)));
    Some(())
}
