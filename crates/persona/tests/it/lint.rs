//! Lint: for each rule what it finds, and what comes close to it and is right.

use persona::lint::{Finding, Level, LintSettings, LintTarget, OtherDefinitions, Outline, Rule, lint};
use persona::{AnyEntity, Kind, Name, Scope};
use serde_json::{Value, json};

use crate::script::Toks;

mod composed;
mod expecting;
mod providers;
mod referring;
mod secrets;
mod texts;
mod unicode;
mod wording;

/// A library in which some definitions are looked at and others are only known.
#[derive(Default)]
pub(crate) struct Shelf {
    looked_at: Vec<(Scope, AnyEntity)>,
    known: Vec<(Scope, AnyEntity)>,
    used: Vec<(Scope, Kind, Name)>,
    unread: Vec<(Scope, Kind, Name)>,
}

impl Shelf {
    /// Reads `scope kind name` and the fields of each; a `+` before it is for what is only known,
    /// `!` says that something else uses what it names, and `?` that what it names cannot be read.
    fn read(entries: &[(&str, Value)]) -> Self {
        let mut shelf = Self::default();
        for (key, fields) in entries {
            let words: Vec<&str> = key.trim_start_matches(['+', '!', '?']).split(' ').collect();
            let [scope, kind, name] = words[..] else { panic!("{key:?} is not a key") };
            let (scope, kind): (Scope, Kind) =
                (scope.parse().expect("a scope"), kind.parse().expect("a kind"));
            let list = match key.chars().next() {
                Some('!') => Some(&mut shelf.used),
                Some('?') => Some(&mut shelf.unread),
                _ => None,
            };
            if let Some(list) = list {
                list.push((scope, kind, name.parse().expect("a name")));
                continue;
            }
            let mut definition = json!({ "name": name });
            for (field, value) in fields.as_object().into_iter().flatten() {
                definition[field] = value.clone();
            }
            let entity =
                AnyEntity::from_json(kind, definition).unwrap_or_else(|error| panic!("{key}: {error}"));
            let list = if key.starts_with('+') { &mut shelf.known } else { &mut shelf.looked_at };
            list.push((scope, entity));
        }
        shelf
    }

    fn lint(&self, settings: &LintSettings) -> Vec<Finding> {
        let subjects: Vec<LintTarget<'_>> =
            self.looked_at.iter().map(|(scope, entity)| LintTarget { scope: *scope, entity }).collect();
        lint(&subjects, self, settings, &Toks)
    }
}

impl OtherDefinitions for Shelf {
    fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<Outline<'_>> {
        let is = |it: &&(Scope, AnyEntity)| it.0 == scope && it.1.kind() == kind && it.1.name() == name;
        self.known.iter().find(is).map(|(_, entity)| Outline::Whole(entity))
    }

    fn is_checked(&self, _: Scope, _: Kind, _: &Name) -> bool {
        false
    }

    fn names(&self, scope: Scope, kind: Kind, _: &Name) -> Vec<Name> {
        let seen = self.known.iter().filter(|(known, entity)| *known <= scope && entity.kind() == kind);
        seen.map(|(_, entity)| entity.name().clone()).collect()
    }

    fn is_used(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.used.iter().any(|it| *it == (scope, kind, name.clone()))
    }

    fn is_unread(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.unread.iter().any(|it| *it == (scope, kind, name.clone()))
    }
}

/// Asserts the findings of one rule: `level kind scope:name field "element" line:column`, as far as
/// they have these fields, then `~` and the candidates. Each text behind a `|` occurs in the sentence.
#[track_caller]
pub(crate) fn check(rule: Rule, entries: &[(&str, Value)], expected: &[&str]) {
    check_with(&LintSettings::default(), rule, entries, expected);
}

#[track_caller]
pub(crate) fn check_with(settings: &LintSettings, rule: Rule, entries: &[(&str, Value)], expected: &[&str]) {
    let found = Shelf::read(entries).lint(settings);
    check_findings(found.iter().filter(|finding| finding.rule == rule), expected);
}

#[track_caller]
fn check_findings<'f>(found: impl Iterator<Item = &'f Finding>, expected: &[&str]) {
    let found: Vec<&Finding> = found.collect();
    let (fields, facts): (Vec<&str>, Vec<&str>) =
        expected.iter().map(|line| line.split_once(" | ").unwrap_or((line, ""))).unzip();
    assert_eq!(found.iter().map(|finding| fields_of(finding)).collect::<Vec<_>>(), fields, "{found:#?}");
    for (finding, facts) in found.iter().zip(facts) {
        for fact in facts.split(" | ") {
            assert!(finding.to_string().contains(fact), "{fact:?} is not in {finding}");
        }
    }
}

fn fields_of(finding: &Finding) -> String {
    let Finding { level, kind, name, scope, field, element, at, candidates, .. } = finding;
    let mut words = vec![format!("{level} {kind} {scope}:{name}")];
    words.extend(field.clone());
    words.extend(element.as_ref().map(|element| format!("{element:?}")));
    words.extend(at.map(|at| at.to_string()));
    if !candidates.is_empty() {
        words.push(format!("~ {}", candidates.join(" ")));
    }
    words.join(" ")
}

/// The findings of all rules in the content of a part of the project.
pub(crate) fn in_text(text: &str) -> Vec<Finding> {
    let part = json!({ "part_type": "goal", "content": text });
    let persona = json!({ "system_prompt": "s", "parts": [{ "name": "p" }] });
    Shelf::read(&[("project part p", part), ("project persona someone", persona)])
        .lint(&LintSettings::default())
}

/// The findings of a rule in a text.
pub(crate) fn of_rule(rule: Rule, text: &str) -> Vec<Finding> {
    in_text(text).into_iter().filter(|it| it.rule == rule).collect()
}

/// Asserts the findings of a rule in a text: `line:column`, then texts that occur in the sentence, each
/// behind a `|`.
#[track_caller]
pub(crate) fn check_text(rule: Rule, text: &str, expected: &[&str]) {
    let expected: Vec<String> =
        expected.iter().map(|line| format!("{} part project:p content {line}", rule.level())).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check_findings(of_rule(rule, text).iter(), &expected);
}

#[test]
fn a_sound_library_has_no_findings() {
    let shelf = Shelf::read(&[
        (
            "project persona coder",
            json!({
                "extends": "global:coder", "system_prompt": "You write code.", "parts": [{ "name": "dry" }],
                "traits": ["calm"], "skills": ["sql"], "guardrails": ["safe"], "arc": "growth",
                "tool_preset": "editor", "test_inputs": ["hello"],
            }),
        ),
        (
            "global persona coder",
            json!({ "summary": "A coder.", "parts": [{ "name": "warm" }], "traits": ["old"] }),
        ),
        ("project part dry", json!({ "part_type": "tone", "content": "Dry." })),
        ("global part warm", json!({ "part_type": "tone", "content": "Warm." })),
        ("project part cold", json!({ "part_type": "tone", "content": "Cold." })),
        ("project trait calm", json!({ "trait_type": "emotional", "instruction": "Stay calm." })),
        ("global trait old", json!({ "trait_type": "social", "description": "Old." })),
        ("project skill sql", json!({ "content": "Select." })),
        ("project guardrail safe", json!({ "content": "Be safe." })),
        ("project arc growth", json!({ "stages": [{ "name": "one", "parts": ["cold"] }] })),
        ("+builtin tool_preset editor", json!({})),
        ("project test_input hello", json!({ "content": "Hello." })),
    ]);
    assert_eq!(shelf.lint(&LintSettings::default()), []);
    assert_eq!(Shelf::default().lint(&LintSettings::default()), []);
}

#[test]
fn findings_are_sorted_by_scope_kind_name_field_and_rule() {
    let text = "a\u{200B}b ${env.X} sk-ant-api03-Zk3Qw9Lm2Xp7Rt5Vb8Nc1Yd4 ${env.Y}\u{200B}";
    let shelf = Shelf::read(&[
        ("project persona b", json!({ "parts": [{ "name": "nope" }], "summary": text })),
        ("project part z", json!({ "part_type": "tone", "content": text })),
        ("project persona a", json!({})),
        ("shared part m", json!({ "part_type": "tone", "content": "c" })),
    ]);
    let found = shelf.lint(&LintSettings::default());
    let order: Vec<String> = found
        .iter()
        .map(|it| {
            format!("{} {} {} {} {}", it.scope, it.kind, it.name, it.field.as_deref().unwrap_or("-"), it.rule)
        })
        .collect();
    assert_eq!(
        order,
        [
            "shared part m - unused",
            "project persona a - no-prompt",
            "project persona b parts unknown-reference",
            "project persona b summary hidden-unicode",
            "project persona b summary hidden-unicode",
            "project persona b summary secret",
            "project persona b summary env-not-allowed",
            "project persona b summary env-not-allowed",
            "project part z - unused",
            "project part z content hidden-unicode",
            "project part z content hidden-unicode",
            "project part z content secret",
            "project part z content env-not-allowed",
            "project part z content env-not-allowed",
        ]
    );
    // Within a text, they are in the order of the text.
    assert!(found[6].at < found[7].at, "{found:#?}");
    let again = shelf.lint(&LintSettings::default());
    assert_eq!(found, again);
}

#[test]
fn rules_have_an_id_a_level_and_a_sentence() {
    for rule in Rule::ALL {
        let id = rule.as_str();
        assert!(id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{id}");
        assert_eq!(json!(rule), json!(id));
        assert_eq!(serde_json::from_value::<Rule>(json!(id)).expect("an id"), *rule);
        assert!(rule.description().ends_with('.') && rule.description().len() > 20, "{id}");
        assert_eq!(json!(rule.level()), json!(rule.level().as_str()));
    }
    assert_eq!(Rule::ALL.len(), 24);
    let schema = json!(schemars::schema_for!(Finding));
    assert_eq!(schema["properties"]["level"]["enum"], json!(["note", "warning", "error"]));
    assert_eq!(schema["properties"]["rule"]["enum"], json!(Rule::ALL));
    assert!(Level::Error > Level::Warning && Level::Warning > Level::Note);
}

#[test]
fn a_finding_is_read_as_it_is_written() {
    let found = Shelf::read(&[
        ("project persona b", json!({ "parts": [{ "name": "nope" }] })),
        ("+project part node", json!({ "part_type": "tone" })),
    ]);
    let found = found.lint(&LintSettings::default());
    assert_eq!(
        json!(found),
        json!([{
            "rule": "unknown-reference", "level": "error", "kind": "persona", "name": "b", "scope": "project",
            "field": "parts", "element": "nope", "candidates": ["node"],
            "message": found[0].message, "suggestion": found[0].suggestion,
        }])
    );
    assert_eq!(serde_json::from_value::<Vec<Finding>>(json!(found)).expect("what was written"), found);
}
