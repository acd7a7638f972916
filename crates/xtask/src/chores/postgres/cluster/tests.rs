use super::*;

#[test]
fn only_the_state_line_makes_a_server_ready() {
    let lock_file = |state: &str| format!("1\n/data\n2\n5432\n/tmp\n127.0.0.1\n3 4\n{state}\n");
    assert!(says_ready(&lock_file("ready   ")));
    assert!(!says_ready(&lock_file("starting")));
    assert!(!says_ready("1\n/data\nready\n"));
    assert!(!says_ready(""));
}
