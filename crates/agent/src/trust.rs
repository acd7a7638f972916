//! Trust in a persona's own approvals.

use persona::Scope;

/// True if a preset's `auto` counts for a persona whose definition, bases and presets come from these
/// scopes. The user's own file, the shared library and the builtins as shipped count; a project's
/// file counts only if the user trusts the project. One foreign definition among them is enough for
/// every tool that can act to ask.
pub fn auto_counts(scopes: impl IntoIterator<Item = Scope>, trusts_project: bool) -> bool {
    scopes.into_iter().all(|scope| match scope {
        Scope::Builtin | Scope::Shared | Scope::Global => true,
        Scope::Project => trusts_project,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: bool) {
        let words: Vec<&str> = script.split_whitespace().collect();
        let scopes = words.iter().filter(|word| **word != "trusted");
        let scopes = scopes.map(|word| word.parse().expect("a scope"));
        assert_eq!(auto_counts(scopes, words.contains(&"trusted")), expected, "{script}");
    }

    #[test]
    fn only_an_untrusted_project_is_foreign() {
        check("", true);
        check("builtin", true);
        check("shared", true);
        check("global", true);
        check("project", false);
        check("project trusted", true);
        check("global builtin shared", true);
        check("global project", false);
        check("project global builtin", false);
        check("global project trusted", true);
    }
}
