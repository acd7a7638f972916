//! The events of a track as they come, wherever it is worked.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use conductor::{Conduct, Need, Phase, Recorded, ShortState, State, TicketId};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

use super::log::TrackLog;
use crate::inputs::WatchTrack;
use crate::{Result, Runtime};

/// How often the log is looked at for what other processes appended.
const POLL: Duration = Duration::from_millis(400);

/// One event of a track.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TrackEvent {
    /// An entry of the log.
    Recorded { recorded: Box<Recorded> },
    /// A ticket, as it is after the entries before.
    Ticket {
        ticket: TicketId,
        state: State,
        short_state: ShortState,
        #[serde(skip_serializing_if = "Option::is_none")]
        need: Option<Need>,
    },
    /// The track, as it is after the entries before.
    Track { phase: Phase, seq: u64 },
}

impl TrackEvent {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Recorded { .. } => "recorded",
            Self::Ticket { .. } => "ticket",
            Self::Track { .. } => "track",
        }
    }

    /// The number of the log's entry; the others are no entries.
    pub fn seq(&self) -> Option<u64> {
        match self {
            Self::Recorded { recorded } => Some(recorded.seq),
            Self::Ticket { .. } | Self::Track { .. } => None,
        }
    }
}

/// One viewer's events of a track, in order, none twice.
#[derive(Debug)]
pub struct TrackEvents {
    runtime: Runtime,
    log: Arc<TrackLog>,
    news: watch::Receiver<u64>,
    after: u64,
    ready: VecDeque<TrackEvent>,
    is_over: bool,
}

impl Runtime {
    /// The events of a track: those after a place, then new ones until it ends.
    #[boxed]
    pub async fn watch_track(&self, input: WatchTrack) -> Result<TrackEvents> {
        let log = self.conducting().log(input.id).await?;
        let news = log.follow();
        let after = input.after.unwrap_or_default();
        Ok(TrackEvents { runtime: self.clone(), log, news, after, ready: VecDeque::new(), is_over: false })
    }
}

impl TrackEvents {
    /// The next event. `None` once the track has ended.
    #[boxed]
    pub async fn next(&mut self) -> Result<Option<TrackEvent>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.is_over {
                return Ok(None);
            }
            self.log.catch_up().await?;
            let page =
                self.runtime.conducting().tracks.log(self.log.id, self.after, tracks::LOG_PAGE).await?;
            if let Some(last) = page.last() {
                self.after = last.seq;
                let updates = self.log.look(|conduct| updates(conduct, &page)).await?;
                self.ready.extend(page.into_iter().map(|it| TrackEvent::Recorded { recorded: Box::new(it) }));
                self.ready.extend(updates);
                continue;
            }
            let phase = self.log.look(Conduct::phase).await?;
            if matches!(phase, Phase::Finished | Phase::Cancelled) {
                self.is_over = true;
                continue;
            }
            // An engine of this process announces its events; those of others are looked for.
            let _ = tokio::time::timeout(POLL, self.news.changed()).await;
        }
    }
}

/// The tickets that entries are about, each once, and the track.
fn updates(conduct: &Conduct, page: &[Recorded]) -> Vec<TrackEvent> {
    let mut seen: Vec<&TicketId> = Vec::new();
    for id in page.iter().filter_map(|recorded| recorded.event.ticket()) {
        if !seen.contains(&id) {
            seen.push(id);
        }
    }
    let tickets = seen.into_iter().filter_map(|id| conduct.ticket(id)).map(|progress| TrackEvent::Ticket {
        ticket: progress.ticket.id.clone(),
        state: progress.state,
        short_state: progress.state.short(),
        need: conduct.need(progress),
    });
    tickets.chain([TrackEvent::Track { phase: conduct.phase(), seq: conduct.seq() }]).collect()
}
