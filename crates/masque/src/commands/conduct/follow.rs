//! Events of tracks as lines: for people without a board, or as JSON.

use std::collections::BTreeSet;
use std::time::Duration;

use agent::Approval;
use app::Runtime;
use app::conducting::TrackEvent;
use app::inputs::{ByTrack, WatchTrack};
use conductor::{Phase, Recorded, TicketId};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use uuid::Uuid;

use super::words;
use super::work::{Left, Work, is_at_rest};
use crate::failure::{Failure, Result};
use crate::output::{Output, Style, one_line};
use crate::signals::Signals;

/// How often the board is looked at for what makes no event: calls that wait for permission.
const LOOK: Duration = Duration::from_secs(1);
/// Events that are read ahead.
const AHEAD: usize = 64;

/// The events of a track, read by a task of their own, so that nothing is lost when the reader does something
/// else.
pub(super) struct Events {
    receiver: mpsc::Receiver<app::Result<TrackEvent>>,
    reader: JoinHandle<()>,
}

impl Events {
    pub(super) async fn open(runtime: &Runtime, id: Uuid, after: u64) -> Result<Self> {
        let mut events = runtime.watch_track(WatchTrack { id, after: Some(after) }).await?;
        let (sender, receiver) = mpsc::channel(AHEAD);
        let reader = tokio::spawn(async move {
            while let Some(event) = events.next().await.transpose() {
                let is_last = event.is_err();
                if sender.send(event).await.is_err() || is_last {
                    break;
                }
            }
        });
        Ok(Self { receiver, reader })
    }

    /// The next event. None once the track has ended.
    pub(super) async fn next(&mut self) -> Result<Option<TrackEvent>> {
        Ok(self.receiver.recv().await.transpose()?)
    }

    /// An event that was read ahead.
    pub(super) fn ready(&mut self) -> Option<Result<TrackEvent>> {
        self.receiver.try_recv().ok().map(|event| Ok(event?))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Prints events until the track ends, nothing moves until a person acts, or a signal comes.
pub(super) async fn until_at_rest(
    work: &Work<'_>,
    runtime: &Runtime,
    signals: &mut Signals,
    output: &mut Output,
) -> Result<Left> {
    let id = work.track.id;
    let mut events = Events::open(runtime, id, work.after).await?;
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut announced: BTreeSet<(Uuid, String)> = BTreeSet::new();
    loop {
        let is_due = tokio::select! {
            biased;
            event = events.next() => match event? {
                None => return Ok(Left::AtRest),
                Some(event) => {
                    print(&event, output)?;
                    matches!(event, TrackEvent::Track { phase: Phase::Waiting | Phase::Paused, .. })
                }
            },
            signal = signals.next() => return Ok(Left::Signal(signal)),
            _ = look.tick() => true,
        };
        // Events that are there already come first.
        if !is_due || !events.receiver.is_empty() {
            continue;
        }
        let board = runtime.get_track(ByTrack { id }).await?;
        for ticket in &board.tickets {
            for approval in &ticket.approvals {
                if announced.insert((approval.session, approval.call.id.clone())) {
                    announce(&ticket.id, approval, output)?;
                }
            }
        }
        // An event after the look would be missed.
        if is_at_rest(&board) && events.receiver.is_empty() {
            return Ok(Left::AtRest);
        }
    }
}

/// Prints one event, as JSON or as a line for people.
fn print(event: &TrackEvent, output: &mut Output) -> Result<()> {
    match event {
        event if output.is_json() => json_line(event, output),
        TrackEvent::Recorded { recorded } => line(recorded, output),
        TrackEvent::Ticket { .. } | TrackEvent::Track { .. } => Ok(()),
    }
}

/// Prints an entry of the log.
pub(super) fn line(recorded: &Recorded, output: &mut Output) -> Result<()> {
    let time = output.styled(Style::Faint, words::clock(recorded.at));
    let ticket = match recorded.event.ticket() {
        Some(ticket) => format!("{} ", output.styled(Style::Name, ticket)),
        None => String::new(),
    };
    let text = one_line(&words::event(&recorded.event));
    output.styled_line(&format!("{time} {ticket}{text}"))?;
    output.flush()
}

/// Says that a call waits for permission. It makes no event.
fn announce(ticket: &TicketId, approval: &Approval, output: &mut Output) -> Result<()> {
    let Approval { session, call, .. } = approval;
    output.advise(&format!(
        "{ticket} waits for permission to call {}: `masque sessions approve {session} --all`, or --reject.",
        one_line(&call.name)
    ))
}

/// Writes and flushes a line, so that the reader can act on it.
pub(super) fn json_line<T: Serialize>(value: &T, output: &mut Output) -> Result<()> {
    let text = serde_json::to_string(value).map_err(|error| Failure::json(&error))?;
    output.json_text(&text)?;
    output.json_text("\n")?;
    output.flush()
}
