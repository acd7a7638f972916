//! Presence of the processes that share a SQLite file: each locks a file of its own while it lives.
//!
//! The system releases the lock of a process that dies, however it dies, so a free lock proves that the
//! process is gone. A missing file proves nothing: its process may not have been able to create it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::Engine;

/// Files of earlier processes that are looked at in one go.
const LEFTOVERS: usize = 64;

/// A directory of such files, beside the database.
#[derive(Debug, Clone)]
pub struct Presences(PathBuf);

/// A locked file that shows other processes that this one lives. Dropping it removes the file.
#[derive(Debug)]
pub struct Presence {
    path: PathBuf,
    _lock: File,
}

/// The locked file of a process that is gone.
#[derive(Debug)]
pub struct Leftover {
    node: Uuid,
    path: PathBuf,
    /// Until the file is removed, no other process may take it for its own.
    _lock: File,
}

impl Presences {
    /// The directory with this suffix. `None` on PostgreSQL, whose processes share no files.
    pub fn beside(engine: &Engine, suffix: &str) -> Option<Self> {
        let Engine::Sqlite(sqlite) = engine else { return None };
        let mut directory = sqlite.path().as_os_str().to_owned();
        directory.push(suffix);
        Some(Self(directory.into()))
    }

    /// Creates and locks the file of a node. Returns none if the system refuses, or if another process took
    /// it for a leftover at that moment: others observe this process's leases instead.
    pub fn announce(&self, node: Uuid) -> Option<Presence> {
        self.create(node).unwrap_or_else(|error| {
            tracing::debug!(directory = %self.0.display(), %error, "the process has no lock file");
            None
        })
    }

    fn create(&self, node: Uuid) -> io::Result<Option<Presence>> {
        create_directory(&self.0)?;
        let path = self.0.join(node.to_string());
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        match file.try_lock() {
            Ok(()) if path.exists() => Ok(Some(Presence { path, _lock: file })),
            // An unlocked file would count as that of a dead process.
            Ok(()) | Err(TryLockError::WouldBlock) => {
                let _ = std::fs::remove_file(&path);
                Ok(None)
            }
            Err(TryLockError::Error(error)) => {
                let _ = std::fs::remove_file(&path);
                Err(error)
            }
        }
    }

    /// True if the process of a node is known to be gone.
    pub fn is_gone(&self, node: Uuid) -> bool {
        File::open(self.0.join(node.to_string())).is_ok_and(|file| file.try_lock_shared().is_ok())
    }

    /// Files of processes that are gone. The caller frees everything that they held, and then removes them.
    pub fn leftovers(&self) -> Vec<Leftover> {
        let Ok(files) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let leftovers = files.filter_map(|file| {
            let path = file.ok()?.path();
            let node = Uuid::parse_str(path.file_name()?.to_str()?).ok()?;
            let lock = File::open(&path).ok()?;
            lock.try_lock().ok()?;
            Some(Leftover { node, path, _lock: lock })
        });
        leftovers.take(LEFTOVERS).collect()
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Leftover {
    pub fn node(&self) -> Uuid {
        self.node
    }

    /// Removes the file.
    pub fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Creates a directory that only the user can open.
fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}
