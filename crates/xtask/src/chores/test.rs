//! `cargo xtask test`: every test of the workspace, with the outside world that the tests need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cargo;
use crate::chores::postgres::{self, Postgres};
use crate::chores::workspace::Workspace;
use crate::chores::{chromium, process, strace, venv};
use crate::web::{self, Built, Page};

/// The variable in which tests look for a python that has the official MCP SDK.
const PYTHON_VARIABLE: &str = "MASQUE_TEST_PYTHON";

/// The variable in which the tests of the page in a browser look for masque.
const BINARY_VARIABLE: &str = "MASQUE_BIN";

/// The variable in which live tests look for a server with a real model.
const LIVE_VARIABLE: &str = "MASQUE_LIVE_URL";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    if arguments.iter().any(|argument| argument == "--live") {
        return live(&workspace, arguments);
    }
    let mut setup = Setup::new(std::env::var("CI").is_ok_and(|value| value == "true"));
    let postgres =
        setup.need("PostgreSQL", "its half of the tests is", Postgres::provide, Postgres::describe)?;
    let python = setup.need(
        "the MCP SDK for Python",
        "the tests that it drives are",
        || python_with_sdk(&workspace),
        |python| python.display().to_string(),
    )?;
    let strace =
        setup.need("strace", "the tests of failing calls and power cuts are", strace::provide, |strace| {
            strace.display().to_string()
        })?;

    let is_whole = !selects_packages(arguments);
    let page = if is_whole { setup.page()? } else { None };
    let chromium = match page {
        Some(_) => {
            setup.need("chromium", "the page's tests in a browser are", chromium::provide, |chromium| {
                chromium.display().to_string()
            })?
        }
        None => None,
    };

    let mut tests = cargo();
    tests
        .current_dir(&workspace.root)
        .arg("test")
        .args(is_whole.then_some("--workspace"))
        .args(arguments)
        .env_remove(postgres::URL_VARIABLE)
        .env_remove(PYTHON_VARIABLE)
        .env_remove(strace::VARIABLE)
        .env_remove(LIVE_VARIABLE);
    if let Some(strace) = &strace {
        tests.env(strace::VARIABLE, strace);
    }
    if let Some(postgres) = &postgres {
        tests.env(postgres::URL_VARIABLE, postgres.url());
    }
    if let Some(python) = &python {
        tests.env(PYTHON_VARIABLE, python);
    }
    let tests_started = Instant::now();
    let status = process::status(&mut tests)?;
    setup.step("cargo test", &status.to_string(), tests_started.elapsed());
    let mut page_passed = true;
    if let Some(page) = page {
        page_passed = setup.test_page(&page)?;
        if let Some(chromium) = chromium {
            page_passed &= setup.test_in_browser(&workspace, &page, &chromium)?;
        }
    }

    let started = Instant::now();
    drop(postgres);
    setup.step("clean-up", "done", started.elapsed());
    setup.summarise();
    Ok(if status.success() && !page_passed { ExitCode::FAILURE } else { process::exit_code(status) })
}

/// `--live`: the loop against a real model, one test at a time, with its output. Not in CI.
fn live(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    if std::env::var_os(LIVE_VARIABLE).is_none() {
        bail!("set {LIVE_VARIABLE} to the address of a model server, such as http://127.0.0.1:8089");
    }
    let rest = arguments.iter().filter(|argument| *argument != "--live");
    let mut tests = cargo();
    tests
        .current_dir(&workspace.root)
        .args(["test", "--package", "app", "--features", "live-tests", "--test", "it", "live::", "--"])
        .args(["--nocapture", "--test-threads=1"])
        .args(rest);
    Ok(process::exit_code(process::status(&mut tests)?))
}

/// True if the caller picks packages. Cargo ignores them beside `--workspace`.
fn selects_packages(arguments: &[String]) -> bool {
    let of_cargo = arguments.iter().take_while(|argument| *argument != "--");
    of_cargo.into_iter().any(|argument| argument.starts_with("-p") || argument.starts_with("--package"))
}

fn python_with_sdk(workspace: &Workspace) -> Result<PathBuf> {
    let list = workspace.root.join("crates/xtask/python-requirements.txt");
    let requirements = fs::read_to_string(&list).context("crates/xtask/python-requirements.txt")?;
    venv::ensure(&workspace.test_environment().join("python"), &requirements)
}

/// Prepared services, their set-up time, and missing ones.
struct Setup {
    /// In CI a missing piece fails the run: a skipped test must not look like a passed one.
    strict: bool,
    steps: Vec<String>,
    missing: Vec<String>,
}

impl Setup {
    fn new(strict: bool) -> Self {
        Self { strict, steps: Vec::new(), missing: Vec::new() }
    }

    /// Runs `provide`. If it fails, the tests run without it, after a loud warning.
    fn need<T>(
        &mut self,
        what: &str,
        skipped: &str,
        provide: impl FnOnce() -> Result<T>,
        describe: impl FnOnce(&T) -> String,
    ) -> Result<Option<T>> {
        let started = Instant::now();
        match provide() {
            Ok(provided) => {
                self.step(what, &describe(&provided), started.elapsed());
                eprintln!("test: {what} is there");
                Ok(Some(provided))
            }
            Err(error) if self.strict => Err(error.context(format!("CI=true needs {what}"))),
            Err(error) => {
                let line = format!("!!! {what} was not found: {skipped} SKIPPED !!!\n    {error:#}");
                eprintln!("{line}");
                self.missing.push(line);
                Ok(None)
            }
        }
    }

    /// Builds the page, for the tests that open it. None if there is none, or no Node.
    fn page(&mut self) -> Result<Option<Page>> {
        let Some(page) = Page::find() else { return Ok(None) };
        let build = || match web::build() {
            Ok(Built::NoNode) => bail!("npm was not found; install Node 20 or newer"),
            Ok(built) => Ok(built),
            Err(error) => bail!("{error}"),
        };
        let built = self.need("the page", "its tests are", build, |built| built.describe().to_owned())?;
        Ok(built.map(|_| page))
    }

    /// Checks the page's types and runs its tests. Returns true if they passed.
    fn test_page(&mut self, page: &Page) -> Result<bool> {
        let checked = self.time("npm run check", &mut page.npm(&["run", "check"]))?;
        Ok(self.time("npm test", &mut page.npm(&["test"]))? && checked)
    }

    /// Runs the tests that open the page in a browser, with the binary of this build.
    fn test_in_browser(&mut self, workspace: &Workspace, page: &Page, chromium: &Path) -> Result<bool> {
        // The features of the whole workspace, so that nothing is built anew.
        let mut build = cargo();
        build.current_dir(&workspace.root).args(["build", "--workspace", "--bin", "masque"]);
        if !process::status(&mut build)?.success() {
            return Ok(false);
        }
        let mut tests = page.npm(&["run", "browser"]);
        tests.env(chromium::VARIABLE, chromium).env(BINARY_VARIABLE, workspace.binary("debug", "masque"));
        self.time("npm run browser", &mut tests)
    }

    /// Runs a command as a step. Returns true if it succeeded.
    fn time(&mut self, what: &str, command: &mut Command) -> Result<bool> {
        let started = Instant::now();
        let status = process::status(command)?;
        self.step(what, &status.to_string(), started.elapsed());
        Ok(status.success())
    }

    fn step(&mut self, what: &str, outcome: &str, took: Duration) {
        let line = format!("{what}: {outcome} ({:.1} s)", took.as_secs_f64());
        self.steps.push(line);
    }

    fn summarise(&self) {
        eprintln!("\nxtask test");
        for step in &self.steps {
            eprintln!("  {step}");
        }
        for missing in &self.missing {
            eprintln!("{missing}");
        }
    }
}

#[cfg(test)]
mod tests;
