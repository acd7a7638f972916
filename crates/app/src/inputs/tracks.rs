//! Inputs of the operations on tracks.

use conductor::{Finding, Model, Money, TicketId, Track};
use persona::Name;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

/// A track, written as JSON or as the text of a track.toml. One of the two is required.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenTrack {
    #[serde(default)]
    pub track: Option<Track>,
    /// The text of a track.toml
    #[serde(default)]
    pub toml: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByTrack {
    pub id: Uuid,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTracks {
    /// Tracks of every project, not only of the open one
    #[serde(default)]
    pub everywhere: bool,
    /// 1 to 200, by default 50
    #[serde(default)]
    pub limit: Option<usize>,
    #[serde(default)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartTrack {
    pub id: Uuid,
    /// Work each ticket in a git worktree of its own; by default if the project is a git repository
    #[serde(default)]
    pub isolate: Option<bool>,
    /// Tickets that are worked at once, instead of the track's number
    #[serde(default)]
    pub concurrency: Option<usize>,
    /// Let nobody approve the tickets of a plan
    #[serde(default)]
    pub yes: bool,
    /// A model drafted the track: a person approves its tickets before they are worked
    #[serde(default)]
    pub drafted: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTrack {
    pub id: Uuid,
    #[serde(default)]
    pub reason: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveTickets {
    pub id: Uuid,
    /// Planned tickets or drafts; default: all that await approval
    #[serde(default)]
    pub tickets: Vec<TicketId>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByTicket {
    /// The id of the track
    pub id: Uuid,
    pub ticket: TicketId,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryTicket {
    /// The id of the track
    pub id: Uuid,
    pub ticket: TicketId,
    /// The model that comes first from now on, as `provider/model`
    #[serde(default)]
    pub model: Option<Model>,
    #[serde(default)]
    pub persona: Option<Name>,
    /// What the worker should know
    #[serde(default)]
    pub note: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTicket {
    /// The id of the track
    pub id: Uuid,
    pub ticket: TicketId,
    #[serde(default)]
    pub reason: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerTicket {
    /// The id of the track
    pub id: Uuid,
    pub ticket: TicketId,
    pub answer: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TicketDiff {
    /// The id of the track
    pub id: Uuid,
    pub ticket: TicketId,
    /// The number of the attempt; default: the last one
    #[serde(default)]
    pub attempt: Option<u32>,
}

/// A person's judgement of a result.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeResult {
    /// The id of the track
    pub id: Uuid,
    pub ticket: TicketId,
    #[serde(default)]
    pub note: String,
    /// Only for a rejection
    #[serde(default)]
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RaiseCap {
    /// The id of the track
    pub id: Uuid,
    /// The cap of a ticket; default: that of the track, or of a day
    #[serde(default)]
    pub ticket: Option<TicketId>,
    /// The cap of each day
    #[serde(default)]
    pub day: bool,
    /// Absent: no limit
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Absent: no limit
    #[serde(default)]
    pub cost: Option<Money>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftTrack {
    /// What is to be reached, in words
    pub epic: String,
    /// The session of a draft under way: its result, or the rest of the work
    #[serde(default)]
    pub session: Option<Uuid>,
    #[serde(default)]
    pub persona: Option<Name>,
    /// As `provider/model`
    #[serde(default)]
    pub model: Option<Model>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeTrack {
    pub id: Uuid,
    /// The branch that gets the track's work; default: the one that the track names
    #[serde(default)]
    pub branch: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanTracks {
    /// Only show what would be done
    #[serde(default)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchTrack {
    pub id: Uuid,
    /// The number of the last event that the viewer saw; default: from the beginning
    #[serde(default)]
    pub after: Option<u64>,
}
