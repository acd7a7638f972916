//! One run of the editing agent: its persona, its author, and the changes that it makes.

use std::sync::Arc;

use futures::future::BoxFuture;
use persona::{Kind, Meta, Name, Persona, Scope, Stored};
use scopes::Guard;
use uuid::Uuid;

use super::halving;
use super::journal::{Change, EditingEvent, Knowledge, Seen};
use super::planning::Planning;
use super::question;
use super::tool::{EditError, ToolOutput, ToolResult};
use crate::outputs::{Deleted, EntityRef, WriteAction, Written};
use crate::{Author, Library, Result, Runtime};

/// The front that changes of the editing agent are recorded under. It is not the user's own: whatever needs
/// the user's hand, such as an approval in the user's own file, is refused.
pub(super) const FRONT: &str = "editor";

/// The newest revisions of an entity among which a change is looked up.
const RECENT_REVISIONS: usize = 8;

/// The fields of the persona that the agent must have read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PersonaReading {
    /// Those of `get_persona`.
    Main,
    Whole,
}

/// The tools of a run act on this.
#[derive(Debug)]
pub(crate) struct EditingRun {
    pub(super) runtime: Runtime,
    pub(super) session: Uuid,
    pub(super) persona: Name,
    pub(super) author: Author,
    /// The user's message, as the reason of every change.
    pub(super) reason: String,
    /// The library, where locked fields stay as they are. That of a planning turn takes changes as proposals.
    library: Library,
    guard: Arc<Guard>,
    planning: Option<Planning>,
}

impl EditingRun {
    pub(crate) fn new(
        runtime: Runtime,
        session: Uuid,
        persona: Name,
        author: Option<Author>,
        message: &str,
    ) -> Self {
        let who = author.map_or_else(|| FRONT.to_owned(), |author| author.who);
        let guard = Arc::new(Guard::asking(halving::asks));
        let library = runtime.library().guarded(Arc::clone(&guard));
        let (author, reason) = (Author::new(who, FRONT), reason(message));
        Self { runtime, session, persona, author, reason, library, guard, planning: None }
    }

    /// The same run, whose changes are only proposed.
    pub(crate) fn only_planning(self) -> Self {
        let planning = Planning::new();
        let library = self.library.proposing(Arc::clone(&planning.proposal));
        Self { library, planning: Some(planning), ..self }
    }

    pub(super) fn is_planning(&self) -> bool {
        self.planning.is_some()
    }

    pub(super) fn library(&self) -> &Library {
        &self.library
    }

    /// Runs a tool that reads or changes entities of the persona.
    pub(super) async fn complete(&self, tool: BoxFuture<'_, ToolResult>) -> ToolOutput {
        match &self.planning {
            Some(planning) => planning.perform(&self.reason, tool).await,
            None => {
                let output = tool.await.unwrap_or_else(|error| error.output());
                // Tools that write run one after the other, so the questions are this tool's.
                question::settle(output, self.guard.take_questions(), &self.reason)
            }
        }
    }

    /// The library, to take back what the agent did: only locks stand in the way.
    pub(super) fn undoing(&self) -> Library {
        self.runtime.library().guarded(Arc::new(Guard::of_locks()))
    }

    pub(super) fn message(&self) -> Option<String> {
        Some(self.reason.clone())
    }

    /// What the session has read and changed so far.
    pub(super) async fn knowledge(&self) -> Result<Knowledge> {
        let knowledge = Knowledge::of(self.runtime.notes(self.session).await?);
        Ok(match &self.planning {
            Some(planning) => planning.extend(knowledge),
            None => knowledge,
        })
    }

    /// The edited persona as it is now.
    pub(super) async fn persona(&self) -> Result<Stored<Persona>> {
        self.library().edited_persona(&self.persona).await
    }

    /// The revision that an addition to the persona is based on: the one that the session saw last, else the
    /// present one.
    pub(super) async fn base_revision(&self) -> Result<i64> {
        match self.knowledge().await?.revision(Kind::Persona, &self.persona) {
            Some(seen) => Ok(seen),
            None => Ok(self.persona().await?.meta.revision),
        }
    }

    /// The revision that a change of fields of the persona is based on. Fails unless the session has read
    /// all of them, or those that `get_persona` shows.
    pub(super) async fn read_revision(&self, reading: PersonaReading) -> std::result::Result<i64, EditError> {
        let knowledge = self.knowledge().await?;
        let (kind, name) = (Kind::Persona, &self.persona);
        let (revision, tool) = match reading {
            PersonaReading::Main => (knowledge.revision(kind, name), "get_persona"),
            PersonaReading::Whole => (knowledge.whole_revision(kind, name), "get_entity"),
        };
        revision.ok_or_else(|| EditError::NotRead { kind, name: name.clone(), tool })
    }

    /// The scope that changes of the persona go to.
    pub(super) fn scope_of(&self, meta: &Meta) -> Scope {
        match meta.scope {
            Scope::Builtin => self.library().default_scope(),
            scope => scope,
        }
    }

    /// Copies a builtin persona, so that it uses the pieces that are about to change. Returns the changes.
    pub(super) async fn copy_builtin(&self, meta: &Meta) -> Result<Vec<Change>> {
        if meta.scope != Scope::Builtin {
            return Ok(Vec::new());
        }
        let scope = self.scope_of(meta);
        let copied =
            self.library().copy_for_editing(&self.author, &self.persona, scope, self.message()).await?;
        match self.is_planning() {
            true => Ok(Vec::new()),
            false => self.made(scope, &copied, Made::Copied).await,
        }
    }

    /// The changes of a write, those of copied builtins first.
    pub(super) async fn changes_of(&self, written: &Written) -> Result<Vec<Change>> {
        let Written { kind, name, scope, revision, action, changed, created, copied, .. } = written;
        if !changed || self.is_planning() {
            return Ok(Vec::new());
        }
        let is_itself = |entity: &&EntityRef| entity.kind == *kind && entity.name == *name;
        let others = |made: &[EntityRef]| -> Vec<EntityRef> {
            made.iter().filter(|entity| !is_itself(entity)).cloned().collect()
        };
        let mut changes = self.made(*scope, &others(copied), Made::Copied).await?;
        changes.extend(self.made(*scope, &others(created), Made::New).await?);
        let copied = copied.iter().any(|entity| is_itself(&entity));
        let is_new = *action == WriteAction::Created || copied;
        let before = match is_new {
            true => None,
            false => self.revision_before(*scope, *kind, name, *revision).await?,
        };
        let (kind, name, scope) = (*kind, name.clone(), *scope);
        changes.push(Change { kind, name, scope, before, after: *revision, deleted: false, copied });
        Ok(changes)
    }

    /// The changes of a deletion: the entity, and what was linked to it.
    pub(super) async fn changes_of_deletion(&self, deleted: &Deleted) -> Result<Vec<Change>> {
        if !deleted.deleted || self.is_planning() {
            return Ok(Vec::new());
        }
        let Deleted { kind, name, scope, unlinked, .. } = deleted;
        let mut changes = Vec::new();
        for EntityRef { kind, name } in unlinked {
            changes.extend(self.latest(*scope, *kind, name).await?);
        }
        let gone = self.latest(*scope, *kind, name).await?;
        changes.extend(gone.map(|change| Change { deleted: true, ..change }));
        Ok(changes)
    }

    /// A deletion with its revision.
    pub(super) async fn deletion(&self, change: &Change) -> Result<Change> {
        let latest = self.latest(change.scope, change.kind, &change.name).await?;
        let after = latest.map_or(change.after, |latest| latest.after);
        Ok(Change { after, ..change.clone() })
    }

    /// Entities that their scope did not have before.
    async fn made(&self, scope: Scope, entities: &[EntityRef], made: Made) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for EntityRef { kind, name } in entities {
            let latest = self.latest(scope, *kind, name).await?;
            let copied = made == Made::Copied;
            changes.extend(latest.map(|change| Change { before: None, copied, ..change }));
        }
        Ok(changes)
    }

    /// The newest change of an entity that this run made.
    async fn latest(&self, scope: Scope, kind: Kind, name: &Name) -> Result<Option<Change>> {
        let history = self.library().scopes.history(scope, kind, name, RECENT_REVISIONS).await?;
        let is_own = |revision: &&store::Revision| {
            revision.front == FRONT && revision.message.as_deref() == Some(&self.reason)
        };
        let Some(after) = history.iter().find(is_own).map(|revision| revision.revision) else {
            return Ok(None);
        };
        let before = self.revision_before(scope, kind, name, after).await?;
        Ok(Some(Change { kind, name: name.clone(), scope, before, after, deleted: false, copied: false }))
    }

    /// The revision of an entity before another one. `None` if it was not there then.
    async fn revision_before(
        &self,
        scope: Scope,
        kind: Kind,
        name: &Name,
        after: i64,
    ) -> Result<Option<i64>> {
        let history = self.library().scopes.history(scope, kind, name, RECENT_REVISIONS).await?;
        let earlier = history.iter().find(|revision| revision.revision < after);
        Ok(earlier.filter(|revision| revision.action != DELETED).map(|revision| revision.revision))
    }
}

/// How an entity came into its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    New,
    Copied,
}

/// The word of a deletion in the history.
const DELETED: &str = store::Action::Delete.as_str();

/// A message as the reason of a revision: its beginning, if it is long.
fn reason(message: &str) -> String {
    const CUT: &str = "…";
    let most = persona::limits::MESSAGE_BYTES;
    let mut text = message.trim().replace('\0', "\u{FFFD}");
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most - CUT.len()));
        text.push_str(CUT);
    }
    text
}

/// The event of a read of some fields.
pub(super) fn read_event<T>(kind: Kind, name: &Name, stored: &Stored<T>) -> EditingEvent {
    let Meta { scope, revision, .. } = stored.meta;
    let seen = Seen { kind, name: name.clone(), scope, revision, partly: true };
    EditingEvent::EntitiesRead { entities: vec![seen] }
}

/// Fails unless the persona itself names a piece. Pieces of its bases belong to the bases.
pub(super) fn check_linked(persona: &Persona, kind: Kind, name: &Name) -> std::result::Result<(), EditError> {
    use persona::Entity as _;
    let is_linked = persona.references().iter().any(|known| known.kind == kind && known.name == *name);
    match is_linked {
        true => Ok(()),
        false => Err(EditError::NotLinked { kind, name: name.clone(), persona: persona.name.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn a_reason_fits_into_the_history() {
        assert_eq!(reason("  drier, please \n"), "drier, please");
        assert_eq!(reason("a\0b"), "a\u{FFFD}b");
        let long = reason(&"é".repeat(5_000));
        assert!(long.len() <= persona::limits::MESSAGE_BYTES && long.ends_with("é…"), "{}", long.len());
    }
}
