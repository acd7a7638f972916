//! A reply as bytes, with the beginnings of its tokens.
//!
//! Playing it then takes a slice for each step, and neither encodes nor copies anything.

use std::io::Write as _;

use serde::Serialize;

/// The longest piece of a word that counts as one token, in bytes.
const TOKEN_BYTES: usize = 12;

#[derive(Debug, Default)]
pub(crate) struct Score {
    pub(crate) bytes: Vec<u8>,
    /// Index of each token's first event; earlier events open the answer. Once the
    /// closing events are marked, they count as one more.
    beats: Vec<usize>,
}

impl Score {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), beats: Vec::new() }
    }

    /// The next token begins here.
    pub(crate) fn beat(&mut self) {
        self.beats.push(self.bytes.len());
    }

    pub(crate) fn raw(&mut self, text: &str) -> &mut Self {
        self.bytes.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        // Writing into a vector cannot fail.
        let _ = write!(self.bytes, "{number}");
        self
    }

    /// A value as JSON.
    pub(crate) fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> &mut Self {
        let before = self.bytes.len();
        if serde_json::to_writer(&mut self.bytes, value).is_err() {
            // Texts, numbers and values can always be written; half of one must not stay.
            self.bytes.truncate(before);
            self.bytes.extend_from_slice(b"null");
        }
        self
    }

    /// Marks the end of the tokens. Only the closing events follow.
    pub(crate) fn close(&mut self) {
        self.beats.push(self.bytes.len());
    }

    /// The number of tokens.
    pub(crate) fn tokens(&self) -> usize {
        self.beats.len().saturating_sub(1)
    }

    /// The byte at which a token begins; past the last one, the closing events.
    pub(crate) fn start_of(&self, token: usize) -> usize {
        let beat = self.beats.get(token).or(self.beats.last());
        beat.copied().unwrap_or(self.bytes.len())
    }

    /// Takes back all but the first tokens, so that another end can follow.
    pub(crate) fn reopen(&mut self, tokens: usize) {
        self.bytes.truncate(self.start_of(tokens));
        self.beats.truncate(tokens.min(self.tokens()));
        self.close();
    }
}

/// Splits a text into tokens: a word with the space before it, long words in pieces.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let spaces = rest.len() - rest.trim_start().len();
        let word = rest[spaces..].find(char::is_whitespace).map_or(rest.len(), |end| spaces + end);
        let mut end = word.min(spaces.min(TOKEN_BYTES) + TOKEN_BYTES).max(1);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_make_up_the_text_and_cut_no_character() {
        for text in [
            "",
            "a",
            " ",
            "one two",
            "  indented\n\n\tcode  ",
            "größer 🦀🦀🦀🦀🦀🦀🦀",
            "a\u{a0}b",
            "日本語のテキストは空白がない",
        ] {
            let pieces: Vec<&str> = tokens(text).collect();
            assert_eq!(pieces.concat(), text);
            assert!(
                pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= 2 * TOKEN_BYTES + 4),
                "{pieces:?}"
            );
        }
        assert_eq!(tokens("one two").collect::<Vec<_>>(), ["one", " two"]);
        let spaces = " ".repeat(1_000);
        assert_eq!(tokens(&spaces).map(str::len).sum::<usize>(), 1_000);
    }
}
