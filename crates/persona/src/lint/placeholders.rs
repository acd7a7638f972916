//! Placeholders `${env.NAME}` that will not be expanded.

use super::texts::{Hit, tell};
use super::{Findings, LintSettings, Rule};
use crate::Scope;
use crate::env::{self, Place};

/// A placeholder that stays literal, and why.
struct Literal<'a> {
    at: usize,
    shown: &'a str,
    rule: Rule,
    scope: Scope,
}

impl Hit for Literal<'_> {
    fn at(&self) -> usize {
        self.at
    }

    fn describe(&self, place: Place) -> (String, Option<String>) {
        let name = self.shown;
        match self.rule {
            Rule::EnvNotAllowed => (
                format!("${{env.{name}}} at {place} is not allowed"),
                Some(format!("add {name:?} to [env] allow in your own config.toml, or take it out")),
            ),
            Rule::EnvUnset => (
                format!("${{env.{name}}} at {place} is not set"),
                Some(format!("set {name} in the environment")),
            ),
            Rule::EnvInDatabase => (
                format!("${{env.{name}}} at {place} is never expanded in a {} definition", self.scope),
                Some("only a personas.toml may read the environment".to_owned()),
            ),
            Rule::EnvNotFilled => (
                format!("${{env.{name}}} at {place} is never filled in here"),
                Some("only texts for a model may read the environment".to_owned()),
            ),
            _ => (
                format!("\"{}\" at {place} is not a placeholder", escaped(self.shown)),
                Some("write ${env.NAME}, with a NAME of letters, digits and \"_\"".to_owned()),
            ),
        }
    }
}

/// Escapes everything but plain ASCII, for a message.
fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii() { c.escape_default().to_string() } else { c.escape_unicode().to_string() })
        .collect()
}

pub(super) fn check(
    findings: &mut Findings<'_, '_>,
    field: &str,
    text: &str,
    is_filled: bool,
    settings: &LintSettings,
) {
    // Most texts have no placeholder.
    if !text.contains("${") {
        return;
    }
    let scope = findings.target.scope;
    let rule_of = |name: &str| match () {
        () if !scope.is_file() => Some(Rule::EnvInDatabase),
        () if !is_filled => Some(Rule::EnvNotFilled),
        () if !settings.env_allowed.contains(name) => Some(Rule::EnvNotAllowed),
        () if !settings.env_set.contains(name) => Some(Rule::EnvUnset),
        () => None,
    };
    let mut literal: Vec<Literal<'_>> = env::placeholders(text)
        .filter_map(|it| Some(Literal { at: it.at, shown: it.name, rule: rule_of(it.name)?, scope }))
        .collect();
    literal.extend(env::malformed(text).map(|(at, shown)| Literal {
        at,
        shown,
        rule: Rule::EnvMalformed,
        scope,
    }));
    let rules =
        [Rule::EnvNotAllowed, Rule::EnvUnset, Rule::EnvInDatabase, Rule::EnvNotFilled, Rule::EnvMalformed];
    for rule in rules {
        let of_rule: Vec<Literal<'_>> = literal.extract_if(.., |it| it.rule == rule).collect();
        tell(findings, rule, rule.level(), field, text, &of_rule);
    }
}
