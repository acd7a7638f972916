//! strace, by which tests make calls to the system fail.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, anyhow};

use crate::chores::{debian, process};

/// The variable in which tests look for strace.
pub(crate) const VARIABLE: &str = "MASQUE_TEST_STRACE";

/// Finds or installs strace, and checks that it may trace.
pub(crate) fn provide() -> Result<PathBuf> {
    if find().is_none() && debian::may_install()? {
        debian::install("strace")?;
    }
    let strace = find().ok_or_else(|| anyhow!("strace is not on PATH; install it"))?;
    // Containers often forbid it.
    process::capture(Command::new(&strace).args(["--follow-forks", "-o", "/dev/null", "true"]))
        .context("strace may not trace processes here (ptrace)")?;
    Ok(strace)
}

fn find() -> Option<PathBuf> {
    process::directories_on_path(&["strace"]).first().map(|directory| directory.join("strace"))
}
