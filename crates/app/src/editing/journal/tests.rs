//! Scripts of notes: `read part calm@2`, `write part calm 2>3`, `make part calm 1`, `delete part calm 3>4`,
//! `undo` and `done`. An entity is in shared unless a word begins with its scope.

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
        ["read", of @ .., revision] => {
            let (scope, kind, name) = entity(of);
            let revision = revision.trim_start_matches('@').parse().expect("a revision");
            EditingEvent::EntitiesRead { entities: vec![Seen { kind, name, scope, revision }] }
        }
        [done, of @ .., revisions] => {
            let (scope, kind, name) = entity(of);
            let (before, after) = match revisions.split_once('>') {
                Some((before, after)) => (Some(before.parse().expect("a revision")), after),
                None => (None, *revisions),
            };
            let after = after.parse().expect("a revision");
            let change = Change { kind, name, scope, before, after, deleted: *done == "delete" };
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
    knows("write part calm 2>3", Some(3));
    knows("read part calm @2 | delete part calm 2>3", None);
    knows("read trait calm @2", None);
}

#[test]
fn an_edit_by_others_is_not_known() {
    // Its own change came on top of one that it has not seen.
    knows("read part calm @2 | write part calm 3>4", Some(2));
    knows("read part calm @2 | write project part calm 2>3", Some(2));
}

#[test]
fn a_copied_builtin_is_known() {
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

#[test]
fn events_of_other_tools_mean_nothing() {
    let progress = serde_json::json!({ "type": "progress", "progress": 1 });
    let note = Note::ToolEvent { tool_use_id: "call".to_owned(), event: progress };
    assert_eq!(Knowledge::of([note]), Knowledge::default());
}
