//! What somebody meant who named a persona that is not there, and how a command is to name what is.

use app::Code;
use persona::{Kind, Name, Scope};

use crate::cli::kind_of;
use crate::failure::{Failure, Result};
use crate::session::Session;

/// What a command was asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meant<'a> {
    pub(super) command: &'static str,
    pub(super) name: &'a Name,
    /// Whether no kind was given.
    pub(super) implied: bool,
    /// The scope that was named.
    pub(super) scope: Option<Scope>,
}

/// An entity as a command about its history names it, with the scope where that is not the one that
/// the name alone would mean.
#[derive(Debug, Clone)]
pub(super) struct Named {
    subject: String,
    flag: String,
}

impl Named {
    pub(super) async fn new(kind: Kind, name: &Name, scope: Scope, session: &Session) -> Self {
        let subject = if kind == Kind::Persona { name.to_string() } else { format!("{kind} {name}") };
        let meant = session.library.recorded_scope(kind, name, None).await.ok();
        let flag = if meant == Some(scope) { String::new() } else { format!(" --scope {scope}") };
        Self { subject, flag }
    }

    /// A command line, as in `masque rollback part calm 3 --scope shared`.
    pub(super) fn command(&self, command: &str, rest: &str) -> String {
        format!("masque {command} {} {rest}{}", self.subject, self.flag)
    }
}

impl Meant<'_> {
    /// Passes on what was found. Who leaves the kind out may mean a piece, and who gives nothing but a
    /// kind has forgotten the name: that is said instead of suggesting other personas.
    pub(super) async fn found<T>(self, outcome: app::Result<T>, session: &Session) -> Result<T> {
        match outcome {
            Err(app::Error::NotFound { kind: Kind::Persona, name, near }) if self.implied => {
                let is_asked_for = name == *self.name;
                let missing = || app::Error::NotFound { kind: Kind::Persona, name, near }.into();
                if !is_asked_for {
                    return Err(missing());
                }
                let meant = self.piece(session).await.or_else(|| self.without_name());
                Err(meant.unwrap_or_else(missing))
            }
            other => Ok(other?),
        }
    }

    fn without_name(self) -> Option<Failure> {
        let Self { command, name, .. } = self;
        let kind = kind_of(name.as_str()).ok()?.as_str().replace('_', "-");
        let message =
            format!("no persona is named {name:?}; give a name after the kind: masque {command} {kind} NAME");
        Some(Failure::told(Code::NotFound, message))
    }

    async fn piece(self, session: &Session) -> Option<Failure> {
        let Self { command, name, scope, .. } = self;
        let flag = scope.map(|scope| format!(" --scope {scope}")).unwrap_or_default();
        for kind in Kind::ALL.iter().filter(|kind| **kind != Kind::Persona) {
            let names = session.library.complete_names(*kind, name.as_str(), 1).await.ok()?;
            if names.first() == Some(name) {
                let spoken = kind.spoken();
                let message = format!(
                    "no persona is named {name:?}, but a {spoken} is: masque {command} {kind} {name}{flag}"
                );
                return Some(Failure::told(Code::NotFound, message));
            }
        }
        None
    }
}
