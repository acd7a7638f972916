//! The estimated tokens of each symbol at each level.

use std::ops::Range;

use crate::section::{Sections, header};
use crate::skeleton::Level;
use crate::symbols::{SourceMap, Symbol};
use crate::{Reason, View};

/// Tokens around a name or a signature: separators, line ends, a placeholder for the body.
const AROUND: usize = 2;
/// Tokens of the fences and the blank line of a section.
const FENCES: usize = 4;

/// A file whose symbols compete for tokens.
#[derive(Debug)]
pub(super) struct Pieces<'a> {
    pub(super) file: usize,
    map: &'a SourceMap,
    text: std::sync::Arc<str>,
    /// The symbol around each one.
    pub(super) parents: Vec<Option<usize>>,
    /// The ranges of each symbol that no symbol inside it has.
    own: Vec<Vec<Range<usize>>>,
    /// Bytes of the file outside of all symbols.
    loose: usize,
}

impl<'a> Pieces<'a> {
    /// Fails if the file has changed. `None` if it has no symbols.
    pub(super) fn of(sections: &Sections<'a>, file: usize) -> Result<Option<Self>, Reason> {
        let source = &sections.sources[file];
        source.parsed(sections.project)?;
        let Some(map) = source.map().filter(|map| !map.symbols.is_empty()) else { return Ok(None) };
        let text = source.text(sections.project)?;
        let parents = parents(&map.symbols);
        let own = own_ranges(&map.symbols, &parents);
        let inside: usize =
            map.symbols.iter().filter(|symbol| symbol.depth == 0).map(|s| s.bytes.len()).sum();
        let loose = text.len().saturating_sub(inside);
        Ok(Some(Self { file, map, text, parents, own, loose }))
    }

    pub(super) fn symbols(&self) -> &'a [Symbol] {
        &self.map.symbols
    }

    /// The tokens of a section with the names of its top symbols.
    pub(super) fn opening(&self, sections: &Sections<'_>) -> usize {
        let tops = self.map.symbols.iter().filter(|symbol| symbol.depth == 0 && !symbol.is_test);
        let names: usize = tops.map(|symbol| sections.count(&symbol.name) + AROUND).sum();
        let header = sections.count(&header(&sections.sources[self.file].path, View::Excerpt));
        // Imports, which any shown symbol brings along, are a part of the loose text.
        header + FENCES + names + self.loose.min(400) / 8
    }

    /// The tokens of a symbol at a level, without those of symbols inside it.
    pub(super) fn tokens(&self, sections: &Sections<'_>, at: usize, level: Level) -> usize {
        let symbol = &self.map.symbols[at];
        let count =
            |range: &Range<usize>| self.text.get(range.clone()).map_or(0, |text| sections.count(text));
        let signature = || symbol.signature.iter().map(count).sum::<usize>() + AROUND;
        match level {
            Level::LeftOut => 0,
            Level::Name => sections.count(&symbol.name) + AROUND,
            Level::Signature => signature(),
            Level::SignatureWithDoc => signature() + symbol.doc.as_ref().map_or(0, count),
            Level::Full => self.own[at].iter().map(count).sum::<usize>() + 1,
        }
    }
}

fn parents(symbols: &[Symbol]) -> Vec<Option<usize>> {
    let mut around: Vec<usize> = Vec::new();
    let mut parents = Vec::with_capacity(symbols.len());
    for (at, symbol) in symbols.iter().enumerate() {
        around.truncate(usize::from(symbol.depth));
        parents.push(around.last().copied());
        around.push(at);
    }
    parents
}

/// The bytes of each symbol without those of its direct children.
fn own_ranges(symbols: &[Symbol], parents: &[Option<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut own: Vec<Vec<Range<usize>>> = symbols.iter().map(|symbol| vec![symbol.bytes.clone()]).collect();
    for (symbol, parent) in symbols.iter().zip(parents) {
        let Some(parent) = parent else { continue };
        let Some(last) = own[*parent].pop() else { continue };
        let (before, after) = (last.start..symbol.bytes.start, symbol.bytes.end..last.end);
        own[*parent].extend([before, after].into_iter().filter(|range| range.start < range.end));
    }
    own
}
