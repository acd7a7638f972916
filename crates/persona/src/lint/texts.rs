//! The texts of a definition, and the rules for texts.

use super::{Findings, Level, LintSettings, Rule, hidden, lookalike, placeholders, secret};
use crate::AnyEntity;
use crate::env::{Place, Places};
use crate::field::ValueView;

/// The most findings of one rule in one field; the rest is counted.
const TOLD_PER_FIELD: usize = 5;

/// Something found in a text.
pub(super) trait Hit {
    /// Its first byte.
    fn at(&self) -> usize;

    /// The message and the remedy.
    fn describe(&self, place: Place) -> (String, Option<String>);
}

pub(super) fn check(findings: &mut Findings<'_, '_>, settings: &LintSettings) {
    let entity = findings.target.entity;
    // A test input may contain hidden characters on purpose.
    let hidden_level = match entity {
        AnyEntity::TestInput(_) => Level::Warning,
        _ => Rule::HiddenUnicode.level(),
    };
    for Text { field, text, is_filled } in texts(entity) {
        tell(findings, Rule::HiddenUnicode, hidden_level, &field, text, &hidden::find(text));
        tell(findings, Rule::LookAlike, Rule::LookAlike.level(), &field, text, &lookalike::find(text));
        tell(findings, Rule::Secret, Rule::Secret.level(), &field, text, &secret::find(text));
        placeholders::check(findings, &field, text, is_filled, settings);
    }
}

/// Reports the hits in a field, in the order of the text.
pub(super) fn tell<T: Hit>(
    findings: &mut Findings<'_, '_>,
    rule: Rule,
    level: Level,
    field: &str,
    text: &str,
    hits: &[T],
) {
    let mut places = Places::new(text);
    for hit in hits.iter().take(TOLD_PER_FIELD) {
        let place = places.at(hit.at());
        findings.add_at(rule, level, field, place, hit.describe(place));
    }
    if let Some(next) = hits.get(TOLD_PER_FIELD) {
        let more = hits.len() - TOLD_PER_FIELD;
        let message = format!("and {more} more of this in the same text");
        findings.add_at(rule, level, field, places.at(next.at()), (message, None));
    }
}

/// A text of a definition, with its field.
struct Text<'a> {
    field: String,
    text: &'a str,
    /// True if `${env.NAME}` is filled in here: the text is for a model.
    is_filled: bool,
}

/// Every text of a definition, and every key that its author chose. Tags are not included.
fn texts(entity: &AnyEntity) -> Vec<Text<'_>> {
    let mut texts = Vec::new();
    entity.walk_values(&mut |path, field, value| match value {
        ValueView::Text(text) if !matches!(field.name, "tags" | "remove_tags") => {
            texts.push(Text { field: shown(path), text, is_filled: field.is_filled });
        }
        ValueView::Map(entries) => {
            let keys = entries.iter().map(|(key, _)| *key);
            texts.extend(keys.map(|text| Text { field: shown(path), text, is_filled: false }));
        }
        _ => {}
    });
    texts
}

/// A key of the author's choice, without hidden characters.
fn shown(key: &str) -> String {
    let escaped = |c: char| if hidden::is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    key.chars().map(escaped).collect()
}
