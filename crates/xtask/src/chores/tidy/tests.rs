use std::fs;

use super::*;

/// The findings in a workspace of these files, sorted. Each crate also gets a manifest, a documented root that
/// declares nothing, and a row in the table of crates.
fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let root = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir(root.path().join("crates")).expect("a directory");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    for entry in fs::read_dir(root.path().join("crates")).expect("crates") {
        let directory = entry.expect("an entry").path();
        let defaults = [("Cargo.toml", "[package]\n"), ("src/lib.rs", "//! A crate.\n")];
        for (name, text) in defaults {
            let path = directory.join(name);
            if !path.exists() {
                fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
                fs::write(path, text).expect("a file");
            }
        }
    }
    let mut report = TidyReport::default();
    let tree = Tree::load(root.path(), &mut report).expect("a readable tree");
    let document = root.path().join("ARCHITECTURE.md");
    if !document.exists() {
        let rows: Vec<String> = tree.crates.iter().map(|member| format!("`{}`: –", member.name)).collect();
        fs::write(document, table(&rows.iter().map(String::as_str).collect::<Vec<_>>())).expect("a file");
    }
    for rule in RULES {
        rule(&tree, &mut report);
    }
    let warnings = report.warnings.iter().map(|it| format!("warning: {it}"));
    let mut lines: Vec<String> = warnings.collect();
    lines.extend(report.violations.iter().map(ToString::to_string));
    lines.sort();
    lines
}

/// Each finding begins as expected, and there are no others.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let found = findings(files);
    let matches = found.len() == expected.len()
        && found.iter().zip(expected).all(|(line, start)| line.starts_with(start));
    assert!(matches, "found {found:#?}, expected {expected:#?}");
}

/// An ARCHITECTURE.md with a row for each `crates: imports`.
fn table(rows: &[&str]) -> String {
    let mut text = "# Built\n\n| crate | purpose | imports |\n|---|---|---|\n".to_owned();
    for row in rows {
        let (crates, imports) = row.split_once(": ").expect("crates: imports");
        text.push_str(&format!("| {crates} | some | {imports} |\n"));
    }
    text + "\nMore.\n"
}

fn manifest(dependencies: &str) -> String {
    format!("[package]\n\n[dependencies]\n{dependencies}\n")
}

fn function(lines: usize) -> String {
    let body = "    let _ = 1;\n".repeat(lines - 2);
    format!("fn long() {{\n{body}}}\n")
}

#[test]
fn a_tidy_workspace_has_no_findings() {
    check(
        &[
            ("ARCHITECTURE.md", &table(&["`persona`: –", "`store`: persona"])),
            ("crates/persona/src/lib.rs", "//! Personas.\n"),
            (
                "crates/store/Cargo.toml",
                "[dependencies]\npersona.workspace = true\nsqlx = \"0.9\"\n\
                 [dev-dependencies]\ntestkit.workspace = true\nanyhow = \"1\"\n",
            ),
            ("crates/store/src/lib.rs", "//! Stores.\nmod rows;\n"),
            ("crates/store/src/rows.rs", "mod codec;\n#[cfg(test)]\nmod tests;\n"),
            ("crates/store/src/rows/codec.rs", "// \"todo!()\" is a word.\n"),
            ("crates/store/src/rows/tests.rs", "const WORD: &str = \"todo!()\";\n"),
            ("crates/store/tests/it/main.rs", "mod rows;\n"),
            ("crates/store/tests/it/rows.rs", "fn helper() {}\n"),
            ("crates/store/tests/fixtures/broken.rs", "fn ((\n"),
            (
                "crates/store/tests/it/snapshots/it__rows.snap",
                "---\nsource: crates/store/tests/it/rows.rs\nexpression: x\n---\n1\n",
            ),
        ],
        &[],
    );
}

#[test]
fn a_crate_imports_only_what_the_table_allows() {
    let text = manifest("persona.workspace = true\nstore.workspace = true");
    check(
        &[
            ("ARCHITECTURE.md", &table(&["`persona`, `store`: –", "`mcp`: persona"])),
            ("crates/mcp/Cargo.toml", &text),
            ("crates/persona/src/lib.rs", "//! Personas.\n"),
            ("crates/store/src/lib.rs", "//! Stores.\n"),
        ],
        &["crates/mcp/Cargo.toml:5: mcp may not import store, only persona"],
    );
}

#[test]
fn the_table_has_nothing_that_the_manifests_have_not() {
    check(
        &[
            ("ARCHITECTURE.md", &table(&["`app`: gone, persona", "`gone`: –", "`persona`: –"])),
            ("crates/app/Cargo.toml", &manifest("persona.workspace = true")),
            ("crates/persona/src/lib.rs", "//! Personas.\n"),
        ],
        &["ARCHITECTURE.md:5: app does not import gone", "ARCHITECTURE.md:6: there is no crate gone"],
    );
    check(&[("ARCHITECTURE.md", "No table.\n")], &["ARCHITECTURE.md:1: has no table"]);
}

#[test]
fn a_renamed_or_platform_dependency_counts_too() {
    let text = "[target.'cfg(unix)'.dependencies]\nother = { package = \"server\", path = \"x\" }\n";
    check(
        &[
            ("ARCHITECTURE.md", &table(&["`app`, `server`: –"])),
            ("crates/app/Cargo.toml", text),
            ("crates/server/src/lib.rs", "//! Serves.\n"),
        ],
        &["crates/app/Cargo.toml:2: app may not import server"],
    );
}

#[test]
fn no_crate_ships_the_testkit() {
    let text = manifest("testkit.workspace = true");
    check(&[("crates/masque/Cargo.toml", &text)], &["crates/masque/Cargo.toml:4: testkit is for tests"]);
}

#[test]
fn a_crate_must_stand_in_the_table() {
    check(
        &[
            ("ARCHITECTURE.md", &table(&["`app`: –"])),
            ("crates/app/src/lib.rs", "//! An app.\n"),
            ("crates/stranger/src/lib.rs", "//! Who?\n"),
        ],
        &["crates/stranger/Cargo.toml:1: the crate stranger is not in the table of ARCHITECTURE.md"],
    );
}

#[test]
fn third_party_crates_have_their_places() {
    let text = manifest("anyhow = \"1\"\nrmcp = \"3\"\nsqlx = \"0.9\"");
    check(
        &[("crates/server/Cargo.toml", &text)],
        &[
            "crates/server/Cargo.toml:4: only bench, conformance, masque and xtask may depend on anyhow",
            "crates/server/Cargo.toml:5: only bench, conformance, mcp, testkit and tools may depend on rmcp",
            "crates/server/Cargo.toml:6: only database, sessions, store and testkit may depend on sqlx",
        ],
    );
}

#[test]
fn the_persona_crate_does_no_io() {
    let text = manifest("axum = \"0.8\"\ntokio = \"1\"");
    check(
        &[("crates/persona/Cargo.toml", &text)],
        &[
            "crates/persona/Cargo.toml:4: persona may not depend on axum",
            "crates/persona/Cargo.toml:5: persona may not depend on tokio",
        ],
    );
}

#[test]
fn long_files_warn_and_then_fail() {
    let lines = |count: usize| "//!\n".repeat(count);
    check(
        &[
            ("crates/app/src/lib.rs", &lines(800)),
            ("crates/mcp/src/lib.rs", &lines(801)),
            ("crates/store/src/lib.rs", &lines(500)),
            ("web/src/page.svelte", &"<p>\n".repeat(801)),
        ],
        &[
            "crates/mcp/src/lib.rs:1: has 801 lines",
            "warning: crates/app/src/lib.rs:1: has 800 lines",
            "web/src/page.svelte:1: has 801 lines",
        ],
    );
}

#[test]
fn long_functions_fail_wherever_they_are() {
    let long = function(71);
    let text = format!("//! A crate.\n{}impl T {{ {long} }}\ntrait U {{ {long} }}\n", function(70));
    check(
        &[("crates/app/src/lib.rs", &text)],
        &[
            "crates/app/src/lib.rs:144: the function long has 71 lines, 70 are the limit",
            "crates/app/src/lib.rs:72: the function long has 71 lines, 70 are the limit",
        ],
    );
}

#[test]
fn tests_may_be_longer_but_not_endless() {
    let long = function(120);
    let text = format!(
        "//! A crate.\n#[tokio::test]\nasync {long}\n#[cfg(test)]\nmod inner {{ {long} }}\n#[test]\n{}",
        function(121)
    );
    check(
        &[("crates/app/src/lib.rs", &text), ("crates/app/tests/it/main.rs", &long)],
        &["crates/app/src/lib.rs:247: the function long has 121 lines, 120 are the limit"],
    );
}

#[test]
fn only_a_plain_table_may_be_long() {
    let rows = "    1,\n".repeat(80);
    let text = format!(
        "//! A crate.\n\
         fn array() -> [u8; 80] {{\n&[\n{rows}]\n}}\n\
         fn json() -> Value {{\nserde_json::json!([\n{rows}])\n}}\n\
         fn select() {{\ntokio::select!([\n{rows}])\n}}\n\
         fn decides() -> [u8; 81] {{\n[\n{rows}if true {{ 1 }} else {{ 2 }}]\n}}\n"
    );
    check(
        &[("crates/app/src/lib.rs", &text)],
        &[
            "crates/app/src/lib.rs:170: the function select",
            "crates/app/src/lib.rs:254: the function decides",
        ],
    );
}

#[test]
fn a_file_that_nothing_declares_is_dead() {
    check(
        &[
            ("crates/app/src/lib.rs", "//! A crate.\nmod used;\n"),
            ("crates/app/src/used.rs", "mod inner { mod deep; }\n"),
            ("crates/app/src/used/inner/deep.rs", "//! Reached.\n"),
            ("crates/app/src/deep.rs", "//! Not reached.\n"),
            ("crates/app/tests/it/main.rs", "//! Tests.\n"),
            ("crates/app/tests/it/forgotten.rs", "//! Not reached.\n"),
        ],
        &[
            "crates/app/src/deep.rs:1: no `mod` reaches this file",
            "crates/app/tests/it/forgotten.rs:1: no `mod` reaches this file",
        ],
    );
}

#[test]
fn targets_and_paths_are_followed() {
    check(
        &[
            ("crates/app/Cargo.toml", "[[bench]]\nname = \"speed\"\npath = \"speed/run.rs\"\n"),
            ("crates/app/speed/run.rs", "//! A benchmark.\n"),
            ("crates/app/build.rs", "//! A build script.\n"),
            ("crates/app/examples/hello.rs", "//! An example.\n"),
            (
                "crates/app/src/lib.rs",
                "//! A crate.\n#[path = \"odd/place.rs\"]\nmod even;\n\
                 #[cfg_attr(unix, path = \"unix.rs\")]\nmod system;\ninclude!(\"table.rs\");\n",
            ),
            ("crates/app/src/odd/place.rs", "mod child;\n"),
            ("crates/app/src/odd/child.rs", "//! Reached.\n"),
            ("crates/app/src/even.rs", "//! Hidden by the attribute.\n"),
            ("crates/app/src/unix.rs", "//! Reached.\n"),
            ("crates/app/src/system.rs", "//! Reached.\n"),
            ("crates/app/src/table.rs", "const A: u8 = 1;\n"),
        ],
        &["crates/app/src/even.rs:1: no `mod` reaches this file"],
    );
}

#[test]
fn empty_files_and_mod_rs_fail() {
    check(
        &[
            ("crates/app/src/lib.rs", "//! A crate.\nmod a;\nmod b;\n"),
            ("crates/app/src/a/mod.rs", "//! Old style.\n"),
            ("crates/app/src/b.rs", " \n"),
        ],
        &["crates/app/src/a/mod.rs:1: is a mod.rs", "crates/app/src/b.rs:1: is empty"],
    );
}

#[test]
fn a_file_that_does_not_parse_fails() {
    check(
        &[("crates/app/src/lib.rs", "//! A crate.\nfn broken( {\n")],
        &["crates/app/src/lib.rs:2: does not parse"],
    );
}

#[test]
fn snapshots_belong_to_a_test_and_are_reviewed() {
    check(
        &[
            ("crates/app/tests/it/snapshots/gone.snap", "---\nsource: crates/app/tests/it/gone.rs\n---\n1\n"),
            ("crates/app/tests/it/snapshots/odd.snap", "---\nexpression: x\n---\n1\n"),
            ("crates/app/tests/it/snapshots/pending.snap.new", "---\n---\n1\n"),
        ],
        &[
            "crates/app/tests/it/snapshots/gone.snap:1: the snapshot belongs to crates/app/tests/it/gone.rs",
            "crates/app/tests/it/snapshots/odd.snap:1: the snapshot does not name its source",
            "crates/app/tests/it/snapshots/pending.snap.new:1: a snapshot waits for review",
        ],
    );
}

#[test]
fn a_crate_opens_with_its_purpose() {
    check(
        &[
            ("crates/app/src/lib.rs", "// No docs.\n"),
            ("crates/masque/src/main.rs", "#![allow(dead_code)]\n//! Late.\n"),
        ],
        &[
            "crates/app/src/lib.rs:1: a crate opens with `//!`",
            "crates/masque/src/main.rs:1: a crate opens with `//!`",
        ],
    );
}

#[test]
fn unfinished_work_is_found_in_code_only() {
    check(
        &[(
            "crates/app/src/lib.rs",
            "//! A crate. todo!()\n\
             fn a() { todo!() }\n\
             fn b() { other!(unimplemented!(\"later\")) }\n\
             fn c() { let _ = dbg!(1); }\n\
             #[test]\n\
             #[ignore = \"slow\"]\n\
             fn d() {}\n\
             #[cfg_attr(windows, ignore)]\n\
             fn e() { let _ = \"dbg!(1)\"; let todo = 1; let _ = todo != (1); }\n",
        )],
        &[
            "crates/app/src/lib.rs:2: `todo!`",
            "crates/app/src/lib.rs:3: `unimplemented!`",
            "crates/app/src/lib.rs:4: `dbg!`",
            "crates/app/src/lib.rs:6: `#[ignore]`",
            "crates/app/src/lib.rs:8: `#[ignore]`",
        ],
    );
}

/// The lines of a function's body that look into a message.
fn readers(body: &str) -> Vec<usize> {
    let source = format!("//! A crate.\nfn read() {{\n{body}\n}}\n");
    let found = findings(&[("crates/app/src/lib.rs", &source)]);
    let lines = found.iter().map(|finding| {
        let line = finding.strip_prefix("crates/app/src/lib.rs:").and_then(|rest| rest.split(':').next());
        assert!(finding.contains("read looks into a message"), "{finding}");
        line.and_then(|line| line.parse::<usize>().ok()).expect("a line") - 2
    });
    lines.collect()
}

#[test]
fn a_look_into_a_message_is_found() {
    for body in [
        "if error.to_string().contains(\"in use\") {}",
        "if err.to_string() == \"gone\" {}",
        "if \"gone\" != error.to_string() {}",
        "if error.to_string() == GONE {}",
        "if format!(\"{error}\").starts_with(\"no\") {}",
        "if format!(\"cannot: {}\", self.error).ends_with(\"no\") {}",
        "if error.message().trim().starts_with(\"unknown field\") {}",
        "if failure.message.to_lowercase().contains(\"quota\") {}",
        "if report.message == \"gone\" {}",
        "let quoted = message.split('`').nth(1);",
        "let short = message.strip_prefix(&prefix);",
        "let text = error.to_string(); if text.contains(\"gone\") {}",
        "let text = error.to_string(); let text = text.trim(); text.replace(from, to);",
        "match message.as_str() { \"gone\" => {} _ => {} }",
        "match error.to_string().as_str() { \"gone\" | \"lost\" => {} _ => {} }",
        "if pattern.is_match(&error.to_string()) {}",
        "lines.iter().any(|error| error.to_string().contains(word));",
        "println!(\"{}\", message.replace(\"a\", \"b\"));",
        "tokio::select! { _ = stop => { if message.contains(\"x\") {} } }",
        "let short = error.strip_prefix(&name);",
        "if reason.contains(\"quota\") {}",
        "if anything.to_string().contains(\"x\") {}",
    ] {
        assert_eq!(readers(body), [1], "{body}");
    }
}

#[test]
fn other_texts_and_layout_may_be_searched() {
    for body in [
        "if text.contains(\"x\") {}",
        "let text = name.to_string(); if text.contains(\"x\") {}",
        "let line = error.to_string().replace('\\n', \" \");",
        "let (first, rest) = message.split_once('\\n').unwrap();",
        "let words = message.split([' ', '\\t']);",
        "let text = error.to_string(); let text = file.text(); text.contains(\"x\");",
        "let same = error.to_string() == other.to_string();",
        "if message.is_empty() || message == \"\" {}",
        "if error.code() == Code::Gone {}",
        "match reason { \"stop\" => {} _ => {} }",
        "match message[\"role\"].as_str() { Some(\"user\") => {} _ => {} }",
        "match message.as_str() { \"\" => {} _ => {} }",
        "let text = format!(\"{name}\"); text.contains(\"x\");",
    ] {
        assert_eq!(readers(body), [0_usize; 0], "{body}");
    }
    let test = "fn a() { assert!(message.contains(\"x\")); }\n";
    let inline = format!("//! A crate.\n#[cfg(test)]\nmod tests {{ {test} }}\n#[test]\n{test}");
    check(&[("crates/app/src/lib.rs", &inline), ("crates/app/tests/it/main.rs", test)], &[]);
    let declared = "//! A crate.\n#[cfg(test)]\nmod trial;\n";
    check(&[("crates/app/src/lib.rs", declared), ("crates/app/src/trial.rs", test)], &[]);
}

#[test]
fn the_exit_code_follows_the_violations() {
    let mut report = TidyReport::default();
    report.warning(Path::new("a"), 1, "smells");
    assert_eq!(report.print(1), ExitCode::SUCCESS);
    let mut report = TidyReport::default();
    report.violation(Path::new("a"), 1, "is wrong");
    assert_eq!(report.print(1), ExitCode::FAILURE);
}
