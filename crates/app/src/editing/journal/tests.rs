//! Scripts of notes: `read part calm @2`, `glance part calm @2` for some of its fields, `write part calm 2>3`,
//! `make part calm 1`, `copy part calm 1` of a builtin, `delete part calm 3>4`, `undo`, `undo part calm @4`
//! and `done`. An entity is in shared unless a word begins with its scope.

use agent::{End, Note};

use super::*;

fn entity(words: &[&str]) -> (Scope, Kind, Name) {
    let (scope, words) = match words {
        [scope, rest @ ..] if rest.len() > 1 => (scope.parse().expect("a scope"), rest),
        rest => (Scope::Shared, rest),
    };
    (scope, words[0].parse().expect("a kind"), Name::parse(words[1]).expect("a name"))
}

fn event(line: &str) -> Note {
    let words: Vec<&str> = line.split_whitespace().collect();
    let event = match words.as_slice() {
        ["done"] => return Note::Done { stop_reason: End::EndTurn },
        ["undo"] => EditingEvent::TurnUndone { entities: Vec::new() },
        [done @ ("read" | "glance" | "undo"), of @ .., revision] => {
            let (scope, kind, name) = entity(of);
            let revision = revision.trim_start_matches('@').parse().expect("a revision");
            let entities = vec![Seen { kind, name, scope, revision, partly: *done == "glance" }];
            match *done {
                "undo" => EditingEvent::TurnUndone { entities },
                _ => EditingEvent::EntitiesRead { entities },
            }
        }
        [done, of @ .., revisions] => {
            let (scope, kind, name) = entity(of);
            let (before, after) = match revisions.split_once('>') {
                Some((before, after)) => (Some(before.parse().expect("a revision")), after),
                None => (None, *revisions),
            };
            let after = after.parse().expect("a revision");
            let (deleted, copied) = (*done == "delete", *done == "copy");
            let change = Change { kind, name, scope, before, after, deleted, copied };
            EditingEvent::EntitiesChanged { changes: vec![change] }
        }
        other => panic!("no note: {other:?}"),
    };
    Note::ToolEvent { tool_use_id: "call".to_owned(), event: event.to_json() }
}

fn knowledge(script: &str) -> Knowledge {
    Knowledge::of(script.split('|').map(|line| event(line.trim())))
}

#[track_caller]
fn knows(script: &str, expected: Option<i64>) {
    let name = Name::parse("calm").expect("a name");
    assert_eq!(knowledge(script).revision(Kind::Part, &name), expected, "{script}");
}

#[test]
fn a_session_knows_what_it_read_and_wrote() {
    knows("done", None);
    knows("read part calm @2", Some(2));
    knows("read part calm @2 | done | read part calm @3", Some(3));
    knows("read part calm @2 | write part calm 2>3", Some(3));
    knows("make part calm 1 | write part calm 1>2", Some(2));
    knows("read part calm @2 | delete part calm 2>3", None);
    knows("read trait calm @2", None);
}

#[test]
fn an_edit_by_others_is_not_known() {
    // Its own change came on top of one that it has not seen.
    knows("read part calm @2 | write part calm 3>4", Some(2));
    knows("read part calm @2 | write project part calm 2>3", Some(2));
}

/// A change that needs no reading, such as a new name, does not show the rest.
#[test]
fn a_change_without_reading_is_not_knowledge() {
    knows("write part calm 2>3", None);
    knows("write part calm 2>3 | write part calm 3>4", None);
    knows("write part calm 2>3 | undo part calm @4", None);
    knows("read part calm @2 | write part calm 2>3 | undo part calm @4", Some(4));
}

#[track_caller]
fn knows_whole(script: &str, expected: Option<i64>) {
    let name = Name::parse("calm").expect("a name");
    assert_eq!(knowledge(script).whole_revision(Kind::Part, &name), expected, "{script}");
}

#[test]
fn some_fields_are_not_all() {
    knows("glance part calm @2", Some(2));
    knows_whole("glance part calm @2", None);
    knows_whole("read part calm @2", Some(2));
    knows_whole("read part calm @2 | glance part calm @2", Some(2));
    knows_whole("read part calm @2 | glance part calm @3", None);
    knows_whole("read part calm @2 | write part calm 2>3", Some(3));
    knows_whole("glance part calm @2 | write part calm 2>3", None);
    knows_whole("make part calm 1", Some(1));
}

#[test]
fn a_copied_builtin_is_known() {
    knows("copy part calm 1", None);
    knows("read builtin part calm @0 | copy part calm 1", Some(1));
    knows("read builtin part calm @0 | make part calm 1", Some(1));
    knows("read builtin part calm @0 | write part calm 1>2", Some(0));
}

#[test]
fn an_undone_entity_has_to_be_read_again() {
    knows("read part calm @2 | write part calm 2>3 | undo", None);
}

/// Each inverse as `kind name after>before`, `-` for an entity that goes, `!` for a partial one.
#[track_caller]
fn takes_back(script: &str, expected: &str) {
    let worded = knowledge(script).last_turn().into_iter().map(|Reversal { change, is_partial }| {
        let Change { kind, name, before, after, deleted, .. } = change;
        let before = before.map_or("-".to_owned(), |before| before.to_string());
        let (gone, partial) = (if deleted { "x" } else { "" }, if is_partial { "!" } else { "" });
        format!("{kind} {name} {after}{gone}>{before}{partial}")
    });
    assert_eq!(worded.collect::<Vec<_>>().join(", "), expected, "{script}");
}

#[test]
fn the_last_turn_with_changes_is_taken_back() {
    takes_back("done", "");
    takes_back("write part calm 2>3", "part calm 3>2");
    takes_back("write part calm 2>3 | done | write part dry 1>2 | done", "part dry 2>1");
    takes_back("write part calm 2>3 | done | read part dry @1 | done", "part calm 3>2");
    takes_back("write part calm 2>3 | done | write part dry 1>2 | done | undo", "part calm 3>2");
    takes_back("write part calm 2>3 | done | undo", "");
    takes_back("write part calm 2>3 | done | undo | done | undo", "");
}

#[test]
fn changes_of_one_entity_are_one_step() {
    takes_back("write part calm 2>3 | write part calm 3>4", "part calm 4>2");
    takes_back("make part calm 1 | write part calm 1>2", "part calm 2>-");
    takes_back("make part calm 1 | delete part calm 1>2", "");
    takes_back("delete part calm 3>4 | make part calm 5", "part calm 5>3");
    // An edit by hand came between them.
    takes_back("write part calm 2>3 | write part calm 4>5", "part calm 5>4!");
    // The same name in two scopes is two entities.
    takes_back("write part calm 2>3 | write project part calm 1>2", "part calm 3>2, part calm 2>1");
}

#[test]
fn references_have_their_targets_at_every_step() {
    takes_back(
        "make part new 1 | write persona ada 3>4 | write part calm 1>2 | delete test_input sum 1>2",
        "test_input sum 2x>1, part calm 2>1, persona ada 4>3, part new 1>-",
    );
    takes_back("make part new 1 | make persona ada 2", "persona ada 2>-, part new 1>-");
}

fn proposed(id: u128, name: &str, before: i64, after: i64) -> Note {
    let fields = |priority: i64| Map::from_iter([("priority".to_owned(), priority.into())]);
    let change = ProposedEntity {
        kind: Kind::Part,
        name: Name::parse(name).expect("a name"),
        scope: Scope::Shared,
        if_revision: 1,
        before: Some(fields(before)),
        after: Some(fields(after)),
    };
    let (proposal, message, changes) = (Uuid::from_u128(id), format!("message {id}"), vec![change]);
    let event = EditingEvent::ChangesProposed { proposal, message, changes }.to_json();
    Note::ToolEvent { tool_use_id: "call".to_owned(), event }
}

fn applied(id: u128, script: &str) -> Note {
    let changes = knowledge(script).turns.concat();
    let event = EditingEvent::ProposalApplied { proposal: Uuid::from_u128(id), changes }.to_json();
    Note::ToolEvent { tool_use_id: String::new(), event }
}

/// The open proposal as `id: name, name`.
fn open(notes: Vec<Note>) -> String {
    let open = Knowledge::of(notes).into_open().0;
    open.map_or("none".to_owned(), |OpenProposal { id, changes, .. }| {
        let names: Vec<&str> = changes.iter().map(|change| change.name.as_str()).collect();
        format!("{}: {}", id.as_u128(), names.join(", "))
    })
}

#[test]
fn a_proposal_is_that_of_the_last_planning_turn() {
    assert_eq!(open(vec![event("read part calm @1"), event("done")]), "none");
    assert_eq!(
        open(vec![proposed(1, "calm", 1, 2), proposed(1, "dry", 1, 2), event("done")]),
        "1: calm, dry"
    );
    assert_eq!(open(vec![proposed(1, "calm", 1, 2), proposed(1, "calm", 1, 3)]), "1: calm");
    assert_eq!(open(vec![proposed(1, "calm", 1, 2), event("done"), proposed(2, "dry", 1, 2)]), "2: dry");
    // A change that was taken back in the same turn is none.
    assert_eq!(open(vec![proposed(1, "calm", 1, 2), proposed(1, "calm", 1, 1)]), "none");
    // Changes of another turn leave it: its revisions say whether it still fits.
    assert_eq!(open(vec![proposed(1, "calm", 1, 2), event("write part dry 1>2"), event("done")]), "1: calm");
}

#[test]
fn an_applied_proposal_is_one_turn() {
    let write = "write part calm 1>2 | write persona ada 4>5";
    assert_eq!(open(vec![proposed(1, "calm", 1, 2), applied(1, write)]), "none");
    assert_eq!(open(vec![proposed(2, "calm", 1, 2), applied(1, write)]), "2: calm");
    let notes =
        vec![event("write part dry 1>2"), event("done"), applied(1, write), event("write part new 1>2")];
    let after = |notes: &[Note]| {
        let reversals = Knowledge::of(notes.to_vec()).last_turn();
        reversals.into_iter().map(|reversal| reversal.change.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(after(&notes), ["new"]);
    assert_eq!(after(&notes[..3]), ["calm", "ada"]);
    // The session knows what it proposed and the user applied, if it had read what was there.
    knows_after(vec![event("read part calm @1"), applied(1, write)], Some(2));
    knows_after(vec![applied(1, write)], None);
}

#[track_caller]
fn knows_after(notes: Vec<Note>, expected: Option<i64>) {
    let name = Name::parse("calm").expect("a name");
    assert_eq!(Knowledge::of(notes).revision(Kind::Part, &name), expected);
}

#[test]
fn events_of_other_tools_mean_nothing() {
    let progress = serde_json::json!({ "type": "progress", "progress": 1 });
    let note = Note::ToolEvent { tool_use_id: "call".to_owned(), event: progress };
    assert_eq!(Knowledge::of([note]), Knowledge::default());
}
