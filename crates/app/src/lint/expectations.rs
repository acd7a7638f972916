//! Expectations that no test can read. `persona` knows neither regular expressions nor JSON Schema.

use persona::lint::{Finding, LintTarget, Rule};
use persona::{AnyEntity, Invalid};

/// The findings about patterns and schemas that cannot be read, the first of each test input.
pub(super) fn unreadable(targets: &[LintTarget<'_>]) -> Vec<Finding> {
    targets.iter().filter_map(unreadable_of).collect()
}

fn unreadable_of(target: &LintTarget<'_>) -> Option<Finding> {
    let AnyEntity::TestInput(input) = target.entity else { return None };
    let Invalid { field, rule } = fidelity::expectations(input).err()?;
    Some(Finding {
        rule: Rule::UnreadableExpectation,
        level: Rule::UnreadableExpectation.level(),
        kind: target.entity.kind(),
        name: input.name.clone(),
        scope: target.scope,
        field: Some(field),
        element: None,
        at: None,
        candidates: Vec::new(),
        message: rule.to_string(),
        suggestion: None,
    })
}
