//! The commands that need libraries.

mod bench;
mod chromium;
mod conformance;
mod debian;
mod faults;
mod node;
mod port;
mod postgres;
mod process;
mod strace;
mod test;
mod tidy;
mod venv;
mod watchdog;
mod workspace;

use std::process::ExitCode;

use anyhow::anyhow;

use crate::USAGE;

pub(crate) fn run(command: &str, arguments: &[String]) -> ExitCode {
    let ended = match command {
        "test" => test::run(arguments),
        "postgres" => postgres::run(arguments),
        "tidy" => tidy::run(arguments),
        "conformance" => conformance::run(arguments),
        "bench" => bench::run(arguments),
        "faults" => faults::run(arguments),
        unknown => Err(anyhow!("unknown command {unknown:?}\n\n{USAGE}")),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}
