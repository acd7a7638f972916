//! Backups: the whole database in one new SQLite file.

use std::io;
use std::path::{Path, PathBuf};

use database::{CopiedPages, Engine, Location};

use crate::transfer::{Extent, Progress};
use crate::{Error, Result, Store};

/// The end of the name of an unfinished backup, and of the files that SQLite puts beside it.
const PARTIAL: &str = ".partial";
const BESIDE: [&str; 4] = ["", "-journal", "-wal", "-shm"];

impl Store {
    /// Copies everything into a new SQLite file, which only the user can read: one state of the database,
    /// checked, while others write. SQLite's pages are copied as they are; PostgreSQL's rows are copied
    /// and compared.
    pub async fn backup(&self, to: &Path, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<()> {
        if to.exists() {
            return Err(Error::Occupied(to.display().to_string()));
        }
        let partial = beside(to, PARTIAL);
        remove(&partial)?;
        let copied = match self.engine() {
            Engine::Sqlite(sqlite) => {
                let mut follow = |CopiedPages { done, total }| {
                    progress(Progress { step: "copy", what: "pages", unit: "pages", done, total });
                };
                sqlite.copy_pages(&partial, &mut follow).await.map_err(Error::from)
            }
            Engine::Postgres(_) => {
                let target = Location::Sqlite(partial.clone());
                self.copy_all(&target, Extent::Everything, progress).await.map(drop)
            }
        };
        let kept = copied.and_then(|()| keep(&partial, to));
        if kept.is_err() {
            // A partial copy is useless, and the first error says more than a second one.
            let _: Result<()> = remove(&partial);
        }
        kept
    }
}

/// Gives a finished backup its name, unless another file got it meanwhile.
fn keep(partial: &Path, to: &Path) -> Result<()> {
    // Closing it brought everything into the one file; a log beside it would be left behind.
    if std::fs::metadata(beside(partial, "-wal")).is_ok_and(|log| log.len() > 0) {
        return Err(Error::BackupNotClosed);
    }
    let failed = |source| file_error(to, source);
    match std::fs::hard_link(partial, to) {
        Ok(()) => remove(partial)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Error::Occupied(to.display().to_string()));
        }
        // Some file systems have no links.
        Err(_) => std::fs::rename(partial, to).map_err(failed)?,
    }
    sync_directory(to).map_err(failed)
}

/// Makes a new name survive a loss of power.
#[cfg(unix)]
fn sync_directory(of: &Path) -> io::Result<()> {
    let parent = of.parent().filter(|parent| !parent.as_os_str().is_empty());
    std::fs::File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

/// Removes an unfinished backup, if there is one.
fn remove(partial: &Path) -> Result<()> {
    for path in BESIDE.map(|suffix| beside(partial, suffix)) {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file_error(&path, error)),
            _ => {}
        }
    }
    Ok(())
}

fn file_error(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.display().to_string(), source }
}
