//! Runs README.md from top to bottom after an installation.

use std::process::{Command, Stdio};

use crate::home::{CommandOutput, Home};

const README: &str = include_str!("../../../../README.md");

/// Commands that never end, or need more than an empty home: a repository and a model, for example.
const LEFT_OUT: [&str; 7] = [
    "masque conduct",
    "masque mcp",
    "masque serve",
    "masque models",
    "masque db copy",
    "masque doctor",
    "curl ",
];

#[test]
fn every_command_prints_the_shown_output() {
    let home = Home::new();
    let mut compared = 0;
    for block in README.split("\n```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        if language == "toml" && text.starts_with("[personas.") {
            home.write("shop/personas.toml", text);
            home.write("shop/docs/review-rules.md", "An amount is never a float.\n");
        }
        for (command, shown) in commands(text) {
            if LEFT_OUT.iter().any(|left_out| command.starts_with(left_out)) {
                continue;
            }
            let printed = in_shell(&home, &command).ok();
            for (at, line) in shown.iter().enumerate() {
                let printed = words(printed.lines().nth(at).unwrap_or_default());
                // A terminal cuts long lines; here nothing is cut.
                let shown = words(line.split('…').next().unwrap());
                assert!(printed.starts_with(&shown), "{command}\nshown:   {shown}\nprinted: {printed}");
            }
            compared += shown.len();
        }
    }
    assert!(compared >= 15, "{compared} lines are shown");
}

/// The commands of a block, each with the lines below it.
fn commands(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut commands: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), Vec::new()));
        } else if let Some((command, shown)) = commands.last_mut() {
            let is_open = command.contains("<<'TOML'") && !command.ends_with("\nTOML");
            if is_open || command.ends_with('\\') {
                command.push('\n');
                command.push_str(line);
            } else {
                shown.push(line);
            }
        }
    }
    commands
}

fn in_shell(home: &Home, command: &str) -> CommandOutput {
    let masque = home.command();
    let program = masque.get_program().to_str().unwrap();
    // Readers see both streams.
    let script = format!("masque() {{ '{program}' \"$@\"; }}\nexec 2>&1\n{command}\n");
    let directory = home.path("shop");
    std::fs::create_dir_all(&directory).unwrap();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &script]).env_clear().current_dir(directory).stdin(Stdio::null());
    shell.envs(masque.get_envs().filter_map(|(name, value)| Some((name, value?))));
    CommandOutput::of(shell.output().unwrap())
}

/// Columns are as wide as their content.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
