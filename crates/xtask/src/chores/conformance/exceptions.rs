//! The rule for the suite's expected failures: few, and each with its reason.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

const MOST: usize = 3;

/// The file's path, once its content keeps the rule.
pub(super) fn load(path: &Path) -> Result<PathBuf> {
    let text = fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    check(&text).with_context(|| path.display().to_string())?;
    Ok(path.to_path_buf())
}

/// Reads the file by its lines: it is a list of names, and a comment is not part of YAML's data.
fn check(text: &str) -> Result<()> {
    let mut entries = 0;
    let mut has_reason = false;
    for line in text.lines().map(str::trim) {
        if let Some(entry) = line.strip_prefix("- ") {
            if !has_reason {
                bail!("the exception {entry} has no reason; write it in a comment on the line above");
            }
            entries += 1;
        }
        has_reason = line.starts_with('#') && line.len() > 1;
    }
    if entries > MOST {
        bail!("{entries} exceptions, {MOST} are the limit; repair one instead");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
