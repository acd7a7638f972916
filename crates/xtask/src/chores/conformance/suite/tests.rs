use super::*;

const REQUIREMENTS: &str = "# Frozen.\n\nserver:\n  - ping\n  # A comment.\n  - tools-list\n\nclient:\n  - initialize\n\
                            \nnot_scored:\n  - scenario: extra\n    leg: server\n";

#[test]
fn only_the_server_section_is_required() {
    assert_eq!(required(REQUIREMENTS), ["ping", "tools-list"]);
    assert!(required("client:\n  - initialize\n").is_empty());
}

#[test]
fn the_scenario_is_in_the_name_of_the_directory() {
    let directory = "server-server-sse-polling-2026-11-15T21-53-32-490Z";
    assert_eq!(scenario_name(directory), Some("server-sse-polling"));
    assert_eq!(scenario_name("log"), None);
    assert_eq!(scenario_name("server-x"), None);
}

#[test]
fn results_are_joined_with_the_requirements() {
    let results = tempfile::tempdir().expect("a temporary directory");
    let write = |scenario: &str, checks: &str| {
        let name = format!("server-{scenario}-2026-11-15T21-53-32-490Z");
        let directory = results.path().join(name);
        fs::create_dir(&directory).expect("a directory");
        fs::write(directory.join("checks.json"), checks).expect("a file");
    };
    write(
        "ping",
        r#"[{"id": "ping", "status": "SUCCESS"}, {"id": "wire", "status": "WARNING", "errorMessage": "odd"}]"#,
    );
    write("extra", r#"[{"id": "extra", "status": "SKIPPED"}]"#);

    let scenarios = read_results(results.path(), &required(REQUIREMENTS)).expect("results");
    let outcome = Outcome {
        revision: "2026-07-28".to_owned(),
        succeeded: true,
        scenarios,
        log: PathBuf::new(),
        closing_words: String::new(),
    };

    let summary: Vec<(&str, bool, bool)> = outcome
        .scenarios
        .iter()
        .map(|scenario| (scenario.name.as_str(), scenario.scored, scenario.passed()))
        .collect();
    assert_eq!(summary, [("ping", true, false), ("tools-list", true, false), ("extra", false, true)]);
    assert_eq!(outcome.unfinished(), ["tools-list"]);
    assert_eq!(outcome.scenarios[0].count(Status::Warning), 1);
}

#[test]
fn the_closing_words_are_plain() {
    let log =
        "=== SUMMARY ===\n\nTotal: 2 passed, 1 failed\n\n\u{1b}[33mExpected failures:\u{1b}[0m\n  ~ ping\n";
    assert_eq!(closing_words(log), "\nExpected failures:\n  ~ ping");
    assert_eq!(closing_words("a crash\n"), "");
}
