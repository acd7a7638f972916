//! Outcomes with their types erased.

use std::sync::Arc;

use app::Rendered;
use app::editing::{
    AppliedProposal, ChatHistory, ClearedChat, DismissedProposal, Locks, ProposalAnswer, StoredPersona,
    UndoneTurn,
};
use app::outputs::{
    CleanedWorktrees, CompiledPersona, ConflictList, CreatedTrack, Deleted, DraftedTrack, Exported,
    FullEntity, History, ImportPlan, LintReport, Manifest, MergedTrack, Page, PersonaPreview, Promoted,
    Resolved, RevisionDiff, RolledBack, StageState, Tagged, TicketChange, TrackBoard, TrackList, TrackPlan,
    TrackReport, Untagged, UsagePage, WriteAction, Written,
};
use app::running::{CallPreview, ModelList, SessionList, SessionView};
use app::testing::{StartedTest, TestList, TestReport};
use context::Context;
use persona::Scope;
use persona::explain::Explanation;
use serde::Serialize;
use serde_json::Value;

use crate::table::{Cancelled, NewSession, PlanText, SessionDeleted, Undone};

/// The outcome of a finished operation.
pub type BoxedOutcome = Box<dyn OperationOutcome>;

/// An outcome, as fronts use it.
pub trait OperationOutcome: Send {
    fn json(&self) -> serde_json::Result<String>;

    fn value(&self) -> serde_json::Result<Value>;

    /// The version of the entity in the outcome.
    fn version(&self) -> Option<Version>;

    /// The HTTP path of a created entity; `None` if none was created.
    fn location(&self) -> Option<String>;

    /// True if the work has only begun; `location` has its state.
    fn is_under_way(&self) -> bool {
        false
    }
}

/// An entity's revision in its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    pub scope: Scope,
    pub revision: i64,
}

impl std::fmt::Debug for dyn OperationOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperationOutcome").field("version", &self.version()).finish_non_exhaustive()
    }
}

/// Facts about an output that its JSON does not have.
trait Facts {
    fn version(&self) -> Option<Version> {
        None
    }

    fn location(&self) -> Option<String> {
        None
    }

    fn is_under_way(&self) -> bool {
        false
    }
}

impl<T: Serialize + Facts + Send> OperationOutcome for T {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }

    fn version(&self) -> Option<Version> {
        Facts::version(self)
    }

    fn location(&self) -> Option<String> {
        Facts::location(self)
    }

    fn is_under_way(&self) -> bool {
        Facts::is_under_way(self)
    }
}

/// Hot personas are cached as the JSON to send.
impl OperationOutcome for Arc<Rendered> {
    fn json(&self) -> serde_json::Result<String> {
        Ok(Rendered::json(self).to_owned())
    }

    fn value(&self) -> serde_json::Result<Value> {
        Ok(Rendered::value(self))
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn location(&self) -> Option<String> {
        None
    }
}

macro_rules! without_facts {
    ($($output:ty),* $(,)?) => { $(impl Facts for $output {})* };
}

without_facts!(
    AppliedProposal,
    CallPreview,
    Cancelled,
    ChatHistory,
    CleanedWorktrees,
    ClearedChat,
    CompiledPersona,
    ConflictList,
    Context,
    Deleted,
    DismissedProposal,
    DraftedTrack,
    Explanation,
    Exported,
    History,
    ImportPlan,
    LintReport,
    Locks,
    Manifest,
    MergedTrack,
    ModelList,
    Page,
    PersonaPreview,
    PlanText,
    Promoted,
    ProposalAnswer,
    Resolved,
    RevisionDiff,
    SessionDeleted,
    SessionList,
    SessionView,
    StoredPersona,
    Tagged,
    TestList,
    TestReport,
    TrackBoard,
    TrackList,
    TrackPlan,
    TicketChange,
    TrackReport,
    Undone,
    UndoneTurn,
    Untagged,
    UsagePage,
);

impl Facts for StartedTest {
    fn location(&self) -> Option<String> {
        Some(format!("/api/tests/{}", self.id))
    }

    fn is_under_way(&self) -> bool {
        true
    }
}

impl Facts for CreatedTrack {
    fn location(&self) -> Option<String> {
        Some(format!("/api/tracks/{}", self.id))
    }
}

impl Facts for NewSession {
    fn location(&self) -> Option<String> {
        Some(format!("/api/sessions/{}", self.0.session.id))
    }
}

impl<T> Facts for FullEntity<T> {
    fn version(&self) -> Option<Version> {
        Some(Version { scope: self.meta.scope, revision: self.meta.revision })
    }
}

impl Facts for Written {
    fn version(&self) -> Option<Version> {
        Some(Version { scope: self.scope, revision: self.revision })
    }

    fn location(&self) -> Option<String> {
        let Self { kind, name, scope, .. } = self;
        (self.action == WriteAction::Created).then(|| format!("/api/library/{kind}/{name}?scope={scope}"))
    }
}

impl Facts for RolledBack {
    fn version(&self) -> Option<Version> {
        Facts::version(&self.written)
    }
}

impl Facts for StageState {
    fn version(&self) -> Option<Version> {
        Some(Version { scope: self.scope, revision: self.revision })
    }
}
