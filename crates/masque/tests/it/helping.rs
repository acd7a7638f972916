//! The help of every command.

use crate::home::Home;

/// The least columns of a terminal.
const COLUMNS: usize = 100;

/// The names of the commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let named =
        listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    named.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn check(home: &Home, path: &[&str]) -> usize {
    let help = home.ok(&[path, &["--help"]].concat());
    for line in help.lines() {
        // Examples are indented.
        assert!(!line.starts_with("masque "), "{path:?} has an example that is not indented:\n{help}");
        assert!(line.chars().count() <= COLUMNS, "{path:?} has a line that would be wrapped:\n{line}");
    }
    let mut checked = 1;
    for command in commands(&help) {
        checked += check(home, &[path, &[command.as_str()]].concat());
    }
    checked
}

#[test]
fn examples_are_indented_and_nothing_is_too_wide() {
    let checked = check(&Home::new(), &[]);
    assert!(checked > 40, "only {checked} commands were found");
}
