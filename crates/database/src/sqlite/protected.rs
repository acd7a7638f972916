//! Files that cannot be written.

use std::fs::OpenOptions;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::{Error, Result};

/// The offset of the write version in the header of a file, and a version that no SQLite writes.
const WRITE_VERSION: (u64, u8) = (18, 255);

/// A file, and how to open it.
#[derive(Debug, Clone)]
pub(super) struct Address {
    path: PathBuf,
    protection: Protection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    None,
    /// SQLite can use the files beside it, or create them.
    ReadOnly,
    /// The path is a URI that says so: SQLite locks nothing and creates nothing.
    Immutable,
}

impl Address {
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), protection: Protection::None }
    }

    /// A file to read only. Fails if it needs files beside it that cannot be created.
    pub(super) fn protected(path: &Path) -> Result<Self> {
        let read_only = Self { path: path.to_owned(), protection: Protection::ReadOnly };
        let Err(error) = read_only.check() else { return Ok(read_only) };
        let log = PathBuf::from(format!("{}-wal", path.display()));
        // With a write-ahead log beside it, the file alone is not the whole database.
        let uri = immutable_uri(path).filter(|_| !log.exists()).ok_or(error)?;
        let immutable = Self { path: uri, protection: Protection::Immutable };
        immutable.check()?;
        Ok(immutable)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The flags of a connection, given those of one to a file without protection.
    pub(super) fn flags(&self, flags: OpenFlags) -> OpenFlags {
        match self.protection {
            Protection::None => flags,
            Protection::ReadOnly => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Protection::Immutable => OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        }
    }

    pub(super) fn is_protected(&self) -> bool {
        self.protection != Protection::None
    }

    fn check(&self) -> Result<()> {
        let connection = Connection::open_with_flags(&self.path, self.flags(OpenFlags::empty()))?;
        Ok(connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?)
    }
}

pub(super) fn immutable_uri(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let path = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Some(PathBuf::from(format!("file:{path}?immutable=1")))
}

/// Makes a closed file read-only for every process and user: SQLite only reads a file of a newer write
/// version.
pub fn seal(path: &Path) -> Result<()> {
    let sealed = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.seek(SeekFrom::Start(WRITE_VERSION.0))?;
        file.write_all(&[WRITE_VERSION.1])?;
        file.sync_all()
    };
    sealed().map_err(|source| Error::File { path: path.display().to_string(), source })
}
