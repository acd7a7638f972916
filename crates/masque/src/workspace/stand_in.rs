//! An empty database in place of the user's own, where the data directory cannot be written.

use std::path::{Path, PathBuf};

use app::{FileScopes, Library, Location, OpenOptions};
use tempfile::TempDir;

use crate::failure::{Failure, Result};
use crate::locations::{self, Directories};

/// An empty database that cannot be written, in a temporary directory.
#[derive(Debug)]
pub(crate) struct StandIn {
    /// The place of the user's own database.
    missing: PathBuf,
    _directory: TempDir,
}

impl StandIn {
    /// Takes the place of the user's own database if that does not exist and cannot be created.
    pub(super) async fn for_missing(
        directories: &Directories,
        database: &mut String,
        files: Option<&mut FileScopes>,
    ) -> Result<Option<Self>> {
        let missing = directories.local_database();
        let is_used = files.is_some() || missing.to_str() == Some(database.as_str());
        if !is_used || missing.exists() || locations::can_write(&missing) {
            return Ok(None);
        }
        let directory = tempfile::tempdir()
            .map_err(|error| Failure::file("create a directory in", &std::env::temp_dir(), &error))?;
        let empty = directory.path().join("masque.db");
        let shown = empty.to_string_lossy().into_owned();
        let library = Library::open(OpenOptions::database(shown.as_str())).await?;
        library.close().await;
        database::seal(&empty)?;
        if missing.to_str() == Some(database.as_str()) {
            *database = shown;
        }
        if let Some(files) = files {
            files.local = Location::Sqlite(empty);
        }
        Ok(Some(Self { missing, _directory: directory }))
    }

    /// The directory that cannot be written.
    pub(super) fn directory(&self) -> &Path {
        self.missing.parent().unwrap_or(&self.missing)
    }

    /// The warning about a library that cannot be written.
    pub(super) fn warning(stand_in: Option<&Self>, library: &Library) -> Option<String> {
        if let Some(stand_in) = stand_in {
            let directory = stand_in.directory().display();
            return Some(format!("{directory} cannot be written: builtins and files work, nothing is saved"));
        }
        library
            .read_only()
            .map(|location| format!("{location} cannot be written: reads work, nothing is saved"))
    }
}
