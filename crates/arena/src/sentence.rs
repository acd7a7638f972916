//! Sentence ends: the places at which a speech can be interrupted.

use crate::limits;

/// Words after which a full stop ends no sentence.
const ABBREVIATIONS: [&str; 21] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "etc", "e.g", "i.e", "cf", "fig", "approx",
    "gen", "col", "capt", "u.s", "u.k", "z.b",
];

/// The byte offsets after each sentence, in order. The last one is the end of the text.
///
/// A text with more sentences than [`limits::SENTENCE_ENDS`] has its last ends left out, but the final one.
pub fn sentence_ends(text: &str) -> Vec<usize> {
    let end = text.trim_end().len();
    let mut ends = Vec::new();
    let mut chars = text[..end].char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let mut after = at + char.len_utf8();
        let ends_here = match char {
            '\n' | '。' | '！' | '？' => true,
            '!' | '?' | '…' => true,
            '.' => !is_abbreviated(&text[..at]),
            _ => false,
        };
        if !ends_here {
            continue;
        }
        // Further marks, quotes and brackets belong to the sentence.
        while let Some((_, next)) = chars.peek().filter(|(_, next)| is_closing(*next)) {
            after += next.len_utf8();
            chars.next();
        }
        let is_western = matches!(char, '.' | '!' | '?' | '…');
        let is_followed = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if (!is_western || is_followed) && !text[ends.last().copied().unwrap_or(0)..after].trim().is_empty() {
            ends.push(after);
        }
    }
    ends.retain(|it| *it < end);
    ends.truncate(limits::SENTENCE_ENDS - 1);
    if end > 0 {
        ends.push(end);
    }
    ends
}

fn is_closing(char: char) -> bool {
    matches!(
        char,
        '.' | '!' | '?' | '…' | '"' | '\'' | '”' | '’' | ')' | ']' | '»' | '」' | '』' | '。' | '！' | '？'
    )
}

/// True if the text ends with an abbreviation, an initial or the number of a list, which a full stop
/// follows.
fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(|char: char| !char.is_alphanumeric()).to_lowercase();
    let is_initial = word.chars().count() == 1 && word != "i";
    let opens_line = before.trim_end_matches(|char: char| char.is_ascii_digit()).ends_with('\n')
        || before.chars().all(|char| char.is_ascii_digit());
    let is_list_number = !word.is_empty() && word.chars().all(|char| char.is_ascii_digit()) && opens_line;
    is_initial || is_list_number || ABBREVIATIONS.contains(&word.as_str())
}

/// The sentences between the ends.
pub fn sentences<'a>(text: &'a str, ends: &'a [usize]) -> impl Iterator<Item = &'a str> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| text[start..*end].trim())
}

/// The number of the sentence end at which a beginning of the text ends, or of the next one: how an
/// interrupt by prefix becomes one by number. `None` if the text does not begin like that.
pub fn end_of_prefix(text: &str, prefix: &str) -> Option<usize> {
    let prefix = prefix.trim_end();
    if prefix.is_empty() || !text.starts_with(prefix) {
        return None;
    }
    let ends = sentence_ends(text);
    ends.iter().position(|end| *end >= prefix.len()).map(|at| at + 1)
}

#[cfg(test)]
mod tests;
