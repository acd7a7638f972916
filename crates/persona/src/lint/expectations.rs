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

const SUBJECTS: &[&str] = &["it", "he", "she", "they", "the", "a", "an", "this"];
const SPEAKERS: &[&str] = &["reply", "answer", "persona", "response", "assistant", "agent", "text"];

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

/// True if the main verb is negated. "Admits what it does not know" is not.
fn is_negated(words: &[&str]) -> bool {
    const NEGATIVE: &[&str] = &["never", "no", "not", "avoids", "avoid", "refrains", "without", "nothing"];
    const AUXILIARY: &[&str] =
        &["does", "do", "did", "is", "are", "was", "has", "have", "should", "must", "will", "can", "may"];
    match predicate(words) {
        [first, ..] if NEGATIVE.contains(first) || first.ends_with("n't") => true,
        [first, second, ..] => AUXILIARY.contains(first) && matches!(*second, "not" | "never"),
        _ => false,
    }
}

/// True for two sentences, and for a verb in the third person after "and" or "but".
fn has_two_claims(holds: &str, words: &[&str]) -> bool {
    let ends = holds.trim_end().trim_end_matches(['.', '!', '?']);
    let sentences = ends.match_indices(". ").filter(|(at, _)| {
        let before = ends[..*at].rsplit(' ').next().unwrap_or_default();
        before.chars().count() > 3 && ends[at + 2..].chars().next().is_some_and(char::is_uppercase)
    });
    if sentences.count() > 0 || holds.contains("; ") {
        return true;
    }
    let is_verb = |word: &str| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    let begins_with_verb = predicate(words).first().is_some_and(|word| is_verb(word));
    // A noun follows a list of nouns to the end; a verb has an object.
    let joined = words.windows(3).any(|three| matches!(three[0], "and" | "but") && is_verb(three[1]));
    begins_with_verb && joined
}

/// The check that counts what a proposition wants counted.
fn counted(words: &[&str]) -> Option<&'static str> {
    const NUMBERS: &[&str] =
        &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty", "hundred"];
    let is_number = |word: &str| word.parse::<u32>().is_ok() || NUMBERS.contains(&word);
    words.windows(2).find_map(|pair| {
        let check = match pair[1] {
            "word" | "words" => "words",
            "sentence" | "sentences" => "sentences",
            "token" | "tokens" => "tokens",
            _ => return None,
        };
        is_number(pair[0]).then_some(check)
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
