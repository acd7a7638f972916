//! Reads a file within bounds, locks it against other processes, and replaces it atomically.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use persona::limits;
use sha2::{Digest as _, Sha256};

use super::document::hex;
use super::links;
use crate::{Error, Result};

mod leftovers;
mod replace;
pub use replace::{
    Leftovers, ReplaceError, Replaced, Replacement, check_replaceable, make_directory, replace, replace_all,
};

/// The interval between attempts to take a lock that is held.
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// The bytes of a file, or `None` if there is no file.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let failed = |source| Error::File { path: path.display().to_string(), source };
    let mut options = File::options();
    options.read(true);
    // Opening must not block on a pipe without a writer.
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(links::real(path).err().unwrap_or(error))),
    };
    let data = file.metadata().map_err(failed)?;
    if !data.is_file() {
        return Err(Error::NotAFile { path: path.display().to_string() });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or(0).min(limits::FILE_BYTES));
    // Reading one byte more than allowed detects a file that is too large.
    file.take(limits::FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > limits::FILE_BYTES {
        return Err(Error::TooLarge { path: path.display().to_string(), most: limits::FILE_BYTES });
    }
    Ok(Some(bytes))
}

/// An advisory lock on a file.
#[derive(Debug)]
pub struct Lock {
    /// Closing it releases the lock.
    _file: File,
}

impl Lock {
    /// Waits for the lock of a file. Lock files have a directory of their own.
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

#[cfg(test)]
mod tests;
