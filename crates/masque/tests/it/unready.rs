//! What is told before anything is said: keys that are missing, models that are passed over, and
//! sessions that belong elsewhere.

use crate::home::{Home, contains};
use crate::rehearsed::Rehearsed;
use crate::terminal::Terminal;

const SCRIPT: &str = "[[reply]]\ntext = \"Hello from {{model}}.\"\n";

const KEYLESS: &str = "[providers.k]\nkind = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
     api_key_env = \"KKEY\"\nheaders_env = { x-account = \"ACC\" }\n";

fn sessions(home: &Home) -> usize {
    home.json(&["sessions"])["items"].as_array().unwrap().len()
}

#[test]
fn a_provider_without_its_key_is_a_mistake_and_no_rehearsal() {
    let home = Home::new();
    home.write(".config/masque/config.toml", KEYLESS);
    let told = home.fails(5, &["run", "mentor", "hi"]);
    contains(&told, &["[providers.k]", "no key: KKEY is not set", "no header x-account: ACC is not set"]);
    contains(&told, &["masque doctor"]);
    home.refused("no_key", &["run", "mentor", "hi", "--json"]).offers("run");
    let piped = home.run_with_input(&["chat", "mentor"], "hi\n");
    contains(&piped.fails(5), &["KKEY is not set"]);
    let mut command = home.command();
    command.args(["chat", "mentor"]).env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command);
    terminal.sees("KKEY is not set");
    assert_eq!(terminal.ends().0, 5);
    assert_eq!(sessions(&home), 0, "nothing is left behind");

    // Whoever wants the rehearsal can have it.
    contains(&home.ok(&["run", "mentor", "hi", "--model", "rehearsal/rehearsal"]), &["Rehearsal: "]);
    home.refused("unauthorized", &["run", "mentor", "hi", "--model", "k/m"]).offers("run");

    let report = home.run(&["doctor"]).stdout;
    contains(&report, &["no key: KKEY is not set; no header x-account: ACC is not set"]);
    let mut command = home.command();
    let report = crate::home::Answer::of(command.env("KKEY", "x").arg("doctor").output().unwrap()).stdout;
    contains(&report, &["no header x-account: ACC is not set"]);
    assert!(!report.contains("no key"), "{report}");
}

#[test]
fn models_that_are_passed_over_are_told() {
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
    contains(
        &answer.stderr,
        &[
            "warning: skipping k/m, which picky prefers: no key: KKEY is not set",
            "warning: skipping nowhere/m, which picky prefers: [providers.nowhere] is not configured",
        ],
    );
    assert_eq!(answer.stderr.matches("warning").count(), 2, "{answer:?}");
    assert_eq!(answer.ok(), "Hello from m.\n");
    let answer = rehearsed.run(&["run", "happy", "hi"]);
    assert_eq!(answer.stderr, "", "the first choice answers");
    assert_eq!(rehearsed.run(&["run", "picky", "hi", "--model", "test/x"]).stderr, "");
}

#[test]
fn a_session_that_belongs_elsewhere_says_where() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let home = &rehearsed.home;
    home.write("shop/personas.toml", "[personas.clerk]\nsystem_prompt = \"You sell.\"\n");
    home.write("shop/below/x.txt", "");
    home.run_in("shop", &["run", "clerk", "hi", "--root", "below"]).ok();
    let id = rehearsed.session();
    let shop = home.path("shop").canonicalize().unwrap();
    let shop = shop.to_str().unwrap();
    for arguments in [&["run", "clerk", "hi", "--session", &id][..], &["chat", "--session", &id]] {
        let told = rehearsed.run(arguments).fails(3);
        contains(&told, &["clerk", &format!("belongs to {shop}"), &format!("--project {shop}")]);
    }
    assert_eq!(
        rehearsed.ok(&["--project", shop, "run", "clerk", "hi", "--session", &id]),
        "Hello from scripted.\n"
    );
    // A persona that is gone where it belongs is just that.
    home.write("shop/personas.toml", "");
    let told = home.run_in("shop", &["run", "clerk", "hi", "--session", &id]).fails(3);
    assert!(!told.contains("belongs to"), "{told}");
    home.refused("not_found", &["run", "qqqqqqqq", "hi"]).offers("list_kind");
}

#[test]
fn a_certificate_file_that_is_not_there_is_no_network_fault() {
    let home = Home::new();
    let config = "[providers.k]\nkind = \"openai-chat\"\nbase_url = \"https://127.0.0.1:9/v1\"\nca_file = \"/nowhere.pem\"\n";
    home.write(".config/masque/config.toml", config);
    let told = home.fails(1, &["run", "mentor", "hi"]);
    contains(&told, &["cannot read ca_file /nowhere.pem"]);
    assert!(!told.contains("is it running"), "{told}");
}
