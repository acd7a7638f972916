//! Presence of the processes that share a SQLite file: each locks a file of its own while it lives.
//!
//! The system releases the lock of a process that dies, however it dies, so a free lock proves that the
//! process is gone. A missing file proves nothing: its process may not have been able to create it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::{Result, Sessions, Work};
use database::{Engine, Parameter};

/// Files of earlier processes that are removed at once.
const MOST_REMOVED: usize = 64;

/// A locked file that shows other processes that this one lives. Dropping it removes the file.
#[derive(Debug)]
pub struct Presence {
    path: PathBuf,
    _lock: File,
}

impl Presence {
    /// Creates and locks the file of a node. Returns none if another process took it for a leftover at that
    /// moment.
    fn create(directory: &Path, node: Uuid) -> io::Result<Option<Self>> {
        create_directory(directory)?;
        let path = directory.join(node.to_string());
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        match file.try_lock() {
            Ok(()) if path.exists() => Ok(Some(Self { path, _lock: file })),
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
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Sessions {
    /// Shows other processes on the same SQLite file that this one lives, and releases the sessions of those
    /// that are gone. PostgreSQL needs none: its clock ends leases.
    pub async fn announce(&self, node: Uuid) -> Result<Option<Presence>> {
        let Some(directory) = self.presences() else { return Ok(None) };
        for leftover in leftovers(&directory) {
            self.release(leftover.node).await?;
            let _ = std::fs::remove_file(&leftover.path);
        }
        match Presence::create(&directory, node) {
            Ok(presence) => Ok(presence),
            // Others observe its leases instead.
            Err(error) => {
                tracing::debug!(directory = %directory.display(), %error, "the process has no lock file");
                Ok(None)
            }
        }
    }

    /// Releases the sessions of a node that is gone.
    async fn release(&self, node: Uuid) -> Result<()> {
        let mut work = Work::begin(self).await?;
        let sql = "UPDATE sessions SET lease_node = NULL WHERE status = 'running' AND lease_node LIKE $1";
        work.run(sql, &[Parameter::Text(format!("{node}.%"))]).await?;
        work.commit().await
    }

    /// True if the process of a lease's holder is known to be gone.
    pub(crate) fn is_gone(&self, holder: &str) -> bool {
        let node = holder.split('.').next().and_then(|node| Uuid::parse_str(node).ok());
        let (Some(directory), Some(node)) = (self.presences(), node) else { return false };
        File::open(directory.join(node.to_string())).is_ok_and(|file| file.try_lock_shared().is_ok())
    }

    /// The directory of the lock files, beside the database.
    fn presences(&self) -> Option<PathBuf> {
        let Engine::Sqlite(sqlite) = self.engine() else { return None };
        let mut directory = sqlite.path().as_os_str().to_owned();
        directory.push("-nodes");
        Some(directory.into())
    }
}

/// The locked file of a process that is gone.
struct Leftover {
    node: Uuid,
    path: PathBuf,
    /// Until the file is removed, no other process may take it for its own.
    _lock: File,
}

fn leftovers(directory: &Path) -> Vec<Leftover> {
    let Ok(files) = std::fs::read_dir(directory) else { return Vec::new() };
    let leftovers = files.filter_map(|file| {
        let path = file.ok()?.path();
        let node = Uuid::parse_str(path.file_name()?.to_str()?).ok()?;
        let lock = File::open(&path).ok()?;
        lock.try_lock().ok()?;
        Some(Leftover { node, path, _lock: lock })
    });
    leftovers.take(MOST_REMOVED).collect()
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
