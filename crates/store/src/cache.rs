//! A bounded cache of hot personas. An entry is served only under the generation that it was
//! read in; the feed counts generations.

use std::sync::Arc;

use persona::{Name, View};
use quick_cache::Weighter;
use quick_cache::sync::Cache as QuickCache;

use crate::load::Loaded;

mod rendered;
pub use rendered::Rendered;

/// What everything in the cache may weigh together.
const BYTES: u64 = 64 * 1024 * 1024;
/// What one entry is expected to weigh.
const USUAL_BYTES: u64 = 4 * 1024;
/// What an entry weighs besides its texts: keys, pointers, the cache's own books.
const OVERHEAD_BYTES: usize = 256;

/// What is kept of a persona. Answers are kept as they were rendered: their JSON is several times
/// smaller than what it is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Bundle(Name),
    Answer(Name, View),
}

#[derive(Debug, Clone)]
enum Kept {
    Bundle(Arc<Loaded>),
    Answer(Arc<Rendered>),
}

#[derive(Debug, Clone)]
struct Entry {
    generation: u64,
    kept: Kept,
}

#[derive(Debug, Clone)]
struct ByWeight;

impl Weighter<Key, Entry> for ByWeight {
    fn weight(&self, _: &Key, entry: &Entry) -> u64 {
        let bytes = match &entry.kept {
            Kept::Bundle(loaded) => loaded.weight(),
            Kept::Answer(answer) => answer.json().len(),
        };
        (bytes + OVERHEAD_BYTES) as u64
    }
}

#[derive(Debug)]
pub(crate) struct Cache(QuickCache<Key, Entry, ByWeight>);

impl Cache {
    pub(crate) fn new() -> Self {
        let expected = usize::try_from(BYTES / USUAL_BYTES).unwrap_or(usize::MAX);
        Self(QuickCache::with_weighter(expected, BYTES, ByWeight))
    }

    fn get(&self, key: &Key, generation: u64) -> Option<Kept> {
        let entry = self.0.get(key)?;
        (entry.generation == generation).then_some(entry.kept)
    }

    pub(crate) fn bundle(&self, name: &Name, generation: u64) -> Option<Arc<Loaded>> {
        match self.get(&Key::Bundle(name.clone()), generation)? {
            Kept::Bundle(loaded) => Some(loaded),
            Kept::Answer(_) => None,
        }
    }

    pub(crate) fn answer(&self, name: &Name, view: View, generation: u64) -> Option<Arc<Rendered>> {
        match self.get(&Key::Answer(name.clone(), view), generation)? {
            Kept::Answer(answer) => Some(answer),
            Kept::Bundle(_) => None,
        }
    }

    pub(crate) fn put_bundle(&self, name: Name, generation: u64, loaded: Arc<Loaded>) {
        self.0.insert(Key::Bundle(name), Entry { generation, kept: Kept::Bundle(loaded) });
    }

    pub(crate) fn put_answer(&self, name: Name, view: View, generation: u64, answer: Arc<Rendered>) {
        self.0.insert(Key::Answer(name, view), Entry { generation, kept: Kept::Answer(answer) });
    }
}
