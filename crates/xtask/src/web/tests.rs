use super::*;

/// A page whose build copies its sources. None without Node.
fn page(directory: &Path) -> Option<Page> {
    Command::new("npm").arg("--version").output().ok()?;
    let package =
        r#"{ "name": "page", "private": true, "scripts": { "build": "node build.mjs", "test": "true" } }"#;
    let build = "import { cpSync, mkdirSync, appendFileSync } from 'node:fs';\n\
                 mkdirSync('dist/assets', { recursive: true });\ncpSync('src', 'dist/assets', { recursive: true });\n\
                 cpSync('index.html', 'dist/index.html');\nappendFileSync('dist/builds', '.');\n";
    fs::create_dir(directory.join("src")).expect("a directory");
    for (name, text) in [
        ("package.json", package),
        (
            "package-lock.json",
            r#"{ "name": "page", "lockfileVersion": 3, "packages": { "": { "name": "page" } } }"#,
        ),
        ("build.mjs", build),
        ("index.html", "<!doctype html>"),
        ("src/app.js", &"run();\n".repeat(1_000)),
    ] {
        fs::write(directory.join(name), text).expect("a file");
    }
    Page::at(directory.to_path_buf())
}

#[test]
fn a_page_is_built_when_its_sources_changed() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(page) = page(directory.path()) else { return };
    let builds = || fs::read_to_string(directory.path().join("dist/builds")).expect("a build").len();
    assert_eq!(page.build(), Ok(Built::Now));
    for ending in ["", ".br", ".gz"] {
        assert!(directory.path().join(format!("dist/assets/app.js{ending}")).is_file(), "{ending}");
    }
    assert_eq!((page.build(), builds()), (Ok(Built::Before), 1));
    fs::write(directory.path().join("src/app.js"), "other();\n").expect("a file");
    assert_eq!((page.build(), builds()), (Ok(Built::Now), 2));
    assert!(!directory.path().join("dist/assets/app.js.br").exists(), "that of the old content");
    fs::write(directory.path().join("node_modules/x"), "").expect("a file");
    assert_eq!((page.build(), builds()), (Ok(Built::Before), 2), "packages are not sources");
    fs::write(directory.path().join("src/new.js"), "").expect("a file");
    assert_eq!((page.build(), builds()), (Ok(Built::Now), 3));
    fs::remove_file(directory.path().join("dist/index.html")).expect("a file");
    assert_eq!((page.build(), builds()), (Ok(Built::Now), 4));
}

#[test]
fn a_build_that_fails_is_an_error_and_is_tried_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(page) = page(directory.path()) else { return };
    let good = fs::read(directory.path().join("build.mjs")).expect("a file");
    fs::write(directory.path().join("build.mjs"), "process.exit(1)\n").expect("a file");
    assert!(page.build().expect_err("it fails").contains("npm failed"));
    fs::write(directory.path().join("build.mjs"), good).expect("a file");
    assert_eq!(page.build(), Ok(Built::Now));
}

#[test]
fn a_workspace_without_a_page_needs_no_build() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(Page::at(directory.path().to_path_buf()).is_none());
}
