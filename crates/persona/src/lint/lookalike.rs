//! Words in which letters of another script pass for the Latin letters beside them.
//!
//! A text in another script is not a finding, nor are words of two scripts side by side, as in
//! `API-ключ`; and a single small Greek letter at either end of a word is how formulas are written.

use std::collections::HashMap;

use unicode_script::{Script, UnicodeScript};
use unicode_security::skeleton;

use super::texts::Hit;
use crate::env::Place;

/// Characters of a word that a message shows.
const WORD_CHARS: usize = 40;
/// Fewer letters than this are an abbreviation or a formula, not a word.
const WORD_LETTERS: usize = 3;

pub(super) struct LookAlike<'a> {
    at: usize,
    word: &'a str,
    /// The first disguised letter, and the one it looks like.
    letter: char,
    looks_like: char,
}

impl Hit for LookAlike<'_> {
    fn at(&self) -> usize {
        self.at
    }

    fn describe(&self, place: Place) -> (String, Option<String>) {
        let shown: String = self.word.chars().take(WORD_CHARS).map(escaped).collect();
        let message = format!(
            "\"{shown}\" at {place} has U+{:04X} ({}), which looks like {:?}",
            u32::from(self.letter),
            script_name(self.letter),
            self.looks_like
        );
        let plain: String = self.word.chars().take(WORD_CHARS).map(|c| latin(c).unwrap_or(c)).collect();
        (message, plain.is_ascii().then(|| format!("write \"{plain}\" in Latin letters")))
    }
}

fn escaped(c: char) -> String {
    if c.is_ascii() { c.to_string() } else { format!("<U+{:04X}>", u32::from(c)) }
}

fn script_name(c: char) -> &'static str {
    match c {
        '\u{FF21}'..='\u{FF5A}' => "fullwidth",
        '\u{1D400}'..='\u{1D7FF}' => "mathematical",
        _ => c.script().full_name(),
    }
}

pub(super) fn find(text: &str) -> Vec<LookAlike<'_>> {
    if text.is_ascii() {
        return Vec::new();
    }
    let words = words(text).filter(|(_, word)| !word.is_ascii());
    let mut found = Vec::new();
    let mut disguised = Vec::new();
    // True for a script if some of its letters in this text do not look like Latin ones.
    let mut at_home: HashMap<Script, bool> = HashMap::new();
    for (at, word) in words {
        for letter in word.chars().filter(|c| !c.is_ascii() && is_disguisable(*c)) {
            *at_home.entry(letter.script()).or_default() |= latin(letter).is_none();
        }
        if word.chars().filter(|c| c.is_alphabetic()).count() < WORD_LETTERS {
            continue;
        }
        let Some((letter, looks_like)) = first_look_alike(word) else { continue };
        let hit = LookAlike { at, word, letter, looks_like };
        if word.chars().any(|c| c.is_ascii_alphabetic()) {
            found.push(hit);
        } else if word.chars().filter(|c| c.is_alphabetic()).all(|c| latin(c).is_some()) {
            disguised.push(hit);
        }
    }
    // A word of look-alikes only is a disguise if the text has nothing else in its script.
    found
        .extend(disguised.into_iter().filter(|hit| !at_home.get(&hit.letter.script()).is_some_and(|it| *it)));
    found.sort_by_key(|hit| hit.at);
    found
}

/// Runs of letters and digits, with their first bytes.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let in_word = |c: char| c.is_alphanumeric() || c.script() == Script::Inherited;
    text.split(move |c| !in_word(c))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn first_look_alike(word: &str) -> Option<(char, char)> {
    let last = word.chars().count() - 1;
    let letters = word.chars().enumerate();
    let foreign: Vec<(usize, char)> = letters.filter(|(_, c)| !c.is_ascii() && is_disguisable(*c)).collect();
    let is_variable = |at: usize, c: char| {
        let at_an_end = at == 0 || at == last;
        at_an_end && foreign.len() == 1 && c.script() == Script::Greek && c.is_lowercase() && c != 'ο'
    };
    let mut found = foreign.iter().filter(|(at, c)| !is_variable(*at, *c));
    found.find_map(|(_, c)| Some((*c, latin(*c)?)))
}

/// True if a letter can pass for a Latin one in running text: it belongs to another alphabet that is
/// written from left to right, or is Latin in another width or style.
fn is_disguisable(c: char) -> bool {
    if matches!(c, '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' | '\u{1D400}'..='\u{1D7FF}') {
        return true;
    }
    use Script::{Arabic, Bopomofo, Common, Han, Hangul, Hebrew, Hiragana, Inherited, Katakana, Latin};
    use Script::{Nko, Syriac, Thaana, Unknown};
    let script = c.script();
    let right_to_left = matches!(script, Arabic | Hebrew | Syriac | Thaana | Nko);
    let east_asian = matches!(script, Han | Hiragana | Katakana | Hangul | Bopomofo);
    let none_of_its_own = matches!(script, Common | Inherited | Latin | Unknown);
    c.is_alphabetic() && !(right_to_left || east_asian || none_of_its_own)
}

/// The Latin letter that a letter looks like.
fn latin(c: char) -> Option<char> {
    if !is_disguisable(c) {
        return None;
    }
    let mut buffer = [0; 4];
    let mut looks_like = skeleton(c.encode_utf8(&mut buffer));
    match (looks_like.next()?, looks_like.next(), looks_like.next()) {
        // Skeletons have one shape for "I" and "l", and two letters for "m".
        ('l', None, None) if c.is_uppercase() => Some('I'),
        ('r', Some('n'), None) => Some('m'),
        (letter, None, None) if letter.is_ascii_alphabetic() => Some(letter),
        _ => None,
    }
}
