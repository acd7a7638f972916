//! Locks between processes of one machine. They end with their process.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::{Error, Result, limits};

/// A locked file. Dropping it frees the lock; the file stays, because deleting it would split waiters.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that another thread is just starting has a copy of it
        // until it becomes its program, and the lock would live as long.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

impl FileLock {
    /// Takes the lock, or fails as busy after [`limits::LOCK_PATIENCE`].
    pub(crate) async fn take(path: &Path) -> Result<Self> {
        let until = Instant::now() + limits::LOCK_PATIENCE;
        loop {
            if let Some(lock) = Self::try_take(path)? {
                return Ok(lock);
            }
            if Instant::now() >= until {
                return Err(Error::WorktreeBusy { path: path.to_path_buf() });
            }
            tokio::time::sleep(limits::LOCK_PAUSE).await;
        }
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_take(path: &Path) -> Result<Option<Self>> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(Error::file(path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(Error::File { path: path.to_path_buf(), source: error.into() }),
        }
    }
}

/// Removes a lock file of git if no process can hold it any more. Returns true if it is gone.
pub(crate) fn remove_stale(path: &Path, age: Duration) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return true };
    let is_stale = metadata.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|it| it >= age);
    is_stale && std::fs::remove_file(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::FileLock;

    #[test]
    fn a_lock_ends_with_its_holder_whoever_has_a_copy_of_the_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lock");
        let lock = FileLock::try_take(&path).expect("a file").expect("a lock");
        // A child between its fork and its program has such a copy.
        let copy = lock.file.try_clone().expect("a copy");
        assert!(FileLock::try_take(&path).expect("a file").is_none());
        drop(lock);
        assert!(FileLock::try_take(&path).expect("a file").is_some());
        drop(copy);
    }
}
