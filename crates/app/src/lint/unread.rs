//! What of the files cannot be read now: its last good state is in force, and what is written is
//! another text.

use std::collections::BTreeSet;

use files::{Level, Problem};
use persona::{Kind, Name, Scope};

#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Files that cannot be read as a whole.
    files: BTreeSet<Scope>,
    entries: BTreeSet<(Scope, Kind, String)>,
}

impl Unread {
    /// Takes mistakes with the scopes of their files.
    pub(super) fn of(problems: impl IntoIterator<Item = (Scope, Problem)>) -> Self {
        let mut unread = Self::default();
        for (scope, problem) in problems.into_iter().filter(|(_, problem)| problem.level == Level::Error) {
            match problem.entry {
                Some((kind, name)) => unread.entries.extend([(scope, kind, name)]),
                // One that is merely not in its history is read all the same.
                None if problem.in_force.is_some() => unread.files.extend([scope]),
                None => {}
            }
        }
        unread
    }

    /// Whether a scope may have something of this name that cannot be read.
    pub(super) fn has(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.files.contains(&scope) || self.entries.contains(&(scope, kind, name.to_string()))
    }

    /// Whether anything that cannot be read may use a definition.
    pub(super) fn may_use(&self, scope: Scope) -> bool {
        let uses = |kind: Kind| matches!(kind, Kind::Persona | Kind::Arc);
        self.files.iter().any(|file| *file >= scope)
            || self.entries.iter().any(|(of, kind, _)| *of >= scope && uses(*kind))
    }
}
