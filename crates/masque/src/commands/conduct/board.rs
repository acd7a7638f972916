//! The live board of a track, on a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use app::conducting::TrackEvent;
use app::inputs::{AnswerTicket, ApproveTickets, ByTicket, ByTrack, JudgeResult, RetryTicket};
use app::outputs::TrackBoard;
use app::running::Decision;
use app::{Author, Runtime};
use conductor::{Need, Phase, TicketId};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::find::Handle;
use super::follow::Events;
use super::work::Left;
use crate::commands::answer::described;
use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;
use crate::signals::Signals;

mod draw;
mod screen;

use screen::{Ask, Order, Screen};

/// How often the board is drawn without news: elapsed times, calls that wait for permission.
const REDRAWN: Duration = Duration::from_secs(1);
/// The longest wait of the keyboard's thread before it looks whether the board is closed.
const KEY_WAIT: Duration = Duration::from_millis(100);
/// Keys that are read ahead.
const KEYS_AHEAD: usize = 32;

/// The terminal in its other mode, until the value is dropped.
struct Stage {
    terminal: DefaultTerminal,
    is_closed: Arc<AtomicBool>,
}

impl Stage {
    /// Takes the terminal over, and reads its keys.
    fn open() -> Result<(Self, mpsc::Receiver<Event>)> {
        let terminal = ratatui::try_init().map_err(|error| CommandError::Terminal(error.to_string()))?;
        let is_closed = Arc::new(AtomicBool::new(false));
        let (sender, keys) = mpsc::channel(KEYS_AHEAD);
        let closed = Arc::clone(&is_closed);
        std::thread::spawn(move || {
            while !closed.load(Ordering::Relaxed) {
                match event::poll(KEY_WAIT) {
                    Ok(false) => {}
                    Ok(true) => match event::read().map(|event| sender.blocking_send(event)) {
                        Ok(Ok(())) => {}
                        _ => return,
                    },
                    Err(_) => return,
                }
            }
        });
        Ok((Self { terminal, is_closed }, keys))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        ratatui::restore();
    }
}

/// Shows a track until it ends, or the user leaves.
pub(super) async fn run(
    track: &Handle,
    runtime: &Runtime,
    author: &Author,
    signals: &mut Signals,
    output: &Output,
) -> Result<Left> {
    let mut events = Events::open(runtime, track.id, 0).await?;
    let by_id = ByTrack { id: track.id };
    let mut screen = Screen::new(runtime.get_track(by_id).await?, output.has_color());
    let (mut stage, mut keys) = Stage::open()?;
    let mut redraw = tokio::time::interval(REDRAWN);
    redraw.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        draw(&mut stage, &mut screen)?;
        let order = tokio::select! {
            biased;
            signal = signals.next() => return Ok(Left::Signal(signal)),
            key = keys.recv() => match key {
                Some(Event::Key(key)) if key.kind != KeyEventKind::Release => screen.key(key),
                Some(_) => None,
                // The terminal is gone.
                None => return Ok(Left::Detached),
            },
            event = events.next() => {
                let Some(event) = event? else { return Ok(Left::AtRest) };
                screen.event(event);
                while let Some(event) = events.ready() {
                    screen.event(event?);
                }
                screen.update(runtime.get_track(by_id).await?);
                None
            }
            _ = redraw.tick() => {
                screen.update(runtime.get_track(by_id).await?);
                None
            }
        };
        match order {
            None => {}
            Some(Order::Leave) => return Ok(Left::Detached),
            Some(Order::Signal(signal)) => return Ok(Left::Signal(signal)),
            Some(order) => {
                let done = carry_out(order, track, runtime, author, &mut screen).await;
                if let Err(failure) = done {
                    screen.say(failure.sentence().unwrap_or_default());
                }
                screen.update(runtime.get_track(by_id).await?);
            }
        }
    }
}

fn draw(stage: &mut Stage, screen: &mut Screen) -> Result<()> {
    match stage.terminal.draw(|frame| draw::draw(frame, screen)) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::output(error)),
    }
}

/// Does what the user ordered with a key.
async fn carry_out(
    order: Order,
    track: &Handle,
    runtime: &Runtime,
    author: &Author,
    screen: &mut Screen,
) -> Result<()> {
    let id = track.id;
    match order {
        Order::Leave | Order::Signal(_) => {}
        Order::Pause => {
            runtime.pause_track(author, ByTrack { id }).await?;
        }
        Order::Resume => {
            runtime.resume_track(author, ByTrack { id }).await?;
        }
        Order::Approve { ticket } => approve(ticket, id, runtime, author, screen.board()).await?,
        Order::Reject { ticket, note } => {
            let input = JudgeResult { id, ticket, note, findings: Vec::new() };
            runtime.reject_result(author, input).await?;
        }
        Order::Answer { ticket, answer } => {
            runtime.answer_ticket(author, AnswerTicket { id, ticket, answer }).await?;
        }
        Order::Retry { ticket, note } => {
            let input = RetryTicket { id, ticket, model: None, persona: None, note };
            runtime.retry_ticket(author, input).await?;
        }
        Order::Look { approval } => {
            let preview = runtime.preview(approval.session, &approval.call).await?;
            screen.ask(Ask::Call { lines: described(&approval.call, &preview), approval });
        }
        Order::Decide { session, call, approved } => {
            let decision = Decision { approved, ..Decision::default() };
            runtime.decide(session, &call, decision).await?;
        }
    }
    Ok(())
}

/// Approves what a ticket needs an approval for.
async fn approve(
    ticket: TicketId,
    id: uuid::Uuid,
    runtime: &Runtime,
    author: &Author,
    board: &TrackBoard,
) -> Result<()> {
    let need = board.needs.iter().find(|need| need.ticket == ticket).map(|need| &need.need);
    match need {
        Some(Need::Plan) => {
            runtime.approve_tickets(author, ApproveTickets { id, tickets: vec![ticket] }).await?;
        }
        Some(Need::Step { .. }) => {
            runtime.approve_step(author, ByTicket { id, ticket }).await?;
        }
        _ => {
            let input = JudgeResult { id, ticket, note: String::new(), findings: Vec::new() };
            runtime.approve_result(author, input).await?;
        }
    }
    Ok(())
}

/// True once nothing happens any more, whatever people do.
const fn is_over(phase: Phase) -> bool {
    matches!(phase, Phase::Finished | Phase::Cancelled)
}

/// The entry of the log in an event, if it is one.
fn recorded(event: TrackEvent) -> Option<conductor::Recorded> {
    match event {
        TrackEvent::Recorded { recorded } => Some(*recorded),
        TrackEvent::Ticket { .. } | TrackEvent::Track { .. } => None,
    }
}
