//! A bounded cache of hot personas. An entry is served only under the generation that it was
//! read in; the feed counts generations.

use std::sync::Arc;

use persona::Name;
use quick_cache::Weighter;
use quick_cache::sync::Cache as QuickCache;

use crate::load::Loaded;

/// What the cached personas may weigh together.
const BYTES: u64 = 64 * 1024 * 1024;
/// What one persona is expected to weigh.
const USUAL_BYTES: u64 = 16 * 1024;

#[derive(Debug, Clone)]
struct Entry {
    generation: u64,
    loaded: Arc<Loaded>,
}

#[derive(Debug, Clone)]
struct ByWeight;

impl Weighter<Name, Entry> for ByWeight {
    fn weight(&self, _: &Name, entry: &Entry) -> u64 {
        entry.loaded.weight()
    }
}

#[derive(Debug)]
pub(crate) struct Cache(QuickCache<Name, Entry, ByWeight>);

impl Cache {
    pub(crate) fn new() -> Self {
        let expected = usize::try_from(BYTES / USUAL_BYTES).unwrap_or(usize::MAX);
        Self(QuickCache::with_weighter(expected, BYTES, ByWeight))
    }

    pub(crate) fn get(&self, name: &Name, generation: u64) -> Option<Arc<Loaded>> {
        let entry = self.0.get(name)?;
        (entry.generation == generation).then_some(entry.loaded)
    }

    pub(crate) fn put(&self, name: Name, generation: u64, loaded: Arc<Loaded>) {
        self.0.insert(name, Entry { generation, loaded });
    }
}
