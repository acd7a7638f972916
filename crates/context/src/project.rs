//! A project: its root, its secrets and what is remembered of it.

use std::fmt;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::OFlags;

use crate::cache::{Cache, Content};
use crate::stamp::Stamp;
use crate::walk::Found;
use crate::{ContentHash, Error, Reason, limits};

type IsSecret = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// A directory whose files a prompt may show. Every file is opened beneath an open handle of it, so that
/// no link and no swapped directory leads out.
#[derive(Clone)]
pub struct Project {
    root: PathBuf,
    dir: Arc<Dir>,
    cache: Arc<Cache>,
    is_secret: IsSecret,
    threads: usize,
}

/// A file's content, as far as it had to be read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) hash: ContentHash,
    /// `None` if the cache knows the hash by the file's stamp.
    pub(crate) text: Option<Arc<str>>,
}

impl Project {
    /// Opens a directory, with a cache of its own and the stock list of secret files.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Root { path: root.to_owned(), source };
        let canonical = std::fs::canonicalize(root).map_err(failed)?;
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(failed)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(limits::THREADS);
        Ok(Self {
            root: canonical,
            dir: Arc::new(dir),
            cache: Arc::default(),
            is_secret: stock_secrets(),
            threads,
        })
    }

    /// Shares a cache, for example between worktrees of one repository.
    #[must_use]
    pub fn with_cache(mut self, cache: Arc<Cache>) -> Self {
        self.cache = cache;
        self
    }

    /// Replaces the stock list of secret files. The argument gets a path relative to the root.
    #[must_use]
    pub fn with_secrets(mut self, is_secret: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.is_secret = Arc::new(is_secret);
        self
    }

    /// Sets the number of threads that read and parse. The answer does not depend on it.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.clamp(1, limits::THREADS);
        self
    }

    /// The root without symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn is_secret(&self, path: &str) -> bool {
        (self.is_secret)(path)
    }

    /// A path as the request names it, relative to the root and plain. `None` if it leads out.
    pub(crate) fn relative(&self, given: &str) -> Option<String> {
        let path = Path::new(given);
        let below = if path.is_absolute() { path.strip_prefix(&self.root).ok()? } else { path };
        let mut parts: Vec<&str> = Vec::new();
        for part in below.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => parts.push(name.to_str()?),
                Component::ParentDir => {
                    parts.pop()?;
                }
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        (!parts.is_empty()).then(|| parts.join("/"))
    }

    /// The file that a plain relative path leads to, links followed within the root.
    pub(crate) fn resolve(&self, path: &str) -> Result<Found, Reason> {
        let resolved = self.dir.canonicalize(path).map_err(|error| explain(&error))?;
        let real = resolved.to_str().ok_or(Reason::PathEncoding)?;
        if is_in_git(path) || is_in_git(real) {
            return Err(Reason::Outside);
        }
        if self.is_secret(path) || self.is_secret(real) {
            return Err(Reason::Secret);
        }
        let metadata = self.dir.symlink_metadata(&resolved).map_err(|error| explain(&error))?;
        if !metadata.is_file() {
            return Err(Reason::Special);
        }
        Ok(Found { path: real.to_owned(), stamp: Stamp::new(&metadata), is_hidden: false })
    }

    /// The hash of a file, with its text unless the cache knows the stamp.
    pub(crate) fn load(&self, path: &str, stamp: &Stamp) -> Result<Loaded, Reason> {
        match self.cache.content(stamp) {
            Some(Content::Text(hash)) => Ok(Loaded { hash, text: None }),
            Some(Content::Binary) => Err(Reason::Binary),
            None => self.read(path).map(|(hash, text)| Loaded { hash, text: Some(text) }),
        }
    }

    /// Reads a file that a walk found.
    pub(crate) fn read(&self, path: &str) -> Result<(ContentHash, Arc<str>), Reason> {
        let mut options = OpenOptions::new();
        // A pipe that took the file's place must not block, nor a link lead elsewhere.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = self.dir.open_with(path, &options).map_err(|error| explain(&error))?;
        let metadata = file.metadata().map_err(|error| explain(&error))?;
        if !metadata.is_file() {
            return Err(Reason::Special);
        }
        let stamp = Stamp::new(&metadata);
        if stamp.bytes() > limits::FILE_BYTES {
            return Err(Reason::Huge { bytes: stamp.bytes() });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.bytes()).unwrap_or_default() + 1);
        (&file).take(limits::FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| explain(&error))?;
        let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if read > limits::FILE_BYTES {
            return Err(Reason::Huge { bytes: read });
        }
        self.cache.count_read();
        // Only a file that did not change meanwhile is remembered.
        let is_same = file.metadata().is_ok_and(|now| Stamp::new(&now) == stamp) && read == stamp.bytes();
        let remember = |content| {
            if is_same {
                self.cache.remember(stamp, content);
            }
        };
        match String::from_utf8(bytes) {
            Ok(text) if !text.bytes().take(limits::BINARY_PROBE_BYTES).any(|byte| byte == 0) => {
                let hash = ContentHash::of(&text);
                remember(Content::Text(hash));
                Ok((hash, text.into()))
            }
            _ => {
                remember(Content::Binary);
                Err(Reason::Binary)
            }
        }
    }
}

impl fmt::Debug for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Project")
            .field("root", &self.root)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

fn explain(error: &std::io::Error) -> Reason {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Reason::Missing,
        // An error without a number is the sandbox's own: the path led out of it.
        std::io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Reason::Outside,
        _ if error.raw_os_error() == Some(rustix::io::Errno::XDEV.raw_os_error()) => Reason::Outside,
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Reason::Link,
        _ => Reason::Unreadable { message: error.to_string() },
    }
}

/// True if a path leads into a repository's own store.
pub(crate) fn is_in_git(path: &str) -> bool {
    path.split('/').any(is_git)
}

pub(crate) fn is_git(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git")
}

fn stock_secrets() -> IsSecret {
    let rules = stock_rules();
    Arc::new(move |path| match &rules {
        Ok(rules) => rules.matched_path_or_any_parents(path, false).is_ignore(),
        Err(error) => unreachable!("the stock patterns are valid: {error}"),
    })
}

fn stock_rules() -> Result<Gitignore, ignore::Error> {
    let mut builder = GitignoreBuilder::new("");
    builder.case_insensitive(true)?;
    for pattern in persona::SECRET_FILES {
        builder.add_line(None, pattern)?;
    }
    builder.build()
}
