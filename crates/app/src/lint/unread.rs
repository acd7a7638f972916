//! Files and entries that cannot be read now. Their last valid version is in force, which differs from
//! their text.

use std::collections::BTreeSet;

use files::{Problem, ProblemLevel};
use persona::{Kind, Name, Scope};

#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Files that cannot be read as a whole.
    files: BTreeSet<Scope>,
    entries: BTreeSet<(Scope, Kind, String)>,
}

impl Unread {
    /// Collects errors with the scopes of their files.
    pub(super) fn of(problems: impl IntoIterator<Item = (Scope, Problem)>) -> Self {
        let mut unread = Self::default();
        for (scope, problem) in
            problems.into_iter().filter(|(_, problem)| problem.level == ProblemLevel::Error)
        {
            match problem.entry {
                Some((kind, name)) => unread.entries.extend([(scope, kind, name)]),
                // A file whose history failed is readable.
                None if problem.in_force.is_some() => unread.files.extend([scope]),
                None => {}
            }
        }
        unread
    }

    /// True if a scope may have an unreadable entity of this name.
    pub(super) fn has(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.files.contains(&scope) || self.entries.contains(&(scope, kind, name.to_string()))
    }

    /// True if a scope's file cannot be read as a whole.
    pub(super) fn has_file(&self, scope: Scope) -> bool {
        self.files.contains(&scope)
    }

    /// True if an unreadable entry may use a definition of this scope.
    pub(super) fn may_use(&self, scope: Scope) -> bool {
        let uses = |kind: Kind| matches!(kind, Kind::Persona | Kind::Arc);
        self.files.iter().any(|file| *file >= scope)
            || self.entries.iter().any(|(of, kind, _)| *of >= scope && uses(*kind))
    }
}
