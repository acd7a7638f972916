//! `write_file`, and how any file is written.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use rustix::fs::OFlags;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::guard::needs_consent;
use super::ignored::is_in_git;
use super::root::{Root, refuse_special, shown};
use super::walk::Watch;
use crate::Consent;
use crate::input::parsed;
use crate::limits;

/// The start of a temporary file's name, before a UUIDv7.
const ASIDE: &str = ".masque-";
/// The minimum age for removal: a younger file may still be written.
const LEFT_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Deserialize)]
struct Input {
    path: String,
    content: String,
}

pub(super) fn run(
    root: &Root,
    input: Map<String, Value>,
    _: &Watch,
    consent: Consent,
) -> Result<String, String> {
    let input: Input = parsed(input)?;
    if input.content.len() > limits::WRITTEN_BYTES {
        return Err(format!(
            "the content has {} bytes; at most {} are written",
            input.content.len(),
            limits::WRITTEN_BYTES
        ));
    }
    let target = Target::find(root, &root.relative(&input.path)?, consent)?;
    let _alone = target.lock();
    let existed = target.replace(input.content.as_bytes())?;
    let done = if existed { "replaced" } else { "created" };
    let lines = input.content.lines().count();
    let unit = if lines == 1 { "line" } else { "lines" };
    Ok(format!("{done} {}: {lines} {unit}, {} bytes", shown(&target.path), input.content.len()))
}

/// A file that is to be written: the open directory that holds it, and its name there.
pub(super) struct Target {
    dir: Dir,
    name: PathBuf,
    /// From the root, without links.
    pub(super) path: PathBuf,
    /// The same from the top of the file system.
    absolute: PathBuf,
}

impl Target {
    /// Resolves `path` through links that stay below the root, and creates its directories.
    /// A protected file needs the user's consent.
    pub(super) fn find(root: &Root, path: &Path, consent: Consent) -> Result<Self, String> {
        let explain = |error: io::Error| root.explain(path, &error);
        // No directory is made in a repository's own store without consent either.
        if consent == Consent::Missing && is_in_git(path) {
            return Err(needs_consent(path));
        }
        let path = match root.dir().symlink_metadata(path) {
            Ok(found) if found.is_symlink() || found.is_dir() => root.resolved(path)?,
            // Resolve only the path to the file: another file may take its place at any time.
            Ok(_) => Self::beside(root, path, false)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::beside(root, path, true)?,
            Err(error) => return Err(explain(error)),
        };
        if consent == Consent::Missing && root.guard().protects(root, &path) {
            return Err(needs_consent(&path));
        }
        let name = path.file_name().ok_or_else(|| format!("{} is a directory", shown(&path)))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let dir = root.dir().open_dir(parent).map_err(explain)?;
        Ok(Self { dir, name: PathBuf::from(name), absolute: root.path().join(&path), path })
    }

    /// The name at the end of a path, in the directory that the rest of it leads to.
    fn beside(root: &Root, path: &Path, make: bool) -> Result<PathBuf, String> {
        let name = path.file_name().ok_or_else(|| format!("{} names no file", shown(path)))?;
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
            return Ok(PathBuf::from(name));
        };
        if make {
            root.dir().create_dir_all(parent).map_err(|error| root.explain(path, &error))?;
        }
        Ok(root.resolved(parent)?.join(name))
    }

    /// Several calls of one reply may change the same file at the same time; one after the other,
    /// none is lost.
    pub(super) fn lock(&self) -> MutexGuard<'static, ()> {
        static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];
        let mut hasher = DefaultHasher::new();
        self.absolute.hash(&mut hasher);
        let lock = &LOCKS[usize::try_from(hasher.finish() % 64).unwrap_or_default()];
        lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Writes the file aside and renames it into place. Returns true if it existed before.
    pub(super) fn replace(&self, content: &[u8]) -> Result<bool, String> {
        self.try_replace(content).map_err(|error| format!("{} was not written: {error}", shown(&self.path)))
    }

    fn try_replace(&self, content: &[u8]) -> io::Result<bool> {
        let before = self.permissions()?;
        let aside = PathBuf::from(format!("{ASIDE}{}", uuid::Uuid::now_v7().simple()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if before.is_some() {
            options.mode(0o600);
        }
        let written = self.dir.open_with(&aside, &options).and_then(|mut file| {
            file.write_all(content)?;
            if let Some(mode) = before {
                file.set_permissions(Permissions::from_mode(mode))?;
            }
            file.sync_data()?;
            self.dir.rename(&aside, &self.dir, &self.name)
        });
        match written {
            Ok(()) => clear_leftovers(&self.dir),
            Err(_) => drop(self.dir.remove_file(&aside)),
        }
        written.map(|()| before.is_some())
    }

    /// The permissions of the file that is there, which must be one that could be written in place.
    fn permissions(&self) -> io::Result<Option<u32>> {
        match self.dir.symlink_metadata(&self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(metadata) => refuse_special(&metadata)?,
        }
        let mut options = OpenOptions::new();
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        options.write(true).custom_flags(flags.bits().cast_signed());
        let metadata = self.dir.open_with(&self.name, &options)?.metadata()?;
        refuse_special(&metadata)?;
        Ok(Some(metadata.mode() & 0o777))
    }
}

/// Removes temporary files that a killed process left in a directory. One that cannot be removed does no harm.
pub(crate) fn clear_leftovers(dir: &Dir) {
    let Ok(entries) = dir.entries() else { return };
    let now = SystemTime::now();
    for entry in entries.take(limits::LEFTOVER_ENTRIES).filter_map(Result::ok) {
        let name = entry.file_name();
        let is_left = name.to_str().and_then(made_at).and_then(|made| now.duration_since(made).ok());
        if is_left.is_some_and(|age| age > LEFT_AFTER) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = dir.remove_file(&name);
        }
    }
}

/// The time at which a temporary file was made, by its name. None for any other file.
fn made_at(name: &str) -> Option<SystemTime> {
    let id = name.strip_prefix(ASIDE).filter(|id| id.len() == uuid::fmt::Simple::LENGTH)?;
    let id = uuid::Uuid::try_parse(id).ok().filter(|id| id.get_version_num() == 7)?;
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    Some(UNIX_EPOCH + Duration::new(seconds, nanos))
}
