//! `link` and `unlink`.

use crate::home::{Home, contains};

#[test]
fn each_kind_is_linked_and_unlinked() {
    let home = Home::new();
    home.ok(&["create", "persona", "helper", "--summary", "Helps."]);
    for (kind, name) in [
        ("part", "plain-tone"),
        ("trait", "curious"),
        ("skill", "hint-ladder"),
        ("guardrail", "no-fabrication"),
    ] {
        let changes = |command: &str| home.json(&[command, "helper", kind, name])["changed"] == true;
        assert!(changes("link") && !changes("link"), "{kind}");
        contains(&home.ok(&["manifest", "helper"]), &[name]);
        assert!(changes("unlink") && !changes("unlink"), "{kind}");
        assert!(!home.ok(&["manifest", "helper"]).contains(name), "{kind}");
    }
}

#[test]
fn a_part_has_an_order_and_a_priority() {
    let home = Home::new();
    home.ok(&["create", "persona", "helper", "--part", "review-identity"]);
    home.ok(&["link", "helper", "part", "plain-tone", "--order", "-5", "--priority", "9"]);
    let view = home.json(&["show", "helper"]);
    assert_eq!((&view["parts"][0]["name"], &view["parts"][0]["priority"]), (&"plain-tone".into(), &9.into()));
    home.refused("not_for_kind", &["link", "helper", "trait", "curious", "--order", "1"]).offers("leave_out");
}

#[test]
fn invalid_links_are_refused() {
    let home = Home::new();
    home.ok(&["create", "persona", "helper", "--summary", "Helps."]);
    home.refused("not_found", &["link", "helper", "part", "plan-tone"])
        .about("name", "plan-tone")
        .suggests("plain-tone");
    home.refused("not_found", &["link", "hepler", "part", "plain-tone"])
        .about("name", "hepler")
        .suggests("helper");
    home.refused("not_for_kind", &["link", "helper", "arc", "mentors-path"]).offers("use_one_of");
    home.refused("stale_revision", &["link", "helper", "part", "plain-tone", "--if-revision", "7"])
        .offers("read_again");
}
