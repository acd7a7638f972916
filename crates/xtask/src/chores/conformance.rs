//! `cargo xtask conformance`: the published MCP conformance suite against our server.
//!
//! Some of the suite's scenarios pass against no server at all. So there are two passes: one with the server,
//! which must succeed, and one after its end, which must fail. Only together they say something.

mod exceptions;
mod report;
mod server;
mod suite;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::chores::workspace::Workspace;
use server::Server;
use suite::{Outcome, Suite};

/// The revisions that Masque serves, each with a requirement set of the suite's.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

const EXCEPTIONS: &str = "crates/xtask/conformance-expected-failures.yml";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let given_url = match arguments.as_slice() {
        [] => None,
        ["--url", url] => Some(*url),
        _ => bail!("conformance takes nothing but --url URL"),
    };
    let workspace = Workspace::locate()?;
    let passes = Passes {
        exceptions: exceptions::load(&workspace.root.join(EXCEPTIONS))?,
        results: workspace.test_environment().join("conformance-results"),
        suite: Suite::install(&workspace)?,
    };
    let good = match given_url {
        Some(url) => passes.with_server(url)?,
        None => passes.both(&workspace)?,
    };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Passes {
    exceptions: PathBuf,
    results: PathBuf,
    suite: Suite,
}

impl Passes {
    fn both(&self, workspace: &Workspace) -> Result<bool> {
        let server = Server::start(workspace)?;
        let url = server.url();
        let passed = self.with_server(&url)?;
        server.stop()?;
        let proven = self.without_server(&url)?;
        Ok(passed && proven)
    }

    /// Every required scenario passes, apart from the exceptions.
    fn with_server(&self, url: &str) -> Result<bool> {
        let mut good = true;
        for revision in REVISIONS {
            let outcome = self.run(url, revision, &self.results.join("serving"))?;
            report::print(&outcome);
            good &= outcome.succeeded && outcome.unfinished().is_empty();
        }
        println!("\nconformance: {}", if good { "passed" } else { "FAILED" });
        Ok(good)
    }

    /// The same run fails without a server. It must have run, too: a suite that crashes proves nothing.
    fn without_server(&self, url: &str) -> Result<bool> {
        let mut good = true;
        for revision in REVISIONS {
            let outcome = self.run(url, revision, &self.results.join("stopped"))?;
            let proven = !outcome.succeeded && outcome.unfinished().is_empty();
            report::print_stopped(&outcome, proven);
            good &= proven;
        }
        Ok(good)
    }

    fn run(&self, url: &str, revision: &str, results: &Path) -> Result<Outcome> {
        self.suite.run(url, revision, &self.exceptions, &results.join(revision))
    }
}
