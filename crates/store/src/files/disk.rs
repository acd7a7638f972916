//! Reading a file within bounds, holding it against other processes, and putting another text in
//! its place in a single step.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use persona::limits;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::document::hex;
use crate::{Error, Result};

/// How often a lock that somebody else holds is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(20);
/// Links that are followed to the file that is replaced.
const LINKS: usize = 40;
/// How often a file that somebody saves over and over is put back before it is left as it is.
const TURNS: usize = 10;

/// The bytes of a file; none where there is no file.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let failed = |source| Error::File { path: path.display().to_string(), source };
    let mut options = File::options();
    options.read(true);
    // Opening must not wait, should this be a pipe that nobody writes to.
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let data = file.metadata().map_err(failed)?;
    if !data.is_file() {
        return Err(Error::Invalid(format!("{} is not a file", path.display())));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or(0).min(limits::FILE_BYTES));
    // One byte more than allowed tells that there are too many.
    file.take(limits::FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > limits::FILE_BYTES {
        let most = limits::FILE_BYTES;
        return Err(Error::Invalid(format!(
            "{} has more than {most} bytes; split it into a global and a project file",
            path.display()
        )));
    }
    Ok(Some(bytes))
}

/// A file that this process alone writes to, among those that ask.
#[derive(Debug)]
pub struct Lock {
    /// Closing it lets go.
    _file: File,
}

impl Lock {
    /// Waits for the lock on a file. It lies in a directory of its own, beside nobody's files.
    pub fn acquire(directory: &Path, origin: &str, timeout: Duration) -> Result<Self> {
        fs::create_dir_all(directory)
            .map_err(|source| Error::File { path: directory.display().to_string(), source })?;
        let path = directory.join(format!("{}.lock", hex(&Sha256::digest(origin.as_bytes()))));
        let failed = |source| Error::File { path: path.display().to_string(), source };
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        let asked = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if asked.elapsed() < timeout => {
                    std::thread::sleep(TRY_AGAIN);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::FileBusy { path: origin.to_owned() });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    #[error("the file is not what it was when it was read")]
    Changed,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Puts a new text in the place of the one that is expected to be there, or makes a file where
/// none is expected. It survives a power failure once this returns. A text that somebody saved
/// meanwhile stays, and nothing is written.
pub fn replace(path: &Path, expected: Option<&[u8]>, new: &[u8]) -> std::result::Result<(), ReplaceError> {
    let target = real(path)?;
    let directory = beside(&target);
    make_directory(directory)?;
    let mut temporary = temporary(directory, expected.map(|_| target.as_path()))?;
    temporary.write_all(new)?;
    temporary.as_file().sync_all()?;
    match expected {
        None => {
            temporary.persist_noclobber(&target).map(drop).map_err(|failed| match failed.error.kind() {
                io::ErrorKind::AlreadyExists => ReplaceError::Changed,
                _ => failed.error.into(),
            })?;
        }
        Some(expected) => swap(temporary, &target, expected, new)?,
    }
    sync_directory(directory)?;
    Ok(())
}

/// Refuses a file that another cannot take the place of: that takes a new one beside it.
pub fn check_replaceable(path: &Path) -> Result<()> {
    let made = real(path).and_then(|target| temporary(beside(&target), Some(&target)));
    made.map(drop).map_err(|source| Error::File { path: path.display().to_string(), source })
}

/// The directory of a file.
fn beside(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The file that links lead to; one at the end of a broken link is the one that it names.
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&at) {
            Ok(target) => at = at.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(at),
        }
    }
    Err(io::Error::other(format!("{} is a link that leads to itself", path.display())))
}

/// Makes a directory with those above it, so that they are there after a power failure too.
fn make_directory(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    directory.ancestors().skip(1).take(2).filter(|above| above.is_dir()).try_for_each(sync_directory)
}

fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// A file beside the one that it will replace, with the rights of that one.
fn temporary(directory: &Path, old: Option<&Path>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".personas-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let Some(old) = old else {
            // The user's own mask decides, as for any new file.
            return builder.permissions(fs::Permissions::from_mode(0o666)).tempfile_in(directory);
        };
        let file = builder.tempfile_in(directory)?;
        let (Ok(was), Ok(is)) = (fs::metadata(old), file.as_file().metadata()) else { return Ok(file) };
        if (was.uid(), was.gid()) != (is.uid(), is.gid()) {
            // Only a privileged user can give files away; the rest keeps the rights at least.
            let _ = std::os::unix::fs::fchown(file.as_file(), Some(was.uid()), Some(was.gid()));
        }
        file.as_file().set_permissions(was.permissions())?;
        Ok(file)
    }
    #[cfg(not(unix))]
    {
        let _ = old;
        builder.tempfile_in(directory)
    }
}

/// Lets the new file and the old one change places, looks at what came out, and changes back where
/// that is not what was expected: an edit that was saved in this moment is not lost.
fn swap(
    temporary: NamedTempFile,
    target: &Path,
    expected: &[u8],
    new: &[u8],
) -> std::result::Result<(), ReplaceError> {
    // Looked at first, so that the new text is in place for nobody to see where it must not stay.
    still(target, expected)?;
    match exchange(temporary.path(), target) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReplaceError::Changed),
        Err(error) if is_unsupported(&error) => return rename_over(temporary, target),
        Err(error) => return Err(error.into()),
    }
    let mut held = fs::read(temporary.path())?;
    if held == expected {
        return Ok(());
    }
    // What came out was saved by somebody else, so it goes back. Whenever something else comes out
    // for it than was put in, that was saved later still, and goes back in its turn.
    let mut placed = new.to_vec();
    for _ in 0..TURNS {
        match exchange(temporary.path(), target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReplaceError::Changed),
            other => other?,
        }
        let out = fs::read(temporary.path())?;
        if out == placed {
            return Err(ReplaceError::Changed);
        }
        placed = std::mem::replace(&mut held, out);
    }
    rename_over(temporary, target)?;
    Err(ReplaceError::Changed)
}

/// Whether a file is what it was when it was read.
fn still(target: &Path, expected: &[u8]) -> std::result::Result<(), ReplaceError> {
    match fs::read(target) {
        Ok(now) if now == expected => Ok(()),
        Ok(_) => Err(ReplaceError::Changed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ReplaceError::Changed),
        Err(error) => Err(error.into()),
    }
}

/// Where files cannot change places, the moment between looking and renaming remains.
fn rename_over(temporary: NamedTempFile, target: &Path) -> std::result::Result<(), ReplaceError> {
    temporary.persist(target).map(drop).map_err(|failed| failed.error.into())
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether the file system cannot let two files change places.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests;
