//! The chores of the workspace, run as `cargo xtask COMMAND`.
//!
//! Everything that a developer or the CI runs beyond plain cargo lives here, so that both run the same code:
//! serving, testing with the outside world that the tests need, the house rules, the MCP conformance suite.
//! It must compile fast and must not know any other crate of the workspace.

#![allow(clippy::print_stdout, reason = "xtask is a command-line tool: printing is its job")]

mod bench;
mod conformance;
mod debian;
mod node;
mod port;
mod postgres;
mod process;
mod serve;
mod test;
mod tidy;
mod venv;
mod watchdog;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: cargo xtask COMMAND [ARGUMENTS]

  serve [ARGS…]             build masque and run `masque serve ARGS…`
  test [ARGS…]              run every test of the workspace (`cargo test --workspace ARGS…`; with
                            `-p CRATE`, those of one crate), with what the tests need: a PostgreSQL (MASQUE_TEST_POSTGRES_URL, or a temporary cluster of
                            our own) and the official client libraries for Python (a venv in target/testenv).
                            With CI=true a missing one fails the run; elsewhere its tests are skipped, loudly
  test --live               the loop against the model server at MASQUE_LIVE_URL, in three protocols; not in CI
  postgres [-- COMMAND…]    run COMMAND with MASQUE_TEST_POSTGRES_URL set to a temporary cluster;
                            without COMMAND, keep the cluster until Enter or the end of input
  tidy                      check the house rules: imports between crates, sizes, dead files, docs, words
  conformance [--url URL]   run the published MCP conformance suite against crates/conformance, then
                            against nothing, to prove that it can fail; with --url, run it once against
                            a running server
  bench library [LARGEST]   lookups, assembly and compilation at 100 to 1,000,000 personas (or up to LARGEST)
  bench files [LARGEST]     a personas.toml of 10 to 20,000 personas (or up to LARGEST) beside a bare parse of it
  bench loop                running a persona beside a bare client that does the same exchange; 500 streams
  bench mcp                 persona loads over HTTP and start-up, beside bare servers of the same stack
  help                      print this
";

fn main() -> ExitCode {
    match dispatch(std::env::args().skip(1).collect()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(mut arguments: Vec<String>) -> Result<ExitCode> {
    if arguments.is_empty() {
        print!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    }
    let command = arguments.remove(0);
    match command.as_str() {
        "serve" => serve::run(&arguments),
        "test" => test::run(&arguments),
        "postgres" => postgres::run(&arguments),
        "tidy" => tidy::run(&arguments),
        "conformance" => conformance::run(&arguments),
        "bench" => bench::run(&arguments),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        unknown => bail!("unknown command {unknown:?}\n\n{USAGE}"),
    }
}
