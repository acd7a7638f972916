//! The directory that file tools are confined to.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt};
use rustix::fs::{Mode, OFlags};

use super::guard::Guard;
use super::ignored::Layer;
use crate::limits;

/// A session's root. Every path is resolved beneath an open handle of it, symbolic links included, so
/// that no swap of a directory between a check and a use leads out.
#[derive(Debug, Clone)]
pub struct Root(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    dir: Dir,
    path: PathBuf,
    /// As the caller spelt it: a model may repeat that spelling.
    given: PathBuf,
    above: Vec<Layer>,
    guard: Guard,
}

#[derive(Debug, thiserror::Error)]
#[error("{} cannot be a session's root: {source}", path.display())]
pub struct RootError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl Root {
    /// Opens a directory. It blocks, if only shortly.
    pub fn open(path: &Path) -> Result<Self, RootError> {
        let failed = |source| RootError { path: path.to_owned(), source };
        let canonical = std::fs::canonicalize(path).map_err(failed)?;
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(failed)?;
        Ok(Self::new(dir, canonical, path.to_owned(), Guard::default()))
    }

    /// Opens a directory by its path without links, as sessions store it. Fails if a link has taken the
    /// place of one of its directories: it would lead elsewhere.
    pub fn open_exactly(path: &Path, guard: Guard) -> Result<Self, RootError> {
        let dir = open_without_links(path).map_err(|source| RootError { path: path.to_owned(), source })?;
        Ok(Self::new(dir, path.to_owned(), path.to_owned(), guard))
    }

    fn new(dir: Dir, path: PathBuf, given: PathBuf, guard: Guard) -> Self {
        let above = Layer::above(&path);
        Self(Arc::new(Inner { dir, path, given, above, guard }))
    }

    /// True if the path still leads to the directory that was opened.
    pub fn is_current(&self) -> bool {
        let now = std::fs::symlink_metadata(&self.0.path).map(|found| (found.dev(), found.ino()));
        let then = self.0.dir.dir_metadata().map(|found| (found.dev(), found.ino()));
        matches!((now, then), (Ok(now), Ok(then)) if now == then)
    }

    /// The path without symbolic links.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.0.dir
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.0.guard
    }

    /// Ignore rules from the directories above, for the repository that the root is a part of.
    pub(crate) fn above(&self) -> &[Layer] {
        &self.0.above
    }

    /// The path below the root that a model means. Whether `..` and links stay beneath is seen when
    /// it is opened.
    pub(crate) fn relative(&self, given: &str) -> Result<PathBuf, String> {
        if given.contains('\0') {
            return Err("a path cannot hold a NUL character".to_owned());
        }
        let path = Path::new(given);
        let below = if path.is_absolute() {
            let below = path.strip_prefix(&self.0.path).or_else(|_| path.strip_prefix(&self.0.given));
            below.map_err(|_| outside(given))?
        } else {
            path
        };
        let plain: PathBuf = below.components().filter(|part| *part != Component::CurDir).collect();
        Ok(if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain })
    }

    /// The path without links and `..`, relative to the root.
    pub(crate) fn resolved(&self, path: &Path) -> Result<PathBuf, String> {
        let resolved = self.dir().canonicalize(path).map_err(|error| self.explain(path, &error))?;
        Ok(if resolved.as_os_str() == "." { PathBuf::new() } else { resolved })
    }

    /// The same for a path whose end may be missing.
    pub(crate) fn expected(&self, path: &Path) -> Result<PathBuf, String> {
        let mut missing = Vec::new();
        let mut existing = path;
        loop {
            match self.dir().canonicalize(existing) {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.explain(path, &error)),
            }
            let (Some(name), Some(parent)) = (existing.file_name(), existing.parent()) else { break };
            missing.push(name);
            existing = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        }
        let mut expected = self.resolved(existing)?;
        expected.extend(missing.into_iter().rev());
        Ok(expected)
    }

    /// Explains the error of a path.
    pub(crate) fn explain(&self, path: &Path, error: &io::Error) -> String {
        let shown = shown(path);
        match error.kind() {
            io::ErrorKind::NotFound => format!("there is no {shown}{}", self.nearest(path)),
            // An error without a number is the sandbox's own: the path led out of it.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => outside(&shown),
            _ if error.raw_os_error() == Some(rustix::io::Errno::XDEV.raw_os_error()) => outside(&shown),
            io::ErrorKind::NotADirectory => format!("{shown}: a part of that path is a file"),
            _ => format!("{shown}: {error}"),
        }
    }

    fn nearest(&self, path: &Path) -> String {
        let (Some(name), parent) = (path.file_name(), path.parent()) else { return String::new() };
        let parent = parent.filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(entries) = self.dir().read_dir(parent) else { return String::new() };
        let name = name.to_string_lossy();
        let near = entries
            .take(limits::LISTED_ENTRIES)
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .map(|candidate| (strsim::jaro_winkler(&name, &candidate), candidate))
            .filter(|(likeness, _)| *likeness > 0.85)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        near.map(|(_, near)| format!("; did you mean {}?", shown(&parent.join(near)))).unwrap_or_default()
    }
}

/// Opens a directory step by step from the top. No step is a link.
fn open_without_links(path: &Path) -> io::Result<Dir> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // The last directory is read, those above it are only passed.
    #[cfg(target_os = "linux")]
    let passing = flags | OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let passing = flags;
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => names.push(name),
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the path is not absolute and plain",
                ));
            }
        }
    }
    let last = names.len();
    let mut dir = rustix::fs::open("/", if last == 0 { flags } else { passing }, Mode::empty())?;
    for (at, name) in names.into_iter().enumerate() {
        let flags = if at + 1 == last { flags } else { passing };
        dir = rustix::fs::openat(&dir, name, flags, Mode::empty())?;
    }
    Ok(Dir::from_std_file(dir.into()))
}

/// A path as an answer shows it: one line, forward slashes, never empty.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = text.strip_prefix("./").unwrap_or(&text);
    if text.is_empty() {
        return ".".to_owned();
    }
    if text.chars().any(char::is_control) { text.escape_debug().to_string() } else { text.to_owned() }
}

fn outside(path: &str) -> String {
    format!("{path} is outside the session's root, or a link that leads out of it; use a path below the root")
}

/// Opens a regular file below `dir`, without waiting for a writer at the end of a pipe.
pub(crate) fn open_regular(dir: &Dir, path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    // The first check avoids opening a device; the second one, on the open file, decides.
    let before = dir.metadata(path)?;
    refuse_special(&before)?;
    let file = dir.open_with(path, &options)?;
    let metadata = file.metadata()?;
    refuse_special(&metadata)?;
    Ok((file, metadata))
}

pub(crate) fn refuse_special(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = if metadata.is_dir() { "a directory" } else { "no regular file" };
    Err(io::Error::other(format!("it is {kind}")))
}

/// The whole file. Fails if it is too long, also if it grows meanwhile.
pub(crate) fn read_whole(file: &mut File, metadata: &Metadata) -> io::Result<Vec<u8>> {
    let too_large = || {
        let limit = limits::FILE_BYTES / (1024 * 1024);
        io::Error::other(format!(
            "it has {} bytes, and more than {limit} MiB are not read; look for the part that matters with another tool",
            metadata.len()
        ))
    };
    if metadata.len() > limits::FILE_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    file.take(limits::FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limits::FILE_BYTES {
        return Err(too_large());
    }
    Ok(bytes)
}
