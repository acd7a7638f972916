//! Debian's packages, installed where that is ours to do: as root, on Debian or a descendant of it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::chores::process;

pub(crate) fn may_install() -> Result<bool> {
    Ok(is_root()? && Path::new("/etc/debian_version").exists())
}

pub(crate) fn install(package: &str) -> Result<()> {
    eprintln!("{package}: not found, installing Debian's package");
    let install = || process::capture(apt_get().args(["install", "--yes", package])).map(drop);
    // The package lists may be missing or stale, which is the usual reason for a first failure.
    install().or_else(|_| {
        process::capture(apt_get().arg("update"))?;
        install().with_context(|| format!("apt-get could not install {package}"))
    })
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

pub(crate) fn is_root() -> Result<bool> {
    Ok(identity(&["-u"])? == 0)
}

/// A number that `id` prints: of a user or a group.
pub(crate) fn identity(arguments: &[&str]) -> Result<u32> {
    let text = process::capture(Command::new("id").args(arguments))?;
    text.trim().parse().context("id did not print a number")
}
