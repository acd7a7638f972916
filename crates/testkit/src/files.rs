//! A user's personas.toml and a project's, with the local database beside them, removed afterwards.

use std::path::{Path, PathBuf};

use database::Location;
use persona::Scope;
use scopes::{FileScopes, Scopes};
use store::Store;
use tempfile::TempDir;

use crate::Database;

/// The files of one machine. They are not there until they are written.
#[derive(Debug)]
pub struct Files {
    directory: TempDir,
}

impl Files {
    /// A configuration directory, a project, and room for a local database.
    #[expect(clippy::new_without_default, reason = "it makes directories")]
    pub fn new() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let files = Self { directory };
        for scope in [Scope::Global, Scope::Project] {
            std::fs::create_dir_all(files.directory_of(scope)).expect("a directory");
        }
        files
    }

    /// The directory of a scope's file.
    pub fn directory_of(&self, scope: Scope) -> PathBuf {
        self.directory.path().join(scope.as_str())
    }

    /// A scope's personas.toml.
    pub fn path(&self, scope: Scope) -> PathBuf {
        self.directory_of(scope).join("personas.toml")
    }

    /// Writes a scope's file in one go, as a person's editor does.
    pub fn write(&self, scope: Scope, text: &str) {
        self.write_beside(scope, "personas.toml", text);
    }

    /// Writes a file in the directory of a scope's, making directories on the way.
    pub fn write_beside(&self, scope: Scope, path: &str, text: &str) {
        let target = self.directory_of(scope).join(path);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).expect("a directory");
        }
        std::fs::write(target, text).expect("a file that can be written");
    }

    /// The text of a scope's file.
    pub fn read(&self, scope: Scope) -> String {
        std::fs::read_to_string(self.path(scope)).expect("a file that can be read")
    }

    /// The location of the files' history and state: the database itself if it is a SQLite file,
    /// as it is by default; otherwise a file of their own.
    pub fn local(&self, database: &Database) -> Database {
        match database.engine {
            "sqlite" => Database::sqlite_at(Path::new(&database.location)),
            _ => self.local_apart(),
        }
    }

    /// A local database of its own, whatever the library's is.
    pub fn local_apart(&self) -> Database {
        Database::sqlite_at(&self.directory.path().join("local.db"))
    }

    /// Both files over a database, with the given local one.
    pub fn scopes(&self, local: &Database) -> FileScopes {
        FileScopes {
            global: Some(self.path(Scope::Global)),
            project: Some(self.path(Scope::Project)),
            local: Location::parse(&local.location).expect("a path"),
            locks: self.directory.path().join("locks"),
            writable: true,
        }
    }

    /// Opens a library over a database and both files, as one process does.
    pub async fn open(&self, database: &Database) -> Scopes {
        open(database, self.scopes(&self.local(database))).await
    }

    /// The same with the local database apart from the library's.
    pub async fn open_apart(&self, database: &Database) -> Scopes {
        open(database, self.scopes(&self.local_apart())).await
    }
}

async fn open(database: &Database, files: FileScopes) -> Scopes {
    let location = Location::parse(&database.location).expect("a location that the store knows");
    let store = Store::open(location, true).await.expect("the library opens");
    Scopes::open(store, files).await.expect("the files are read")
}
