//! Replaces a client's file atomically, and keeps a backup of the user's own.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::ClientFile;
use crate::failure::{CommandError, Failure, Result};

/// Maximum number of backups within a second.
const MOST_COPIES: u32 = 100;

/// Who can read a file afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    AsBefore,
    /// The user alone: it has a secret.
    User,
}

/// Replaces the text `old` with `new`. Returns the path of the backup. Follows links and keeps
/// permissions, or takes those of others away. The file of a project is under version control, so it gets no
/// backup, which would be committed with it.
pub(super) fn file(
    client: &ClientFile,
    old: Option<&str>,
    new: &str,
    reader: Reader,
) -> Result<Option<PathBuf>> {
    let path = client.file.as_path();
    let failed = |error: &io::Error| Failure::file("write", path, error);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| Failure::file("create the directory", parent, &error))?;
    }
    let target = match path.symlink_metadata() {
        Ok(_) => path.canonicalize().map_err(|error| Failure::file("follow the link", path, &error))?,
        Err(_) => path.to_path_buf(),
    };
    let backup = match old {
        Some(_) if !client.is_shared => Some(copy_beside(&target)?),
        _ => None,
    };
    let directory = target.parent().unwrap_or(Path::new("."));
    let mut temporary = temporary_file(directory, reader).map_err(|error| failed(&error))?;
    temporary.write_all(new.as_bytes()).map_err(|error| failed(&error))?;
    if old.is_some() {
        let mut permissions = fs::metadata(&target).map_err(|error| failed(&error))?.permissions();
        if reader == Reader::User {
            keep_to_user(&mut permissions);
        }
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

/// Removes the file with the text `old`, and the client's directory in the project if it is empty then.
pub(super) fn remove(client: &ClientFile, old: &str) -> Result<()> {
    let path = client.file.as_path();
    if fs::read(path).ok().as_deref() != Some(old.as_bytes()) {
        return Err(CommandError::FileChanged { file: path.display().to_string() }.into());
    }
    fs::remove_file(path).map_err(|error| Failure::file("remove", path, &error))?;
    if let Some(directory) = client.directory() {
        // It stays if it has other files.
        let _ = fs::remove_dir(directory);
    }
    Ok(())
}

/// Takes the permissions of others away.
fn keep_to_user(permissions: &mut fs::Permissions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        permissions.set_mode(permissions.mode() & !0o077);
    }
    #[cfg(not(unix))]
    let _ = permissions;
}

fn temporary_file(directory: &Path, reader: Reader) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".masque-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The user's umask applies, as for any new file.
        let mode = if reader == Reader::User { 0o600 } else { 0o666 };
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = reader;
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
