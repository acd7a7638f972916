//! A home that cannot be written: reads work, with one line on standard error.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::home::{CommandOutput, Home, contains};

/// Runs a command as a user whom permissions stop.
fn run(home: &Home, arguments: &[&str]) -> CommandOutput {
    CommandOutput::of(command(home, arguments).output().unwrap())
}

/// The line about the library that `masque serve` prints.
fn announcement(home: &Home) -> String {
    let mut command = command(home, &["serve", "--port", "0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = lines.map_while(Result::ok).find(|line| line.starts_with("library"));
    child.kill().unwrap();
    child.wait().unwrap();
    found.unwrap_or_default()
}

/// A command of a user whom permissions stop: the superuser passes them over.
fn command(home: &Home, arguments: &[&str]) -> Command {
    let masque = home.command();
    let mut command = match rustix::process::geteuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--bounding-set", "-dac_override,-dac_read_search"]).arg(masque.get_program());
            command
        }
        false => Command::new(masque.get_program()),
    };
    command.args(arguments).current_dir(home.path("")).env_clear();
    command.envs(masque.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn protect(home: &Home, below: &str, mode: u32) {
    std::fs::set_permissions(home.path(below), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs a command. Asserts one line of warning, which names this place, and returns the answer.
#[track_caller]
fn warned(home: &Home, arguments: &[&str], about: &str) -> String {
    let json = run(home, &[arguments, &["--json"]].concat());
    assert_eq!(json.warning_codes(), ["read_only_library"], "{json:#?}");
    let answer = run(home, arguments);
    assert_eq!(answer.stderr.lines().count(), 1, "{answer:#?}");
    contains(&answer.stderr, &["warning: ", about]);
    answer.ok()
}

#[test]
fn a_home_without_a_library_has_builtins_and_files() {
    let home = Home::new();
    home.write(".config/masque/personas.toml", "[personas.mine]\nsystem_prompt = \"You are mine.\"\n");
    std::fs::create_dir(home.path(".local")).unwrap();
    protect(&home, ".local", 0o500);
    contains(&warned(&home, &["list"], "share/masque"), &["mentor", "mine "]);
    contains(&warned(&home, &["show", "mentor"], "share/masque"), &["mentors-path"]);
    contains(&warned(&home, &["compile", "mine"], "share/masque"), &["You are mine."]);
    contains(&warned(&home, &["search", "review"], "share/masque"), &["code_reviewer"]);
    for command in [
        &["create", "skill", "s", "--content", "x"][..],
        &["create", "skill", "s", "--content", "x", "--scope", "global"],
        &["run", "mentor", "hi"],
    ] {
        run(&home, &[command, &["--json"]].concat())
            .refused_with("database_read_only")
            .in_file(".local/share/masque")
            .offers("check_rights")
            .offers("other_database");
        let told = run(&home, command).stderr;
        contains(&told, &[".local/share/masque cannot be written", "--db FILE"]);
        assert!(!told.contains("Error code") && !told.contains("masque.db"), "{told}");
    }
    let info = run(&home, &["db", "info"]).ok();
    contains(&info, &["none (", ".local/share/masque cannot be written)"]);
    let announced = announcement(&home);
    contains(&announced, &["none (", ".local/share/masque cannot be written)"]);
    assert!(!home.path(".local/share").exists());
    protect(&home, ".local", 0o700);
    assert_eq!(run(&home, &["list"]).stderr, "");
}

#[test]
fn a_protected_library_can_be_read() {
    let home = Home::new();
    home.write(".config/masque/personas.toml", "[personas.mine]\nsystem_prompt = \"You are mine.\"\n");
    home.ok(&["create", "part", "calm", "--type", "tone", "--summary", "Calm."]);
    home.ok(&["create", "persona", "team", "--part", "calm"]);
    let directory = ".local/share/masque";
    let file = ".local/share/masque/masque.db";
    for (of_directory, of_file) in [(0o500, 0o600), (0o500, 0o400), (0o700, 0o400)] {
        protect(&home, file, of_file);
        protect(&home, directory, of_directory);
        contains(&warned(&home, &["list"], "masque.db"), &["team ", "mine ", "mentor "]);
        contains(&warned(&home, &["compile", "team"], "masque.db"), &["Calm."]);
        let history = run(&home, &["history", "team", "--json"]);
        assert_eq!(history.warning_codes(), ["read_only_library"], "{history:#?}");
        contains(&history.ok(), &["create"]);
        run(&home, &["update", "part", "calm", "--summary", "Loud.", "--json"])
            .refused_with("database_read_only")
            .in_file("masque.db")
            .offers("check_rights")
            .offers("other_database");
        // A change of a file needs a lock beside the history, whether there has been one or not.
        for _ in 0..2 {
            let told = run(&home, &["update", "mine", "--summary", "Mine.", "--json"]);
            told.refused_with("database_read_only").in_file("masque.db").offers("check_rights");
            protect(&home, directory, 0o700);
            let _ = std::fs::remove_dir_all(home.path(directory).join("locks"));
            protect(&home, directory, of_directory);
        }
    }
    // A file that changed meanwhile is in force, and recorded later.
    home.write(".config/masque/personas.toml", "[personas.mine]\nsystem_prompt = \"You are yours.\"\n");
    contains(&warned(&home, &["compile", "mine"], "masque.db"), &["You are yours."]);
    protect(&home, directory, 0o700);
    protect(&home, file, 0o600);
    assert_eq!(home.json(&["history", "mine"])["items"].as_array().unwrap().len(), 2);
    home.ok(&["update", "part", "calm", "--summary", "Loud."]);
}
