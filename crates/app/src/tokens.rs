//! The token counter.

use std::sync::LazyLock;

use persona::TokenCounter;
use tiktoken::CoreBpe;

const ENCODING: &str = "o200k_base";
/// A longer run without blanks is counted in pieces, because merging one endless word is very slow.
const RUN_BYTES: usize = 4 * 1024;

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
        let longest = text.split_ascii_whitespace().map(str::len).max().unwrap_or(0);
        if longest <= RUN_BYTES {
            return encoding.count(text);
        }
        pieces(text).map(|piece| encoding.count(piece)).sum()
    }
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
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_encoding() {
        assert_eq!(Tokenizer.count(""), 0);
        assert_eq!(Tokenizer.count("hello world"), 2);
        assert_eq!(Tokenizer.tokenizer(), "o200k_base");
    }

    #[test]
    fn an_endless_word_is_counted_in_pieces() {
        let text = "é".repeat(200_000);
        let started = std::time::Instant::now();
        assert!(Tokenizer.count(&text) > 1_000);
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
