//! Chromium, in which the tests of the page open it.

use std::path::PathBuf;

use anyhow::{Result, anyhow};

use crate::chores::{debian, process};

/// The variable in which the tests of the page look for the browser.
pub(crate) const VARIABLE: &str = "CHROMIUM";

/// Finds Chromium, or installs Debian's.
pub(crate) fn provide() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Ok(named.into());
    }
    if find().is_none() && debian::may_install()? {
        debian::install("chromium")?;
    }
    find().ok_or_else(|| anyhow!("chromium is not on PATH; install it, or set {VARIABLE}"))
}

fn find() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .find_map(|name| process::directories_on_path(&[name]).first().map(|directory| directory.join(name)))
}
