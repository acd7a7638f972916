//! The scope options of commands.

use clap::Args;
use persona::{Name, Scope};

use super::vocabulary;

/// Writable scopes.
pub(super) const WRITABLE: &[Scope] = &[Scope::Shared, Scope::Global, Scope::Project];

/// The option that selects the scope of a command's entity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScopeOption {
    flag: &'static str,
    scopes: &'static [Scope],
}

impl ScopeOption {
    /// Of [`OnlyIn`].
    pub(crate) const OF_READING: Self = Self { flag: "--scope", scopes: Scope::ALL };
    /// Of [`ChangeIn`], [`DeleteIn`] and [`RecordedIn`].
    pub(crate) const OF_WRITING: Self = Self { flag: "--scope", scopes: WRITABLE };
    /// Of `duplicate` and `promote`, whose other option is the scope of the copy.
    pub(crate) const OF_COPYING: Self = Self { flag: "--from", scopes: Scope::ALL };

    /// Parses a name. `extends` takes `SCOPE:NAME`; here the error names the option instead.
    pub(crate) fn parse_name(self, word: &str) -> Result<Name, String> {
        let Self { flag, scopes } = self;
        let split = word
            .split_once(':')
            .and_then(|(scope, name)| Some((scope.parse::<Scope>().ok()?, Name::parse(name).ok()?)));
        match split {
            Some((scope, name)) if scopes.contains(&scope) => {
                Err(format!("use {flag} for the scope: `{name} {flag} {scope}`"))
            }
            Some((_, name)) => Err(format!("expected a name without a scope: `{name}`")),
            None => Name::parse(word).map_err(|error| error.to_string()),
        }
    }
}

/// Parses the name for a command with [`ChangeIn`] or [`DeleteIn`].
pub(super) fn name_to_change(word: &str) -> Result<Name, String> {
    ScopeOption::OF_WRITING.parse_name(word)
}

/// The scope to read from.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OnlyIn {
    /// Read from this scope only [default: the strongest that has it]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

/// The scope of a new entity.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct CreateIn {
    /// Scope to write to [default: project if it has a personas.toml or --project names it, else shared]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

/// The scope of a change.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ChangeIn {
    /// Scope to change [default: where its name resolves; a builtin is copied first]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

/// The scope to delete from.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DeleteIn {
    /// Scope to delete from [default: where its name resolves]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

/// The scope of a history.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RecordedIn {
    /// Scope of the history [default: the strongest that has it, or had it]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

#[cfg(test)]
mod tests {
    use persona::Scope;

    use super::ScopeOption;

    #[test]
    fn a_scope_before_a_name_is_an_error_that_names_the_option() {
        let error = |option: ScopeOption, word: &str| option.parse_name(word).expect_err("no name");
        for scope in Scope::ALL {
            let expected = format!("use --scope for the scope: `mentor --scope {scope}`");
            assert_eq!(error(ScopeOption::OF_READING, &format!("{scope}:mentor")), expected);
        }
        let builtin = |option| error(option, "builtin:mentor");
        assert_eq!(builtin(ScopeOption::OF_COPYING), "use --from for the scope: `mentor --from builtin`");
        assert_eq!(builtin(ScopeOption::OF_WRITING), "expected a name without a scope: `mentor`");
        for wrong in ["elsewhere:mentor", "builtin:men/tor", "builtin:"] {
            assert!(error(ScopeOption::OF_READING, wrong).contains("contains ':'"), "{wrong}");
        }
        assert!(ScopeOption::OF_READING.parse_name("mentor").is_ok());
    }
}
