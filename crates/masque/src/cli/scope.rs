//! Which scope a command is about.

use clap::Args;
use persona::{Name, Scope};

use super::vocabulary;

/// The scopes that can be written to.
pub(super) const WRITABLE: &[Scope] = &[Scope::Shared, Scope::Global, Scope::Project];

/// The option with which a command is told the scope of what it is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScopeOption {
    flag: &'static str,
    scopes: &'static [Scope],
}

impl ScopeOption {
    /// As [`OnlyIn`] has it.
    pub(crate) const OF_READING: Self = Self { flag: "--scope", scopes: Scope::ALL };
    /// As [`ChangeIn`], [`DeleteIn`] and [`RecordedIn`] have it.
    pub(crate) const OF_WRITING: Self = Self { flag: "--scope", scopes: WRITABLE };
    /// As `duplicate` and `promote` have it, which name the scope of the copy as well.
    pub(crate) const OF_COPYING: Self = Self { flag: "--from", scopes: Scope::ALL };

    /// Reads a name. `extends` takes a scope before one, so that somebody will write it here too, and
    /// is told the option.
    pub(crate) fn name_beside(self, word: &str) -> Result<Name, String> {
        let Self { flag, scopes } = self;
        let split = word
            .split_once(':')
            .and_then(|(scope, name)| Some((scope.parse::<Scope>().ok()?, Name::parse(name).ok()?)));
        match split {
            Some((scope, name)) if scopes.contains(&scope) => {
                Err(format!("a scope is an option: write `{name} {flag} {scope}`"))
            }
            Some((_, name)) => Err(format!("a scope does not stand before a name here; write `{name}`")),
            None => Name::parse(word).map_err(|error| error.to_string()),
        }
    }
}

/// Reads the name of what a command with [`OnlyIn`] is about.
pub(super) fn name_to_read(word: &str) -> Result<Name, String> {
    ScopeOption::OF_READING.name_beside(word)
}

/// Reads the name of what a command with [`ChangeIn`] or [`DeleteIn`] is about.
pub(super) fn name_to_change(word: &str) -> Result<Name, String> {
    ScopeOption::OF_WRITING.name_beside(word)
}

/// Reads the name of what goes from one scope to another.
pub(super) fn name_to_carry(word: &str) -> Result<Name, String> {
    ScopeOption::OF_COPYING.name_beside(word)
}

/// Where a reading command looks.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OnlyIn {
    /// Only in this scope [default: the strongest that has it]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

/// Where something new is written.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct CreateIn {
    /// Where to write it [default: project if it has a personas.toml or --project names it, else shared]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

/// Where a change is written.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ChangeIn {
    /// Where to change it [default: where it is found; a builtin is copied first]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

/// Where something is deleted.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DeleteIn {
    /// Where to delete it [default: where it is found]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

/// Which scope's history is meant.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RecordedIn {
    /// What this scope had [default: the strongest that has it, or had it]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}

#[cfg(test)]
mod tests {
    use persona::Scope;

    use super::ScopeOption;

    #[test]
    fn a_scope_before_a_name_is_told_as_an_option() {
        let told = |option: ScopeOption, word: &str| option.name_beside(word).expect_err("no name");
        for scope in Scope::ALL {
            let expected = format!("a scope is an option: write `mentor --scope {scope}`");
            assert_eq!(told(ScopeOption::OF_READING, &format!("{scope}:mentor")), expected);
        }
        let write = |option| told(option, "builtin:mentor");
        assert_eq!(write(ScopeOption::OF_COPYING), "a scope is an option: write `mentor --from builtin`");
        assert_eq!(
            write(ScopeOption::OF_WRITING),
            "a scope does not stand before a name here; write `mentor`"
        );
        for wrong in ["elsewhere:mentor", "builtin:men/tor", "builtin:"] {
            assert!(told(ScopeOption::OF_READING, wrong).contains("contains ':'"), "{wrong}");
        }
        assert!(ScopeOption::OF_READING.name_beside("mentor").is_ok());
    }
}
