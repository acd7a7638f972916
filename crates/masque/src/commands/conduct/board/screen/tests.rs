use std::collections::BTreeMap;

use agent::ToolCall;
use chrono::DateTime;
use conductor::{ApprovalReason, Cap, Origin, ShortState, Spent, Tier};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Map, json};

use super::*;
use crate::commands::conduct::board::draw;

fn id(text: &str) -> TicketId {
    TicketId::parse(text).expect("an id")
}

fn ticket(name: &str, state: State, need: Option<Need>) -> TicketBoard {
    let ticket = id(name);
    let sentence = "a sentence about what is needed".to_owned();
    TicketBoard {
        id: ticket.clone(),
        title: format!("Title of {name}"),
        description: String::new(),
        acceptance: Vec::new(),
        tier: Tier::Worker,
        origin: Origin::Track,
        depends_on: Vec::new(),
        state,
        short_state: ShortState::Todo,
        need: need.map(|need| app::outputs::TicketNeed { ticket, need, sentence }),
        waits_for: Vec::new(),
        why: Vec::new(),
        persona: None,
        model: None,
        session: None,
        attempts: Vec::new(),
        rounds: Vec::new(),
        fell_back: Vec::new(),
        approvals: Vec::new(),
        spent: Spent::default(),
        cap: Cap::default(),
        check: None,
        run: None,
        baseline: None,
        branch: None,
        base: None,
        merged: None,
        via: None,
        began_at: None,
        ended_at: None,
        last_at: None,
    }
}

fn board(tickets: Vec<TicketBoard>) -> TrackBoard {
    TrackBoard {
        id: Uuid::nil(),
        title: "Checkout".to_owned(),
        goal: String::new(),
        project: "/shop".to_owned(),
        phase: Phase::Running,
        isolation: None,
        paused: None,
        is_newer: false,
        is_worked_here: true,
        concurrency: 3,
        counts: BTreeMap::from([("completed".to_owned(), 1)]),
        branch: None,
        spent: Spent::default(),
        cap: Cap::default(),
        spent_today: Spent::default(),
        day_cap: Cap::default(),
        seq: 0,
        began_at: None,
        last_at: None,
        needs: Vec::new(),
        tickets,
    }
}

fn screen(tickets: Vec<TicketBoard>) -> Screen {
    Screen::new(board(tickets), false)
}

fn press(screen: &mut Screen, keys: &str) -> Option<Order> {
    let mut order = None;
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\x1b' => KeyCode::Esc,
            '\x08' => KeyCode::Backspace,
            '↓' => KeyCode::Down,
            '↑' => KeyCode::Up,
            key => KeyCode::Char(key),
        };
        order = screen.key(KeyEvent::new(code, KeyModifiers::NONE));
    }
    order
}

fn shown(screen: &mut Screen, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| draw::draw(frame, screen)).expect("it is drawn");
    terminal.backend().to_string()
}

#[test]
fn tickets_that_need_a_person_come_first() {
    let question = Need::Answer { question: "which name?".to_owned() };
    let screen = screen(vec![
        ticket("done", State::Merged, None),
        ticket("ready", State::Ready, None),
        ticket("asks", State::NeedsInput, Some(question)),
        ticket("runs", State::Working, None),
    ]);
    let order: Vec<&str> = screen.rows().iter().map(|ticket| ticket.id.as_str()).collect();
    assert_eq!(order, ["asks", "runs", "ready", "done"]);
    assert_eq!(screen.selected().map(|ticket| ticket.id.as_str()), Some("asks"));
}

#[test]
fn the_selection_follows_the_ticket_and_stays_in_the_list() {
    let mut screen = screen(vec![
        ticket("a", State::Ready, None),
        ticket("b", State::Ready, None),
        ticket("c", State::Ready, None),
    ]);
    press(&mut screen, "↑↓");
    assert_eq!(screen.selected().map(|ticket| ticket.id.as_str()), Some("b"));
    // It moves to the top of the board, and stays selected.
    screen.update(board(vec![
        ticket("a", State::Ready, None),
        ticket("b", State::Working, None),
        ticket("c", State::Ready, None),
    ]));
    assert_eq!(screen.rows()[0].id.as_str(), "b");
    assert_eq!(screen.selected().map(|ticket| ticket.id.as_str()), Some("b"));
    press(&mut screen, "↓↓↓↓↓");
    assert_eq!(screen.selected().map(|ticket| ticket.id.as_str()), Some("c"));
}

#[test]
fn a_question_is_answered_with_a_typed_text() {
    let question = Need::Answer { question: "which name?".to_owned() };
    let mut screen = screen(vec![ticket("asks", State::NeedsInput, Some(question))]);
    assert_eq!(press(&mut screen, "a"), None);
    assert_eq!(press(&mut screen, "\n"), None, "an empty answer is not sent");
    let order = press(&mut screen, "olx\x08d\n");
    assert_eq!(order, Some(Order::Answer { ticket: id("asks"), answer: "old".to_owned() }));
    assert_eq!(screen.asked(), None);
    press(&mut screen, "a");
    assert_eq!(press(&mut screen, "new\x1b"), None);
    assert_eq!(screen.asked(), None, "Esc leaves");
}

#[test]
fn a_result_without_a_check_is_accepted_only_after_a_yes() {
    let need = Need::Approval { why: ApprovalReason::Unverified };
    let mut screen = screen(vec![ticket("t", State::NeedsInput, Some(need))]);
    assert_eq!(press(&mut screen, "a\n"), None);
    assert_eq!(press(&mut screen, "ay"), Some(Order::Approve { ticket: id("t") }));
    let order = press(&mut screen, "nbad\n");
    assert_eq!(order, Some(Order::Reject { ticket: id("t"), note: "bad".to_owned() }));
}

#[test]
fn planned_tickets_and_steps_are_approved_at_once() {
    for need in [Need::Plan, Need::Step { step: conductor::StepKind::Integrate }] {
        let mut screen = screen(vec![ticket("t", State::AwaitingApproval, Some(need))]);
        assert_eq!(press(&mut screen, "a"), Some(Order::Approve { ticket: id("t") }));
    }
}

#[test]
fn keys_without_a_meaning_here_do_nothing() {
    let mut screen = screen(vec![ticket("t", State::Working, None)]);
    for key in ["a", "n", "r", "x", "\x1b"] {
        assert_eq!(press(&mut screen, key), None, "{key:?}");
        assert_eq!(screen.asked(), None, "{key:?}");
    }
    assert_eq!(press(&mut screen, "q"), Some(Order::Leave));
    assert_eq!(press(&mut screen, "p"), Some(Order::Pause));
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(screen.key(control_c), Some(Order::Signal(Signal::Interrupt)));
}

#[test]
fn a_paused_track_is_resumed_and_an_ended_one_is_left_alone() {
    let mut paused = screen(vec![ticket("t", State::Ready, None)]);
    paused.board.phase = Phase::Paused;
    assert_eq!(press(&mut paused, "p"), Some(Order::Resume));
    paused.board.phase = Phase::Finished;
    assert_eq!(press(&mut paused, "p"), None);
}

fn waiting_call() -> (TicketBoard, Approval) {
    let mut ticket = ticket("t", State::Working, None);
    let call = ToolCall { id: "call_1".into(), name: "run_command".to_owned(), input: Map::new() };
    let approval = Approval { session: Uuid::nil(), call, asked_at: DateTime::UNIX_EPOCH, answer: None };
    ticket.approvals.push(approval.clone());
    (ticket, approval)
}

#[test]
fn a_call_is_shown_before_it_is_decided() {
    let (waiting, approval) = waiting_call();
    let mut screen = screen(vec![waiting]);
    assert_eq!(press(&mut screen, "y"), None, "nothing is asked yet");
    assert_eq!(press(&mut screen, "a"), Some(Order::Look { approval: approval.clone() }));
    let lines = vec![(Style::Title, "$ make all".to_owned())];
    screen.ask(Ask::Call { approval: approval.clone(), lines });
    assert_eq!(press(&mut screen, "a\n "), None, "only y and n decide");
    let text = shown(&mut screen, 80, 20);
    assert!(text.contains("$ make all") && text.contains("Allow run_command?"), "{text}");
    let decided = |approved| Order::Decide { session: Uuid::nil(), call: "call_1".to_owned(), approved };
    assert_eq!(press(&mut screen, "y"), Some(decided(true)));
    // Another front answers while the question is open.
    screen.ask(Ask::Call { approval, lines: Vec::new() });
    screen.update(board(vec![ticket("t", State::Working, None)]));
    assert_eq!(screen.asked(), None);
}

#[test]
fn the_log_is_that_of_the_track_or_of_a_ticket() {
    let mut screen = screen(vec![ticket("a", State::Working, None), ticket("b", State::Working, None)]);
    for (seq, of) in [(1, "a"), (2, "b"), (3, "a")] {
        let event = json!({ "type": "check_started", "ticket": of, "attempt": 1 });
        let recorded = json!({ "seq": seq, "at": "2026-01-01T00:00:00Z", "event": event });
        let recorded: Recorded = serde_json::from_value(recorded).expect("an event");
        screen.event(TrackEvent::Recorded { recorded: Box::new(recorded) });
    }
    let seqs = |screen: &Screen, most| screen.log(most).iter().map(|it| it.seq).collect::<Vec<_>>();
    assert_eq!(seqs(&screen, 9), [1, 2, 3]);
    assert_eq!(seqs(&screen, 2), [2, 3], "the newest ones");
    press(&mut screen, "l");
    assert_eq!(seqs(&screen, 9), [1, 3]);
}

#[test]
fn it_is_drawn_on_terminals_of_any_size() {
    let need = Need::Approval { why: ApprovalReason::Unverified };
    let mut screen = screen(vec![
        ticket("parser", State::NeedsInput, Some(need)),
        ticket("lexer", State::Merged, None),
        waiting_call().0,
    ]);
    for (width, height) in [(1, 1), (20, 5), (60, 12), (80, 24), (200, 60)] {
        shown(&mut screen, width, height);
    }
    insta::assert_snapshot!(shown(&mut screen, 100, 24));
}
