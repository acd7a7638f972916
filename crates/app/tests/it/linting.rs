//! Lint over the library: findings with their places in the files.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::outputs::{LintFinding, LintReport};
use app::{Code, LintOptions};
use persona::lint::Level;
use persona::{Kind, Scope};
use serde_json::json;

use crate::world::{World, in_each_world, refused, with_files};

const PROJECT: &str = r#"# Ours.
[personas.coder]
system_prompt = "You code."
parts = ["calm-tone", "clam-tone"]
skills = ["premortem"]
preferred_models = [{ provider = "antropic", model = "m" }]

[parts.calm-tone]
part_type = "tone"
content = "Be calm, ${env.USER_NAME}."

[parts.spare]
part_type = "goal"
content = """
Be spare.
"""

[parts.bad]
part_type = "tonne"
content = "x"
"#;

/// Each finding as `rule scope:name line:column`.
fn findings(report: &LintReport) -> Vec<String> {
    let told = |found: &LintFinding| {
        let (scope, name) = (found.scope.unwrap(), found.name.as_deref().unwrap());
        let place = found.line.zip(found.column).map(|(line, column)| format!(" {line}:{column}"));
        format!("{} {scope}:{name}{}", found.rule, place.unwrap_or_default())
    };
    report.findings.iter().map(told).collect()
}

fn rules(report: &LintReport) -> Vec<&'static str> {
    report.findings.iter().map(|found| found.rule.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_in_files_have_their_places() {
    with_files("[parts.mine]\npart_type = \"voice\"\ncontent = \"Sing.\"\n", PROJECT, async |world| {
        let options = LintOptions {
            providers: Some(BTreeSet::from(["anthropic".to_owned()])),
            ..LintOptions::default()
        };
        let report = world.library.lint(options).await.unwrap();
        assert_eq!(
            findings(&report),
            [
                "unknown-reference project:coder 4:23",
                "unknown-provider project:coder 6:23",
                "env-not-allowed project:calm-tone 10:1",
                "unused project:spare 12:8",
                "invalid-entry project:bad 19:13",
                "unused global:mine 1:8",
            ],
            "strongest scope first, then from top to bottom"
        );
        assert_eq!(report.findings[0].path.as_deref(), Some(world.path(Scope::Project).as_path()));
        assert_eq!(report.findings[0].suggestion.as_deref(), Some("did you mean \"calm-tone\"?"));
        let levels: Vec<Level> = report.findings.iter().map(|found| found.level).collect();
        for (level, count) in
            [(Level::Error, report.errors), (Level::Warning, report.warnings), (Level::Note, report.notes)]
        {
            assert_eq!(levels.iter().filter(|found| **found == level).count(), count, "{level}");
            assert_eq!(report.count(level), count);
        }

        let project = LintOptions {
            scopes: vec![Scope::Project],
            env_allowed: BTreeSet::from(["USER_NAME".to_owned()]),
            env_set: BTreeSet::from(["USER_NAME".to_owned()]),
            part_tokens: Some(1),
            ..LintOptions::default()
        };
        let report = world.library.lint(project).await.unwrap();
        let expected = ["unknown-reference", "long-part", "unused", "long-part", "invalid-entry"];
        assert_eq!(rules(&report), expected);
        let global = LintOptions { scopes: vec![Scope::Global], ..LintOptions::default() };
        let report = world.library.lint(global).await.unwrap();
        assert_eq!(rules(&report), ["unused"], "the mistakes of another file are not its own");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_entities_that_files_refer_to_are_known() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "team-tone", "tone", "Be one.").await;
        world.persona(Scope::Shared, json!({ "name": "base", "parts": [{ "name": "team-tone" }] })).await;
        let coder = json!({ "name": "coder", "extends": "base", "parts": [{ "name": "team-tone" }], "remove_traits": ["bold"] });
        world.persona(Scope::Project, coder).await;
        let report = world.library.lint(LintOptions::default()).await.unwrap();
        assert_eq!(rules(&report), ["useless-removal"]);
        assert_eq!(report.findings[0].level, Level::Warning);

        let shared = LintOptions { scopes: vec![Scope::Shared], ..LintOptions::default() };
        assert_eq!(world.library.lint(shared.clone()).await.unwrap().findings, []);
        world.part(Scope::Shared, "spare", "goal", "Be spare.").await;
        let report = world.library.lint(shared).await.unwrap();
        assert_eq!(findings(&report), ["unused shared:spare"]);
        assert_eq!(report.findings[0].path, None);
        used_elsewhere(world).await;
    })
    .await;
}

/// The findings of a new process.
async fn lint_afresh(world: &World) -> LintReport {
    let library = world.reopened(|_| ()).await;
    let report = library.lint(LintOptions::default()).await.unwrap();
    library.close().await;
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_nowhere_may_have_meant_one_of_the_database() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "team-tone", "tone", "Be one.").await;
        world.persona(Scope::Shared, json!({ "name": "team-base", "summary": "A base." })).await;
        let project = "[personas.coder]\nextends = \"taem-base\"\nparts = [\"team-tonn\"]\ntraits = [\"team-tone\"]\ntool_preset = \"read_onyl\"\n";
        std::fs::write(world.path(Scope::Project), project).unwrap();
        let report = lint_afresh(world).await;
        let said: Vec<String> = report.findings.iter().map(LintFinding::sentence).collect();
        assert_eq!(said.len(), 5, "{said:#?}");
        for (said, expected) in said.iter().zip([
            "did you mean \"team-base\"?",
            "did you mean \"team-tone\"?",
            "\"team-tone\" is a part, not a trait",
            "did you mean \"read_only\"?",
            "no persona and no arc uses this part",
        ]) {
            assert!(said.contains(expected), "{said}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_with_errors_is_not_checked() {
    let project = "[personas.coder]\nsummary = \"s\"\nparts = [\"calm\", \"nope\"]\n\n[parts.calm]\npart_type = \"tone\"\ncontent = \"Be c\u{200b}alm.\"\n\n[parts.spare]\npart_type = \"goal\"\ncontent = \"x\"\n";
    with_files("", project, async |world| {
        let before = [
            "unknown-reference project:coder 3:18",
            "hidden-unicode project:calm 7:1",
            "unused project:spare 9:8",
        ];
        assert_eq!(findings(&lint_afresh(world).await), before);
        // The part is known as it was, and its new text is not blamed for the old one.
        world.edit(Scope::Project, "\"tone\"", "\"tonn\"");
        let broken = [
            "unknown-reference project:coder 3:18",
            "invalid-entry project:calm 6:13",
            "unused project:spare 9:8",
        ];
        assert_eq!(findings(&lint_afresh(world).await), broken);
        // The references in the readable fields of an unreadable persona are checked.
        world.edit(Scope::Project, "summary = \"s\"", "summary = 5");
        let broken = [
            "invalid-entry project:coder 2:11",
            "unknown-reference project:coder 3:18",
            "invalid-entry project:calm 6:13",
        ];
        assert_eq!(findings(&lint_afresh(world).await), broken);
        world.edit(Scope::Project, "summary = 5", "summary = \"s");
        let report = lint_afresh(world).await;
        assert_eq!(rules(&report), ["broken-file"]);
        assert_eq!((report.findings[0].line, report.entries), (Some(2), 0));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_names_an_entry_that_was_never_good_is_not_blamed() {
    let project = "[personas.coder]\nsummary = \"s\"\nextends = \"base\"\nparts = [\"calm\"]\n\n[personas.base]\nsummary = 5\n\n[parts.calm]\npart_type = \"tonn\"\n";
    with_files("", project, async |world| {
        let report = world.library.lint(LintOptions::default()).await.unwrap();
        assert_eq!(
            findings(&report),
            ["invalid-entry project:base 7:11", "invalid-entry project:calm 10:13"]
        );
    })
    .await;
}

/// A reference from a scope that is not checked counts as a use.
async fn used_elsewhere(world: &World) {
    world.persona(Scope::Project, json!({ "name": "user", "parts": [{ "name": "spare" }] })).await;
    let shared = LintOptions { scopes: vec![Scope::Shared], ..LintOptions::default() };
    assert_eq!(world.library.lint(shared).await.unwrap().findings, []);
    assert_eq!(world.entity(Kind::Part, Scope::Shared, "spare").await["revision"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_without_files_is_looked_at_too() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "spare", "goal", "Be spare.").await;
        let alone = world.reopened(|options| options.files = None).await;
        let report = alone.lint(LintOptions::default()).await.unwrap();
        assert_eq!(report.findings.len(), 1);
        // Nor does it matter where files would be that are not there.
        let report = world.library.lint(LintOptions::default()).await.unwrap();
        assert_eq!(
            (findings(&report), report.scopes),
            (vec!["unused shared:spare".to_owned()], vec![Scope::Shared])
        );
        assert_eq!(report.entries, 1);
        let project = LintOptions { scopes: vec![Scope::Project], ..LintOptions::default() };
        assert_eq!(refused(alone.lint(project).await).code, Code::ScopeNotOpen);
        alone.close().await;
    })
    .await;
}

/// The log of a test's thread.
#[derive(Debug, Clone, Default)]
struct Logged(Arc<Mutex<Vec<u8>>>);

impl io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Logged {
    fn lines_with(&self, word: &str) -> usize {
        let bytes = self.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap().lines().filter(|line| line.contains(word)).count()
    }

    /// The log of this thread while the files of a world are linted at every load.
    fn linting(world: &World) -> (Self, tracing::subscriber::DefaultGuard) {
        let logged = Self::default();
        let writer = logged.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        let guard = tracing::subscriber::set_default(subscriber);
        world.library.watch();
        world.library.lint_on_load(LintOptions::default());
        (logged, guard)
    }

    async fn waits_for(&self, word: &str) {
        for _ in 0..200 {
            if self.lines_with(word) > 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{word} was not logged: {}", String::from_utf8_lossy(&self.0.lock().unwrap()));
    }
}

#[tokio::test]
async fn a_finding_that_moves_in_its_file_is_logged_once() {
    with_files("", PROJECT, async |world| {
        let (logged, _guard) = Logged::linting(world);
        logged.waits_for("clam-tone").await;
        let more = "# Ours.\n\n[parts.more]\npart_type = \"goal\"\ncontent = \"Be more.\"\n\n";
        world.edit(Scope::Project, "# Ours.\n", more);
        logged.waits_for("project:more").await;
        assert_eq!(logged.lines_with("clam-tone"), 1, "{logged:?}");
    })
    .await;
}

#[tokio::test]
async fn an_unknown_table_is_logged_once() {
    let project = "# Ours.\n[prats.calm]\ncontent = \"x\"\n";
    with_files("", project, async |world| {
        let (logged, _guard) = Logged::linting(world);
        // There is not one entry, and yet something to say.
        logged.waits_for("unknown table \"prats\"; did you mean \"parts\"? [unknown-key]").await;
        let more =
            "# Ours.\n\n[parts.more]\npart_type = \"goal\"\ncontent = \"Be more.\"\ncolour = \"blue\"\n\n";
        world.edit(Scope::Project, "# Ours.\n", more);
        logged.waits_for("part more: unknown key \"colour\"").await;
        assert_eq!(logged.lines_with("prats"), 1, "{logged:?}");
    })
    .await;
}

#[tokio::test]
async fn an_error_made_while_a_server_runs_is_logged() {
    let bad = "[personas.old]\nmax_tool_rounds = 0\n";
    with_files("", bad, async |world| {
        let (logged, _guard) = Logged::linting(world);
        world.edit(Scope::Project, bad, &format!("{bad}\n[personas.new]\nmax_tool_rounds = 0\n"));
        logged.waits_for("personas.toml:5:19: persona new: max_tool_rounds").await;
        // The process that opens the files reports earlier errors.
        assert_eq!(logged.lines_with("persona old"), 0, "{logged:?}");
        world.edit(Scope::Project, bad, "[personas.new\n");
        logged.waits_for("[broken-file]").await;
    })
    .await;
}

/// Lint reads the shared library page by page: what refers across pages is known.
#[tokio::test(flavor = "multi_thread")]
async fn references_across_pages_are_known() {
    const PIECES: usize = 250;
    in_each_world(async |world| {
        for number in 0..PIECES {
            world.part(Scope::Shared, &format!("part-{number:03}"), "tone", "Be calm.").await;
        }
        // The first personas name the last parts, and every other part is unused.
        for number in (0..PIECES).step_by(2) {
            let part = format!("part-{:03}", PIECES - 1 - number);
            let persona = json!({ "name": format!("persona-{number:03}"), "parts": [{ "name": part }] });
            world.persona(Scope::Shared, persona).await;
        }
        let shared = LintOptions { scopes: vec![Scope::Shared], ..LintOptions::default() };
        let report = world.library.lint(shared).await.unwrap();
        assert_eq!(rules(&report), vec!["unused"; PIECES / 2]);
        let is_even = |found: &LintFinding| {
            let number = found.name.as_deref().and_then(|name| name.strip_prefix("part-")).unwrap();
            number.parse::<usize>().unwrap() % 2 == 0
        };
        assert!(report.findings.iter().all(is_even));
    })
    .await;
}

const UNREADABLE: &str = r#"
[test_inputs.pattern]
content = "Hi"
expectations = ["Greets back.", { matches = "(" }]

[test_inputs.schema]
content = "Hi"
expectations = [{ json = { schema = "{" } }]

[test_inputs.fine]
content = "Hi"
expectations = [{ matches = "^(yes|no)" }, { json = { schema = "{}" } }]
"#;

/// A file is read without reading patterns and schemas. Lint does, before a test fails.
#[tokio::test(flavor = "multi_thread")]
async fn unreadable_expectations_of_files_are_found() {
    with_files("", UNREADABLE, async |world| {
        let report = world.library.lint(LintOptions::default()).await.unwrap();
        let found: Vec<&LintFinding> =
            report.findings.iter().filter(|found| found.rule.as_str() == "unreadable-expectation").collect();
        let fields: Vec<Option<&str>> = found.iter().map(|found| found.field.as_deref()).collect();
        assert_eq!(fields, [Some("expectations[1].matches"), Some("expectations[0].json.schema")]);
        assert!(found.iter().all(|found| found.level == Level::Error && found.line.is_some()), "{found:?}");
        assert!(found[0].message.contains("regular expression"), "{}", found[0].message);
    })
    .await;
}

/// No write takes an expectation that no test can read.
#[tokio::test(flavor = "multi_thread")]
async fn unreadable_expectations_are_not_saved() {
    in_each_world(async |world| {
        let save = async |expectation: serde_json::Value| {
            let entity = json!({ "content": "Hi", "expectations": [expectation] });
            let input = json!({ "kind": "test_input", "name": "hi", "entity": entity });
            world.library.save_entity(&world.author, serde_json::from_value(input).unwrap()).await
        };
        for (expectation, field) in [
            (json!({ "matches": "(" }), "expectations[0].matches"),
            (json!({ "json": { "schema": "{" } }), "expectations[0].json.schema"),
            (json!({ "json": { "schema": r#"{"type": 5}"# } }), "expectations[0].json.schema"),
        ] {
            let report = save(expectation).await.expect_err("unreadable").report();
            assert_eq!((report.code, report.subject.field.as_deref()), (Code::InvalidField, Some(field)));
        }
        save(json!({ "matches": "^Hi" })).await.unwrap();
        let amended =
            json!({ "kind": "test_input", "name": "hi", "entity": { "expectations": [{ "matches": "(" }] } });
        let amended =
            world.library.amend_entity(&world.author, serde_json::from_value(amended).unwrap()).await;
        assert!(amended.is_err());
    })
    .await;
}

/// The builtins are examples: lint finds nothing in them that a user would have to explain.
#[tokio::test(flavor = "multi_thread")]
async fn builtins_have_no_findings() {
    with_files("", "", async |world| {
        let options = LintOptions { scopes: vec![Scope::Builtin], ..LintOptions::default() };
        let report = world.library.lint(options).await.unwrap();
        let lines: Vec<String> = report
            .findings
            .iter()
            .map(|found| format!("{} {:?}: {}", found.rule, found.name, found.message))
            .collect();
        assert_eq!(lines, Vec::<String>::new());
    })
    .await;
}
