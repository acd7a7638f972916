//! The facts of ranking, from sources.

use std::collections::{HashMap, HashSet};

use crate::imports::resolve;
use crate::ranking::Facts;
use crate::source::Source;
use crate::symbols::{SourceMap, Symbol, SymbolKind};

/// The facts about all sources. Those with symbols must be parsed.
pub(crate) fn facts<'a>(sources: &'a [Source], is_focus: &dyn Fn(usize) -> bool) -> Vec<Facts<'a>> {
    let paths = Paths::of(sources);
    let of_source = |(number, source): (usize, &'a Source)| {
        let facts = Facts { path: &source.path, is_focus: is_focus(number), ..Facts::default() };
        let Some(map) = source.map() else { return facts };
        Facts {
            defines: map
                .symbols
                .iter()
                .filter(|symbol| is_definition(symbol))
                .map(|s| s.name.as_str())
                .collect(),
            uses: map.references.iter().map(|used| (used.name.as_str(), used.count)).collect(),
            imports: paths.imports(&source.path, map),
            ..facts
        }
    };
    sources.iter().enumerate().map(of_source).collect()
}

/// True for a symbol that other files use by its name.
fn is_definition(symbol: &Symbol) -> bool {
    !symbol.is_test && !matches!(symbol.kind, SymbolKind::Impl | SymbolKind::Module | SymbolKind::Test)
}

/// The files by path, and those of each directory.
struct Paths<'a> {
    files: HashMap<&'a str, usize>,
    /// The files directly in a directory, whose path ends in `/`.
    directories: HashMap<&'a str, Vec<usize>>,
    /// All directories above a file.
    above: HashSet<&'a str>,
}

impl<'a> Paths<'a> {
    fn of(sources: &'a [Source]) -> Self {
        let mut paths = Self { files: HashMap::new(), directories: HashMap::new(), above: HashSet::new() };
        for (number, source) in sources.iter().enumerate() {
            let path = source.path.as_str();
            paths.files.insert(path, number);
            let mut end = path.rfind('/');
            if let Some(slash) = end {
                paths.directories.entry(&path[..=slash]).or_default().push(number);
            }
            while let Some(slash) = end {
                if !paths.above.insert(&path[..=slash]) {
                    break;
                }
                end = path[..slash].rfind('/');
            }
        }
        paths
    }

    fn imports(&self, from: &str, map: &SourceMap) -> Vec<usize> {
        let exists = |path: &str| self.files.contains_key(path) || self.above.contains(path);
        let mut found: Vec<usize> = map
            .imports
            .iter()
            .flat_map(|import| resolve(import, from, map.language, &exists))
            .flat_map(|path| match self.files.get(path.as_str()) {
                Some(file) => vec![*file],
                None => self.directories.get(path.as_str()).cloned().unwrap_or_default(),
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
