//! Errors of the crate. A file that cannot be shown is no error: see [`crate::Reason`].

use std::io;
use std::path::PathBuf;

/// A failure to read a project.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The root is missing, is no directory or cannot be opened.
    #[error("cannot open the project {}: {source}", path.display())]
    Root { path: PathBuf, source: io::Error },
}
