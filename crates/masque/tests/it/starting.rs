//! `masque init`, the manual pages, and output that is longer than the screen.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::home::{Home, contains};
use crate::terminal::Terminal;

#[test]
fn init_writes_a_persona_that_works() {
    let home = Home::new();
    contains(
        &home.run_in("shop", &["init"]).ok(),
        &["personas.toml", "masque show reviewer", "masque chat reviewer"],
    );
    let left: Vec<_> =
        std::fs::read_dir(home.path("shop")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["personas.toml"], "nothing but the file is written");
    let prompt = home.run_in("shop", &["compile", "reviewer"]).ok();
    contains(&prompt, &["has a test that fails without it"]);
    assert!(prompt.len() > home.ok(&["compile", "code_reviewer"]).len(), "it extends the builtin");
    home.run_in("shop", &["lint", "--deny", "warning"]).ok();
    contains(&home.read("shop/personas.toml"), &["# ", "extends = \"builtin:"]);
    // The comments are true: guardrails add to the base's, also without a mode.
    let inherited = home.json(&["show", "code_reviewer"])["guardrails"].as_array().unwrap().len();
    let tried = home.read("shop/personas.toml").replace("\n# guardrails", "\nguardrails");
    let tried =
        tried.replace("# [guardrails.no-force-push]\n# severity", "[guardrails.no-force-push]\nseverity");
    let tried = tried.replace("\n# content = \"Never", "\ncontent = \"Never");
    home.write("shop/personas.toml", &tried);
    let shown = home.run_in("shop", &["show", "reviewer", "--json"]).ok();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["guardrails"].as_array().unwrap().len(), inherited + 1, "{shown:#}");
}

#[test]
fn init_takes_a_directory_and_leaves_an_existing_file_alone() {
    let home = Home::new();
    std::fs::create_dir(home.path("shop")).unwrap();
    let answer = home.json(&["init", "shop"]);
    assert_eq!(answer, json!({ "file": "shop/personas.toml", "personas": ["reviewer"] }));
    home.write("shop/personas.toml", "# Ours.\n");
    home.refused("file_exists", &["init", "shop"]).in_file("shop/personas.toml").offers("run");
    home.refused("file_exists", &["init", "--project", "shop"]);
    assert_eq!(home.read("shop/personas.toml"), "# Ours.\n");
    home.refused("file_not_found", &["init", "nowhere"]).in_file("nowhere").offers("run");
    home.refused("not_a_directory", &["init", "shop/personas.toml"]);
    assert!(!home.path(".local").exists(), "init opens no library");
}

#[test]
fn every_command_has_a_manual_page() {
    let home = Home::new();
    contains(&home.ok(&["man"]), &[".TH masque 1", "masque\\-list(1)"]);
    let pages = home.json(&["man", "--out", "man1"]);
    let pages = pages["pages"].as_array().unwrap();
    assert!(pages.len() > 60, "{pages:?}");
    for page in ["masque.1", "masque-list.1", "masque-sessions-show.1", "masque-create-part.1"] {
        contains(&home.read(&format!("man1/{page}")), &[".TH", ".SH NAME", ".SH SYNOPSIS"]);
    }
    contains(&home.read("man1/masque-show.1"), &["\\-\\-max\\-tokens"]);
}

/// A pager that numbers what it gets and says that it was used.
fn pager(home: &Home) -> String {
    let path = home.write("pager", "#!/bin/sh\nwhile read -r line; do echo \"paged: $line\"; done\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The screen after a command, with the pager in a variable.
fn screen(home: &Home, (variable, pager): (&str, &str), arguments: &[&str]) -> String {
    let mut command = home.command();
    command.env("NO_COLOR", "1").env(variable, pager).args(arguments);
    let (code, screen) = Terminal::start(command).ends();
    assert_eq!(code, 0, "{screen}");
    screen
}

#[test]
fn long_output_goes_through_the_pager() {
    let home = Home::new();
    let pager = pager(&home);
    // The terminal of the tests has 40 rows.
    let long = screen(&home, ("PAGER", &pager), &["show", "mentor", "--detail"]);
    contains(&long, &["paged: ", "paged: Guardrails"]);
    let own = screen(&home, ("MASQUE_PAGER", &pager), &["compile", "mentor"]);
    contains(&own, &["paged: "]);
    let short = screen(&home, ("PAGER", &pager), &["list", "--limit", "3"]);
    assert!(!short.contains("paged: "), "{short}");
    contains(&short, &["NAME", "More items exist"]);
    // The hint follows the pager.
    let list = screen(&home, ("PAGER", &pager), &["list", "parts", "--limit", "45"]);
    assert!(!list.contains("paged: More items"), "{list}");
    for (variable, pager, flags) in [
        ("PAGER", pager.as_str(), &["--no-pager"][..]),
        ("PAGER", &pager, &["--json"]),
        ("PAGER", "cat", &[]),
        ("PAGER", "", &[]),
        ("MASQUE_PAGER", "", &[]),
        ("PAGER", "/no/such/pager", &[]),
    ] {
        let shown = screen(&home, (variable, pager), &[&["show", "mentor", "--detail"], flags].concat());
        assert!(!shown.contains("paged: "), "{variable}={pager} {flags:?}: {shown}");
        contains(&shown.to_lowercase(), &["guardrails"]);
    }
}

#[test]
fn other_long_answers_are_paged_too() {
    let home = Home::new();
    let pager = pager(&home);
    for number in 0..30 {
        let name = format!("skill-{number}");
        home.ok(&["create", "skill", &name, "--content", "x", "--scope", "shared"]);
        home.ok(&["create", "skill", &name, "--content", "y", "--scope", "global"]);
    }
    home.ok(&["run", "mentor", &"a line\n".repeat(60)]);
    home.ok(&["export", "--all", "--output", "all.toml"]);
    let session = home.json(&["sessions"])["items"][0]["id"].as_str().unwrap().to_owned();
    for command in [
        &["export", "mentor"][..],
        &["export", "--all", "--scope", "global"],
        &["manifest", "mentor"],
        &["conflicts"],
        &["schema"],
        &["sessions", "show", &session],
        &["sessions", "export", &session],
        &["import", "all.toml", "--dry-run"],
        &["doctor"],
        &["--help"],
        &["show", "--help"],
    ] {
        let mut masque = home.command();
        masque.env("NO_COLOR", "1").env("PAGER", &pager).args(command);
        // A manifest is shorter than the usual screen of the tests.
        let (code, screen) = Terminal::sized(masque, 12, 120).ends();
        assert_eq!(code, 0, "{command:?}: {screen}");
        assert!(screen.contains("paged: "), "{command:?}: {screen}");
    }
    let help = screen(&home, ("PAGER", &pager), &["--help", "--no-pager"]);
    assert!(!help.contains("paged: ") && help.contains("Start here:"), "{help}");
    let written = screen(&home, ("PAGER", &pager), &["export", "mentor", "--output", "mentor.toml"]);
    assert!(!written.contains("paged: "), "{written}");
}

#[test]
fn man_shows_the_page_on_a_terminal() {
    let home = Home::new();
    let shown = |script: Option<&str>, arguments: &[&str]| {
        let programs = home.path("programs");
        std::fs::create_dir_all(&programs).unwrap();
        if let Some(script) = script {
            let man = home.write("programs/man", script);
            std::fs::set_permissions(man, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut command = home.command();
        command.env("PATH", &programs).args(arguments);
        let (code, screen) = Terminal::start(command).ends();
        assert_eq!(code, 0, "{screen}");
        screen
    };
    contains(&shown(None, &["man"]), &[".TH masque 1"]);
    let reader = "#!/bin/sh\nread -r line; while read -r line; do last=$line; done; echo \"man $*: $last\"\n";
    let screen = shown(Some(reader), &["man"]);
    assert!(screen.contains("man -l -: ") && !screen.contains(".SH"), "{screen}");
    contains(&shown(Some(reader), &["man", "--no-pager"]), &[".TH masque 1"]);
    // A man without the option shows nothing of its own.
    contains(&shown(Some("#!/bin/sh\nexit 1\n"), &["man"]), &[".TH masque 1"]);
}

#[test]
fn a_pager_that_is_closed_early_is_no_error() {
    let home = Home::new();
    let path = home.write("quits", "#!/bin/sh\nread -r line\necho \"first: $line\"\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let shown = screen(&home, ("PAGER", path.to_str().unwrap()), &["show", "mentor", "--detail"]);
    contains(&shown, &["first: "]);
    assert!(!shown.contains("error"), "{shown}");
}

#[test]
fn a_pipe_has_no_pager() {
    let home = Home::new();
    let pager = pager(&home);
    let piped = home.command().env("PAGER", pager).args(["show", "mentor", "--detail"]).output().unwrap();
    assert!(!String::from_utf8(piped.stdout).unwrap().contains("paged: "));
}
