//! Checks before a run: missing keys, skipped models, and sessions of other projects.

use crate::home::{CommandOutput, Home, Refused, contains};
use crate::rehearsed::Rehearsed;
use crate::terminal::Terminal;

const SCRIPT: &str = "[[reply]]\ntext = \"Hello from {{model}}.\"\n";

const KEYLESS: &str = "[providers.k]\nkind = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
     api_key_env = \"KKEY\"\nheaders_env = { x-account = \"ACC\" }\n";

fn sessions(home: &Home) -> usize {
    home.json(&["sessions"])["items"].as_array().unwrap().len()
}

#[test]
fn a_provider_without_its_key_is_an_error() {
    let home = Home::new();
    home.write(".config/masque/config.toml", KEYLESS);
    let Refused(error) = home.refused("no_key", &["run", "mentor", "hi"]).offers("run");
    contains(
        error["message"].as_str().unwrap(),
        &["[providers.k]", "KKEY", "x-account", "ACC", "masque doctor"],
    );
    let piped = home.run_with_input(&["chat", "mentor"], "hi\n");
    contains(&piped.fails(5), &["KKEY"]);
    let mut command = home.command();
    command.args(["chat", "mentor"]).env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command);
    terminal.sees("KKEY");
    assert_eq!(terminal.ends().0, 5);
    assert_eq!(sessions(&home), 0, "a refused run leaves no session");

    // The rehearsal is available on request.
    contains(&home.ok(&["run", "mentor", "hi", "--model", "rehearsal/rehearsal"]), &["Rehearsal: "]);
    home.refused("unauthorized", &["run", "mentor", "hi", "--model", "k/m"]).offers("run");

    let report = home.run(&["doctor"]).stdout;
    contains(&report, &["KKEY", "x-account", "ACC"]);
    let mut command = home.command();
    let report = CommandOutput::of(command.env("KKEY", "x").arg("doctor").output().unwrap()).stdout;
    contains(&report, &["x-account", "ACC"]);
    assert!(!report.contains("KKEY"), "{report}");
}

#[test]
fn run_warns_about_skipped_models() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let home = &rehearsed.home;
    let config = home.read(".config/masque/config.toml");
    home.write(".config/masque/config.toml", &format!("{config}\n{KEYLESS}"));
    let personas = home.read(".config/masque/personas.toml");
    let model = |provider: &str| format!("{{ provider = \"{provider}\", model = \"m\" }}");
    let more = format!(
        "\n[personas.picky]\nsystem_prompt = \"P\"\npreferred_models = [{}, {}, {}, {}, {}]\n\
         [personas.happy]\nsystem_prompt = \"H\"\npreferred_models = [{}, {}]\n",
        model("k"),
        model("k"),
        model("nowhere"),
        model("test"),
        model("later"),
        model("test"),
        model("nowhere"),
    );
    home.write(".config/masque/personas.toml", &format!("{personas}{more}"));
    let answer = rehearsed.run(&["run", "picky", "hi"]);
    contains(&answer.stderr, &["warning: ", "k/m", "picky", "KKEY", "nowhere/m", "[providers.nowhere]"]);
    assert_eq!(answer.stderr.matches("warning").count(), 2, "{answer:?}");
    assert_eq!(answer.ok(), "Hello from m.\n");
    let answer = rehearsed.run(&["run", "happy", "hi"]);
    assert_eq!(answer.stderr, "", "the first choice answers");
    assert_eq!(rehearsed.run(&["run", "picky", "hi", "--model", "test/x"]).stderr, "");
}

#[test]
fn a_session_of_another_project_names_it() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let home = &rehearsed.home;
    home.write("shop/personas.toml", "[personas.clerk]\nsystem_prompt = \"You sell.\"\n");
    home.write("shop/below/x.txt", "");
    home.run_in("shop", &["run", "clerk", "hi", "--root", "below"]).ok();
    let id = rehearsed.session();
    let shop = home.path("shop").canonicalize().unwrap();
    let shop = shop.to_str().unwrap();
    for arguments in [&["run", "clerk", "hi", "--session", &id][..], &["chat", "--session", &id]] {
        contains(&rehearsed.run(arguments).fails(3), &["clerk", &format!("--project {shop}")]);
    }
    assert_eq!(
        rehearsed.ok(&["--project", shop, "run", "clerk", "hi", "--session", &id]),
        "Hello from scripted.\n"
    );
    // In its own project, a missing persona is just missing.
    home.write("shop/personas.toml", "");
    let Refused(error) = home.refused_in("shop", "not_found", &["run", "clerk", "hi", "--session", &id]);
    assert!(!error["message"].as_str().unwrap().contains("--project"), "{error}");
    home.refused("not_found", &["run", "qqqqqqqq", "hi"]).offers("list_kind");
}

#[test]
fn a_missing_certificate_file_is_no_network_error() {
    let home = Home::new();
    let config = "[providers.k]\nkind = \"openai-chat\"\nbase_url = \"https://127.0.0.1:9/v1\"\nca_file = \"/nowhere.pem\"\n";
    home.write(".config/masque/config.toml", config);
    let Refused(error) = home.refused("model_failed", &["run", "mentor", "hi"]);
    contains(error["message"].as_str().unwrap(), &["ca_file /nowhere.pem"]);
}
