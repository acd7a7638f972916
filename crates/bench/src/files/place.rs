//! A directory of its own for one personas.toml and its local database.

use std::path::PathBuf;

use anyhow::Result;
use database::Location;
use scopes::{FileScopes, Scopes};
use store::Store;
use tempfile::TempDir;

use crate::report::directory;

/// Below `target/bench`, not in the system's temporary directory: that may be memory, where
/// an fsync costs nothing.
#[derive(Debug)]
pub(super) struct Place(TempDir);

impl Place {
    pub(super) fn new(text: &str) -> Result<Self> {
        let place = Self(tempfile::Builder::new().prefix("files-").tempdir_in(directory()?)?);
        std::fs::write(place.file(), text)?;
        std::fs::create_dir(place.at("locks"))?;
        Ok(place)
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.at("personas.toml")
    }

    /// A local database; one that is not there is made.
    pub(super) async fn store(&self, name: &str) -> Result<Store> {
        Ok(Store::open(Location::Sqlite(self.at(name)), true).await?)
    }

    /// The file as the project of a library, with its history in the store.
    pub(super) fn scopes(&self, database: &str) -> FileScopes {
        FileScopes {
            global: None,
            project: Some(self.file()),
            local: Location::Sqlite(self.at(database)),
            locks: self.at("locks"),
            writable: true,
        }
    }

    pub(super) async fn open(&self, store: &Store, database: &str) -> Result<Scopes> {
        Ok(Scopes::open(store.clone(), self.scopes(database)).await?)
    }
}
