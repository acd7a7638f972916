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
    contains(
        &home.fails(2, &["link", "helper", "trait", "curious", "--order", "1"]),
        &["work for parts only"],
    );
}

#[test]
fn mistakes_are_explained() {
    let home = Home::new();
    home.ok(&["create", "persona", "helper"]);
    contains(&home.fails(3, &["link", "helper", "part", "plan-tone"]), &["plan-tone", "plain-tone"]);
    contains(&home.fails(3, &["link", "hepler", "part", "plain-tone"]), &["hepler", "helper"]);
    contains(&home.fails(2, &["link", "helper", "arc", "mentors-path"]), &["arc"]);
    contains(
        &home.fails(4, &["link", "helper", "part", "plain-tone", "--if-revision", "7"]),
        &["revision 1, not 7"],
    );
}
