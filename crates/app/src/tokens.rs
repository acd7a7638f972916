//! The token counter.

use std::sync::{Arc, LazyLock, OnceLock};

use persona::TokenCounter;
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};
use tiktoken::CoreBpe;

const ENCODING: &str = "o200k_base";
/// A longer run without blanks is counted in pieces, because merging one endless word is very slow.
const RUN_BYTES: usize = 4 * 1024;
/// Texts whose counts are remembered.
const REMEMBERED: usize = 32 * 1024;

/// Counts tokens as o200k_base does. The first count loads the vocabulary.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tokenizer;

impl Tokenizer {
    fn encoding() -> Option<&'static CoreBpe> {
        static LOADED: LazyLock<Option<&'static CoreBpe>> =
            LazyLock::new(|| tiktoken::get_encoding(ENCODING));
        *LOADED
    }
}

impl TokenCounter for Tokenizer {
    fn tokenizer(&self) -> &str {
        ENCODING
    }

    fn count(&self, text: &str) -> usize {
        let Some(encoding) = Self::encoding() else {
            unreachable!("{ENCODING} is compiled in");
        };
        if !has_long_run(text) {
            return encoding.count(text);
        }
        // Only the lines with a long run are cut, so that a text still has the tokens of its parts.
        let runs = lines(text).collect::<Vec<_>>();
        let together = |one: &&str, next: &&str| !has_long_run(one) && !has_long_run(next);
        let count = |run: &[&str]| match run {
            [long] if has_long_run(long) => pieces(long).map(|piece| encoding.count(piece)).sum(),
            run => encoding.count(&run.concat()),
        };
        runs.chunk_by(together).map(count).sum()
    }

    /// The encoding splits a text into words first. A word with a line end goes on only with further
    /// line ends, with blanks before them, or with a slash.
    fn is_apart(&self, text: &str) -> bool {
        let mut blanks = text.chars().take_while(|c| c.is_whitespace());
        !blanks.any(|blank| matches!(blank, '\r' | '\n')) && !text.starts_with('/')
    }
}

/// Counts as [`Tokenizer`] does, and remembers the counts of texts: a preview counts the same blocks again
/// and again. Takes no memory before the first count.
#[derive(Debug, Clone, Default)]
pub(crate) struct RememberedCounts(Arc<OnceLock<Cache<[u8; 16], usize>>>);

impl TokenCounter for RememberedCounts {
    fn tokenizer(&self) -> &str {
        ENCODING
    }

    fn count(&self, text: &str) -> usize {
        let digest = Sha256::digest(text);
        let key = std::array::from_fn(|at| digest[at]);
        let counts = self.0.get_or_init(|| Cache::new(REMEMBERED));
        if let Some(count) = counts.get(&key) {
            return count;
        }
        let count = Tokenizer.count(text);
        counts.insert(key, count);
        count
    }

    fn is_apart(&self, text: &str) -> bool {
        Tokenizer.is_apart(text)
    }
}

fn has_long_run(text: &str) -> bool {
    text.split_ascii_whitespace().any(|run| run.len() > RUN_BYTES)
}

/// The text in pieces that can be counted apart: its lines, blank ones and those with a slash in front
/// together with the line above.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest.match_indices('\n').map(|(at, _)| at + 1);
        let end = ends.clone().find(|end| Tokenizer.is_apart(&rest[*end..])).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after;
        Some(line)
    })
}

/// The text in pieces of at most [`RUN_BYTES`], cut between characters.
fn pieces(mut rest: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let cut = rest.floor_char_boundary(RUN_BYTES.min(rest.len()));
        let (piece, after) = rest.split_at(cut);
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests;
