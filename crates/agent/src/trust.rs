//! Trust in approvals: `auto` counts only where the user granted it.

use persona::{Scope, ToolPreset};
use sha2::{Digest as _, Sha256};

/// The user's grants, as far as they concern one persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// True if the user trusts the project's file as it is.
    pub project: bool,
    /// True if the user confirmed the content of every shared preset of the persona that says `auto`.
    pub presets: bool,
}

/// True if a preset's `auto` counts for a persona whose definition, bases and presets come from these
/// scopes. The user's own file and the builtins as shipped count. Anyone who can write to the shared
/// library or to a project's file can define the others: they count if the user granted them. One foreign
/// definition is enough for every tool that can act to ask.
pub fn auto_counts(scopes: impl IntoIterator<Item = Scope>, granted: Granted) -> bool {
    scopes.into_iter().all(|scope| match scope {
        Scope::Builtin | Scope::Global => true,
        Scope::Shared => granted.presets,
        Scope::Project => granted.project,
    })
}

/// True if the user has to confirm a preset from this scope before its `auto` counts.
pub fn needs_confirmation(preset: &ToolPreset, scope: Scope) -> bool {
    scope == Scope::Shared && preset.auto_tools().next().is_some()
}

/// The hash by which the user confirms a preset. Any change of the preset changes it.
pub fn preset_hash(preset: &ToolPreset) -> String {
    content_hash(&serde_json::to_string(preset).unwrap_or_default())
}

/// The hash of a text that a user decides about.
pub fn content_hash(text: &str) -> String {
    format!("sha256:{:x}", Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::tests::preset;

    #[track_caller]
    fn check(script: &str, expected: bool) {
        let words: Vec<&str> = script.split_whitespace().collect();
        let scopes = words.iter().filter(|word| !["trusted", "confirmed"].contains(word));
        let scopes = scopes.map(|word| word.parse().expect("a scope"));
        let granted = Granted { project: words.contains(&"trusted"), presets: words.contains(&"confirmed") };
        assert_eq!(auto_counts(scopes, granted), expected, "{script}");
    }

    #[test]
    fn only_the_user_grants() {
        check("", true);
        check("builtin", true);
        check("global", true);
        check("global builtin", true);
        check("shared", false);
        check("builtin shared", false);
        check("global shared", false);
        check("shared trusted", false);
        check("shared confirmed", true);
        check("project", false);
        check("project trusted", true);
        check("project confirmed", false);
        check("global project", false);
        check("global shared confirmed", true);
        check("project shared trusted", false);
        check("project shared trusted confirmed", true);
    }

    #[test]
    fn a_preset_that_approves_nothing_needs_no_confirmation() {
        let needs = |script: &str, scope| needs_confirmation(&preset(script), scope);
        assert!(needs("all: *=auto", Scope::Shared));
        assert!(needs("all: read_file write_file=auto", Scope::Shared));
        assert!(!needs("all: read_file write_file=ask", Scope::Shared));
        assert!(!needs("all: *=auto", Scope::Builtin));
        assert!(!needs("all: *=auto", Scope::Global));
    }

    #[test]
    fn a_changed_preset_has_another_hash() {
        let hash = preset_hash(&preset("all: read_file=auto"));
        assert_eq!(hash, preset_hash(&preset("all: read_file=auto")));
        assert_ne!(hash, preset_hash(&preset("all: *=auto")));
        assert_ne!(hash, preset_hash(&preset("all: read_file=auto write_file=auto")));
    }
}
