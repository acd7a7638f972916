//! Finding PostgreSQL's programs, and installing them where that is ours to do.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::chores::debian::{self, identity, is_root};
use crate::chores::process;
use crate::chores::watchdog::User;

/// Debian's directory with one subdirectory per major version.
const DEBIAN_VERSIONS: &str = "/usr/lib/postgresql";

/// A directory with `initdb` and `postgres`, and the user to run them as.
pub(super) struct Installation {
    pub(super) directory: PathBuf,
    pub(super) user: Option<User>,
}

/// Every installation found, the likeliest first. Installs the distribution's package if there is none and
/// we may.
pub(super) fn find_or_install() -> Result<Vec<Installation>> {
    let mut directories = find();
    if directories.is_empty() && debian::may_install()? {
        debian::install("postgresql")?;
        directories = find();
    }
    let user = if directories.is_empty() { None } else { unprivileged_user()? };
    let installations = directories.into_iter().map(|directory| Installation { directory, user });
    Ok(installations.collect())
}

fn find() -> Vec<PathBuf> {
    let on_path = process::directories_on_path(&["initdb", "postgres"]);
    on_path
        .into_iter()
        .chain(debian_versions(Path::new(DEBIAN_VERSIONS)))
        .filter_map(|directory| {
            // Links on PATH are resolved, so that the programs find their siblings, and counted once.
            let initdb = directory.join("initdb").canonicalize().ok()?;
            Some(initdb.parent()?.to_path_buf())
        })
        .filter(|directory| directory.join("postgres").is_file())
        .fold(Vec::new(), |mut unique, directory| {
            if !unique.contains(&directory) {
                unique.push(directory);
            }
            unique
        })
}

/// `/usr/lib/postgresql/*/bin`, the newest major version first.
fn debian_versions(base: &Path) -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(base)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, directory)| directory.join("initdb").is_file())
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    versions.into_iter().map(|(_, directory)| directory).collect()
}

/// PostgreSQL refuses to run as root, so root lends it a user. Anybody else runs it as themselves.
fn unprivileged_user() -> Result<Option<User>> {
    if !is_root()? {
        return Ok(None);
    }
    let lookup = |name: &str| -> Result<User> {
        Ok(User { uid: identity(&["-u", name])?, gid: identity(&["-g", name])? })
    };
    let user = lookup("postgres").or_else(|_| lookup("nobody"));
    user.map(Some).context("neither the user postgres nor nobody exists")
}

#[cfg(test)]
mod tests;
