//! The help of every command.

use crate::home::{CommandOutput, Home};

/// The least columns of a terminal on which examples are not wrapped.
const LEAST_COLUMNS: usize = 100;

/// The names of the commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let named =
        listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    named.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Checks the help of a command and of those below it, on a terminal with this many columns.
fn check(home: &Home, path: &[&str], columns: usize) -> usize {
    let mut command = home.command();
    command.args([path, &["--help"]].concat()).env("COLUMNS", columns.to_string());
    let help = CommandOutput::of(command.output().unwrap()).ok();
    for line in help.lines() {
        // Examples are indented.
        assert!(!line.starts_with("masque "), "{path:?} has an example that is not indented:\n{help}");
        let is_wrapped = columns >= LEAST_COLUMNS && line.chars().count() > columns;
        assert!(!is_wrapped, "{path:?} has a line that would be wrapped:\n{line}");
    }
    check_paragraphs(path, &help, columns);
    let mut checked = 1;
    for command in commands(&help) {
        checked += check(home, &[path, &[command.as_str()]].concat(), columns);
    }
    checked
}

/// Within a paragraph, a line ends where the next word does not fit. Lists are indented or numbered.
fn check_paragraphs(path: &[&str], help: &str, columns: usize) {
    let is_prose = |line: &str| line.starts_with(|c: char| !c.is_whitespace() && !c.is_ascii_digit());
    let lines: Vec<&str> = help.lines().collect();
    for pair in lines.windows(2) {
        let [line, next] = pair else { continue };
        if !is_prose(line) || !is_prose(next) || line.ends_with(':') {
            continue;
        }
        let word = next.split_whitespace().next().unwrap_or_default();
        let joined = line.chars().count() + 1 + word.chars().count();
        assert!(
            joined > columns,
            "{path:?} breaks a paragraph by hand at {columns} columns:\n{line}\n{next}"
        );
    }
}

#[test]
fn the_usage_of_an_approval_is_in_the_order_of_its_arguments() {
    let home = Home::new();
    let help = home.ok(&["sessions", "approve", "--help"]);
    assert!(help.contains("Usage: masque sessions approve [OPTIONS] <ID> <CALL>...\n"), "{help}");
    assert!(help.contains("masque sessions approve [OPTIONS] <ID> --all\n"), "{help}");
    for arguments in [&["0193a7", "call_1"][..], &["0193a7", "--all"]] {
        home.refused("unknown_session", &[&["sessions", "approve"], arguments].concat());
    }
    home.refused("missing_field", &["sessions", "approve", "0193a7"]);
    home.refused("conflicting_fields", &["sessions", "approve", "0193a7", "call_1", "--all"]);
    let missing = home.fails(2, &["sessions", "approve"]);
    assert!(missing.contains("  <ID>\n  <CALL>...\n"), "{missing}");
}

#[test]
fn examples_are_indented_and_nothing_is_too_wide() {
    for columns in [LEAST_COLUMNS, 72] {
        let checked = check(&Home::new(), &[], columns);
        assert!(checked > 40, "only {checked} commands were found");
    }
}

#[test]
fn global_options_are_listed_once() {
    let home = Home::new();
    let root = home.ok(&["--help"]);
    for flag in ["--db <PATH|URL>", "--project <DIR>", "--json", "--no-pager", "--color <WHEN>"] {
        assert!(root.contains(flag), "{flag} is not in:\n{root}");
    }
    for path in [&["show"][..], &["create", "part"], &["sessions", "show"], &["schema"]] {
        let help = home.ok(&[path, &["--help"]].concat());
        let lines: Vec<&str> = help.lines().filter(|line| line.contains("--no-pager")).collect();
        assert!(matches!(lines[..], [line] if line.starts_with("Global options: --db, ")), "{help}");
        assert!(!help.contains("--color <WHEN>"), "{help}");
    }
    // They still work after a command.
    assert!(
        home.ok(&["create", "part", "calm", "--part-type", "tone", "--content", "x", "--json"])
            .starts_with('{')
    );
    // A command may have an option of the same name.
    assert!(home.ok(&["connect", "--help"]).contains("--project [<DIR>]"));
}

#[test]
fn export_mentions_all() {
    let home = Home::new();
    assert!(home.ok(&["export", "--help"]).contains("masque export [OPTIONS] --all\n"));
    let missing = home.refused("missing_field", &["export"]).offers("write_as").0;
    assert!(missing["message"].as_str().unwrap().contains("masque export --all"), "{missing:#}");
}

#[test]
fn common_commands_have_short_names() {
    let home = Home::new();
    assert_eq!(home.ok(&["ls", "parts"]), home.ok(&["list", "parts"]));
    let help = home.ok(&["--help"]);
    for alias in ["ls", "cp", "mv", "rm"] {
        assert!(
            help.contains(&format!("[aliases: {alias}]")) || help.contains(&format!("[alias: {alias}]")),
            "{help}"
        );
    }
}
