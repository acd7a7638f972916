//! `masque context`: the files that a prompt would have.

use serde_json::{Value, json};

use super::site::Site;
use crate::home::contains;

const LIBRARY: &str = "//! Uploads files.\n\n/// Sends a file, and tries again.\npub fn upload(path: &str) -> \
                       bool {\n    let mut tries = 0;\n    loop {\n        tries += 1;\n        if tries > 3 {\n            \
                       return path.is_empty();\n        }\n    }\n}\n";
const MAIN: &str = "mod library;\n\nfn main() {\n    library::upload(\"a\");\n}\n";

fn site() -> Site {
    let site = Site::new(&[]);
    site.write("src/library.rs", LIBRARY);
    site.write("src/main.rs", MAIN);
    site.write("docs/guide.md", "# Guide\n\nUploads are sent in pieces.\n");
    site.write(".env", "KEY=hidden\n");
    site.write("target/out.rs", "pub fn generated() {}\n");
    site.write(".gitignore", ".slow\ntrack.toml\ntarget/\n");
    let personas = site.rehearsed.home.read(".config/masque/personas.toml");
    let own = "\n[personas.backend]\nsystem_prompt = \"You are backend.\"\ncontext_preset = \"sources\"\n\
               aggregation_strategy = \"skeleton\"\n\n[personas.sources]\nsystem_prompt = \"You are a source.\"\n\n\
               [context_presets.sources]\ntoken_budget = 900\nentries = [{ glob = \"src/**/*.rs\" }, { path = \"src/none.rs\" }]\n";
    site.rehearsed.home.write(".config/masque/personas.toml", &format!("{personas}{own}"));
    site
}

/// The files of an answer: `path view`.
fn files(shown: &Value) -> Vec<String> {
    let word = |file: &Value, field: &str| file[field].as_str().unwrap().to_owned();
    let files = shown["files"].as_array().unwrap().iter();
    files.map(|file| format!("{} {}", word(file, "path"), word(file, "view"))).collect()
}

#[test]
fn presets_personas_and_strategies_choose_the_files() {
    let site = site();
    let both = ["src/library.rs full", "src/main.rs full"];
    let shown = site.json(&["context", "sources"]);
    assert_eq!((files(&shown), &shown["budget"]), (both.map(str::to_owned).to_vec(), &json!(900)));
    assert_eq!(shown["notes"][0]["note"], "no_match", "{shown:#}");
    // A name that both kinds have is the preset, unless its kind is named.
    assert_eq!(files(&site.json(&["context", "context-preset", "sources"])), both);
    assert_eq!(
        files(&site.json(&["context", "persona", "sources"])).len(),
        files(&site.json(&["context"])).len()
    );
    let skeletons = ["src/library.rs skeleton", "src/main.rs skeleton"];
    let shown = site.json(&["context", "backend"]);
    assert_eq!(files(&shown), skeletons);
    assert!(!shown["text"].as_str().unwrap().contains("tries += 1"), "{}", shown["text"]);
    assert_eq!(files(&site.json(&["context", "sources", "--strategy", "skeleton"])), skeletons);
    assert_eq!(files(&site.json(&["context", "persona", "backend", "--strategy", "full"])), both);
    // Summaries need a model, and none is called: outlines take their place.
    let shown = site.json(&["context", "sources", "--strategy", "summarize"]);
    assert_eq!(site.rehearsed.requests().len(), 0);
    assert!(shown["tokens"].as_u64().unwrap() <= 900);
    // Everything of the project, without secrets and what git ignores.
    let shown = site.json(&["context"]);
    let all = files(&shown).join("\n");
    contains(&all, &["docs/guide.md full", "src/main.rs full", "check.sh full", "src/words full"]);
    assert!(!all.contains("target/") && !all.contains(".env"), "{all}");
    assert!(!shown["text"].as_str().unwrap().contains("hidden"));
    // A secret that is named stays hidden, and the answer says so.
    let shown = site.json(&["context", "--strategy", "full", "./.env"]);
    assert_eq!(shown["notes"][0]["note"], "focus_left_out", "{shown:#}");
    assert!(!shown["text"].as_str().unwrap().contains("hidden"));
}

#[test]
fn the_budget_is_never_exceeded() {
    let site = site();
    for budget in ["1", "40", "80", "150", "400"] {
        for strategy in ["auto", "full", "skeleton", "summarize"] {
            let shown = site.json(&["context", "--budget", budget, "--strategy", strategy]);
            let most: u64 = budget.parse().unwrap();
            assert!(shown["tokens"].as_u64().unwrap() <= most, "{budget} {strategy}: {shown:#}");
            assert_eq!(shown["budget"], most);
        }
    }
    let shown = site.json(&["context", "--budget", "80"]);
    assert!(!shown["left_out"].as_array().unwrap().is_empty(), "{shown:#}");
    // A file that is named comes first, and so does one that the task names.
    let most = ["context", "--budget", "100"];
    let chosen = |more: &[&str]| files(&site.json(&[&most[..], more].concat())).join("\n");
    assert!(!chosen(&[]).contains("check.sh") && !chosen(&[]).contains("notes.txt"), "{}", chosen(&[]));
    contains(&chosen(&["./check.sh"]), &["check.sh full"]);
    contains(&chosen(&["--for", "Mend notes.txt"]), &["notes.txt full"]);
}

#[test]
fn people_see_a_table_or_the_text_itself() {
    let site = site();
    let table = site.run(&["context", "sources"]);
    contains(&table.stderr, &["Entry 2 of the preset, \"src/none.rs\", has no file."]);
    let shown = table.ok();
    contains(
        &shown,
        &["TOKENS", "VIEW", "FILE", "WHY", "src/library.rs", "full", "2 files, ", " of 900 tokens"],
    );
    let text = site.ok(&["context", "sources", "--text"]);
    assert_eq!(text, site.json(&["context", "sources"])["text"].as_str().unwrap());
    contains(&text, &["src/library.rs", "pub fn upload(path: &str) -> bool {", "library::upload"]);
    // A file is named from the directory where the user is.
    let mut below = site.command(&["context", "--strategy", "full", "./library.rs", "--json"]);
    below.current_dir(site.path("src"));
    let below = crate::home::CommandOutput::of(below.output().unwrap()).ok();
    let below: Value = serde_json::from_str(&below).unwrap();
    let named = below["files"].as_array().unwrap().iter().find(|file| file["why"]["why"] == "focus");
    assert_eq!(named.map(|file| &file["path"]), Some(&json!("src/library.rs")), "{below:#}");
}

#[test]
fn unknown_names_are_refused_with_what_there_is() {
    let site = site();
    site.refused("not_found", &["context", "source"]).about("name", "source").suggests("sources");
    site.refused("not_found", &["context", "persona", "backen"]).suggests("backend");
    site.refused("not_found", &["context", "context-preset", "backend"]);
    let other = site.run(&["context", "part", "calm", "--json"]);
    assert_eq!(other.code, 2, "{other:?}");
    assert_eq!(site.run(&["context", "--strategy", "most"]).code, 2);
    assert_eq!(site.run(&["context", "--budget", "0"]).code, 2);
    assert_eq!(site.rehearsed.requests().len(), 0);
}
