//! `link` and `unlink`.

use crate::home::{Home, contains};

#[test]
fn each_kind_is_linked_and_taken_off() {
    let home = Home::new();
    home.ok(&["create", "persona", "helper"]);
    for (kind, name) in [
        ("part", "plain-tone"),
        ("trait", "curious"),
        ("skill", "hint-ladder"),
        ("guardrail", "no-fabrication"),
    ] {
        let linked = home.ok(&["link", "helper", kind, name]);
        contains(&linked, &[&format!("linked {kind} {name} to helper"), "(helper is at revision "]);
        contains(
            &home.ok(&["link", "helper", kind, name]),
            &["is already linked to helper", "nothing to change"],
        );
        contains(&home.ok(&["manifest", "helper"]), &[name]);
        contains(
            &home.ok(&["unlink", "helper", kind, name]),
            &[&format!("unlinked {kind} {name} from helper")],
        );
        contains(
            &home.ok(&["unlink", "helper", kind, name]),
            &["is not linked to helper", "nothing to change"],
        );
    }
}

#[test]
fn a_part_has_its_place() {
    let home = Home::new();
    home.ok(&["create", "persona", "helper", "--part", "review-identity"]);
    home.ok(&["link", "helper", "part", "plain-tone", "--order", "-5", "--priority", "9"]);
    let view = home.json(&["show", "helper"]);
    assert_eq!((&view["parts"][0]["name"], &view["parts"][0]["priority"]), (&"plain-tone".into(), &9.into()));
    home.refused("not_for_kind", &["link", "helper", "trait", "curious", "--order", "1"]).offers("leave_out");
}

#[test]
fn mistakes_are_explained() {
    let home = Home::new();
    home.ok(&["create", "persona", "helper"]);
    home.refused("not_found", &["link", "helper", "part", "plan-tone"])
        .about("name", "plan-tone")
        .suggests("plain-tone");
    home.refused("not_found", &["link", "hepler", "part", "plain-tone"])
        .about("name", "hepler")
        .suggests("helper");
    home.refused("invalid_value", &["link", "helper", "arc", "mentors-path"]);
    home.refused("stale_revision", &["link", "helper", "part", "plain-tone", "--if-revision", "7"])
        .offers("read_again");
}
