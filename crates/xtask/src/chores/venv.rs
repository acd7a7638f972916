//! Python environments in target/testenv, made once and kept while their requirements stay the same.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::chores::{debian, process};

/// The environment's python, with `requirements` (pip's format, pinned) installed.
pub(crate) fn ensure(directory: &Path, requirements: &str) -> Result<PathBuf> {
    let python = directory.join("bin/python");
    let stamp = directory.join("requirements.stamp");
    let _lock = lock(directory)?;
    if is_current(&stamp, requirements) && python.exists() {
        return Ok(python);
    }
    let make =
        || process::capture(Command::new("python3").args(["-m", "venv", "--clear"]).arg(directory)).map(drop);
    make()
        .or_else(|error| {
            if !debian::may_install()? {
                return Err(error);
            }
            // Brings Python itself too, where that is missing.
            debian::install("python3-venv")?;
            make()
        })
        .context("could not make a Python environment (Debian: install python3-venv)")?;
    let list = directory.join("requirements.txt");
    fs::write(&list, requirements)?;
    process::capture(
        Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
            .arg(&list),
    )
    .context("pip could not install the requirements")?;
    fs::write(&stamp, requirements)?;
    Ok(python)
}

/// The stamp is written last, so a half-made installation never counts.
pub(crate) fn is_current(stamp: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|text| text == wanted)
}

/// One run at a time may make what is in `directory`; the lock ends with the returned file.
pub(crate) fn lock(directory: &Path) -> Result<File> {
    fs::create_dir_all(directory.parent().unwrap_or(directory))?;
    let path = directory.with_extension("lock");
    let file = File::create(&path).with_context(|| format!("could not make {}", path.display()))?;
    file.lock()?;
    Ok(file)
}
