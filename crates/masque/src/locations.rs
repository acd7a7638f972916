//! Paths of configuration and data on this machine.

use std::fs::DirBuilder;
#[cfg(unix)]
use std::fs::Metadata;
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use app::Remedy;
use etcetera::BaseStrategy as _;

use crate::failure::{CommandError, Failure, Result};

/// The user's directories.
#[derive(Debug, Clone)]
pub(crate) struct Directories {
    pub(crate) home: PathBuf,
    /// The configuration directory of all programs.
    pub(crate) config: PathBuf,
    data: PathBuf,
}

impl Directories {
    pub(crate) fn find() -> Result<Self> {
        let base = etcetera::base_strategy::choose_native_strategy()
            .map_err(|error| CommandError::NoHome(error.to_string()))?;
        Ok(Self { home: base.home_dir().to_path_buf(), config: base.config_dir(), data: base.data_dir() })
    }

    /// Directories below a home directory.
    #[cfg(test)]
    pub(crate) fn below(home: &Path) -> Self {
        Self { home: home.to_owned(), config: home.join("config"), data: home.join("data") }
    }

    pub(crate) fn masque_config(&self) -> PathBuf {
        self.config.join("masque")
    }

    pub(crate) fn masque_data(&self) -> PathBuf {
        self.data.join("masque")
    }

    /// The user's own settings.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.masque_config().join("config.toml")
    }

    /// The user's own personas.
    pub(crate) fn personas_file(&self) -> PathBuf {
        self.masque_config().join(app::project::FILE_NAME)
    }

    /// The local database: the default one, with the history of files.
    pub(crate) fn local_database(&self) -> PathBuf {
        self.masque_data().join("masque.db")
    }

    /// The token of the user's servers.
    pub(crate) fn token_file(&self) -> PathBuf {
        self.masque_data().join("token")
    }

    /// The list of trusted projects.
    pub(crate) fn trusted_file(&self) -> PathBuf {
        self.masque_data().join("trusted.toml")
    }

    /// Lock files against other processes.
    pub(crate) fn locks(&self) -> PathBuf {
        self.masque_data().join("locks")
    }
}

/// The given database, or the user's own.
pub(crate) fn database(named: Option<&str>) -> Result<String> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let path = Directories::find()?.local_database();
    let Some(named) = path.to_str() else {
        let path = path.display().to_string();
        return Err(CommandError::InvalidPath { path, remedy: Remedy::OtherDatabase }.into());
    };
    Ok(named.to_owned())
}

/// The program of a name, as a shell would find it.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(program)).find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Fails if a named database file is a directory, or is in one that does not exist: the name is probably
/// mistyped.
pub(crate) fn check_parent(database: &str) -> Result<()> {
    let database::Location::Sqlite(path) = database::Location::parse(database)? else { return Ok(()) };
    if path.is_dir() {
        return Err(CommandError::DatabaseIsDirectory { path: path.display().to_string() }.into());
    }
    match path.parent().filter(|parent| *parent != Path::new("") && !parent.is_dir()) {
        Some(parent) => {
            let (path, directory) = (path.display().to_string(), parent.display().to_string());
            Err(CommandError::NoDatabaseDirectory { path, directory }.into())
        }
        None => Ok(()),
    }
}

/// Creates the directory of a database file.
pub(crate) fn make_parent(database: &str) -> Result<()> {
    match database::Location::parse(database)? {
        database::Location::Sqlite(path) => make_parent_of(&path),
        database::Location::Postgres(_) => Ok(()),
    }
}

pub(crate) fn make_parent_of(path: &Path) -> Result<()> {
    let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) else {
        return Ok(());
    };
    make_directory(parent, DirBuilder::new().recursive(true))
        .map_err(|error| Failure::file("create the directory", parent, &error))
}

/// Creates a directory with those above it. They survive a power cut, because the database in it does. Like
/// SQLite, ignores a directory that cannot be synced.
fn make_directory(directory: &Path, builder: &DirBuilder) -> std::io::Result<()> {
    match files::disk::make_directory(directory, builder) {
        Err(_) if directory.is_dir() => Ok(()),
        made => made,
    }
}

/// Makes the user's own data directory, which only the user can read. If that fails, so does the first write.
pub(crate) fn make_data(directories: &Directories) {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    let _ = make_directory(&directories.masque_data(), &builder);
}

/// Takes the permissions of others off the user's own data directory and off a database file. Returns a line
/// for each that others could read. Files of other users, and on read-only systems, stay as they are.
#[cfg(unix)]
pub(crate) fn keep_private(directories: Option<&Directories>, database: &str) -> Vec<String> {
    let own = directories.map(Directories::masque_data);
    let mut narrowed = Vec::new();
    if let Some(directory) = &own {
        let _ = make_directory(directory, DirBuilder::new().recursive(true).mode(0o700));
        narrowed.extend(narrow(directory, 0o700, Metadata::is_dir));
    }
    let mut files: Vec<PathBuf> = directories.map(Directories::local_database).into_iter().collect();
    if let Ok(database::Location::Sqlite(path)) = database::Location::parse(database) {
        files.push(path);
    }
    files.dedup();
    for file in files {
        let beside = |suffix: &str| {
            let mut name = file.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let (log, index) = (beside("-wal"), beside("-shm"));
        // `--db` may name a directory by mistake: it stays as it is.
        let narrow = |path: &Path| narrow(path, 0o600, Metadata::is_file);
        narrowed.extend(narrow(&file));
        let _ = (narrow(&log), narrow(&index));
    }
    narrowed
}

#[cfg(not(unix))]
pub(crate) fn keep_private(_: Option<&Directories>, _: &str) -> Vec<String> {
    Vec::new()
}

/// Takes the permissions of others away from a file of the expected type, if they have any. Returns the line
/// that says so.
#[cfg(unix)]
fn narrow(path: &Path, mode: u32, is_expected: fn(&Metadata) -> bool) -> Option<String> {
    let found = std::fs::symlink_metadata(path).ok()?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if !is_own || !is_expected(&found) || found.mode() & 0o077 == 0 {
        return None;
    }
    // Only takes permissions away: what its owner made read-only stays so.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(found.mode() & mode)).ok()?;
    Some(format!("{} could be read by other users; now only you can", path.display()))
}

/// True if SQLite can write this file and the files beside it.
pub(crate) fn can_write(path: &Path) -> bool {
    let file = || !path.exists() || std::fs::OpenOptions::new().append(true).open(path).is_ok();
    let beside = || path.parent().is_some_and(|parent| tempfile::tempfile_in(parent).is_ok());
    make_parent_of(path).is_ok() && file() && beside()
}
