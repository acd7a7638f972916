//! `masque lint`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains};

const PROJECT: &str = "\
[personas.reviewer]
summary = \"You review.\"
parts = [
  \"clam\",
]

[parts.calm]
part_type = \"tone\"
summary = \"Calm.\"
content = \"You are cal\u{200b}m.\"
colour = \"blue\"

[parts.odd]
part_type = \"tonn\"
";

fn library(project: &str) -> Home {
    let home = Home::new();
    home.write("shop/personas.toml", project);
    home
}

fn lint(home: &Home, arguments: &[&str]) -> CommandOutput {
    home.run(&[&["--project", "shop", "lint"], arguments].concat())
}

fn lint_json(home: &Home, arguments: &[&str]) -> Value {
    serde_json::from_str(&lint(home, &[arguments, &["--json"]].concat()).stdout).unwrap()
}

fn rules(report: &Value) -> BTreeSet<String> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_valid_file_has_no_findings() {
    let home = library("[personas.a]\nsummary = \"You help.\"\nsystem_prompt = \"Help.\"\n");
    assert_eq!(lint(&home, &[]).ok(), "No problems in 1 entry in project and shared.\n");
    let report = lint_json(&home, &["--deny", "note"]);
    assert_eq!(
        report,
        json!({ "findings": [], "errors": 0, "warnings": 0, "notes": 0, "scopes": ["project", "shared"], "entries": 1 })
    );
}

#[test]
fn lint_checks_shared_whatever_files_exist() {
    let home = Home::new();
    let checked = || home.json(&["lint"])["scopes"].clone();
    contains(&home.ok(&["lint"]), &["shared", "no personas.toml"]);
    assert_eq!(checked(), json!(["shared"]));
    home.ok(&["create", "skill", "lonely", "--content", "x"]);
    contains(&home.ok(&["lint"]), &["shared\n", "skill lonely", "[unused]", "1 warning"]);
    home.write("personas.toml", "");
    assert_eq!(checked(), json!(["project", "shared"]));
    contains(&home.ok(&["lint"]), &["[unused]"]);
    // A file that cannot be read is a finding of its own.
    home.write("personas.toml", "[personas.a]\nsummary = \"x\n");
    let report: Value = serde_json::from_str(&home.run(&["lint", "--json"]).stdout).unwrap();
    assert_eq!(rules(&report), BTreeSet::from(["broken-file".to_owned()]));
    assert_eq!(report["scopes"], json!(["project", "shared"]));
    assert_eq!(report["entries"], 1, "the skill was checked");
}

#[test]
fn lint_refuses_a_path_and_names_the_command() {
    let home = library(PROJECT);
    for (arguments, command) in [
        (&["lint", "shop/personas.toml"][..], "masque lint --project shop"),
        (&["lint", "shop", "other"], "masque lint --project shop"),
        (&["lint", "shop/prompts/*.md"], "masque lint --project shop/prompts"),
        (&["lint", "personas.toml"], "masque lint"),
        (&["lint", "."], "masque lint"),
    ] {
        let refused = home.refused("invalid_usage", arguments);
        assert_eq!(refused.0["remedies"][0]["command"], command);
    }
}

#[test]
fn findings_are_grouped_by_file() {
    let home = library(PROJECT);
    let answer = lint(&home, &[]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    assert_eq!(answer.stderr, "", "errors of the file are printed once");
    assert!(answer.stdout.starts_with("personas.toml (project)\n"), "{}", answer.stdout);
    contains(
        &answer.stdout,
        &[
            "  4:3    error    persona reviewer, parts: ",
            "did you mean \"calm\"? [unknown-reference]\n",
            "error    part calm, content: ",
            "[hidden-unicode]",
            "  11:1   warning  part calm: unknown key \"colour\"",
            "[unknown-key]",
            "  14:13  error    part odd: part_type: ",
            "did you mean \"tone\"? [invalid-entry]",
            "[unused]",
        ],
    );
    assert!(!answer.stdout.contains('\u{200b}'), "a hidden character is named, not repeated");
    let last = answer.stdout.lines().last().unwrap();
    assert_eq!(last, "3 errors, 2 warnings");
}

#[test]
fn json_has_the_same_findings() {
    let home = library(PROJECT);
    let report = lint_json(&home, &[]);
    assert_eq!((&report["errors"], &report["warnings"], &report["notes"]), (&json!(3), &json!(2), &json!(0)));
    let expected = ["hidden-unicode", "invalid-entry", "unknown-key", "unknown-reference", "unused"];
    assert_eq!(rules(&report), expected.map(str::to_owned).into());
    let first = &report["findings"][0];
    assert_eq!(
        (&first["scope"], &first["kind"], &first["name"], &first["field"]),
        (&json!("project"), &json!("persona"), &json!("reviewer"), &json!("parts"))
    );
    assert_eq!((&first["line"], &first["column"]), (&json!(4), &json!(3)));
    assert!(first["path"].as_str().unwrap().ends_with("/shop/personas.toml"));
    assert_eq!(lint_json(&home, &["--format", "json"]), report);
}

/// A mistake in one field does not hide wrong names in the others.
#[test]
fn references_of_an_entry_with_a_mistake_are_checked() {
    let project = "\
[personas.reviewer]
extends = \"code_reviwer\"
parts = [\"clam\", \"calm\"]
summary = 5

[parts.calm]
part_type = \"tone\"
content = \"Calm.\"
";
    let home = library(project);
    let report = lint_json(&home, &["--scope", "project"]);
    let found = |field: &str| {
        let findings = report["findings"].as_array().unwrap().iter();
        findings.clone().filter(|it| it["field"] == field).map(|it| it["rule"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (found("extends"), found("parts")),
        (vec![json!("unknown-reference")], vec![json!("unknown-reference")]),
        "{report:#}"
    );
    assert!(rules(&report).contains("invalid-entry"), "{report:#}");
    let place = |field: &str| {
        let mut findings = report["findings"].as_array().unwrap().iter();
        findings.find(|it| it["field"] == field).map(|it| it["line"].clone())
    };
    assert_eq!((place("extends"), place("parts")), (Some(json!(2)), Some(json!(3))), "{report:#}");
}

#[test]
fn a_broken_file_is_a_finding() {
    let home = library("[personas.a]\nsummary = \"x\n");
    let report = lint_json(&home, &[]);
    assert_eq!(rules(&report), BTreeSet::from(["broken-file".to_owned()]));
    assert_eq!(report["findings"][0]["line"], 2);
    assert_eq!(lint(&home, &[]).code, 1);
    // Other scopes have no finding.
    let shared = lint(&home, &["--scope", "shared"]).ok();
    contains(&shared, &["Nothing", "shared"]);
}

#[test]
fn the_exit_code_follows_the_worst_finding() {
    let warning = library("[parts.calm]\npart_type = \"tone\"\nsummary = \"Calm.\"\n");
    contains(&lint(&warning, &[]).ok(), &["[unused]", "1 warning"]);
    assert_eq!(lint(&warning, &["--deny", "error"]).code, 0);
    assert_eq!(lint(&warning, &["--deny", "warning"]).code, 1);
    assert_eq!(lint(&warning, &["--deny", "note"]).code, 1);
    lint(&warning, &["--deny", "nonsense", "--json"]).refused_with("invalid_value").suggests("note");
}

#[test]
fn lint_checks_the_chosen_scopes() {
    let home = library("[personas.a]\nsummary = \"x\"\n");
    home.write(".config/masque/personas.toml", "[parts.mine]\npart_type = \"tone\"\nsummary = \"x\"\n");
    home.ok(&["create", "skill", "lonely", "--content", "x"]);
    let scopes = |arguments: &[&str]| {
        let report = lint_json(&home, arguments);
        let findings = report["findings"].as_array().unwrap().clone();
        findings.iter().map(|finding| finding["scope"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(scopes(&[]), ["global", "shared"]);
    assert_eq!(scopes(&["--scope", "shared"]), ["shared"]);
    assert_eq!(scopes(&["--scope", "shared", "--scope", "global"]), ["global", "shared"]);
    let text = lint(&home, &["--scope", "shared"]).ok();
    contains(&text, &["shared\n  warning  skill lonely: ", "[unused]"]);
}

#[test]
fn providers_are_known_by_configuration_and_environment() {
    let home = library(
        "[personas.a]\nsummary = \"x\"\npreferred_models = [{ provider = \"anthropic\", model = \"m\" }]\n",
    );
    assert_eq!(rules(&lint_json(&home, &[])), BTreeSet::new(), "nothing is configured, nothing is said");
    let with = |key: &str| {
        let mut command = home.command();
        command.env(key, "k").args(["--project", "shop", "lint", "--json"]);
        rules(&serde_json::from_str(&CommandOutput::of(command.output().unwrap()).ok()).unwrap())
    };
    assert_eq!(with("OPENAI_API_KEY"), BTreeSet::from(["unknown-provider".to_owned()]));
    assert_eq!(with("ANTHROPIC_API_KEY"), BTreeSet::new());
    home.write(".config/masque/config.toml", "[providers.work]\nkind = \"openai-chat\"\n");
    assert_eq!(rules(&lint_json(&home, &[])), BTreeSet::from(["unknown-provider".to_owned()]));
    home.write(".config/masque/config.toml", "[providers.anthropic]\nkind = \"anthropic\"\n");
    assert_eq!(rules(&lint_json(&home, &[])), BTreeSet::new());
    // Providers of the project are known too, although they are called only if it is trusted.
    home.write(".config/masque/config.toml", "[providers.work]\nkind = \"openai-chat\"\n");
    let theirs =
        "[personas.a]\nsummary = \"x\"\npreferred_models = [{ provider = \"theirs\", model = \"m\" }]\n";
    home.write("shop/personas.toml", theirs);
    assert_eq!(rules(&lint_json(&home, &[])), BTreeSet::from(["unknown-provider".to_owned()]));
    home.write("shop/personas.toml", &format!("{theirs}[providers.theirs]\nkind = \"gemini\"\n"));
    assert_eq!(rules(&lint_json(&home, &[])), BTreeSet::new());
}

#[test]
fn lint_suggests_any_known_provider() {
    let model = |provider: &str| {
        format!(
            "[personas.a]\nsummary = \"x\"\npreferred_models = [{{ provider = \"{provider}\", model = \"m\" }}]\n"
        )
    };
    let home = library(&model("gemni"));
    let mut command = home.command();
    command.env("OPENAI_API_KEY", "k").args(["--project", "shop", "lint"]);
    contains(&CommandOutput::of(command.output().unwrap()).ok(), &["\"gemini\""]);
    // A provider of the project does not hide the user's others.
    let house = "[providers.house]\nkind = \"gemini\"\n";
    home.write("shop/personas.toml", &format!("{}{house}", model("anthropic")));
    assert_eq!(rules(&lint_json(&home, &[])), BTreeSet::new());
}

#[test]
fn settings_change_the_findings() {
    let home = library(
        "[personas.a]\nsystem_prompt = \"At ${env.TEAM}.\"\nparts = [\"long\"]\n\n[parts.long]\npart_type = \"context\"\nsummary = \"x\"\ncontent = \"one two three four five six seven eight nine ten\"\n",
    );
    assert_eq!(rules(&lint_json(&home, &[])), BTreeSet::from(["env-not-allowed".to_owned()]));
    home.write(".config/masque/config.toml", "[env]\nallow = [\"TEAM\"]\n\n[lint]\npart_tokens = 5\n");
    let both = BTreeSet::from(["env-unset".to_owned(), "long-part".to_owned()]);
    assert_eq!(rules(&lint_json(&home, &[])), both);
    let mut command = home.command();
    command.env("TEAM", "shop").args(["--project", "shop", "lint", "--json"]);
    let report: Value = serde_json::from_str(&CommandOutput::of(command.output().unwrap()).ok()).unwrap();
    assert_eq!(rules(&report), BTreeSet::from(["long-part".to_owned()]));
}

#[test]
fn sarif_follows_the_schema_of_code_hosts() {
    let home = library(PROJECT);
    home.write(".config/masque/personas.toml", "[parts.mine]\npart_type = \"tone\"\nsummary = \"x\"\n");
    let answer = lint(&home, &["--format", "sarif"]);
    assert_eq!(answer.code, 1);
    let log: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let run = &log["runs"][0];
    assert_eq!(log["runs"].as_array().unwrap().len(), 1);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let driver = &run["tool"]["driver"];
    assert_eq!(
        (&driver["name"], &driver["semanticVersion"]),
        (&json!("masque"), &env!("CARGO_PKG_VERSION").into())
    );
    let mut ids = BTreeSet::new();
    for rule in driver["rules"].as_array().unwrap() {
        assert!(rule["shortDescription"]["text"].as_str().unwrap().ends_with('.'), "{rule}");
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
        assert!(["error", "warning", "note"].contains(&level), "{rule}");
        assert!(ids.insert(rule["id"].as_str().unwrap().to_owned()), "{rule} is there twice");
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 6);
    for result in results {
        assert!(ids.contains(result["ruleId"].as_str().unwrap()), "{result}");
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(driver["rules"][index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].is_string(), "{result}");
        assert!(place["region"]["startLine"].as_u64() >= Some(1), "{result}");
        assert!(place["region"]["startColumn"].as_u64() >= Some(1), "{result}");
    }
    assert_eq!(
        results[0]["locations"][0],
        json!({
            "physicalLocation": {
                "artifactLocation": { "uri": "personas.toml", "uriBaseId": "%SRCROOT%" },
                "region": { "startLine": 4, "startColumn": 3 },
            },
            "logicalLocations": [{ "fullyQualifiedName": "project:persona:reviewer" }],
        })
    );
    assert_eq!((&results[0]["ruleId"], &results[0]["level"]), (&json!("unknown-reference"), &json!("error")));
    let elsewhere = results
        .iter()
        .filter_map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str());
    let elsewhere: Vec<&str> = elsewhere.filter(|uri| *uri != "personas.toml").collect();
    assert_eq!(elsewhere.len(), 1);
    assert!(elsewhere[0].starts_with("file:///") && elsewhere[0].ends_with("/masque/personas.toml"));
}

#[test]
fn sarif_places_findings_without_a_file() {
    let home = Home::new();
    home.ok(&["create", "skill", "lonely", "--content", "x"]);
    let sarif = |arguments: &[&str]| -> Value {
        let answer = home.run(&[arguments, &["lint", "--scope", "shared", "--format", "sarif"]].concat());
        serde_json::from_str::<Value>(&answer.ok()).unwrap()["runs"][0]["results"][0].clone()
    };
    home.write("shop/.git/HEAD", "");
    home.write("shop/svc/personas.toml", "");
    for (arguments, uri) in [(&[][..], "personas.toml"), (&["--project", "shop/svc"], "svc/personas.toml")] {
        let found = sarif(arguments);
        assert_eq!(
            found["locations"],
            json!([{
                "physicalLocation": {
                    "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" },
                    "region": { "startLine": 1, "startColumn": 1 },
                },
                "logicalLocations": [{ "fullyQualifiedName": "shared:skill:lonely" }],
            }])
        );
        assert_eq!(found["message"]["text"], "in shared: skill lonely: no persona uses this skill");
    }
}

#[test]
fn no_form_of_a_report_repeats_a_secret() {
    let key = ["ghp_", "k7Qz2LmXw9RbT4vNc8Yd1HsJ6gPf3UaE5tKo"].concat();
    let home = library(&format!("[personas.a]\nsummary = \"Use {key}.\"\ndisplay_name = \"{key}\"\n"));
    for arguments in [&[][..], &["--json"], &["--format", "sarif"]] {
        let answer = lint(&home, arguments);
        assert_eq!(answer.code, 1);
        contains(&answer.stdout, &["a GitHub token"]);
        let whole = format!("{}{}", answer.stdout, answer.stderr);
        assert!(!whole.contains(&key[..12]), "{whole}");
    }
}

#[test]
fn a_secret_outside_of_entries_is_found() {
    let key = ["ghp_", "k7Qz2LmXw9RbT4vNc8Yd1HsJ6gPf3UaE5tKo"].concat();
    let home = library(&format!(
        "[personas.a]\nsummary = \"Use {key}.\"\ndetail = \"\" # {key}\napi_key = \"{key}\"\n# {key}\n\n[mcp_servers.issues]\ncommand = \"node\"\nenv = {{ TOKEN = \"{key}\" }}\n"
    ));
    let report = lint_json(&home, &[]);
    let places: Vec<(u64, bool)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (found["line"].as_u64().unwrap(), found["name"].is_string()))
        .collect();
    let expected = ["secret", "unknown-key"].map(str::to_owned);
    assert_eq!(rules(&report), BTreeSet::from(expected));
    assert_eq!(places, [(2, true), (3, false), (4, true), (4, false), (5, false), (9, false)]);
    contains(&lint(&home, &[]).stdout, &["9:18  error    ", "a GitHub token", "env_pass"]);
}

/// A library with hidden characters in an included file and in multi-line strings.
fn with_hidden_characters() -> Home {
    let home = library(
        "\
[personas.reviewer]
system_prompt = \"You review.\"
parts = [\"calm\", \"clear\", \"curt\"]
plan_persona = { instruction_file = \"prompts/plan.md\" }

[parts.calm]
part_type = \"tone\"
content_file = \"./prompts/calm.md\"

[parts.clear]
part_type = \"voice\"
content = '''
Be clear.
Be cle\u{200b}ar.
'''

[parts.curt]
part_type = \"goal\"
content = \"\"\"
Be \\
  curt.
Be cur\u{200b}t.\"\"\"
",
    );
    home.write("shop/prompts/calm.md", "Be calm.\n\nBe \u{200b}calm.\n");
    home.write("shop/prompts/plan.md", "Pla\u{200b}n.\n");
    home
}

#[test]
fn findings_in_texts_have_their_place_in_the_file() {
    let home = with_hidden_characters();
    let report = lint_json(&home, &[]);
    let findings = report["findings"].as_array().unwrap();
    let root = home.path("shop");
    let places: Vec<(&str, u64, u64)> = findings
        .iter()
        .map(|found| {
            let path = found["path"].as_str().unwrap().strip_prefix(root.to_str().unwrap()).unwrap();
            (path, found["line"].as_u64().unwrap(), found["column"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(
        places,
        [
            ("/personas.toml", 14, 7),
            // After a folded line, the text's lines differ from the file's.
            ("/personas.toml", 19, 1),
            ("/prompts/calm.md", 3, 4),
            ("/prompts/plan.md", 1, 4),
        ]
    );
    assert_eq!((&findings[2]["name"], &findings[2]["field"]), (&json!("calm"), &json!("content")));

    let answer = lint(&home, &[]);
    contains(&answer.stdout, &["prompts/calm.md (project)\n  3:4  error    part calm, content: "]);

    // Code hosts count from the repository's root.
    std::fs::create_dir(home.path(".git")).unwrap();
    let log: Value = serde_json::from_str(&lint(&home, &["--format", "sarif"]).stdout).unwrap();
    assert_eq!(
        log["runs"][0]["results"][2]["locations"][0]["physicalLocation"],
        json!({
            "artifactLocation": { "uri": "shop/prompts/calm.md", "uriBaseId": "%SRCROOT%" },
            "region": { "startLine": 3, "startColumn": 4 },
        })
    );
}
