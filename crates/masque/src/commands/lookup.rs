//! Errors for names that are not found, and command lines that name an entity.

use app::Code;
use persona::{Kind, Name, Scope};

use crate::cli::kind_of;
use crate::failure::{Failure, Result};
use crate::workspace::Workspace;

/// A name to look up for a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookup<'a> {
    pub(super) command: &'static str,
    pub(super) name: &'a Name,
    /// True if no kind was given.
    pub(super) implied: bool,
    /// The requested scope.
    pub(super) scope: Option<Scope>,
}

/// The arguments that name an entity in commands about its history. Includes the scope if the name alone
/// resolves to another one.
#[derive(Debug, Clone)]
pub(super) struct CommandSubject {
    subject: String,
    flag: String,
}

impl CommandSubject {
    pub(super) async fn new(kind: Kind, name: &Name, scope: Scope, workspace: &Workspace) -> Self {
        let subject = if kind == Kind::Persona { name.to_string() } else { format!("{kind} {name}") };
        let resolved = workspace.library.recorded_scope(kind, name, None).await.ok();
        let flag = if resolved == Some(scope) { String::new() } else { format!(" --scope {scope}") };
        Self { subject, flag }
    }

    /// A command line such as `masque rollback part calm 3 --scope shared`.
    pub(super) fn command(&self, command: &str, rest: &str) -> String {
        format!("masque {command} {} {rest}{}", self.subject, self.flag)
    }
}

impl Lookup<'_> {
    /// Returns the result. If no persona was found and no kind was given, the error suggests a piece of
    /// that name, or a missing name after a kind.
    pub(super) async fn resolve<T>(self, outcome: app::Result<T>, workspace: &Workspace) -> Result<T> {
        match outcome {
            Err(app::Error::NotFound { kind: Kind::Persona, name, near }) if self.implied => {
                let is_this_name = name == *self.name;
                let missing = || app::Error::NotFound { kind: Kind::Persona, name, near }.into();
                if !is_this_name {
                    return Err(missing());
                }
                let better = self.piece(workspace).await.or_else(|| self.without_name());
                Err(better.unwrap_or_else(missing))
            }
            other => Ok(other?),
        }
    }

    fn without_name(self) -> Option<Failure> {
        let Self { command, name, .. } = self;
        let kind = kind_of(name.as_str()).ok()?.as_str().replace('_', "-");
        let message =
            format!("no persona is named {name:?}; a kind needs a name: `masque {command} {kind} NAME`");
        Some(Failure::told(Code::NotFound, message))
    }

    async fn piece(self, workspace: &Workspace) -> Option<Failure> {
        let Self { command, name, scope, .. } = self;
        let flag = scope.map(|scope| format!(" --scope {scope}")).unwrap_or_default();
        for kind in Kind::ALL.iter().filter(|kind| **kind != Kind::Persona) {
            let names = workspace.library.complete_names(*kind, name.as_str(), 1).await.ok()?;
            if names.first() == Some(name) {
                let spoken = kind.spoken();
                let message = format!(
                    "no persona is named {name:?}, but a {spoken} is: `masque {command} {kind} {name}{flag}`"
                );
                return Some(Failure::told(Code::NotFound, message));
            }
        }
        None
    }
}
