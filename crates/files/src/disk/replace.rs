//! Putting other texts in the place of files: of all of them, or of none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::leftovers;
use crate::links::real;
use crate::{Error, Result};

/// The number of attempts to put back a file that is saved over and over.
const TURNS: usize = 10;

type Outcome<T> = std::result::Result<T, ReplaceError>;

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    #[error("the file is not what it was when it was read")]
    Changed,
    /// The file has its old text.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file may have its new text.
    #[error("{0}")]
    Unsettled(io::Error),
}

/// A file and its new content.
#[derive(Debug)]
pub struct Replacement {
    pub path: PathBuf,
    /// The content when it was read. `None` if the file was missing.
    pub expected: Option<Vec<u8>>,
    /// Equal to `expected` if the file only has to be unchanged.
    pub new: Vec<u8>,
}

/// Replaces the expected content of a file, or creates the file if none is expected. The result survives
/// a power failure once this returns. If the file was saved in between, nothing is written.
pub fn replace(path: &Path, expected: Option<&[u8]>, new: &[u8]) -> Outcome<()> {
    let (path, expected) = (path.to_owned(), expected.map(<[u8]>::to_vec));
    replace_all(vec![Replacement { path, expected, new: new.to_vec() }]).map(drop).map_err(|(_, error)| error)
}

/// The same for several files, one after the other. If one cannot be replaced, those before it are
/// restored; the error names the one that failed.
pub fn replace_all(replacements: Vec<Replacement>) -> std::result::Result<Replaced, (PathBuf, ReplaceError)> {
    let mut ready = Vec::new();
    for replacement in replacements {
        let path = replacement.path.clone();
        ready.push(Ready::new(replacement).map_err(|error| (path, error))?);
    }
    // Checks all files first, so that no text becomes visible that has to be taken back.
    for ready in &ready {
        ready.still().map_err(|error| (ready.path.clone(), error))?;
    }
    let mut replaced = Replaced(Vec::new());
    for ready in ready {
        let path = ready.path.clone();
        let directory = beside(&ready.target).to_owned();
        let placed = ready.place().and_then(|placed| {
            replaced.0.extend(placed);
            Ok(sync_directory(&directory)?)
        });
        if let Err(error) = placed {
            let error = match replaced.undo() {
                Ok(()) => error,
                Err(left) => ReplaceError::Unsettled(io::Error::new(left.kind(), format!("{error}; {left}"))),
            };
            return Err((path, error));
        }
    }
    let directories: BTreeSet<&Path> = replaced.0.iter().map(|placed| beside(&placed.target)).collect();
    directories.into_iter().for_each(leftovers::clear);
    Ok(replaced)
}

/// The temporary files beside a personas.toml and the texts that it includes.
#[derive(Debug)]
pub struct Leftovers(BTreeMap<PathBuf, Vec<PathBuf>>);

impl Leftovers {
    /// Looks for them. Returns none if there are none.
    pub fn find(paths: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        let mut directories: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for target in paths.into_iter().filter_map(|path| real(&path).ok()) {
            directories.entry(beside(&target).to_owned()).or_default().push(target);
        }
        directories.retain(|directory, _| leftovers::any(directory));
        (!directories.is_empty()).then_some(Self(directories))
    }

    /// Removes those that killed processes left. The caller holds the lock of the personas.toml, so that no
    /// process uses one of them.
    pub fn clear(self) {
        self.0.iter().for_each(|(directory, files)| leftovers::clear_unused(directory, files));
    }
}

/// Files that were replaced, with what they were before; that is gone once this is dropped.
#[derive(Debug)]
pub struct Replaced(Vec<Placed>);

impl Replaced {
    /// Restores everything. Content that was saved since then stays.
    pub fn undo(self) -> io::Result<()> {
        let mut failed = Ok(());
        for placed in self.0.into_iter().rev() {
            let target = placed.target.clone();
            if let Err(ReplaceError::Io(error) | ReplaceError::Unsettled(error)) = placed.undo() {
                let message = format!("{} could not be put back as it was: {error}", target.display());
                failed = Err(io::Error::new(error.kind(), message));
            }
        }
        failed
    }
}

/// A file whose new text lies beside it.
struct Ready {
    path: PathBuf,
    target: PathBuf,
    expected: Option<Vec<u8>>,
    new: Vec<u8>,
    /// `None` if the text stays.
    temporary: Option<NamedTempFile>,
}

impl Ready {
    fn new(replacement: Replacement) -> Outcome<Self> {
        let Replacement { path, expected, new } = replacement;
        let target = real(&path)?;
        let mut temporary = None;
        if expected.as_ref() != Some(&new) {
            make_directory(beside(&target), fs::DirBuilder::new().recursive(true))?;
            temporary = Some(filled(&target, expected.is_some(), &new)?);
        }
        Ok(Self { path, target, expected, new, temporary })
    }

    fn still(&self) -> Outcome<()> {
        match &self.expected {
            Some(expected) => still(&self.target, expected),
            None => Ok(()),
        }
    }

    fn place(self) -> Outcome<Option<Placed>> {
        let Self { path: _, target, expected, new, temporary } = self;
        let Some(temporary) = temporary else { return Ok(None) };
        let before = match expected {
            None => {
                let made = temporary.persist_noclobber(&target);
                made.map_err(|failed| match failed.error.kind() {
                    io::ErrorKind::AlreadyExists => ReplaceError::Changed,
                    _ => failed.error.into(),
                })?;
                Before::Nothing
            }
            Some(expected) => match swap(exchange, temporary, &target, &expected, &new)? {
                Some(file) => Before::File(file, expected),
                None => Before::Text(expected),
            },
        };
        Ok(Some(Placed { target, new, before }))
    }
}

/// A file whose new text is in its place.
#[derive(Debug)]
struct Placed {
    target: PathBuf,
    new: Vec<u8>,
    before: Before,
}

#[derive(Debug)]
enum Before {
    Nothing,
    /// The old file itself, and its text.
    File(NamedTempFile, Vec<u8>),
    /// The text of one that is gone.
    Text(Vec<u8>),
}

impl Placed {
    fn undo(self) -> Outcome<()> {
        let Self { target, new, before } = self;
        still(&target, &new)?;
        match before {
            Before::File(file, text) => swap(exchange, file, &target, &new, &text).map(drop)?,
            Before::Text(text) => rename_over(filled(&target, true, &text)?, &target)?,
            Before::Nothing => take_away(&target, &new)?,
        }
        Ok(sync_directory(beside(&target))?)
    }
}

/// Deletes a file that was created, unless another program saved over it.
fn take_away(target: &Path, made: &[u8]) -> Outcome<()> {
    let away = temporary(beside(target), Some(target))?;
    fs::rename(target, away.path())?;
    // A file that cannot be read may be another program's, and goes back.
    if fs::read(away.path()).is_ok_and(|text| text == made) {
        return Ok(());
    }
    away.persist_noclobber(target).map(drop).map_err(|failed| failed.error.into())
}

/// Refuses a file that another cannot take the place of: that takes a new one beside it.
pub fn check_replaceable(path: &Path) -> Result<()> {
    let made = real(path).and_then(|target| temporary(beside(&target), Some(&target)));
    made.map(drop).map_err(|source| Error::File { path: path.display().to_string(), source })
}

/// The directory of a file.
fn beside(target: &Path) -> &Path {
    target.parent().map_or(Path::new("."), or_here)
}

/// A directory that is named by nothing is the one that we are in.
fn or_here(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

/// Makes a directory with those above it, so that they are there after a power failure too. The builder must
/// be recursive.
pub fn make_directory(directory: &Path, builder: &fs::DirBuilder) -> io::Result<()> {
    let changing = changing(directory);
    if changing.is_empty() {
        return Ok(());
    }
    builder.create(directory)?;
    changing.into_iter().try_for_each(sync_directory)
}

/// The directories that get another one in them when a directory is made with those above it.
fn changing(directory: &Path) -> Vec<&Path> {
    let missing = directory.ancestors().map(or_here).take_while(|above| !above.is_dir());
    missing.filter_map(Path::parent).map(or_here).collect()
}

fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// A file with a text in it, beside the one whose place it takes, or where there will be one.
fn filled(target: &Path, is_there: bool, text: &[u8]) -> io::Result<NamedTempFile> {
    let mut temporary = temporary(beside(target), is_there.then_some(target))?;
    // The error of the temporary file itself would name it.
    temporary.as_file_mut().write_all(text)?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// A file beside the one that it will replace, with the rights of that one.
fn temporary(directory: &Path, old: Option<&Path>) -> io::Result<NamedTempFile> {
    made(directory, old).map_err(|error| {
        // The caller does not know of a temporary file, or of its name.
        let message = format!("no file can be made in {}: {}", directory.display(), error.kind());
        io::Error::new(error.kind(), format!("{message}; check the rights and the room there"))
    })
}

fn made(directory: &Path, old: Option<&Path>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(leftovers::PREFIX).suffix(leftovers::SUFFIX);
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
/// that is not what was expected: an edit that was saved in this moment is not lost. Returns the old
/// file, where files can change places.
fn swap(
    exchange: impl Fn(&Path, &Path) -> io::Result<()>,
    temporary: NamedTempFile,
    target: &Path,
    expected: &[u8],
    new: &[u8],
) -> Outcome<Option<NamedTempFile>> {
    match exchange(temporary.path(), target) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReplaceError::Changed),
        Err(error) if is_unsupported(&error) => {
            still(target, expected)?;
            return rename_over(temporary, target).map(|()| None);
        }
        Err(error) => return Err(error.into()),
    }
    let mut held = match fs::read(temporary.path()) {
        Ok(held) => held,
        // A file that cannot be read may be another program's, and goes back.
        Err(error) => {
            return Err(match exchange(temporary.path(), target) {
                Ok(()) => error.into(),
                Err(left) => ReplaceError::Unsettled(left),
            });
        }
    };
    if held == expected {
        return Ok(Some(temporary));
    }
    // Another program saved this file, so it goes back. If the exchange brings out something else than was
    // put in, that was saved later still, and goes back in turn.
    let mut placed = new.to_vec();
    for _ in 0..TURNS {
        match exchange(temporary.path(), target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReplaceError::Changed),
            other => other.map_err(ReplaceError::Unsettled)?,
        }
        let out = match fs::read(temporary.path()) {
            Ok(out) => out,
            Err(error) => {
                let (_, kept) = temporary.keep().map_err(|failed| failed.error)?;
                let message = format!("{error}; what was saved meanwhile may be in {}", kept.display());
                return Err(io::Error::new(error.kind(), message).into());
            }
        };
        if out == placed {
            return Err(ReplaceError::Changed);
        }
        placed = std::mem::replace(&mut held, out);
    }
    rename_over(temporary, target).map_err(|error| match error {
        ReplaceError::Io(error) => ReplaceError::Unsettled(error),
        other => other,
    })?;
    Err(ReplaceError::Changed)
}

/// Fails if a file is not as expected.
fn still(target: &Path, expected: &[u8]) -> Outcome<()> {
    match fs::read(target) {
        Ok(now) if now == expected => Ok(()),
        Ok(_) => Err(ReplaceError::Changed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ReplaceError::Changed),
        Err(error) => Err(error.into()),
    }
}

/// On systems without an atomic exchange, a save between check and rename is lost.
fn rename_over(temporary: NamedTempFile, target: &Path) -> Outcome<()> {
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

/// True if the file system cannot exchange two files.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests;
