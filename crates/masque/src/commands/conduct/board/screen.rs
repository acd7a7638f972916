//! The state of the board on a terminal: what is selected, what is typed, what a key means. Pure.

use std::collections::VecDeque;

use agent::Approval;
use app::conducting::TrackEvent;
use app::outputs::{TicketBoard, TrackBoard};
use conductor::{Need, Phase, Recorded, State, TicketId};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use uuid::Uuid;

use super::{is_over, recorded};
use crate::output::Style;
use crate::signals::Signal;

#[cfg(test)]
mod tests;

/// Entries of the log that the board keeps.
const LOG_LINES: usize = 2_000;
/// Characters of a text that is typed.
const TYPED: usize = 4_000;

/// What the user wants done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Order {
    Leave,
    Signal(Signal),
    Pause,
    Resume,
    /// Approve a planned ticket, its next step, or its result.
    Approve {
        ticket: TicketId,
    },
    Reject {
        ticket: TicketId,
        note: String,
    },
    Answer {
        ticket: TicketId,
        answer: String,
    },
    Retry {
        ticket: TicketId,
        note: String,
    },
    /// Show what a call would do, and ask about it.
    Look {
        approval: Approval,
    },
    Decide {
        session: Uuid,
        call: String,
        approved: bool,
    },
}

/// What the last line asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ask {
    /// Permission of a call, with a description of it.
    Call {
        approval: Approval,
        lines: Vec<(Style, String)>,
    },
    /// A yes before a result counts that nothing vouches for.
    Accept {
        ticket: TicketId,
    },
    Text {
        purpose: Purpose,
        ticket: TicketId,
        text: String,
    },
}

/// What a typed text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Answer,
    Reject,
    Retry,
}

/// The columns of a kanban board, as groups of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    NeedsYou,
    Running,
    Review,
    Ready,
    Blocked,
    Done,
}

impl Lane {
    pub(super) const ALL: [Self; 6] =
        [Self::NeedsYou, Self::Running, Self::Review, Self::Ready, Self::Blocked, Self::Done];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::NeedsYou => "Needs you",
            Self::Running => "Running",
            Self::Review => "Check, review, merge",
            Self::Ready => "Ready",
            Self::Blocked => "Blocked",
            Self::Done => "Done",
        }
    }

    pub(super) fn of(ticket: &TicketBoard) -> Self {
        if ticket.need.is_some() || !ticket.approvals.is_empty() {
            return Self::NeedsYou;
        }
        match ticket.state {
            State::NeedsInput | State::AwaitingApproval => Self::NeedsYou,
            State::Setup | State::Working | State::Rework => Self::Running,
            State::Submitted | State::Checking | State::Reviewing | State::Queued | State::Integrating => {
                Self::Review
            }
            State::Ready => Self::Ready,
            State::Draft | State::Blocked => Self::Blocked,
            State::Merged | State::NoChange | State::Failed | State::Cancelled => Self::Done,
        }
    }
}

pub(super) struct Screen {
    board: TrackBoard,
    log: VecDeque<Recorded>,
    selected: Option<TicketId>,
    ask: Option<Ask>,
    /// True if the log is that of the selected ticket alone.
    pub(super) log_of_ticket: bool,
    /// The outcome of the last key, if it failed.
    pub(super) message: Option<String>,
    pub(super) has_color: bool,
}

impl Screen {
    pub(super) fn new(board: TrackBoard, has_color: bool) -> Self {
        let mut screen = Self {
            board,
            log: VecDeque::new(),
            selected: None,
            ask: None,
            log_of_ticket: false,
            message: None,
            has_color,
        };
        screen.selected = screen.rows().first().map(|ticket| ticket.id.clone());
        screen
    }

    pub(super) fn board(&self) -> &TrackBoard {
        &self.board
    }

    pub(super) fn asked(&self) -> Option<&Ask> {
        self.ask.as_ref()
    }

    /// Takes the current state of the track. A question about a call that was answered elsewhere closes.
    pub(super) fn update(&mut self, board: TrackBoard) {
        self.board = board;
        if let Some(Ask::Call { approval, .. }) = &self.ask {
            let is_same = |it: &Approval| it.session == approval.session && it.call.id == approval.call.id;
            if !self.board.tickets.iter().flat_map(|ticket| &ticket.approvals).any(is_same) {
                self.ask = None;
            }
        }
        if self.selected().is_none() {
            self.selected = self.rows().first().map(|ticket| ticket.id.clone());
        }
    }

    pub(super) fn event(&mut self, event: TrackEvent) {
        let Some(recorded) = recorded(event) else { return };
        if self.log.len() == LOG_LINES {
            self.log.pop_front();
        }
        self.log.push_back(recorded);
    }

    pub(super) fn say(&mut self, message: String) {
        self.message = Some(message);
    }

    pub(super) fn ask(&mut self, ask: Ask) {
        self.ask = Some(ask);
    }

    /// The tickets in the order of the board.
    pub(super) fn rows(&self) -> Vec<&TicketBoard> {
        let mut rows: Vec<&TicketBoard> = self.board.tickets.iter().collect();
        rows.sort_by_key(|ticket| Lane::of(ticket));
        rows
    }

    pub(super) fn selected(&self) -> Option<&TicketBoard> {
        self.board.tickets.iter().find(|ticket| Some(&ticket.id) == self.selected.as_ref())
    }

    /// The entries of the log to show, oldest first.
    pub(super) fn log(&self, most: usize) -> Vec<&Recorded> {
        let wanted =
            |recorded: &&Recorded| !self.log_of_ticket || recorded.event.ticket() == self.selected.as_ref();
        let mut lines: Vec<&Recorded> = self.log.iter().rev().filter(wanted).take(most).collect();
        lines.reverse();
        lines
    }

    /// Carries a key out, as far as it concerns the screen alone. Returns the rest.
    pub(super) fn key(&mut self, key: KeyEvent) -> Option<Order> {
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return (key.code == KeyCode::Char('c')).then_some(Order::Signal(Signal::Interrupt));
        }
        match self.ask.take() {
            Some(ask) => self.answer(ask, key.code),
            None => self.plain_key(key.code),
        }
    }

    fn plain_key(&mut self, key: KeyCode) -> Option<Order> {
        match key {
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Home => self.select(0),
            KeyCode::End => self.select(self.board.tickets.len().saturating_sub(1)),
            KeyCode::Char('l') => self.log_of_ticket = !self.log_of_ticket,
            KeyCode::Char('q') => return Some(Order::Leave),
            KeyCode::Char('p') => return self.pause(),
            KeyCode::Char('a') | KeyCode::Enter => return self.approve(),
            KeyCode::Char('n') if self.can_reject() => self.type_text(Purpose::Reject),
            KeyCode::Char('r') if self.can_retry() => self.type_text(Purpose::Retry),
            _ => {}
        }
        None
    }

    fn pause(&self) -> Option<Order> {
        match self.board.phase {
            phase if is_over(phase) => None,
            Phase::Paused => Some(Order::Resume),
            _ => Some(Order::Pause),
        }
    }

    /// The answer to what the selected ticket needs.
    fn approve(&mut self) -> Option<Order> {
        let ticket = self.selected()?;
        if let Some(approval) = ticket.approvals.first() {
            return Some(Order::Look { approval: approval.clone() });
        }
        let id = ticket.id.clone();
        match ticket.need.as_ref().map(|need| &need.need)? {
            Need::Plan | Need::Step { .. } => return Some(Order::Approve { ticket: id }),
            Need::Approval { .. } | Need::Baseline { .. } => self.ask = Some(Ask::Accept { ticket: id }),
            Need::Answer { .. } | Need::Unblock { .. } => self.type_text(Purpose::Answer),
            Need::Price { .. } | Need::Setup { .. } | Need::Decision => self.type_text(Purpose::Retry),
            Need::Cap { .. } => {
                let track = self.board.id;
                self.say(format!("raise the cap in another terminal: masque conduct cap {track} …"));
            }
        }
        None
    }

    pub(super) fn can_reject(&self) -> bool {
        let need = self.selected().and_then(|ticket| ticket.need.as_ref());
        need.is_some_and(|need| matches!(need.need, Need::Approval { .. }))
    }

    pub(super) fn can_retry(&self) -> bool {
        self.selected().is_some_and(|ticket| {
            let has_need = ticket.need.as_ref().is_some_and(|need| {
                matches!(
                    need.need,
                    Need::Price { .. } | Need::Setup { .. } | Need::Baseline { .. } | Need::Decision
                )
            });
            has_need || matches!(ticket.state, State::Failed | State::Cancelled)
        })
    }

    fn type_text(&mut self, purpose: Purpose) {
        let Some(ticket) = self.selected().map(|ticket| ticket.id.clone()) else { return };
        self.ask = Some(Ask::Text { purpose, ticket, text: String::new() });
    }

    fn answer(&mut self, ask: Ask, key: KeyCode) -> Option<Order> {
        match ask {
            Ask::Call { approval, lines } => {
                let (session, call) = (approval.session, approval.call.id.clone());
                match key {
                    KeyCode::Char('y') => Some(Order::Decide { session, call, approved: true }),
                    KeyCode::Char('n') => Some(Order::Decide { session, call, approved: false }),
                    KeyCode::Esc => None,
                    _ => {
                        self.ask = Some(Ask::Call { approval, lines });
                        None
                    }
                }
            }
            Ask::Accept { ticket } => (key == KeyCode::Char('y')).then_some(Order::Approve { ticket }),
            Ask::Text { purpose, ticket, text } => self.typed(purpose, ticket, text, key),
        }
    }

    fn typed(&mut self, purpose: Purpose, ticket: TicketId, mut text: String, key: KeyCode) -> Option<Order> {
        match key {
            KeyCode::Esc => return None,
            KeyCode::Enter if purpose == Purpose::Retry || !text.trim().is_empty() => {
                return Some(match purpose {
                    Purpose::Answer => Order::Answer { ticket, answer: text },
                    Purpose::Reject => Order::Reject { ticket, note: text },
                    Purpose::Retry => Order::Retry { ticket, note: text },
                });
            }
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(c) if text.chars().count() < TYPED => text.push(c),
            _ => {}
        }
        self.ask = Some(Ask::Text { purpose, ticket, text });
        None
    }

    fn step(&mut self, by: isize) {
        let rows = self.rows();
        let at = rows.iter().position(|ticket| Some(&ticket.id) == self.selected.as_ref()).unwrap_or(0);
        let last = rows.len().saturating_sub(1);
        let next = at.saturating_add_signed(by).min(last);
        self.select(next);
    }

    fn select(&mut self, at: usize) {
        let id = self.rows().get(at).map(|ticket| ticket.id.clone());
        self.selected = id.or(self.selected.take());
    }
}
