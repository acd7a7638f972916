//! Arcs: building them, and walking through them.

use serde_json::{Value, json};

use crate::home::{Home, contains, outcome};

#[test]
fn a_persona_walks_through_an_arc() {
    let home = Home::new();
    home.ok(&["create", "arc", "growth", "--summary", "From guest to host."]);
    home.ok(&["create", "part", "shy", "--type", "tone", "--summary", "You are shy."]);
    home.ok(&["create", "persona", "helper", "--part", "plain-tone"]);
    home.refused("no_stages", &["arc", "assign", "helper", "growth"]).offers("add_stage");
    home.ok(&["arc", "add-stage", "growth", "guest", "--order", "1", "--condition", "At first."]);
    home.ok(&["arc", "add-stage", "growth", "host", "--order", "2", "--description", "At home."]);
    let added = home.json(&["arc", "add-part", "growth", "guest", "shy"]);
    assert_eq!(outcome(&added), "changed arc shared:growth 4");
    contains(
        &home.ok(&["show", "arc", "growth"]),
        &["1. guest", "Condition: At first.", "Parts: shy", "2. host"],
    );

    let place = |state: &Value| (state["stage"].clone(), state["position"].clone(), state["of"].clone());
    let assigned = home.json(&["arc", "assign", "helper", "growth"]);
    assert_eq!(place(&assigned), (json!("guest"), json!(1), json!(2)));
    assert_eq!(assigned["condition"], "At first.");
    contains(&home.ok(&["show", "helper"]), &["shy", "from stage"]);
    let advanced = home.json(&["arc", "advance", "helper"]);
    assert_eq!(place(&advanced), (json!("host"), json!(2), json!(2)));
    assert_eq!(advanced["description"], "At home.");
    contains(&home.ok(&["show", "helper"]), &["plain-tone"]);
    home.refused("last_stage", &["arc", "advance", "helper"]).offers("reset_stage");
    contains(&home.ok(&["arc", "reset", "helper"]), &["stage 1 of 2"]);
    contains(&home.ok(&["arc", "assign", "helper", "growth", "--stage", "host"]), &["stage 2 of 2"]);

    home.refused("in_use", &["arc", "remove-stage", "growth", "host"]).offers("unlink_first");
    assert_eq!(home.json(&["arc", "remove-part", "growth", "guest", "shy"])["changed"], true);
    assert_eq!(home.json(&["arc", "unassign", "helper"])["changed"], true);
    assert_eq!(home.json(&["arc", "unassign", "helper"])["changed"], false);
    assert_eq!(home.json(&["arc", "remove-stage", "growth", "host"])["changed"], true);
    assert_eq!(home.json(&["show", "arc", "growth"])["stages"].as_array().map(Vec::len), Some(1));
    home.refused("no_arc", &["arc", "advance", "helper"]).about("field", "arc");
}

#[test]
fn the_current_stage_is_json_too() {
    let home = Home::new();
    let state = home.json(&["arc", "advance", "mentor"]);
    assert_eq!(state["persona"], "mentor");
    assert_eq!((&state["position"], &state["of"]), (&json!(2), &json!(3)));
    assert_eq!((&state["arc"], &state["stage"]), (&json!("mentors-path"), &json!("coach")));
}

#[test]
fn unknown_arcs_and_stages_are_refused() {
    let home = Home::new();
    home.refused("not_found", &["arc", "assign", "mentor", "mentor-path"]).suggests("mentors-path");
    home.refused("unknown_stage", &["arc", "assign", "mentor", "mentors-path", "--stage", "giude"])
        .suggests("guide");
    home.refused("not_found", &["arc", "advance", "nobody"]).about("name", "nobody");
}
