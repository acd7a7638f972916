//! Completion scripts.

use crate::home::{Home, contains};

#[test]
fn every_shell_gets_a_script() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = home.ok(&["completions", shell]);
        contains(&script, &["masque", "add-stage", "part-type"]);
    }
    home.refused("invalid_value", &["completions", "tcsh"]);
}

#[test]
fn completions_need_no_library() {
    let home = Home::new();
    home.ok(&["completions", "bash"]);
    assert!(!home.path(".local").exists());
}
