//! Lint: finds errors in definitions, and text that its author probably did not mean.
//!
//! Pure: the caller passes the definitions to check, the [`OtherDefinitions`] and the [`LintSettings`].
//! References resolve as everywhere: from a definition's own scope downwards, or in the scope that
//! they name.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::env::{self, Place};
use crate::{AnyEntity, Kind, Name, Scope, TokenCounter};

mod rule;
pub use rule::{Level, Rule};

mod outline;
pub use outline::{Outline, PieceOutline, outlines};
mod known;
use known::Known;

mod expectations;
mod references;
mod resolved;
use resolved::TypesByArc;
mod size;

mod hidden;
pub use hidden::is_visible;
mod lookalike;
mod placeholders;
mod secret;
mod texts;
use texts::Hit as _;

/// A definition to check.
#[derive(Debug, Clone, Copy)]
pub struct LintTarget<'a> {
    pub scope: Scope,
    pub entity: &'a AnyEntity,
}

/// The definitions that are not targets. A target hides the definition of its name: it may be a
/// draft of it.
pub trait OtherDefinitions {
    /// The definition of this name in exactly this scope.
    fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<Outline<'_>>;

    /// True if this one is checked at another time.
    fn is_checked(&self, scope: Scope, kind: Kind, name: &Name) -> bool;

    /// Names of a kind that a definition in `scope` sees, as candidates for `wanted`. Lint picks the nearest;
    /// a large store may return near ones only.
    fn names(&self, scope: Scope, kind: Kind, wanted: &Name) -> Vec<Name>;

    /// True if a definition that is not a target uses this one, or may use it.
    fn is_used(&self, scope: Scope, kind: Kind, name: &Name) -> bool;

    /// True if exactly this scope has, or may have, an unreadable definition of this name. References to it
    /// are not reported.
    fn is_unread(&self, scope: Scope, kind: Kind, name: &Name) -> bool;
}

/// Facts that the rules need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintSettings {
    /// The most tokens of a part that is not long.
    pub part_tokens: usize,
    /// The configured providers. `None` if unknown; then no rule checks them.
    pub providers: Option<BTreeSet<String>>,
    /// Further providers to suggest for a misspelt one.
    pub other_providers: BTreeSet<String>,
    /// The names on the user's own `[env] allow` list.
    pub env_allowed: BTreeSet<String>,
    /// The allowed names that are set.
    pub env_set: BTreeSet<String>,
}

impl LintSettings {
    /// The default threshold.
    pub const PART_TOKENS: usize = 1_500;
}

impl Default for LintSettings {
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

/// A finding of a rule.
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
    /// The name in the field, if the finding is about one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// The place in the field's text, if the finding has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The names that may have been meant, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// The problem. Names hidden characters without repeating them, and never shows a whole secret.
    pub message: String,
    /// The remedy.
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

/// Checks all targets at once. Findings are sorted by scope, kind, name, field and rule; within a text,
/// by place.
pub fn lint(
    targets: &[LintTarget<'_>],
    others: &dyn OtherDefinitions,
    settings: &LintSettings,
    counter: &dyn TokenCounter,
) -> Vec<Finding> {
    let mut linter = Linter::new(settings, counter);
    let Checked { findings: mut found, used } = linter.check(targets, others);
    found.extend(linter.check_arcs(targets, others));
    for LintTarget { scope, entity } in targets {
        let (kind, name) = (entity.kind(), entity.name());
        let is_used = || used.contains(&(*scope, kind, name.clone()));
        found.extend(unused(*scope, kind, name, others).filter(|_| !is_used()));
    }
    sort(&mut found);
    found
}

fn sort(found: &mut [Finding]) {
    fn place(it: &Finding) -> (Scope, Kind, &Name, Option<&str>, Rule) {
        (it.scope, it.kind, &it.name, it.field.as_deref(), it.rule)
    }
    found.sort_by(|a, b| place(a).cmp(&place(b)));
}

/// Checks targets in portions, for libraries that do not fit into memory. All targets come once through
/// [`Linter::check`], then the arcs through [`Linter::check_arcs`] and pieces through [`unused`].
pub struct Linter<'s> {
    settings: &'s LintSettings,
    counter: &'s dyn TokenCounter,
    types_by_arc: TypesByArc,
}

impl fmt::Debug for Linter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linter").field("settings", self.settings).finish_non_exhaustive()
    }
}

/// The findings of a portion, and the definitions that it uses.
#[derive(Debug)]
pub struct Checked {
    pub findings: Vec<Finding>,
    pub used: HashSet<(Scope, Kind, Name)>,
}

impl<'s> Linter<'s> {
    pub fn new(settings: &'s LintSettings, counter: &'s dyn TokenCounter) -> Self {
        Self { settings, counter, types_by_arc: TypesByArc::new() }
    }

    /// Applies the rules that need a target and the definitions that it refers to.
    pub fn check(&mut self, targets: &[LintTarget<'_>], others: &dyn OtherDefinitions) -> Checked {
        let known = Known::new(targets, others);
        let mut found = Vec::new();
        for target in targets {
            let mut findings = Findings { target: *target, found: &mut found };
            references::check(&mut findings, &known, self.settings);
            size::check(&mut findings, self.settings, self.counter);
            texts::check(&mut findings, self.settings);
            expectations::check(&mut findings, &known);
        }
        resolved::check_personas(targets, &known, &mut self.types_by_arc, &mut found);
        sort(&mut found);
        Checked { findings: found, used: references::used(targets, &known) }
    }

    /// Checks only the references of targets, such as entries of which some fields cannot be read.
    pub fn check_references(
        &self,
        targets: &[LintTarget<'_>],
        others: &dyn OtherDefinitions,
    ) -> Vec<Finding> {
        let known = Known::new(targets, others);
        let mut found = Vec::new();
        for target in targets {
            references::check(&mut Findings { target: *target, found: &mut found }, &known, self.settings);
        }
        sort(&mut found);
        found
    }

    /// Applies the rules for arcs together with all personas that have them.
    pub fn check_arcs(&self, targets: &[LintTarget<'_>], others: &dyn OtherDefinitions) -> Vec<Finding> {
        let mut found = Vec::new();
        resolved::check_arcs(targets, &Known::new(targets, others), &self.types_by_arc, &mut found);
        sort(&mut found);
        found
    }
}

/// The finding about a definition that no target uses. `None` if another definition uses it, or if its
/// kind needs no users.
pub fn unused(scope: Scope, kind: Kind, name: &Name, others: &dyn OtherDefinitions) -> Option<Finding> {
    references::unused(scope, kind, name, others)
}

/// The likely secrets in a text outside of definitions: place and message.
pub fn secrets(text: &str) -> Vec<(Place, String)> {
    let mut places = env::Places::new(text);
    let found = secret::find(text);
    let tell = |hit: &secret::Secret<'_>| {
        let place = places.at(hit.at());
        (place, hit.describe(place).0)
    };
    found.iter().map(tell).collect()
}

/// Collects the findings about one target.
struct Findings<'a, 'f> {
    target: LintTarget<'a>,
    found: &'f mut Vec<Finding>,
}

impl Findings<'_, '_> {
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

    /// Adds a finding about one of the names in a field.
    fn add_named(&mut self, rule: Rule, field: &str, element: &str, words: (String, Option<String>)) {
        self.push(rule, rule.level(), Some(field), None, words);
        if let Some(added) = self.found.last_mut() {
            added.element = Some(element.to_owned());
        }
    }

    /// Adds names that may have been meant to the last finding.
    fn with_candidates(&mut self, candidates: Vec<String>) {
        if let Some(added) = self.found.last_mut() {
            added.candidates = candidates;
        }
    }

    /// Adds a finding at a place in a field's text.
    fn add_at(&mut self, rule: Rule, level: Level, field: &str, at: Place, words: (String, Option<String>)) {
        self.push(rule, level, Some(field), Some(at), words);
    }

    fn push(
        &mut self,
        rule: Rule,
        level: Level,
        field: Option<&str>,
        at: Option<Place>,
        (message, suggestion): (String, Option<String>),
    ) {
        let LintTarget { scope, entity } = self.target;
        let finding = Finding::new(rule, (scope, entity.kind(), entity.name()), message);
        let field = field.map(str::to_owned);
        self.found.push(Finding { level, field, at, suggestion, ..finding });
    }
}

impl Finding {
    /// A finding about a definition as a whole.
    fn new(rule: Rule, (scope, kind, name): (Scope, Kind, &Name), message: String) -> Self {
        Self {
            rule,
            level: rule.level(),
            kind,
            name: name.clone(),
            scope,
            field: None,
            element: None,
            at: None,
            candidates: Vec::new(),
            message,
            suggestion: None,
        }
    }
}
