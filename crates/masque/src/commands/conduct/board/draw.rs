//! Draws the board.

use chrono::Utc;
use conductor::State;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState, Wrap};

use super::screen::{Ask, Lane, Purpose, Screen};
use crate::commands::conduct::{show, words};
use crate::output::{self, one_line};
use app::outputs::TicketBoard;

/// Widths of a terminal below which a column is left out.
const WITH_MODEL: u16 = 120;
const WITH_PERSONA: u16 = 90;
const WITH_SPENT: u16 = 70;
/// Rows of the log, on a terminal that is tall enough.
const LOG_ROWS: u16 = 8;
/// Rows of the details about the selected ticket.
const DETAIL_ROWS: u16 = 5;

pub(super) fn draw(frame: &mut Frame<'_>, screen: &mut Screen) {
    let area = frame.area();
    let log = if area.height >= 24 { LOG_ROWS } else { 0 };
    let detail = match screen.asked() {
        Some(Ask::Call { lines, .. }) => {
            let wanted = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
            wanted.clamp(DETAIL_ROWS, area.height.saturating_sub(6).max(DETAIL_ROWS))
        }
        _ => DETAIL_ROWS,
    };
    let [head, tickets, below, entries, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(detail),
        Constraint::Length(log),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(header(screen), head);
    draw_tickets(frame, tickets, screen);
    frame.render_widget(details(screen, below), below);
    if log > 0 {
        frame.render_widget(log_lines(screen, entries), entries);
    }
    frame.render_widget(Paragraph::new(last_line(screen)), keys);
}

/// A style that means something without colors too, if there are none.
fn style(screen: &Screen, style: output::Style) -> Style {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let (plain, color) = match style {
        output::Style::Title => return bold,
        output::Style::Faint => return Style::new().add_modifier(Modifier::DIM),
        output::Style::Name => (Style::new(), Color::Cyan),
        output::Style::Good | output::Style::Added | output::Style::AddedWord => (Style::new(), Color::Green),
        output::Style::Bad | output::Style::Removed | output::Style::RemovedWord => (bold, Color::Red),
        output::Style::Warning => (bold, Color::Yellow),
        _ => return Style::new(),
    };
    if screen.has_color { plain.fg(color) } else { plain }
}

fn header(screen: &Screen) -> Paragraph<'static> {
    let board = screen.board();
    let running = board.tickets.iter().filter(|ticket| Lane::of(ticket) == Lane::Running).count();
    let elapsed = board.began_at.map(|began| words::elapsed(began, Utc::now())).unwrap_or_default();
    let facts = format!("  {}  {running}/{} at work  {elapsed}", show::summary(board), board.concurrency);
    Paragraph::new(Line::from(vec![
        Span::styled(one_line(&board.title), style(screen, output::Style::Title)),
        Span::raw(facts),
    ]))
}

fn draw_tickets(frame: &mut Frame<'_>, area: Rect, screen: &Screen) {
    let mut rows = Vec::new();
    let mut selected = None;
    let tickets = screen.rows();
    for lane in Lane::ALL {
        let of_lane: Vec<&&TicketBoard> = tickets.iter().filter(|ticket| Lane::of(ticket) == lane).collect();
        if of_lane.is_empty() {
            continue;
        }
        let title = format!("{} ({})", lane.title(), of_lane.len());
        let loud = if lane == Lane::NeedsYou { output::Style::Warning } else { output::Style::Faint };
        let title = Cell::from(title).style(style(screen, loud)).column_span(3);
        rows.push(Row::new([title]));
        for ticket in of_lane {
            if screen.selected().is_some_and(|selected| selected.id == ticket.id) {
                selected = Some(rows.len());
            }
            rows.push(Row::new(cells(ticket, area.width, screen)));
        }
    }
    let mut widths = vec![Constraint::Length(12), Constraint::Length(14), Constraint::Min(16)];
    widths.extend((area.width >= WITH_PERSONA).then_some(Constraint::Length(16)));
    widths.extend((area.width >= WITH_MODEL).then_some(Constraint::Length(28)));
    widths.extend((area.width >= WITH_SPENT).then_some(Constraint::Length(22)));
    widths.push(Constraint::Length(8));
    let table = Table::new(rows, widths)
        .block(Block::new().borders(Borders::TOP))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::new().with_selected(selected);
    frame.render_stateful_widget(table, area, &mut state);
}

fn cells(ticket: &TicketBoard, width: u16, screen: &Screen) -> Vec<Cell<'static>> {
    let state = match ticket.state {
        State::Merged | State::NoChange => output::Style::Good,
        State::Failed | State::Cancelled => output::Style::Bad,
        _ if Lane::of(ticket) == Lane::NeedsYou => output::Style::Warning,
        _ => output::Style::Plain,
    };
    let mut cells = vec![
        Cell::from(ticket.id.to_string()).style(style(screen, output::Style::Name)),
        Cell::from(words::state(ticket.state)).style(style(screen, state)),
        Cell::from(one_line(&ticket.title)),
    ];
    if width >= WITH_PERSONA {
        cells.push(Cell::from(ticket.persona.as_ref().map(ToString::to_string).unwrap_or_default()));
    }
    if width >= WITH_MODEL {
        cells.push(Cell::from(ticket.model.as_ref().map(ToString::to_string).unwrap_or_default()));
    }
    if width >= WITH_SPENT {
        cells.push(Cell::from(match ticket.spent.tokens {
            0 => String::new(),
            _ => words::spent(ticket.spent),
        }));
    }
    let elapsed =
        ticket.began_at.map(|began| words::elapsed(began, ticket.ended_at.unwrap_or_else(Utc::now)));
    cells.push(Cell::from(elapsed.unwrap_or_default()));
    cells
}

/// What the selected ticket waits for, or the call that the user decides about.
fn details(screen: &Screen, area: Rect) -> Paragraph<'static> {
    let room = usize::from(area.height.saturating_sub(1));
    let lines: Vec<Line<'static>> = match screen.asked() {
        Some(Ask::Call { lines, .. }) => {
            let mut shown: Vec<Line<'static>> = lines
                .iter()
                .take(room)
                .map(|(look, text)| Line::styled(one_line(text), style(screen, *look)))
                .collect();
            if lines.len() > room {
                let rest = lines.len() - room + 1;
                shown.truncate(room.saturating_sub(1));
                shown.push(Line::raw(format!("… {rest} more lines: `masque sessions approve` shows all")));
            }
            shown
        }
        _ => screen.selected().map(about).unwrap_or_default().into_iter().map(Line::raw).collect(),
    };
    let title = screen.selected().map(|ticket| format!(" {} ", ticket.id)).unwrap_or_default();
    let block = Block::new().borders(Borders::TOP).title(title);
    Paragraph::new(lines).block(block).wrap(Wrap { trim: false })
}

fn about(ticket: &TicketBoard) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(need) = &ticket.need {
        lines.push(one_line(&need.sentence));
    }
    for approval in &ticket.approvals {
        lines.push(format!("waits for permission to call {}", one_line(&approval.call.name)));
    }
    lines.extend(show::notes(ticket));
    if let Some(attempt) = ticket.attempts.last() {
        lines.push(format!("attempt {}, session {}", attempt.number, attempt.session));
    }
    lines
}

fn log_lines(screen: &Screen, area: Rect) -> Paragraph<'static> {
    let entries = screen.log(usize::from(area.height.saturating_sub(1)));
    let line = |recorded: &&conductor::Recorded| {
        let ticket = recorded.event.ticket().map(|id| format!("{id} ")).unwrap_or_default();
        Line::from(vec![
            Span::styled(format!("{} ", words::clock(recorded.at)), style(screen, output::Style::Faint)),
            Span::styled(ticket, style(screen, output::Style::Name)),
            Span::raw(one_line(&words::event(&recorded.event))),
        ])
    };
    let title = match screen.selected() {
        Some(ticket) if screen.log_of_ticket => format!(" Log of {} ", ticket.id),
        _ => " Log ".to_owned(),
    };
    Paragraph::new(entries.iter().map(line).collect::<Vec<_>>())
        .block(Block::new().borders(Borders::TOP).title(title))
}

/// A question, the failure of the last key, or the keys.
fn last_line(screen: &Screen) -> Line<'static> {
    if let Some(ask) = screen.asked() {
        return match ask {
            Ask::Call { approval, .. } => {
                let name = one_line(&approval.call.name);
                Line::styled(
                    format!("Allow {name}?  y: yes, once · n: no · Esc: later"),
                    style(screen, output::Style::Warning),
                )
            }
            Ask::Accept { ticket } => Line::styled(
                format!("Accept the result of {ticket} as it is?  y: yes · any other key: no"),
                style(screen, output::Style::Warning),
            ),
            Ask::Text { purpose, ticket, text } => {
                let label = match purpose {
                    Purpose::Answer => format!("Answer to {ticket}: "),
                    Purpose::Reject => format!("What is wrong with {ticket}: "),
                    Purpose::Retry => format!("Try {ticket} again; a note for its worker, or nothing: "),
                };
                Line::from(vec![
                    Span::styled(label, style(screen, output::Style::Title)),
                    Span::raw(text.clone()),
                    Span::raw("▏"),
                    Span::styled("  Enter: send · Esc: leave", style(screen, output::Style::Faint)),
                ])
            }
        };
    }
    if let Some(message) = &screen.message {
        return Line::styled(one_line(message), style(screen, output::Style::Bad));
    }
    let pause = if screen.board().phase == conductor::Phase::Paused { "p: resume" } else { "p: pause" };
    let mut keys = vec!["↑↓: ticket", "a: answer or approve"];
    keys.extend(screen.can_reject().then_some("n: send back"));
    keys.extend(screen.can_retry().then_some("r: try again"));
    keys.extend([
        if screen.log_of_ticket { "l: log of all" } else { "l: log of this one" },
        pause,
        "q: quit",
    ]);
    Line::styled(keys.join(" · "), style(screen, output::Style::Faint))
}
