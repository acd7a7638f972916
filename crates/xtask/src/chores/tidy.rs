//! `cargo xtask tidy`: the house rules that a compiler does not know.
//!
//! A rule reads the [`Tree`], which is loaded once, and tells the [`TidyReport`] about each violation: the place,
//! what is wrong and what to do about it. Directories called `fixtures` hold data for tests, even where the
//! data looks like code, and no rule reads them.

mod docs;
mod exceptions;
mod functions;
mod imports;
mod messages;
mod modules;
mod sizes;
mod snapshots;
mod tree;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::chores::workspace::Workspace;
use tree::Tree;

const RULES: [fn(&Tree, &mut TidyReport); 8] = [
    imports::check,
    sizes::check,
    functions::check,
    modules::check,
    snapshots::check,
    docs::check,
    words::check,
    messages::check,
];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    if let Some(argument) = arguments.first() {
        bail!("tidy takes no arguments, not {argument:?}");
    }
    let workspace = Workspace::locate()?;
    let mut report = TidyReport::default();
    let tree = Tree::load(&workspace.root, &mut report)?;
    for rule in RULES {
        rule(&tree, &mut report);
    }
    Ok(report.print(tree.files.len()))
}

/// Violations found by the rules.
#[derive(Default)]
struct TidyReport {
    violations: Vec<Finding>,
    warnings: Vec<Finding>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: PathBuf,
    line: usize,
    message: String,
}

impl TidyReport {
    /// `file` is relative to the workspace; a finding about a whole file has the line 1.
    fn violation(&mut self, file: &Path, line: usize, message: impl Into<String>) {
        self.violations.push(Finding::new(file, line, message));
    }

    fn warning(&mut self, file: &Path, line: usize, message: impl Into<String>) {
        self.warnings.push(Finding::new(file, line, message));
    }

    fn print(mut self, files: usize) -> ExitCode {
        self.violations.sort();
        self.warnings.sort();
        for warning in &self.warnings {
            println!("warning: {warning}");
        }
        for violation in &self.violations {
            println!("{violation}");
        }
        println!(
            "tidy: {files} files, {} violations, {} warnings",
            self.violations.len(),
            self.warnings.len()
        );
        if self.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl Finding {
    fn new(file: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_path_buf(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, message } = self;
        write!(formatter, "{}:{line}: {message}", file.display())
    }
}

#[cfg(test)]
mod tests;
