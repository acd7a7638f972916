//! Arcs: building them, and walking through them.

use serde_json::json;

use crate::home::{Home, contains};

#[test]
fn an_arc_is_built_and_walked_through() {
    let home = Home::new();
    home.ok(&["create", "arc", "growth", "--summary", "From guest to host."]);
    home.ok(&["create", "part", "shy", "--type", "tone", "--summary", "You are shy."]);
    home.ok(&["create", "persona", "helper", "--part", "plain-tone"]);
    contains(&home.fails(2, &["arc", "assign", "helper", "growth"]), &["stage"]);
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
    contains(&home.fails(2, &["arc", "advance", "helper"]), &["last stage", "reset its stage"]);
    contains(&home.ok(&["arc", "reset", "helper"]), &["stage 1 of 2"]);
    contains(&home.ok(&["arc", "assign", "helper", "growth", "--stage", "host"]), &["stage 2 of 2"]);

    contains(&home.fails(4, &["arc", "remove-stage", "growth", "host"]), &["helper"]);
    contains(
        &home.ok(&["arc", "remove-part", "growth", "guest", "shy"]),
        &["removed part shy from stage guest"],
    );
    contains(&home.ok(&["arc", "unassign", "helper"]), &["removed helper from its arc"]);
    contains(&home.ok(&["arc", "unassign", "helper"]), &["has no arc"]);
    contains(&home.ok(&["arc", "remove-stage", "growth", "host"]), &["removed stage host from growth"]);
    contains(&home.fails(2, &["arc", "advance", "helper"]), &["assign it an arc"]);
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
    contains(&home.fails(3, &["arc", "assign", "mentor", "mentor-path"]), &["mentors-path"]);
    contains(&home.fails(2, &["arc", "assign", "mentor", "mentors-path", "--stage", "giude"]), &["guide"]);
    contains(&home.fails(3, &["arc", "advance", "nobody"]), &["nobody"]);
}
