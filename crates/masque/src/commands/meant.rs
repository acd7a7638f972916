//! What somebody meant who named a persona that is not there.

use app::ErrorKind;
use persona::{Kind, Name};

use crate::failure::{Failure, Result};
use crate::session::Session;

/// What a command was asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meant<'a> {
    pub(super) command: &'static str,
    pub(super) name: &'a Name,
    /// Whether no kind was given.
    pub(super) implied: bool,
}

impl Meant<'_> {
    /// Passes on what was found. Who leaves the kind out may mean a piece: that is said instead of
    /// suggesting other personas.
    pub(super) async fn found<T>(self, outcome: app::Result<T>, session: &Session) -> Result<T> {
        match outcome {
            Err(app::Error::Missing { kind: Kind::Persona, name, hint }) if self.implied => {
                let piece = if name == *self.name { self.piece(session).await } else { None };
                Err(piece.unwrap_or_else(|| app::Error::Missing { kind: Kind::Persona, name, hint }.into()))
            }
            other => Ok(other?),
        }
    }

    async fn piece(self, session: &Session) -> Option<Failure> {
        let Self { command, name, .. } = self;
        for kind in Kind::ALL.iter().filter(|kind| **kind != Kind::Persona) {
            let names = session.library.complete_names(*kind, name.as_str(), 1).await.ok()?;
            if names.first() == Some(name) {
                let spoken = kind.spoken();
                let message = format!(
                    "no persona is named {name:?}, but a {spoken} is: masque {command} {kind} {name}"
                );
                return Some(Failure::told(ErrorKind::Missing, message));
            }
        }
        None
    }
}
