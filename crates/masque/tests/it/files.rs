//! Personas in files: the open project, scopes, the target of a write, and broken files.

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains, entities, outcome};
use crate::terminal::Terminal;

const PROJECT: &str = "\
# What we agreed on.

[personas.coder] # the one for this shop
summary = \"You code.\"
traits = [\"bold\"]   # and nothing else

[traits.bold]
trait_type = \"behavioral\"
instruction = \"Be bold.\"
";

const GLOBAL: &str = ".config/masque/personas.toml";

fn shop() -> Home {
    let home = Home::new();
    home.write("shop/personas.toml", PROJECT);
    home
}

fn json_of(answer: CommandOutput) -> Value {
    serde_json::from_str(&answer.ok()).unwrap()
}

#[test]
fn the_project_is_found_upwards() {
    let home = shop();
    let shown = json_of(home.run_in("shop/src/deep", &["show", "coder", "--json"]));
    assert_eq!((&shown["scope"], &shown["summary"]), (&json!("project"), &json!("You code.")));
    contains(&home.run_in("shop/src/deep", &["list"]).ok(), &["SCOPE", "coder", "project", "builtin"]);
    home.refused_in("elsewhere", "not_found", &["show", "coder"]).about("name", "coder");
    // The nearest one wins.
    home.write("shop/src/personas.toml", "[personas.coder]\nsummary = \"Another.\"\n");
    let shown = json_of(home.run_in("shop/src/deep", &["show", "coder", "--json"]));
    assert_eq!(shown["summary"], "Another.");
}

#[test]
fn a_project_is_named_by_flag_or_variable() {
    let home = shop();
    assert_eq!(home.json(&["--project", "shop", "show", "coder"])["scope"], "project");
    assert_eq!(home.json(&["show", "coder", "--project", "shop"])["scope"], "project");
    let mut command = home.command();
    command.args(["show", "coder"]).env("MASQUE_PROJECT", home.path("shop"));
    contains(&CommandOutput::of(command.output().unwrap()).ok(), &["(project, revision 1)"]);
    // The flag is stronger than the variable. An empty variable is ignored.
    home.write("other/personas.toml", "[personas.coder]\nsummary = \"Another.\"\n");
    let mut command = home.command();
    command.args(["show", "coder", "--project", "other"]).env("MASQUE_PROJECT", home.path("shop"));
    contains(&CommandOutput::of(command.output().unwrap()).ok(), &["Another."]);
    let mut command = home.command();
    command.args(["list"]).env("MASQUE_PROJECT", "");
    CommandOutput::of(command.output().unwrap()).ok();
    home.refused("file_not_found", &["--project", "nowhere", "list"]).in_file("nowhere");
    // A client's project file is written on request only.
    let mut command = home.command();
    command.args(["connect", "cursor"]).env("MASQUE_PROJECT", home.path("shop"));
    contains(&CommandOutput::of(command.output().unwrap()).ok(), &["connected"]);
    assert!(!home.path("shop/.cursor").exists() && home.path(".cursor/mcp.json").exists());
    home.ok(&["connect", "cursor", "--project", "shop"]);
    assert!(home.path("shop/.cursor/mcp.json").exists());
}

#[test]
fn a_read_creates_no_file() {
    let home = Home::new();
    home.run_in("anywhere", &["list"]).ok();
    home.run_in("anywhere", &["show", "mentor"]).ok();
    home.run_in("anywhere", &["doctor"]).ok();
    assert!(!home.path("anywhere/personas.toml").exists() && !home.path(GLOBAL).exists());
}

#[test]
fn the_strongest_scope_wins_unless_one_is_named() {
    let home = shop();
    home.ok(&["create", "persona", "coder", "--summary", "Shared."]);
    home.write(GLOBAL, "[personas.coder]\nsummary = \"Global.\"\n");
    let summary = |arguments: &[&str]| {
        let shown = home.json(&[&["--project", "shop", "show", "coder"], arguments].concat());
        (shown["scope"].as_str().unwrap().to_owned(), shown["summary"].as_str().unwrap().to_owned())
    };
    let pair = |scope: &str, text: &str| (scope.to_owned(), text.to_owned());
    assert_eq!(summary(&[]), pair("project", "You code."));
    assert_eq!(summary(&["--scope", "global"]), pair("global", "Global."));
    assert_eq!(summary(&["--scope", "shared"]), pair("shared", "Shared."));
    home.refused("in_other_scope", &["--project", "shop", "show", "coder", "--scope", "builtin"]);
    home.refused("invalid_value", &["list", "--scope", "local"]).suggests("global");
    // Every reading command takes it.
    for command in [&["manifest", "coder"][..], &["compile", "coder"], &["show", "coder", "--explain"]] {
        let shared = home.json(&[&["--project", "shop"], command, &["--scope", "shared"]].concat());
        assert_eq!(shared["scope"], "shared", "{command:?}");
    }
    let listed = home.json(&["--project", "shop", "list", "--scope", "global"]);
    assert_eq!(listed["items"][0]["summary"], "Global.");
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let list = home.ok(&["--project", "shop", "list", "--scope", "global"]);
    assert!(!list.contains("SCOPE"), "one scope needs no column: {list}");
    let found = home.json(&["--project", "shop", "search", "code", "--scope", "project"]);
    assert_eq!(found["items"][0]["name"], "coder", "{found}");
}

#[test]
fn create_writes_to_the_open_project_or_to_shared() {
    let home = shop();
    let create = |name: &'static str| ["create", "skill", name, "--content", "x"];
    contains(
        &home.run_in("shop/src", &create("inside")).ok(),
        &["created skill inside (project, revision 1)"],
    );
    contains(&home.read("shop/personas.toml"), &["[skills.inside]\ncontent = \"x\"\n"]);
    contains(&home.run_in("bare", &create("outside")).ok(), &["(shared, revision 1)"]);
    assert!(!home.path("bare/personas.toml").exists());
    // A named directory is a project, with or without a file.
    let named = [&["--project", "bare"][..], &create("named")].concat();
    contains(&home.ok(&named), &["(project, revision 1)"]);
    contains(&home.read("bare/personas.toml"), &["[skills.named]"]);
    // A named scope is always used.
    contains(&home.ok(&[&create("mine")[..], &["--scope", "global"]].concat()), &["(global, revision 1)"]);
    contains(&home.read(GLOBAL), &["[skills.mine]"]);
    let project = home.run_in("empty", &[&create("here")[..], &["--scope", "project"]].concat()).ok();
    contains(&project, &["(project, revision 1)"]);
    contains(&home.read("empty/personas.toml"), &["[skills.here]"]);
    home.refused("invalid_value", &[&create("x")[..], &["--scope", "builtin"]].concat()).offers("use_one_of");
}

#[test]
fn update_writes_to_the_scope_of_the_name() {
    let home = shop();
    home.ok(&["create", "part", "calm", "--type", "tone", "--content", "Calm."]);
    let here = |arguments: &[&str]| home.run_in("shop", arguments);
    contains(
        &here(&["update", "trait", "bold", "--instruction", "Bolder."]).ok(),
        &["(project, revision 2)"],
    );
    contains(&here(&["update", "part", "calm", "--content", "Calmer."]).ok(), &["(shared, revision 2)"]);
    let linked = json_of(here(&["link", "coder", "part", "calm", "--json"]));
    assert_eq!(outcome(&linked), "changed persona project:coder 2");
    let elsewhere = here(&["update", "part", "calm", "--content", "x", "--scope", "project", "--json"]);
    elsewhere.refused_with("in_other_scope").about("name", "calm");
    // A builtin is copied to the scope for new entities.
    let copied = json_of(here(&["update", "part", "plain-tone", "--summary", "Mine.", "--json"]));
    assert_eq!(
        (&copied["scope"], entities(&copied["copied"]).as_str()),
        (&json!("project"), "part plain-tone")
    );
    contains(&home.read("shop/personas.toml"), &["[parts.plain-tone]", "summary = \"Mine.\""]);
    let copied = home.run_in("bare", &["update", "part", "mentor-tone", "--summary", "Mine."]).ok();
    contains(&copied, &["(shared, revision"]);
}

#[test]
fn delete_names_the_definition_now_in_force() {
    let home = shop();
    home.ok(&["create", "persona", "coder", "--summary", "Shared."]);
    let here = |arguments: &[&str]| home.run_in("shop", arguments).ok();
    let delete = |more: &[&str]| {
        let deleted =
            json_of(home.run_in("shop", &[&["delete", "persona", "coder", "--json"], more].concat()));
        (deleted["deleted"].clone(), deleted["scope"].clone(), deleted["in_force"].clone())
    };
    assert_eq!(delete(&[]), (json!(true), json!("project"), json!("shared")));
    assert!(!home.read("shop/personas.toml").contains("coder"));
    contains(&here(&["show", "coder"]), &["Shared."]);
    assert_eq!(delete(&["--scope", "project"]), (json!(false), json!("project"), json!("shared")));
    assert_eq!(delete(&[]), (json!(true), json!("shared"), Value::Null));
    here(&["rollback", "coder", "1", "--scope", "project"]);
    contains(&here(&["show", "coder"]), &["You code."]);
}

#[test]
fn a_write_keeps_all_other_bytes() {
    let home = shop();
    let here = |arguments: &[&str]| home.run_in("shop", arguments).ok();
    here(&["create", "skill", "look", "--content", "Look twice."]);
    here(&["update", "skill", "look", "--description", "When in doubt."]);
    here(&["delete", "skill", "look"]);
    assert_eq!(home.read("shop/personas.toml"), PROJECT);
    here(&["update", "persona", "coder", "--summary", "You code well."]);
    assert_eq!(home.read("shop/personas.toml"), PROJECT.replace("You code.", "You code well."));
}

#[test]
fn every_command_warns_about_an_invalid_entry() {
    let home = shop();
    home.write("shop/personas.toml", &format!("{PROJECT}\n[parts.calm]\npart_type = \"tonn\"\n"));
    let commands: [&[&str]; 9] = [
        &["list"],
        &["show", "coder"],
        &["manifest", "coder"],
        &["compile", "coder"],
        &["search", "code"],
        &["create", "skill", "look", "--content", "x"],
        &["history", "coder"],
        &["db", "info"],
        &["show", "nobody"],
    ];
    for arguments in commands {
        let answer = home.run_in("shop", &[arguments, &["--json"]].concat());
        let warnings = answer.warnings();
        let [warning] = warnings.as_slice() else { panic!("{answer:#?}") };
        assert_eq!(
            (&warning["code"], &warning["name"]),
            (&json!("unknown_word"), &json!("calm")),
            "{answer:#?}"
        );
        contains(warning["hint"].as_str().unwrap(), &["\"tone\""]);
        assert_eq!(answer.code, if arguments[1..] == ["nobody"] { 3 } else { 0 }, "{answer:#?}");
        assert!(!answer.stdout.contains("tonn"), "the answer itself is whole: {answer:#?}");
    }
    contains(&home.run_in("shop", &["show", "coder"]).ok(), &["bold"]);
    // Programs get one JSON value, beside the answer.
    let answer = home.run_in("shop", &["list", "--json"]);
    let told: Value = serde_json::from_str(&answer.stderr).unwrap();
    let warning = &told["warnings"][0];
    assert_eq!((&warning["kind"], &warning["level"]), (&json!("part"), &json!("error")), "{told}");
    assert!(
        warning["line"].as_u64().unwrap() >= 11
            && warning["path"].as_str().unwrap().ends_with("personas.toml")
    );
    let colored = home.run_in("shop", &["list", "--color", "always"]);
    contains(&colored.stderr, &["\x1b[1;33mwarning:\x1b[0m "]);
    // After the fix, the warning is gone.
    home.write("shop/personas.toml", PROJECT);
    assert_eq!(home.run_in("shop", &["list"]).stderr, "");
}

#[test]
fn an_unreadable_file_keeps_its_last_version() {
    let home = shop();
    home.run_in("shop", &["list"]).ok();
    let broken = PROJECT.replace("You code.\"", "You code.");
    home.write("shop/personas.toml", &broken);
    // Each command is a new process, which knows only the recorded state.
    let answer = home.run_in("shop", &["show", "coder", "--json"]);
    contains(&answer.stdout, &["You code.", "bold"]);
    assert_eq!(answer.warning_codes(), ["not_toml"], "{answer:#?}");
    let warning = answer.warnings().remove(0);
    assert_eq!((&warning["line"], &warning["source_line"]), (&json!(4), &json!("summary = \"You code.")));
    assert_ne!(warning["hint"], Value::Null);
    // A write that fails prints its error once.
    let update = ["update", "persona", "coder", "--summary", "x", "--json"];
    let refused = home.run_in("shop", &update);
    assert_eq!(refused.warning_codes(), Vec::<String>::new(), "{refused:#?}");
    refused.refused_with("file_has_errors").in_file("personas.toml");
    let report = home.run_in("shop", &["doctor"]);
    assert_eq!(report.code, 1, "{report:#?}");
    contains(&report.stdout, &["(2 entries)", "problem: ", "personas.toml:4:"]);
    assert_eq!(home.read("shop/personas.toml"), broken, "an unreadable file is never written");
    // The other scopes are not affected.
    contains(
        &home.run_in("shop", &["create", "skill", "s", "--content", "x", "--scope", "shared"]).ok(),
        &["shared"],
    );
}

#[test]
fn verbose_prints_warnings_about_files() {
    let home = shop();
    home.write("shop/personas.toml", &format!("{PROJECT}colour = \"red\"\n"));
    assert_eq!(home.run_in("shop", &["list"]).stderr, "");
    let warned = home.run_in("shop", &["list", "-v", "--json"]);
    assert_eq!(warned.warning_codes(), ["unknown_field"], "{warned:#?}");
    let warning = warned.warnings().remove(0);
    assert_eq!(
        (&warning["level"], &warning["line"], &warning["column"]),
        (&json!("warning"), &json!(10), &json!(1))
    );
    let report = home.run_in("shop", &["doctor"]).ok();
    contains(&report, &["colour", "1 warning; run `masque lint`", "No problems, except for warnings"]);
}

/// `[[personas]]` is a likely mistake and must not delete all personas.
#[test]
fn a_table_of_another_shape_deletes_nothing() {
    let home = shop();
    home.run_in("shop", &["list"]).ok();
    home.write("shop/personas.toml", "[[personas]]\nname = \"coder\"\nsummary = \"You code.\"\n");
    let answer = home.run_in("shop", &["show", "coder", "--json"]);
    contains(&answer.stdout, &["You code.", "bold"]);
    assert_eq!(answer.warning_codes(), ["invalid_document"], "{answer:#?}");
    assert_eq!(answer.warnings()[0]["line"], 1);
    let history = home.run_in("shop", &["history", "coder"]).stdout;
    assert!(!history.contains("delete"), "{history}");
}

#[test]
fn an_invalid_entry_keeps_its_last_version() {
    let home = shop();
    home.run_in("shop", &["list"]).ok();
    home.write("shop/personas.toml", &PROJECT.replace("\"You code.\"", "7"));
    let answer = home.run_in("shop", &["show", "coder", "--json"]);
    contains(&answer.stdout, &["You code."]);
    let warning = answer.warnings().remove(0);
    assert_eq!((&warning["kind"], &warning["name"]), (&json!("persona"), &json!("coder")), "{answer:#?}");
    // People learn which version is used.
    let lines = home
        .run_in("shop", &["show", "coder"])
        .stderr
        .lines()
        .filter(|line| line.starts_with("warning: "))
        .count();
    assert_eq!(lines, 2);
}

/// On a terminal, reading commands also mention lint's findings.
#[test]
fn a_terminal_shows_a_hint_about_lint() {
    let home = shop();
    let doubtful = "\n[personas.other]\nsummary = \"x\"\nsytem_prompt = \"x\"\nparts = [\"nope\"]\n";
    home.write("shop/personas.toml", &format!("{PROJECT}{doubtful}"));
    let looks = |arguments: &[&str]| {
        let mut command = home.command();
        command.current_dir(home.path("shop")).args(arguments);
        let (code, screen) = Terminal::start(command).ends();
        assert_eq!(code, 0, "{screen}");
        screen
    };
    let advice = "run `masque lint`";
    contains(&looks(&["show", "other"]), &["lint: 1 error, 1 warning about persona other; ", advice]);
    contains(&looks(&["list"]), &["lint: 1 error, 1 warning in your files; ", advice]);
    for silent in [&["show", "coder"][..], &["show", "other", "--json"]] {
        assert!(!looks(silent).contains("lint:"), "{silent:?}");
    }
    // Without a terminal, standard error stays empty.
    assert_eq!(home.run_in("shop", &["show", "other"]).stderr, "");
    let report = home.run_in("shop", &["doctor"]);
    assert_eq!(report.code, 1, "{report:#?}");
    contains(&report.stdout, &["problem: lint found 1 error, 1 warning in your files", advice]);
    // Entities of the database are known.
    home.ok(&["create", "part", "nope", "--type", "tone", "--content", "x"]);
    let report = home.run_in("shop", &["doctor"]).ok();
    contains(&report, &["1 warning; run", "No problems, except for warnings"]);
}

#[test]
fn settings_are_read_and_checked() {
    let home = Home::new();
    home.write(".config/masque/config.toml", "[histroy]\nkeep = 3\n");
    let answer = home.run(&["list", "--json"]);
    assert_eq!(answer.warning_codes(), ["unknown_setting"], "{answer:#?}");
    contains(
        answer.warnings()[0]["message"].as_str().unwrap(),
        &["config.toml:1:2", "histroy", "\"history\""],
    );
    answer.ok();
    home.write(".config/masque/config.toml", "[history]\nkeep = \"few\"\n");
    home.refused("invalid_config", &["list"]).in_file("config.toml").at(2, 8);
    let report = home.run(&["doctor"]);
    contains(&report.stdout, &["problem: ", "config.toml:2:8: "]);
    assert_eq!(report.code, 1);
    home.ok(&["completions", "bash"]);
}

#[test]
fn doctor_describes_the_files() {
    let home = shop();
    home.write(GLOBAL, "[skills.s]\ncontent = \"x\"\n");
    let report = home.run_in("shop/src", &["doctor"]).ok();
    contains(
        &report,
        &["the nearest parent directory with a personas.toml", "(2 entries)", "(1 entry)", "watching"],
    );
    let report = json_of(home.run_in("shop/src", &["doctor", "--json"]));
    let files = &report["files"];
    assert_eq!(files["project"]["open"], true);
    assert_eq!(files["project"]["root"], home.path("shop").canonicalize().unwrap().to_str().unwrap());
    assert_eq!(
        (&files["personas"][0]["scope"], &files["personas"][0]["entries"]),
        (&json!("global"), &json!(1))
    );
    assert!(files["watching"]["mode"].is_string(), "{files:#}");
    assert!(!home.path(".local/share/masque/masque.db").exists(), "a check makes nothing");
    let mut polling = home.command();
    polling.args(["doctor"]).env("MASQUE_WATCH", "poll");
    contains(&CommandOutput::of(polling.output().unwrap()).ok(), &["watching", "polling: "]);
    home.write("shop/personas.toml", "[parts.calm]\npart_type = 3\n");
    let report = home.run_in("shop", &["doctor"]);
    contains(&report.stdout, &["problem: ", "personas.toml:2:", "fix it"]);
    assert_eq!(report.code, 1);
    let named = home.run(&["doctor", "--project", "nowhere"]);
    contains(&named.stdout, &["nowhere", "not a directory"]);
}

#[test]
fn the_schema_is_printed() {
    let home = Home::new();
    let text = home.ok(&["schema"]);
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(schema["properties"]["personas"].is_object() && text.lines().count() > 50, "{text}");
    assert_eq!(home.json(&["schema"]), schema);
    assert!(!home.path(".local").exists(), "it needs no library");
}
