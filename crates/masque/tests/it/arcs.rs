//! Arcs: building them, and walking through them.

use serde_json::json;

use crate::home::{Home, contains};

#[test]
fn an_arc_is_built_and_walked_through() {
    let home = Home::new();
    home.ok(&["create", "arc", "growth", "--summary", "From guest to host."]);
    home.ok(&["create", "part", "shy", "--type", "tone", "--summary", "You are shy."]);
    home.ok(&["create", "persona", "helper", "--part", "plain-tone"]);
    home.refused("no_stages", &["arc", "assign", "helper", "growth"]).offers("add_stage");
    home.ok(&["arc", "add-stage", "growth", "guest", "--order", "1", "--condition", "At first."]);
    home.ok(&["arc", "add-stage", "growth", "host", "--order", "2", "--description", "At home."]);
    contains(
        &home.ok(&["arc", "add-part", "growth", "guest", "shy"]),
        &["added part shy to stage guest of growth"],
    );
    contains(
        &home.ok(&["show", "arc", "growth"]),
        &["1. guest", "Condition: At first.", "Parts: shy", "2. host"],
    );

    let assigned = home.ok(&["arc", "assign", "helper", "growth"]);
    contains(&assigned, &["helper is at stage 1 of 2 in growth: guest", "Condition: At first."]);
    contains(&home.ok(&["show", "helper"]), &["shy", "from stage"]);
    let advanced = home.ok(&["arc", "advance", "helper"]);
    contains(&advanced, &["helper is at stage 2 of 2 in growth: host", "At home."]);
    contains(&home.ok(&["show", "helper"]), &["plain-tone"]);
    home.refused("last_stage", &["arc", "advance", "helper"]).offers("reset_stage");
    contains(&home.ok(&["arc", "reset", "helper"]), &["stage 1 of 2"]);
    contains(&home.ok(&["arc", "assign", "helper", "growth", "--stage", "host"]), &["stage 2 of 2"]);

    home.refused("in_use", &["arc", "remove-stage", "growth", "host"]).offers("unlink_first");
    contains(
        &home.ok(&["arc", "remove-part", "growth", "guest", "shy"]),
        &["removed part shy from stage guest"],
    );
    contains(&home.ok(&["arc", "unassign", "helper"]), &["removed helper from its arc"]);
    contains(&home.ok(&["arc", "unassign", "helper"]), &["has no arc"]);
    contains(&home.ok(&["arc", "remove-stage", "growth", "host"]), &["removed stage host from growth"]);
    home.refused("no_arc", &["arc", "advance", "helper"]).about("field", "arc");
}

#[test]
fn where_a_persona_stands_is_also_json() {
    let home = Home::new();
    let state = home.json(&["arc", "advance", "mentor"]);
    assert_eq!(state["persona"], "mentor");
    assert_eq!((&state["position"], &state["of"]), (&json!(2), &json!(3)));
    assert_eq!((&state["arc"], &state["stage"]), (&json!("mentors-path"), &json!("coach")));
}

#[test]
fn mistakes_are_explained() {
    let home = Home::new();
    home.refused("not_found", &["arc", "assign", "mentor", "mentor-path"]).suggests("mentors-path");
    home.refused("unknown_stage", &["arc", "assign", "mentor", "mentors-path", "--stage", "giude"])
        .suggests("guide");
    home.refused("not_found", &["arc", "advance", "nobody"]).about("name", "nobody");
}
