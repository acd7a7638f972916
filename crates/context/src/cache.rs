//! Symbols, views and token counts that outlive a request.

mod generations;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use persona::TokenCounter;

use crate::language::Language;
use crate::stamp::Stamp;
use crate::symbols::{SourceMap, read};
use crate::{ContentHash, limits};
use generations::Generations;

/// Seconds that a file must have been left alone before its stamp is trusted: a clock may tick that
/// slowly.
const SETTLED_SECONDS: i64 = 2;

/// Bytes below which counting a text takes no longer than looking its count up.
const COUNTED_BYTES: usize = 48;

/// Remembers symbols, skeletons and outlines by the hash of a content, and token counts by the hash of a
/// text. Bounded; shared by threads, projects and worktrees.
///
/// It also remembers the hash of a file by its device, number, size and both times, and so does not read
/// an unchanged file again. That trusts the file system to set the time of change on each write. A file
/// changed within the last two seconds is read again.
#[derive(Debug)]
pub struct Cache {
    /// The name of a file decides with its content how it is read.
    parsed: Mutex<Generations<(ContentHash, String), Arc<Parsed>>>,
    contents: Mutex<Generations<Stamp, Content>>,
    counts: Mutex<Generations<(u128, u64), usize>>,
    reads: AtomicU64,
    parses: AtomicU64,
}

/// The work that a cache could not save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheFigures {
    /// Files that were read.
    pub reads: u64,
    /// Sources that were parsed.
    pub parses: u64,
}

/// The known content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Text(ContentHash),
    Binary,
}

/// The symbols of a source, and the views made from them so far.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) map: Option<SourceMap>,
    pub(crate) skeleton: OnceLock<Arc<str>>,
    pub(crate) outline: OnceLock<Arc<str>>,
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            parsed: Mutex::new(Generations::new(limits::CACHED_SOURCE_BYTES)),
            contents: Mutex::new(Generations::new(limits::CACHED_STAMPS)),
            counts: Mutex::new(Generations::new(limits::CACHED_COUNTS)),
            reads: AtomicU64::new(0),
            parses: AtomicU64::new(0),
        }
    }
}

impl Cache {
    /// The figures since the cache was made.
    pub fn figures(&self) -> CacheFigures {
        CacheFigures {
            reads: self.reads.load(Ordering::Relaxed),
            parses: self.parses.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn count_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    /// The content of a file with this stamp.
    pub(crate) fn content(&self, stamp: &Stamp) -> Option<Content> {
        locked(&self.contents).get(stamp)
    }

    /// Remembers the content of a file, unless it changed just now.
    pub(crate) fn remember(&self, stamp: Stamp, content: Content) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        if stamp.latest().saturating_add(SETTLED_SECONDS) < i64::try_from(now).unwrap_or(i64::MAX) {
            locked(&self.contents).insert(stamp, content, 1);
        }
    }

    /// The symbols of a content that was parsed before.
    pub(crate) fn parsed(&self, hash: ContentHash, path: &str) -> Option<Arc<Parsed>> {
        locked(&self.parsed).get(&(hash, file_name(path)))
    }

    /// Parses a source.
    pub(crate) fn parse(&self, hash: ContentHash, path: &str, text: &str) -> Arc<Parsed> {
        let map = Language::of(path, text).and_then(|language| {
            self.parses.fetch_add(1, Ordering::Relaxed);
            read(text, language)
        });
        let parsed = Arc::new(Parsed { map, ..Parsed::default() });
        let weight = u64::try_from(text.len()).unwrap_or(u64::MAX).saturating_add(256);
        locked(&self.parsed).insert((hash, file_name(path)), Arc::clone(&parsed), weight);
        parsed
    }

    /// The tokens of a text.
    pub(crate) fn count(&self, text: &str, counter: &dyn TokenCounter) -> usize {
        if text.len() < COUNTED_BYTES {
            return counter.count(text);
        }
        let tokenizer = u64::try_from(ContentHash::of(counter.tokenizer()).short() >> 64).unwrap_or_default();
        let key = (ContentHash::of(text).short(), tokenizer);
        if let Some(count) = locked(&self.counts).get(&key) {
            return count;
        }
        let count = counter.count(text);
        locked(&self.counts).insert(key, count, 1);
        count
    }
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// A value of a map is whole after each call, so a panic elsewhere spoils nothing.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
