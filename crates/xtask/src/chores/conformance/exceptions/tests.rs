use super::*;

fn error(text: &str) -> String {
    check(text).expect_err("a broken rule").to_string()
}

#[test]
fn no_exceptions_and_reasoned_exceptions_are_fine() {
    check("# The rule.\nserver: []\n").expect("no exceptions");
    check("server:\n  # The suite asks twice.\n  - ping\n").expect("one exception");
}

#[test]
fn an_exception_needs_a_reason_of_its_own() {
    assert!(error("server:\n  - ping\n").starts_with("the exception ping has no reason"));
    assert!(error("server:\n  # Why.\n  - a\n  - b\n").starts_with("the exception b has no reason"));
}

#[test]
fn a_fourth_exception_is_one_too_many() {
    let text = "# Why.\n- a\n".repeat(4);
    assert!(error(&text).starts_with("4 exceptions"));
}

#[test]
fn our_own_file_keeps_the_rule() {
    check(include_str!("../../../../conformance-expected-failures.yml")).expect("our file");
}
