//! Reading a file within bounds, holding it against other processes, and putting another text in
//! its place in a single step.

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
pub use replace::{ReplaceError, Replaced, Replacement, check_replaceable, replace, replace_all};

/// How often a lock that somebody else holds is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(20);

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
        Err(error) => return Err(failed(links::real(path).err().unwrap_or(error))),
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

#[cfg(test)]
mod tests;
