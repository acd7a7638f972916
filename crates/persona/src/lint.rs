//! Lint: what is wrong with definitions, or probably not what their author meant.
//!
//! Pure: whoever calls hands in the definitions to look at, a [`Catalog`] of what else is known,
//! and what the [`Settings`] need to know of the surroundings. References are followed by the
//! same rule as everywhere: from a definition's own scope downwards, or in the scope that it names.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::env::{self, Place};
use crate::{AnyEntity, Kind, Name, Scope, TokenCounter};

mod rule;
pub use rule::{Level, Rule};

mod known;
use known::Known;

mod references;
mod resolved;
mod size;

mod hidden;
mod lookalike;
mod placeholders;
mod secret;
mod texts;
use texts::Hit as _;

/// A definition to look at.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub scope: Scope,
    pub entity: &'a AnyEntity,
}

/// What is known besides the subjects. Where both have a definition, the subject counts: it may
/// be a draft of what the catalog has.
pub trait Catalog {
    /// The definition of this name in exactly this scope.
    fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<&AnyEntity>;

    /// Names of a kind that a definition in `scope` sees and that `wanted` could have meant. All that
    /// there are will do: the nearest are suggested. A large store may give its own near ones.
    fn names(&self, scope: Scope, kind: Kind, wanted: &Name) -> Vec<Name>;

    /// Whether a definition that is not among the subjects uses this one, or may.
    fn is_used(&self, scope: Scope, kind: Kind, name: &Name) -> bool;

    /// Whether exactly this scope has something of this name that cannot be read, or may have: that
    /// is told of it, and nothing of those who name it.
    fn is_unread(&self, scope: Scope, kind: Kind, name: &Name) -> bool;
}

/// What the rules need to know of the surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// A part whose content has more tokens than this is long.
    pub part_tokens: usize,
    /// The configured providers; `None` where they are not known, and then nothing is said of them.
    pub providers: Option<BTreeSet<String>>,
    /// Further providers that there are: a misspelt one may have meant these, configured or not.
    pub other_providers: BTreeSet<String>,
    /// The names on the user's own `[env] allow` list.
    pub env_allowed: BTreeSet<String>,
    /// The names of these that are set.
    pub env_set: BTreeSet<String>,
}

impl Settings {
    /// The threshold where none is configured.
    pub const PART_TOKENS: usize = 1_500;
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            part_tokens: Self::PART_TOKENS,
            providers: None,
            other_providers: BTreeSet::new(),
            env_allowed: BTreeSet::new(),
            env_set: BTreeSet::new(),
        }
    }
}

/// One thing that a rule found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub rule: Rule,
    pub level: Level,
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    /// The field, as a path: `parts`, `plan_persona.model`, `stages.first.parts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What the field names, where it is about one name of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Where in the field's text it stands, for what is about a place in a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// What is wrong. Hidden characters are named, never repeated; a secret is never whole.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, level, kind, name, scope, field, message, suggestion, .. } = self;
        write!(f, "{level}: {} {scope}:{name}", kind.spoken())?;
        if let Some(field) = field {
            write!(f, ", {field}")?;
        }
        write!(f, ": {message}")?;
        if let Some(suggestion) = suggestion {
            write!(f, "; {suggestion}")?;
        }
        write!(f, " [{rule}]")
    }
}

/// Looks at all subjects; what is found stands by scope, kind, name, field and rule, and within
/// a text in the order of the text.
pub fn lint(
    subjects: &[Subject<'_>],
    catalog: &dyn Catalog,
    settings: &Settings,
    counter: &dyn TokenCounter,
) -> Vec<Finding> {
    let known = Known::new(subjects, catalog);
    let mut found = Vec::new();
    for subject in subjects {
        let mut report = Report { subject: *subject, found: &mut found };
        references::check(&mut report, &known, settings);
        size::check(&mut report, settings, counter);
        texts::check(&mut report, settings);
    }
    resolved::check(subjects, &known, &mut found);
    references::unused(subjects, &known, &mut found);
    fn place(it: &Finding) -> (Scope, Kind, &Name, Option<&str>, Rule) {
        (it.scope, it.kind, &it.name, it.field.as_deref(), it.rule)
    }
    found.sort_by(|a, b| place(a).cmp(&place(b)));
    found
}

/// What looks like a secret in a text that is no definition's, with its place, and without it.
pub fn secrets(text: &str) -> Vec<(Place, String)> {
    let mut places = env::Places::new(text);
    let found = secret::find(text);
    let tell = |hit: &secret::Secret<'_>| {
        let place = places.at(hit.at());
        (place, hit.describe(place).0)
    };
    found.iter().map(tell).collect()
}

/// Takes what is found about one subject.
struct Report<'a, 'f> {
    subject: Subject<'a>,
    found: &'f mut Vec<Finding>,
}

impl Report<'_, '_> {
    fn add(&mut self, rule: Rule, field: Option<&str>, message: String, suggestion: Option<String>) {
        self.add_as(rule, rule.level(), field, message, suggestion);
    }

    fn add_as(
        &mut self,
        rule: Rule,
        level: Level,
        field: Option<&str>,
        message: String,
        suggestion: Option<String>,
    ) {
        self.push(rule, level, field, None, (message, suggestion));
    }

    /// Adds what is about one of the names that a field has.
    fn add_named(&mut self, rule: Rule, field: &str, element: &str, said: (String, Option<String>)) {
        self.push(rule, rule.level(), Some(field), None, said);
        if let Some(added) = self.found.last_mut() {
            added.element = Some(element.to_owned());
        }
    }

    /// Adds what stands at a place of a field's text.
    fn add_at(&mut self, rule: Rule, level: Level, field: &str, at: Place, said: (String, Option<String>)) {
        self.push(rule, level, Some(field), Some(at), said);
    }

    fn push(
        &mut self,
        rule: Rule,
        level: Level,
        field: Option<&str>,
        at: Option<Place>,
        (message, suggestion): (String, Option<String>),
    ) {
        let Subject { scope, entity } = self.subject;
        self.found.push(Finding {
            rule,
            level,
            kind: entity.kind(),
            name: entity.name().clone(),
            scope,
            field: field.map(str::to_owned),
            element: None,
            at,
            message,
            suggestion,
        });
    }
}
