//! The projects that the user trusts: the list, and how it is kept.
//!
//! A list that somebody else could have written is not heeded.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::Code;
use chrono::{DateTime, SubsecRound as _, Utc};
use serde::{Deserialize, Serialize};

use crate::definition::not_toml;
use crate::failure::{Failure, Result};
use crate::locations::{Directories, make_parent_of};

/// Projects that can be trusted at the same time.
const MOST_PROJECTS: usize = 10_000;
/// Bytes of the list.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// How long another process may hold the list.
const PATIENCE: Duration = Duration::from_secs(5);

const HEAD: &str = "\
# The projects whose personas.toml may start MCP servers, name providers and approve tools.
# Written by `masque trust`; `masque trust --revoke DIR` takes one out.

";

/// A project that the user trusts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trusted {
    /// The root, with all links followed.
    pub(crate) directory: String,
    pub(crate) since: DateTime<Utc>,
}

/// All projects that the user trusts, by directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Trust {
    pub(crate) projects: Vec<Trusted>,
}

impl Trust {
    pub(crate) fn read(directories: &Directories) -> Result<Self> {
        Self::read_from(&directories.trusted_file())
    }

    fn read_from(path: &Path) -> Result<Self> {
        let unreadable = |error: &io::Error| Failure::file("read", path, error);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unreadable(&error)),
        };
        check_owner(path, &file)?;
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
        toml::from_str(&text).map_err(|error| not_toml(path.display(), &text, &error))
    }

    /// Whether a project is trusted. Directories inside a trusted one are not.
    pub(crate) fn holds(&self, root: &Path) -> bool {
        let Ok(root) = root.canonicalize() else { return false };
        self.projects.iter().any(|trusted| Path::new(&trusted.directory) == root)
    }

    /// Adds a project; false where it was trusted already.
    pub(crate) fn add(directories: &Directories, root: &Path) -> Result<bool> {
        let directory = canonical(root)?;
        Self::change(directories, |projects| {
            if projects.iter().any(|trusted| trusted.directory == directory) {
                return Ok(false);
            }
            if projects.len() >= MOST_PROJECTS {
                return Err(Failure::invalid(format!(
                    "{MOST_PROJECTS} projects are trusted already; revoke some with `masque trust --revoke DIR`"
                )));
            }
            projects.push(Trusted { directory, since: Utc::now().trunc_subsecs(0) });
            projects.sort_by(|one, other| one.directory.cmp(&other.directory));
            Ok(true)
        })
    }

    /// Takes a project out, also one that is gone; false where it was not trusted.
    pub(crate) fn revoke(directories: &Directories, root: &Path) -> Result<bool> {
        let written = std::path::absolute(root).map_err(|error| Failure::file("find", root, &error))?;
        let real = root.canonicalize().unwrap_or_else(|_| written.clone());
        Self::change(directories, |projects| {
            let before = projects.len();
            projects.retain(|trusted| {
                let directory = Path::new(&trusted.directory);
                directory != real && directory != written
            });
            Ok(projects.len() < before)
        })
    }

    /// Changes the list while no other process does.
    fn change(
        directories: &Directories,
        edit: impl FnOnce(&mut Vec<Trusted>) -> Result<bool>,
    ) -> Result<bool> {
        let path = directories.trusted_file();
        make_parent_of(&path)?;
        let _lock = files::Lock::acquire(&directories.locks(), &path.to_string_lossy(), PATIENCE)?;
        let mut trust = Self::read_from(&path)?;
        let changed = edit(&mut trust.projects)?;
        if changed {
            trust.write(&path).map_err(|error| Failure::file("write", &path, &error))?;
        }
        Ok(changed)
    }

    /// Puts the list in place in a single step; only the user can read or write it.
    fn write(&self, path: &Path) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        let directory = path.parent().unwrap_or(Path::new("."));
        // A temporary file is its owner's alone.
        let mut temporary = tempfile::Builder::new().prefix(".trusted-").tempfile_in(directory)?;
        temporary.write_all(format!("{HEAD}{text}").as_bytes())?;
        temporary.as_file().sync_all()?;
        temporary.persist(path)?;
        File::open(directory)?.sync_all()
    }
}

/// The directory with all links followed, as it is kept.
pub(crate) fn canonical(root: &Path) -> Result<String> {
    let real = root.canonicalize().map_err(|error| Failure::file("find", root, &error))?;
    if !real.is_dir() {
        return Err(Failure::invalid(format!("{} is not a directory; name the project's", real.display())));
    }
    match real.into_os_string().into_string() {
        Ok(directory) => Ok(directory),
        Err(path) => Err(Failure::invalid(format!(
            "the path {} is not UTF-8; give the directory another name",
            PathBuf::from(path).display()
        ))),
    }
}

#[cfg(unix)]
fn check_owner(path: &Path, file: &File) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let data = file.metadata().map_err(|error| Failure::file("read", path, &error))?;
    let shown = path.display();
    let refused = |message| Err(Failure::told(Code::Refused, message));
    if data.uid() != rustix::process::geteuid().as_raw() {
        return refused(format!(
            "{shown} belongs to somebody else, so that no project is trusted; delete it"
        ));
    }
    if data.mode() & 0o022 != 0 {
        return refused(format!(
            "{shown} can be written by others, so that no project is trusted; look through it and `chmod 600` it"
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &File) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
