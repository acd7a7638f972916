//! The program that a client starts.

use std::path::{Path, PathBuf};

use super::ClientFile;
use crate::failure::{CommandError, Result};
use crate::locations::on_path;

/// The name of the program on the PATH.
const PROGRAM: &str = "masque";

/// The command in a client's file. A team shares the file of a project, so that has the name alone. The
/// user's own has a path, because a client that a desktop starts does not see the PATH of the shell.
pub(super) fn start_by(target: &ClientFile) -> Result<PathBuf> {
    match target.is_shared {
        true => Ok(PathBuf::from(PROGRAM)),
        false => executable(),
    }
}

/// The path that starts this program. Prefers `masque` on the PATH if it is this program, because a
/// package manager keeps it up to date.
pub(in crate::commands) fn executable() -> Result<PathBuf> {
    let this = this_program()?;
    Ok(on_path(PROGRAM).filter(|named| is_same(named, &this)).unwrap_or(this))
}

/// A note about the program that the name means here, if that is not this one.
pub(super) fn note_about_path(target: &ClientFile) -> Result<Option<String>> {
    if !target.is_shared {
        return Ok(None);
    }
    let this = this_program()?;
    Ok(match on_path(PROGRAM) {
        Some(named) if is_same(&named, &this) => None,
        Some(named) => Some(format!("on your PATH, `masque` is {}, not {}", named.display(), this.display())),
        None => Some(format!(
            "`masque` is not on your PATH, so clients cannot start it; add {} to PATH",
            this.parent().unwrap_or(&this).display()
        )),
    })
}

fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| {
        CommandError::Internal(format!("the path of this program is unknown: {error}")).into()
    })
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
