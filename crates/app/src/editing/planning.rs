//! A turn of the agent that only plans: its tools change a proposal, and the library stays as it is.

use std::sync::{Arc, Mutex, PoisonError};

use agent::{Annotations, Tool};
use builtins::Builtins;
use futures::future::BoxFuture;
use scopes::Proposal;
use tools::Registered;
use uuid::Uuid;

use super::journal::{Change, EditingEvent, Knowledge, ProposedEntity, Seen};
use super::tool::{ToolOutput, ToolResult};

/// The proposal of one turn.
#[derive(Debug)]
pub(super) struct Planning {
    id: Uuid,
    pub(super) proposal: Arc<Proposal>,
    /// The entities that the turn has read so far. Those of one reply are not in the log yet.
    read: Mutex<Vec<Seen>>,
    /// Puts the tools in order: they depend on each other, but start at the same time, like all tools that
    /// change nothing.
    order: tokio::sync::Mutex<()>,
}

impl Planning {
    pub(super) fn new() -> Self {
        Self {
            id: Uuid::now_v7(),
            proposal: Arc::default(),
            read: Mutex::default(),
            order: tokio::sync::Mutex::default(),
        }
    }

    /// Runs a tool after those before it, and adds its changes to the proposal.
    pub(super) async fn perform(&self, reason: &str, tool: BoxFuture<'_, ToolResult>) -> ToolOutput {
        let _turn = self.order.lock().await;
        let mut output = tool.await.unwrap_or_else(|error| error.output());
        let mut read: Vec<Seen> = Vec::new();
        for event in output.events.drain(..) {
            if let EditingEvent::EntitiesRead { entities } = event {
                read.extend(entities);
            }
        }
        let entities = self.outside(&read);
        if !entities.is_empty() {
            output.events.push(EditingEvent::EntitiesRead { entities });
        }
        self.read.lock().unwrap_or_else(PoisonError::into_inner).extend(read);
        let changes: Vec<ProposedEntity> =
            self.proposal.take_new().into_iter().map(ProposedEntity::from).collect();
        if !changes.is_empty() {
            output.text.push_str("\n(Proposed. Nothing is saved until the user applies it.)");
            let (proposal, message) = (self.id, reason.to_owned());
            output.events.push(EditingEvent::ChangesProposed { proposal, message, changes });
        }
        output
    }

    /// The read entities that are not in the proposal: a later turn meets those as they are in the library.
    fn outside(&self, read: &[Seen]) -> Vec<Seen> {
        let proposed = self.proposal.all();
        let is_proposed = |seen: &Seen| {
            proposed.iter().any(|change| {
                (change.scope, change.kind, &change.name) == (seen.scope, seen.kind, &seen.name)
            })
        };
        read.iter().filter(|seen| !is_proposed(seen)).cloned().collect()
    }

    /// What the session knows, with the reads and the proposed changes of this turn.
    pub(super) fn extend(&self, mut knowledge: Knowledge) -> Knowledge {
        let entities = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        knowledge.apply(&EditingEvent::EntitiesRead { entities });
        for change in self.proposal.all() {
            let copied = Builtins::get().find(change.kind, &change.name).is_some();
            let before = change.before.as_ref().map(|stored| stored.meta.revision);
            let (after, deleted) = match &change.after {
                Some(after) => (after.meta.revision, false),
                None => (change.base() + 1, true),
            };
            let (kind, name, scope) = (change.kind, change.name, change.scope);
            knowledge.learn(&Change { kind, name, scope, before, after, deleted, copied });
        }
        knowledge
    }
}

/// The tool as a planning turn offers it: it changes nothing but the proposal.
pub(super) fn proposing(mut registered: Registered) -> Registered {
    if registered.tool.annotations.read_only_hint {
        return registered;
    }
    let tool = Tool {
        description: format!("{} Only proposes it: nothing is saved.", registered.tool.description),
        annotations: Annotations::READ_ONLY,
        ..Tool::clone(&registered.tool)
    };
    registered.tool = Arc::new(tool);
    registered
}
