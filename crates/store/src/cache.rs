//! A bounded cache of hot personas. An entry is served only under the generation in which it was read; the
//! feed counts generations.

use std::sync::Arc;

use persona::{Name, View};
use quick_cache::Weighter;
use quick_cache::sync::Cache as QuickCache;

use crate::load::Loaded;

mod rendered;
pub use rendered::Rendered;

/// The maximum weight of the cache.
const BYTES: u64 = 64 * 1024 * 1024;
/// The expected weight of one entry.
const USUAL_BYTES: u64 = 4 * 1024;
/// The overhead of an entry: keys, pointers, the cache's own bookkeeping.
const OVERHEAD_BYTES: usize = 256;

/// The key of a cached value. Answers are cached as rendered: their JSON is several times smaller than its
/// source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Bundle(Name),
    Answer(Name, View),
}

#[derive(Debug, Clone)]
enum Cached {
    Bundle(Arc<Loaded>),
    Answer(Arc<Rendered>),
}

#[derive(Debug, Clone)]
struct Entry {
    generation: u64,
    cached: Cached,
}

#[derive(Debug, Clone)]
struct ByWeight;

impl Weighter<Key, Entry> for ByWeight {
    fn weight(&self, _: &Key, entry: &Entry) -> u64 {
        let bytes = match &entry.cached {
            Cached::Bundle(loaded) => loaded.weight(),
            Cached::Answer(answer) => answer.json().len(),
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

    fn get(&self, key: &Key, generation: u64) -> Option<Cached> {
        let entry = self.0.get(key)?;
        (entry.generation == generation).then_some(entry.cached)
    }

    pub(crate) fn bundle(&self, name: &Name, generation: u64) -> Option<Arc<Loaded>> {
        match self.get(&Key::Bundle(name.clone()), generation)? {
            Cached::Bundle(loaded) => Some(loaded),
            Cached::Answer(_) => None,
        }
    }

    pub(crate) fn answer(&self, name: &Name, view: View, generation: u64) -> Option<Arc<Rendered>> {
        match self.get(&Key::Answer(name.clone(), view), generation)? {
            Cached::Answer(answer) => Some(answer),
            Cached::Bundle(_) => None,
        }
    }

    pub(crate) fn put_bundle(&self, name: Name, generation: u64, loaded: Arc<Loaded>) {
        self.0.insert(Key::Bundle(name), Entry { generation, cached: Cached::Bundle(loaded) });
    }

    pub(crate) fn put_answer(&self, name: Name, view: View, generation: u64, answer: Arc<Rendered>) {
        self.0.insert(Key::Answer(name, view), Entry { generation, cached: Cached::Answer(answer) });
    }
}
