//! Expectations of test inputs: propositions that a judge decides badly, and pieces that do not exist.

use super::known::Known;
use super::references::did_you_mean;
use super::{Findings, Rule};
use crate::catalog::reach;
use crate::{AnyEntity, Expectation, Kind, Name, TestInput};

pub(super) fn check(findings: &mut Findings<'_, '_>, known: &Known<'_>) {
    let AnyEntity::TestInput(input) = findings.target.entity else { return };
    for (at, expectation) in input.expectations.iter().enumerate() {
        let (field, holds) = match expectation {
            Expectation::Text(text) => (format!("expectations[{at}]"), Some(text.as_str())),
            Expectation::Table(table) => (format!("expectations[{at}].holds"), table.holds.as_deref()),
        };
        if let Some(holds) = holds {
            proposition(findings, &field, holds);
        }
        if let Expectation::Table(table) = expectation
            && let Some(piece) = &table.piece
        {
            check_piece(findings, known, &format!("expectations[{at}].piece"), piece);
        }
    }
}

fn proposition(findings: &mut Findings<'_, '_>, field: &str, holds: &str) {
    let words: Vec<String> = holds
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if is_negated(&words) {
        let message = "the proposition is negated, which judges decide badly".to_owned();
        let hint = "say what the answer does instead, or use lacks, calls_not or question = false".to_owned();
        findings.add(Rule::NegatedExpectation, Some(field), message, Some(hint));
    }
    if has_two_claims(holds, &words) {
        let message =
            "the proposition makes two claims, and a verdict does not say which one broke".to_owned();
        findings.add(Rule::SeveralClaims, Some(field), message, Some("write two expectations".to_owned()));
    }
    if let Some(check) = counted(&words) {
        let message = "the proposition leaves counting to a judge".to_owned();
        let hint = format!("use {check} = {{ min, max }}, which counts without a model");
        findings.add(Rule::JudgedCount, Some(field), message, Some(hint));
    }
}

const SUBJECTS: &[&str] = &["it", "he", "she", "they", "the", "a", "an", "this", "each", "every"];
const SPEAKERS: &[&str] = &["reply", "answer", "persona", "response", "assistant", "agent", "text"];
const AUXILIARIES: &[&str] =
    &["does", "do", "did", "is", "are", "was", "has", "have", "should", "must", "will", "can", "may"];
const JOINERS: &[&str] = &["and", "but"];

/// The words after the subject, where the proposition names one.
fn predicate<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let rest = words.strip_prefix_of(SUBJECTS);
    if rest.len() < words.len() { rest.strip_prefix_of(SPEAKERS) } else { rest }
}

trait StripPrefix {
    fn strip_prefix_of(&self, known: &[&str]) -> &Self;
}

impl StripPrefix for [&str] {
    fn strip_prefix_of(&self, known: &[&str]) -> &Self {
        match self.split_first() {
            Some((first, rest)) if known.contains(first) => rest,
            _ => self,
        }
    }
}

/// The words after each "and" or "but", with the word before it.
fn joined<'w>(words: &'w [&'w str]) -> impl Iterator<Item = (&'w str, &'w [&'w str])> {
    let joiners = words.iter().enumerate().filter(|(at, word)| *at > 0 && JOINERS.contains(word));
    joiners.map(|(at, _)| (words[at - 1], predicate(&words[at + 1..])))
}

/// True if the main verb, or a verb joined to it, is negated. "Admits what it does not know" is not.
fn is_negated(words: &[&str]) -> bool {
    const NEGATIVE: &[&str] = &["no", "not", "without", "nothing"];
    let main = predicate(words);
    if main.first().is_some_and(|first| NEGATIVE.contains(first)) || has_negated_verb(main) {
        return true;
    }
    joined(words).any(|(before, clause)| {
        // "What it knows and does not know" is one thing.
        let is_contrast = match clause {
            [auxiliary, _, verb, ..] => before == *auxiliary || before.trim_end_matches('s') == *verb,
            _ => false,
        };
        has_negated_verb(clause) && !is_contrast
    })
}

/// True if a clause begins with a negated verb.
fn has_negated_verb(clause: &[&str]) -> bool {
    const NEGATIVE: &[&str] = &["never", "avoids", "avoid", "refrains"];
    match clause {
        [first, ..] if NEGATIVE.contains(first) || first.ends_with("n't") => true,
        [first, second, ..] => AUXILIARIES.contains(first) && matches!(*second, "not" | "never"),
        _ => false,
    }
}

/// True for two sentences, and for a second verb in the third person after "and" or "but".
fn has_two_claims(holds: &str, words: &[&str]) -> bool {
    let ends = holds.trim_end().trim_end_matches(['.', '!', '?']);
    let sentences = ends.match_indices(". ").filter(|(at, _)| {
        let before = ends[..*at].rsplit(' ').next().unwrap_or_default();
        before.chars().count() > 3 && ends[at + 2..].chars().next().is_some_and(char::is_uppercase)
    });
    if sentences.count() > 0 || holds.contains("; ") {
        return true;
    }
    let begins_with_verb =
        predicate(words).first().is_some_and(|word| is_verb(word) || AUXILIARIES.contains(word));
    begins_with_verb && joined(words).any(|(before, clause)| is_claim(before, clause))
}

/// True for a verb in the third person. A noun in the plural looks the same.
fn is_verb(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss")
}

/// True if the words after "and" or "but" begin a claim of their own.
fn is_claim(before: &str, clause: &[&str]) -> bool {
    const ADVERBS: &[&str] = &["then", "also", "always", "never", "only", "still", "instead"];
    let is_adverb = |word: &&&str| ADVERBS.contains(word) || word.ends_with("ly");
    let adverbs = clause.iter().take_while(is_adverb).count();
    match &clause[adverbs..] {
        // "What is and is not covered" is one thing.
        [first, ..] if AUXILIARIES.contains(first) => before != *first,
        // A noun follows a list of nouns to the end, or has an "of"; a verb has an object.
        [first] => adverbs > 0 && is_verb(first),
        [first, next, ..] => is_verb(first) && *next != "of",
        [] => false,
    }
}

/// The check that counts what a proposition wants counted.
fn counted(words: &[&str]) -> Option<&'static str> {
    const NUMBERS: &[&str] = &[
        "single", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty",
        "fifty", "hundred",
    ];
    /// They begin another phrase than that of the number.
    const BREAKS: &[&str] = &["in", "of", "with", "for", "as", "by", "to", "and", "or", "that", "per"];
    /// Words between a number and its unit: "80 short words".
    const BETWEEN: usize = 2;
    let is_number = |at: usize| {
        let word = words[at];
        let is_article = matches!(word, "a" | "an") && at > 0 && words[at - 1] == "in";
        word.parse::<u32>().is_ok() || NUMBERS.contains(&word) || is_article
    };
    let numbers = (0..words.len()).filter(|at| is_number(*at));
    numbers.into_iter().find_map(|at| {
        let phrase = words[at + 1..].iter().take_while(|word| !BREAKS.contains(word)).take(BETWEEN + 1);
        phrase.into_iter().find_map(|word| match *word {
            "word" | "words" => Some("words"),
            "sentence" | "sentences" => Some("sentences"),
            "token" | "tokens" => Some("tokens"),
            _ => None,
        })
    })
}

fn check_piece(findings: &mut Findings<'_, '_>, known: &Known<'_>, field: &str, piece: &str) {
    let Some((kind, name)) = parse_piece(piece) else {
        let message = format!("{piece:?} does not name a piece");
        let hint = "write kind:name, such as \"guardrail:no-fabrication\"".to_owned();
        return findings.add_named(Rule::UnknownReference, field, piece, (message, Some(hint)));
    };
    let from = findings.target.scope;
    if known.find(from, kind, &name).is_some() || known.is_unread(reach(from, None), kind, &name) {
        return;
    }
    let near = known.near(from, kind, &name);
    let message = format!("unknown {} {:?}", kind.spoken(), name.as_str());
    findings.add_named(Rule::UnknownReference, field, name.as_str(), (message, did_you_mean(&near)));
    findings.with_candidates(near);
}

/// The kind and the name of `guardrail:no-fabrication`.
pub(crate) fn parse_piece(piece: &str) -> Option<(Kind, Name)> {
    let (kind, name) = piece.split_once(':')?;
    let kind: Kind = kind.trim().parse().ok()?;
    (kind != Kind::Persona).then_some(())?;
    Some((kind, Name::parse(name.trim()).ok()?))
}

impl TestInput {
    /// The pieces that its expectations are about.
    pub fn tested_pieces(&self) -> Vec<(Kind, Name)> {
        let tables = self.expectations.iter().filter_map(|expectation| match expectation {
            Expectation::Table(table) => table.piece.as_deref(),
            Expectation::Text(_) => None,
        });
        tables.filter_map(parse_piece).collect()
    }
}
