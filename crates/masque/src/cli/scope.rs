//! Which scope a command is about.

use clap::Args;
use persona::Scope;

use super::vocabulary;

/// The scopes that can be written to.
pub(super) const WRITABLE: &[Scope] = &[Scope::Shared, Scope::Global, Scope::Project];

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

/// Which scope's history is meant.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RecordedIn {
    /// What this scope had [default: the strongest that has it, or had it]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) scope: Option<Scope>,
}
