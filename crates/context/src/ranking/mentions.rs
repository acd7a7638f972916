//! The files and identifiers that a task names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Facts, as_float};
use crate::{Seeds, limits};

/// Files that one word may name. A word that fits more says nothing.
const FILES_PER_WORD: usize = 8;
/// Letters of a plain word that may be an identifier or the name of a file.
const WORD_LETTERS: usize = 4;
/// The weight of a plain word beside that of a word that only code has.
const PLAIN: f64 = 0.15;

/// The findings, files by number.
#[derive(Debug, Default)]
pub(crate) struct Mentions<'s> {
    pub(super) text: BTreeSet<usize>,
    pub(super) failing: BTreeSet<usize>,
    pub(super) siblings: BTreeSet<usize>,
    /// Words of the text that may be identifiers, with their weight.
    identifiers: BTreeMap<&'s str, f64>,
    /// Files whose name without its ending is a word of the text, with their weight.
    stems: BTreeMap<usize, f64>,
}

impl<'s> Mentions<'s> {
    pub(crate) fn find(files: &[Facts<'_>], seeds: &'s Seeds) -> Self {
        let text = shortened(&seeds.text);
        let failing = shortened(&seeds.failing);
        let paths = Paths::of(files);
        let named = |text: &str| path_words(text).flat_map(|word| paths.named(word)).collect();
        let identifiers = identifiers(text);
        let stems = identifiers.keys().flat_map(|word| paths.with_stem(word)).collect();
        Self {
            text: named(text),
            failing: named(failing),
            siblings: seeds.siblings.iter().flat_map(|path| paths.named(path)).collect(),
            identifiers,
            stems,
        }
    }

    /// True if the task names the file.
    pub(super) fn names(&self, file: usize) -> bool {
        self.text.contains(&file) || self.failing.contains(&file) || self.siblings.contains(&file)
    }

    pub(super) fn identifiers(&self) -> impl Iterator<Item = (&'s str, f64)> {
        self.identifiers.iter().map(|(name, weight)| (*name, *weight))
    }

    pub(super) fn has_identifier(&self, name: &str) -> bool {
        self.identifiers.get(name).is_some_and(|weight| *weight > PLAIN)
    }

    pub(super) fn stems(&self, count: usize) -> Vec<f64> {
        (0..count).map(|file| self.stems.get(&file).copied().unwrap_or_default()).collect()
    }
}

fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(text.len().min(limits::SEED_BYTES))]
}

/// Words that may be paths: they have a slash, or a dot inside.
fn path_words(text: &str) -> impl Iterator<Item = &str> {
    let of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '@');
    text.split(move |c| !of_path(c))
        .map(|word| word.trim_matches('.').trim_end_matches('/'))
        .filter(|word| word.contains(['/', '.']))
}

/// Identifiers in a text. A word with an underscore, or with a capital after a small letter, is certainly
/// code; so is one in backquotes or before a parenthesis.
fn identifiers(text: &str) -> BTreeMap<&str, f64> {
    let mut found: BTreeMap<&str, f64> = BTreeMap::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_alphanumeric() || c == '_') {
        let before = rest[..start].chars().next_back();
        let word = &rest[start..];
        let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let is_quoted = before == Some('`') || after.starts_with('`') || after.starts_with('(');
        let weight = if is_quoted || is_code(word) { 1.0 } else { PLAIN };
        let is_long = word.chars().count() >= WORD_LETTERS || weight > PLAIN;
        if is_long && !word.starts_with(|c: char| c.is_ascii_digit()) {
            let known = found.entry(word).or_default();
            *known = known.max(weight);
        }
        rest = after;
    }
    found
}

fn is_code(word: &str) -> bool {
    let inner = word.trim_matches('_');
    let has_hump =
        inner.chars().zip(inner.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    has_hump || inner.contains('_')
}

/// The paths of the files, by their last part.
struct Paths<'a> {
    all: Vec<&'a str>,
    by_name: HashMap<&'a str, Vec<usize>>,
    by_stem: HashMap<String, Vec<usize>>,
}

impl<'a> Paths<'a> {
    fn of(files: &[Facts<'a>]) -> Self {
        let all: Vec<&str> = files.iter().map(|facts| facts.path).collect();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut by_stem: HashMap<String, Vec<usize>> = HashMap::new();
        for (file, path) in all.iter().enumerate() {
            let name = path.rsplit('/').next().unwrap_or(path);
            by_name.entry(name).or_default().push(file);
            let stem = name.split('.').next().unwrap_or(name);
            if stem.chars().count() >= WORD_LETTERS {
                by_stem.entry(stem.to_lowercase()).or_default().push(file);
            }
        }
        Self { all, by_name, by_stem }
    }

    /// The files that a word names: by the whole path, by the end of it, or by a longer path from
    /// elsewhere, such as an absolute one.
    fn named(&self, word: &str) -> Vec<usize> {
        let word = word.trim_start_matches("./");
        let name = word.rsplit('/').next().unwrap_or(word);
        let candidates = self.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        if let Some(exact) = candidates.iter().find(|file| self.all[**file] == word) {
            return vec![*exact];
        }
        let longest = candidates
            .iter()
            .filter(|file| is_end(self.all[**file], word))
            .max_by_key(|file| self.all[**file].len());
        if let Some(longest) = longest.filter(|file| self.all[**file].contains('/') || word == name) {
            return vec![*longest];
        }
        let ends: Vec<usize> =
            candidates.iter().filter(|file| is_end(word, self.all[**file])).copied().collect();
        if ends.len() <= FILES_PER_WORD { ends } else { Vec::new() }
    }

    /// The files with this word as their name, with a weight.
    fn with_stem(&self, word: &str) -> Vec<(usize, f64)> {
        match self.by_stem.get(&word.to_lowercase()) {
            Some(files) if files.len() <= FILES_PER_WORD => {
                files.iter().map(|file| (*file, 1.0 / as_float(files.len()))).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// True if a path ends with another, part by part.
fn is_end(end: &str, path: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
