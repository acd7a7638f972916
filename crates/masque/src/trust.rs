//! The list of trusted projects.
//!
//! A list that other users can write is rejected.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::Remedy;
use chrono::{DateTime, SubsecRound as _, Utc};
use persona::ToolPreset;
use serde::{Deserialize, Serialize};

use crate::definition::not_toml;
use crate::failure::{CommandError, Failure, Result};
use crate::locations::{Directories, make_parent_of};

mod approvals;
pub(crate) use approvals::Approvals;

mod fingerprint;
use fingerprint::{fields, fingerprint};

/// Maximum number of trusted projects.
const MOST_PROJECTS: usize = 10_000;
/// Maximum size of the list.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum wait for another process that changes the list.
const PATIENCE: Duration = Duration::from_secs(5);

const HEAD: &str = "\
# Projects whose personas.toml may start MCP servers, add providers and approve tools.
# Written by `masque trust`; `masque trust --revoke DIR` removes one.
# Presets are those of the shared library whose approvals you confirmed.

";

/// A trusted project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustedProject {
    /// The root directory, with links resolved.
    pub(crate) directory: String,
    pub(crate) since: DateTime<Utc>,
    /// The fingerprint of the trusted content. None in a list of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    /// The fields that trust lets act, such as `mcp_servers.issues.args`, with their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) fields: BTreeMap<String, String>,
    /// Hashes in a list of an older version.
    #[serde(default, skip_serializing)]
    entries: BTreeMap<String, String>,
}

/// A tool preset of the shared library whose approvals the user confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfirmedPreset {
    pub(crate) name: String,
    pub(crate) since: DateTime<Utc>,
    /// The hash of its content.
    pub(crate) content: String,
    /// The names and patterns that it approves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<String>,
}

/// All trusted projects, by directory, and all confirmed presets, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TrustList {
    pub(crate) projects: Vec<TrustedProject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) presets: Vec<ConfirmedPreset>,
}

/// A field of a project that differs from the trusted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    /// Such as `mcp_servers.issues.args`.
    pub(crate) field: String,
    /// None if it is new.
    pub(crate) before: Option<String>,
    /// None if it is gone.
    pub(crate) now: Option<String>,
}

/// The trust in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustState {
    Trusted,
    /// The project was trusted with other content.
    Changed,
    Untrusted,
}

impl TrustList {
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

    /// The trust in a project whose personas.toml has this text. Directories inside a trusted project
    /// are not trusted.
    pub(crate) fn state(&self, root: &Path, text: &str) -> TrustState {
        let Ok(root) = root.canonicalize() else { return TrustState::Untrusted };
        match self.projects.iter().find(|trusted| Path::new(&trusted.directory) == root) {
            None => TrustState::Untrusted,
            Some(trusted) if trusted.content.as_ref() == Some(&fingerprint(&root, text)) => {
                TrustState::Trusted
            }
            Some(_) => TrustState::Changed,
        }
    }

    /// Trusts a project whose personas.toml has this text. Returns false if it was trusted before.
    pub(crate) fn add(directories: &Directories, root: &Path, text: &str) -> Result<bool> {
        let directory = canonical(root)?;
        let content = Some(fingerprint(Path::new(&directory), text));
        Self::change(directories, |Self { projects, .. }| {
            if projects.iter().any(|trusted| trusted.directory == directory && trusted.content == content) {
                return Ok(false);
            }
            projects.retain(|trusted| trusted.directory != directory);
            if projects.len() >= MOST_PROJECTS {
                return Err(CommandError::TooManyProjects { most: MOST_PROJECTS }.into());
            }
            let fields = fields(Path::new(&directory), text);
            let since = Utc::now().trunc_subsecs(0);
            projects.push(TrustedProject { directory, since, content, fields, entries: BTreeMap::new() });
            projects.sort_by(|one, other| one.directory.cmp(&other.directory));
            Ok(true)
        })
    }

    /// The fields of a project that are new, changed or gone since the user trusted it. Empty if the list
    /// does not know the trusted ones.
    pub(crate) fn news(&self, root: &Path, text: &str) -> Vec<News> {
        let root = root.canonicalize().unwrap_or_default();
        let known = self.projects.iter().find(|trusted| Path::new(&trusted.directory) == root);
        let Some(TrustedProject { fields: before, entries, .. }) = known else { return Vec::new() };
        if before.is_empty() && !entries.is_empty() {
            return Vec::new();
        }
        let now = fields(&root, text);
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let of = |name: &String| News {
            field: name.clone(),
            before: before.get(name).cloned(),
            now: now.get(name).cloned(),
        };
        names.into_iter().map(of).filter(|news| news.before != news.now).collect()
    }

    /// True if the user confirmed the preset of this hash.
    pub(crate) fn confirms(&self, content: &str) -> bool {
        self.presets.iter().any(|preset| preset.content == content)
    }

    /// Confirms a preset in place of an earlier version. Returns false if it was confirmed before.
    pub(crate) fn confirm(directories: &Directories, preset: &ToolPreset) -> Result<bool> {
        let (name, content) = (preset.name.to_string(), agent::preset_hash(preset));
        let tools = preset.auto_tools().map(str::to_owned).collect();
        Self::change(directories, |trust| {
            if trust.confirms(&content) {
                return Ok(false);
            }
            trust.presets.retain(|preset| preset.name != name);
            if trust.presets.len() >= MOST_PROJECTS {
                return Err(CommandError::TooManyProjects { most: MOST_PROJECTS }.into());
            }
            let since = Utc::now().trunc_subsecs(0);
            trust.presets.push(ConfirmedPreset { name, since, content, tools });
            trust.presets.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(true)
        })
    }

    /// Takes the confirmation of a preset back. Returns false if there was none.
    pub(crate) fn unconfirm(directories: &Directories, name: &str) -> Result<bool> {
        Self::change(directories, |trust| {
            let before = trust.presets.len();
            trust.presets.retain(|preset| preset.name != name);
            Ok(trust.presets.len() < before)
        })
    }

    /// Removes a project, even if its directory is gone. Returns false if it was not trusted.
    pub(crate) fn revoke(directories: &Directories, root: &Path) -> Result<bool> {
        let absolute = std::path::absolute(root).map_err(|error| Failure::file("find", root, &error))?;
        let real = root.canonicalize().unwrap_or_else(|_| absolute.clone());
        Self::change(directories, |Self { projects, .. }| {
            let before = projects.len();
            projects.retain(|trusted| {
                let directory = Path::new(&trusted.directory);
                directory != real && directory != absolute
            });
            Ok(projects.len() < before)
        })
    }

    /// Changes the list under a lock against other processes.
    fn change(directories: &Directories, edit: impl FnOnce(&mut Self) -> Result<bool>) -> Result<bool> {
        let path = directories.trusted_file();
        make_parent_of(&path)?;
        let _lock = files::Lock::acquire(&directories.locks(), &path.to_string_lossy(), PATIENCE)?;
        let mut trust = Self::read_from(&path)?;
        let changed = edit(&mut trust)?;
        if changed {
            trust.write(&path).map_err(|error| Failure::file("write", &path, &error))?;
        }
        Ok(changed)
    }

    /// Replaces the list atomically. Only the user can read or write it.
    fn write(&self, path: &Path) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        let directory = path.parent().unwrap_or(Path::new("."));
        // `tempfile` creates files that only the owner can read.
        let mut temporary = tempfile::Builder::new().prefix(".trusted-").tempfile_in(directory)?;
        temporary.write_all(format!("{HEAD}{text}").as_bytes())?;
        temporary.as_file().sync_all()?;
        temporary.persist(path)?;
        File::open(directory)?.sync_all()
    }
}

/// The directory with links resolved, as the list has it.
pub(crate) fn canonical(root: &Path) -> Result<String> {
    let real = root.canonicalize().map_err(|error| Failure::file("find", root, &error))?;
    if !real.is_dir() {
        let path = real.display().to_string();
        return Err(CommandError::NotADirectory { path, how: None, exists: true }.into());
    }
    match real.into_os_string().into_string() {
        Ok(directory) => Ok(directory),
        Err(path) => {
            let path = PathBuf::from(path).display().to_string();
            Err(CommandError::InvalidPath { path, remedy: Remedy::OtherDirectory }.into())
        }
    }
}

#[cfg(unix)]
fn check_owner(path: &Path, file: &File) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let data = file.metadata().map_err(|error| Failure::file("read", path, &error))?;
    let shown = path.display().to_string();
    let is_own = data.uid() == rustix::process::geteuid().as_raw();
    let (why, command) = match (is_own, data.mode() & 0o022) {
        (true, 0) => return Ok(()),
        (false, _) => ("belongs to another user", format!("rm {shown}")),
        (true, _) => ("can be written by others", format!("chmod 600 {shown}")),
    };
    Err(CommandError::UnsafeFile { path: shown, why, command }.into())
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &File) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
