//! The chores of the workspace, run as `cargo xtask COMMAND`.
//!
//! Everything that a developer or the CI runs beyond plain cargo lives here, so that both run the same code:
//! serving, testing with the outside world that the tests need, the house rules, the MCP conformance suite.
//! It must compile fast and must not know any other crate of the workspace.
//!
//! `cargo xtask` builds it without the feature `chores`, thus without dependencies, so that `serve` begins
//! to build masque at once. Other commands run the build that has them.

#![allow(clippy::print_stdout, reason = "xtask is a command-line tool: printing is its job")]

#[cfg(feature = "chores")]
mod chores;
mod web;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
Usage: cargo xtask COMMAND [ARGUMENTS]

  serve [ARGS…]             build the page if its sources in web changed, build masque, and run
                            `masque serve ARGS…`
  test [ARGS…]              run every test of the workspace (`cargo test --workspace ARGS…`; with
                            `-p CRATE`, those of one crate), with what the tests need: a PostgreSQL (MASQUE_TEST_POSTGRES_URL, or a temporary cluster of
                            our own), the official client libraries for Python (a venv in target/testenv), and strace.
                            With CI=true a missing one fails the run; elsewhere its tests are skipped, loudly.
                            Without `-p`, builds the page and runs its tests (`npm test` in web) too
  test --live               the loop against the model server at MASQUE_LIVE_URL, in three protocols; not in CI
  faults [--every N]        let every call by which files change fail in turn (or every Nth), cut the power at
                            every moment of a recorded run, and check that acknowledged writes are there
  postgres [-- COMMAND…]    run COMMAND with MASQUE_TEST_POSTGRES_URL set to a temporary cluster;
                            without COMMAND, keep the cluster until Enter or the end of input
  tidy                      check the house rules: imports between crates, sizes, dead files, docs, words
  conformance [--url URL]   run the published MCP conformance suite against crates/conformance, then
                            against nothing, to prove that it can fail; with --url, run it once against
                            a running server
  bench library [LARGEST]   lookups, assembly and compilation at 100 to 1,000,000 personas (or up to LARGEST)
  bench files [LARGEST]     a personas.toml of 10 to 20,000 personas (or up to LARGEST) beside a bare parse of it
  bench conductor           scheduling of a track of 10,000 tickets, beside one of 1,000
  bench context [FILES]     skeletons of 10,000 source files (or FILES) beside listing and reading them
  bench http                requests of the API beside a bare server; 500 streams, searches and the page with
                            20,000 personas (the page needs Node and chromium)
  bench import              CPU time of importing 2,000 entities into SQLite, beside bare inserts of the same rows
  bench loop                running a persona beside a bare client that does the same exchange; 500 streams
  bench mcp                 persona loads over HTTP and start-up, beside bare servers of the same stack
  bench preview             a preview of an unsaved persona of 200 parts beside a bare parse of its parts
  bench recall [REPOSITORY] of the files that 50 commits touch, how many a worker's context shows
  help                      print this
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        None | Some("help" | "--help" | "-h") => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        Some("serve") => serve(&arguments[1..]),
        Some(command) => run_chore(command, &arguments),
    }
}

fn serve(arguments: &[String]) -> ExitCode {
    match web::build() {
        Ok(built) => built.tell(),
        Err(error) => {
            eprintln!("xtask: {error}");
            return ExitCode::FAILURE;
        }
    }
    become_cargo(&["run", "--package", "masque", "--", "serve"], arguments)
}

/// Becomes cargo, which in turn becomes the program that it runs: Ctrl-C and the exit code then need no
/// passing on.
fn become_cargo(command: &[&str], arguments: &[String]) -> ExitCode {
    let error = cargo().args(command).args(arguments).exec();
    eprintln!("xtask: could not start cargo: {error}");
    ExitCode::FAILURE
}

/// The cargo that started this process: a toolchain override then holds for its children too.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

#[cfg(feature = "chores")]
fn run_chore(command: &str, arguments: &[String]) -> ExitCode {
    chores::run(command, &arguments[1..])
}

#[cfg(not(feature = "chores"))]
fn run_chore(_: &str, arguments: &[String]) -> ExitCode {
    become_cargo(&["run", "--quiet", "--package", "xtask", "--"], arguments)
}
