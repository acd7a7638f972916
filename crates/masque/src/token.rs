//! The token of the user's servers, in a file that only the user can read.
//!
//! One token serves all servers of a user: a browser keeps one cookie for all ports of this machine.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use server::Token;

use crate::failure::{CommandError, Failure, Result};
use crate::locations::Directories;

/// Maximum size of the file.
const MOST_BYTES: u64 = 4 * 1024;

/// A token and where it is kept.
#[derive(Debug)]
pub(crate) struct UserToken {
    pub(crate) token: Token,
    /// None if it could not be written: then it is lost with the process.
    pub(crate) file: Option<PathBuf>,
    pub(crate) warning: Option<String>,
}

impl UserToken {
    /// The token of a named file, or the user's own. Makes one if there is none.
    pub(crate) fn open(named: Option<&Path>, directories: Option<&Directories>) -> Result<Self> {
        match (named, directories) {
            (Some(named), _) => Self::open_named(named),
            (None, Some(directories)) => Self::open_own(&directories.token_file()),
            (None, None) => Ok(Self::passing("there is no home directory to keep it in")),
        }
    }

    /// The user's own token, if there is one.
    pub(crate) fn peek(directories: &Directories) -> Option<Token> {
        read(&directories.token_file()).ok()?.token
    }

    /// A file that the user named. Its permissions are the user's decision.
    fn open_named(path: &Path) -> Result<Self> {
        let token = match read(path)?.token {
            Some(token) => token,
            None => make(path).map_err(|error| Failure::file("write", path, &error))?,
        };
        Ok(Self { token, file: Some(path.to_path_buf()), warning: None })
    }

    /// The file in the user's own data directory. One that others could read has no secret in it.
    fn open_own(path: &Path) -> Result<Self> {
        let Content { token, is_private } = read(path)?;
        if let (Some(token), true) = (token, is_private) {
            return Ok(Self { token, file: Some(path.to_path_buf()), warning: None });
        }
        let warning = (!is_private).then(|| {
            let path = path.display();
            format!("{path} could be read by other users; it has a new token now: connect clients again")
        });
        match make(path) {
            Ok(token) => Ok(Self { token, file: Some(path.to_path_buf()), warning }),
            Err(error) => Ok(Self::passing(&format!("cannot write {}: {error}", path.display()))),
        }
    }

    fn passing(why: &str) -> Self {
        let warning = format!("the token holds until the server stops: {why}");
        Self { token: Token::generate(), file: None, warning: Some(warning) }
    }
}

/// The content of a file. An empty one, as a power cut may leave it, counts as missing.
struct Content {
    token: Option<Token>,
    /// True if only the user can read it.
    is_private: bool,
}

fn read(path: &Path) -> Result<Content> {
    let unreadable = |error: &io::Error| Failure::file("read", path, error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Content { token: None, is_private: true });
        }
        Err(error) => return Err(unreadable(&error)),
    };
    let is_private = is_private(&file).map_err(|error| unreadable(&error))?;
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text).map_err(|error| unreadable(&error))?;
    let text = String::from_utf8_lossy(&text);
    let text = text.trim();
    let token = Token::parse(text);
    if token.is_none() && !text.is_empty() {
        return Err(CommandError::InvalidToken { path: path.display().to_string() }.into());
    }
    Ok(Content { token, is_private })
}

#[cfg(unix)]
fn is_private(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    let found = file.metadata()?;
    Ok(found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Writes a new token in place of the file, at once. `tempfile` creates files that only the owner can read.
fn make(path: &Path) -> io::Result<Token> {
    let token = Token::generate();
    let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new().prefix(".token-").tempfile_in(directory)?;
    temporary.write_all(format!("{}\n", token.expose()).as_bytes())?;
    temporary.as_file().sync_all()?;
    let is_new = !path.exists();
    let kept = if is_new { temporary.persist_noclobber(path) } else { temporary.persist(path) };
    match kept {
        Ok(_) => Ok(token),
        // Another process was faster.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            let other = read(path).ok().and_then(|content| content.token);
            other.ok_or(error.error)
        }
        Err(error) => Err(error.error),
    }
}

#[cfg(test)]
mod tests;
