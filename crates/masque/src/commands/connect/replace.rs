//! Replaces a file atomically, and keeps a backup.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::{CommandError, Failure, Result};

/// Maximum number of backups within a second.
const MOST_COPIES: u32 = 100;

/// Replaces the text `old` with `new`. Returns the path of the backup. Follows links and keeps
/// permissions. `private` makes a new file readable by its owner only.
pub(super) fn file(path: &Path, old: Option<&str>, new: &str, private: bool) -> Result<Option<PathBuf>> {
    let failed = |error: &io::Error| Failure::file("write", path, error);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| Failure::file("create the directory", parent, &error))?;
    }
    let target = match path.symlink_metadata() {
        Ok(_) => path.canonicalize().map_err(|error| Failure::file("follow the link", path, &error))?,
        Err(_) => path.to_path_buf(),
    };
    let backup = match old {
        Some(_) => Some(copy_beside(&target)?),
        None => None,
    };
    let directory = target.parent().unwrap_or(Path::new("."));
    let mut temporary = temporary_file(directory, private).map_err(|error| failed(&error))?;
    temporary.write_all(new.as_bytes()).map_err(|error| failed(&error))?;
    if old.is_some() {
        let permissions = fs::metadata(&target).map_err(|error| failed(&error))?.permissions();
        temporary.as_file().set_permissions(permissions).map_err(|error| failed(&error))?;
    }
    temporary.as_file().sync_all().map_err(|error| failed(&error))?;
    // Clients write these files too. Their changes must not be lost.
    if fs::read(&target).ok().as_deref() != old.map(str::as_bytes) {
        return Err(CommandError::FileChanged { file: path.display().to_string() }.into());
    }
    temporary.persist(&target).map_err(|error| failed(&error.error))?;
    Ok(backup)
}

fn temporary_file(directory: &Path, private: bool) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".masque-");
    #[cfg(unix)]
    if !private {
        use std::os::unix::fs::PermissionsExt as _;
        // The user's umask applies, as for any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = private;
    builder.tempfile_in(directory)
}

/// Copies the file to a free name beside it.
fn copy_beside(target: &Path) -> Result<PathBuf> {
    let stamp = chrono::Local::now().format("%Y%m%d%H%M%S");
    for attempt in 0..MOST_COPIES {
        let mut name = target.as_os_str().to_owned();
        name.push(format!(".bak-{stamp}"));
        if attempt > 0 {
            name.push(format!("-{attempt}"));
        }
        let copy = PathBuf::from(name);
        match File::create_new(&copy) {
            Ok(_) => {
                let copied = fs::copy(target, &copy);
                return copied.map(|_| copy.clone()).map_err(|error| Failure::file("write", &copy, &error));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failure::file("write", &copy, &error)),
        }
    }
    Err(CommandError::TooManyCopies { file: target.display().to_string() }.into())
}
