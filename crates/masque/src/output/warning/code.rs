//! The closed vocabulary of warnings on standard error. docs/errors.md lists it; a test compares the two.

/// Declares every code once: its variant, its word and its meaning.
macro_rules! codes {
    ($($variant:ident = $word:literal, $meaning:literal;)+) => {
        /// The warning as a word that stays the same when the message changes. A warning about a file has
        /// the code of its error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum WarningCode { $(#[doc = $meaning] $variant),+ }

        impl WarningCode {
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        #[cfg(test)]
        const MEANINGS: &[(&str, &str)] = &[$(($word, $meaning)),+];
    };
}

codes! {
    UnknownSetting = "unknown_setting", "The configuration has a key that has no effect.";
    ForeignProject = "foreign_project", "A personas.toml is not read, because another user owns its directory.";
    LinkedProject = "linked_project", "A personas.toml is not read, because it is a link out of its project.";
    MadePrivate = "made_private", "Other users could read a file of yours; now only you can.";
    ReadOnlyLibrary = "read_only_library", "The library cannot be written.";
    ConnectionsIgnored = "connections_ignored", "MCP servers and providers in your own personas.toml have no effect.";
    UntrustedConnections = "untrusted_connections", "The project's MCP servers or providers are not used until you trust it.";
    InvalidConnection = "invalid_connection", "An MCP server or provider of the project is skipped.";
    TrustChanged = "trust_changed", "The project changed since you trusted it.";
    TrustUnreadable = "trust_unreadable", "The list of trusted projects cannot be used.";
    WideRoot = "wide_root", "Tools can read and change everything in your home directory, a directory above it, or on the machine.";
    LocalModel = "local_model", "A model on this machine answers, because no provider has a key.";
    ModelSkipped = "model_skipped", "A model that the persona prefers cannot answer.";
    CallsRefused = "calls_refused", "Calls were refused, because no user could be asked.";
    LastValidVersion = "last_valid_version", "Entries with errors keep their last valid version until fixed.";
    NoRuntime = "no_runtime", "Personas cannot be tested here, because no runtime could be opened.";
    NewToken = "new_token", "The server has a new token, because other users could read the old one or it cannot be stored.";
    TracesOff = "traces_off", "No traces are sent, because their settings are invalid.";
    Lint = "lint", "Lint found something in the entity that was written; `rule` names it.";
}

#[cfg(test)]
mod tests {
    use super::MEANINGS;

    #[test]
    fn the_documentation_lists_all_of_them() {
        let docs = include_str!("../../../../../docs/errors.md");
        for (code, meaning) in MEANINGS {
            let row = format!("| `{code}` | {meaning} |");
            assert!(docs.contains(&row), "docs/errors.md lacks this row:\n{row}");
        }
    }
}
