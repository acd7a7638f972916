//! Talk without content: echoes and courtesies.

use std::collections::HashSet;

/// An estimate that needs no vocabulary: four bytes are a token.
pub fn estimated_tokens(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

/// Words of courtesies and of mere agreement.
const COURTESIES: [&str; 68] = [
    "a",
    "absolutely",
    "agree",
    "agreed",
    "all",
    "alright",
    "also",
    "and",
    "appreciate",
    "are",
    "as",
    "bye",
    "certainly",
    "cheers",
    "completely",
    "correct",
    "couldn't",
    "definitely",
    "everyone",
    "exactly",
    "fully",
    "glad",
    "goodbye",
    "great",
    "hello",
    "hi",
    "i",
    "i'm",
    "indeed",
    "it",
    "just",
    "more",
    "much",
    "my",
    "nice",
    "of",
    "oh",
    "ok",
    "okay",
    "pleasure",
    "point",
    "precisely",
    "quite",
    "right",
    "said",
    "same",
    "sharing",
    "so",
    "sure",
    "thank",
    "thanks",
    "that",
    "that's",
    "the",
    "this",
    "too",
    "totally",
    "true",
    "truly",
    "very",
    "welcome",
    "well",
    "what",
    "wonderful",
    "yes",
    "you",
    "you're",
    "your",
];

/// Courtesies in scripts without spaces between words.
const UNSPACED_COURTESIES: [&str; 10] =
    ["谢谢", "謝謝", "是的", "同意", "没错", "沒錯", "对", "好的", "ありがとう", "そうですね"];

/// True if a text has courtesies and agreement, and nothing else.
pub fn is_courtesy(text: &str) -> bool {
    let words = words(text);
    words.len() <= 12
        && words
            .iter()
            .all(|word| COURTESIES.contains(&word.as_str()) || UNSPACED_COURTESIES.contains(&word.as_str()))
}

/// True if two texts say nearly the same in nearly the same words.
pub fn is_echo(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    if one == other {
        return true;
    }
    // In few words a small difference may be the whole point.
    if one.len().min(other.len()) < 6 {
        return false;
    }
    let (one, other) = (pairs(&one), pairs(&other));
    let common = one.intersection(&other).count();
    common * 10 >= (one.len() + other.len() - common) * 8
}

fn words(text: &str) -> Vec<String> {
    let is_part = |char: char| char.is_alphanumeric() || char == '\'';
    let lower = text.to_lowercase().replace('’', "'");
    lower.split(|char| !is_part(char)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn pairs(words: &[String]) -> HashSet<(&str, &str)> {
    words.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect()
}

#[cfg(test)]
mod tests;
