//! Texts that an entry takes from a file of its own: `content_file = "prompts/x.md"`.
//!
//! The author of a personas.toml may be a stranger, so such a path never leads out of the directory of
//! the file, by its steps or by a symbolic link. Nor does it lead to a personas.toml: changing the text
//! of one entry would overwrite all entries. Nor to a file that usually holds secrets: a prompt is printed,
//! and sent to a model.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use persona::{Code, SECRET_FILES, limits};
use sha2::{Digest, Sha256};

use super::fault::Fault;
use crate::links::{self, canonical};
use crate::project::FILE_NAME;
use crate::settle::Stamp;

/// Bytes that all included texts of one personas.toml have together, each use counted: a small
/// file must not fill the memory by naming one large text over and over.
pub(crate) const INCLUDED_BYTES: usize = limits::FILE_BYTES;

/// Texts that take the place of files on disk, by path relative to the directory.
pub(crate) type Overlay = BTreeMap<PathBuf, String>;

/// The texts that one personas.toml includes.
#[derive(Debug)]
pub(crate) struct Includes {
    path: PathBuf,
    overlay: Overlay,
    /// Found out at the first use: most files include nothing.
    place: OnceCell<Place>,
    /// The hash of each text, by path. `None` if it could not be read.
    pub(crate) read: BTreeMap<PathBuf, Option<[u8; 32]>>,
    /// The state of each file before it was read, to detect a later change.
    pub(crate) seen: BTreeMap<PathBuf, Stamp>,
    /// How many fields take their text from a file, by the one path that it has however it is named.
    pub(crate) uses: BTreeMap<PathBuf, usize>,
    /// Uses by the entry that is being read: one that turns out to be broken is counted again.
    pending: Vec<PathBuf>,
    /// Bytes that may still be included.
    left: usize,
}

/// The directory from which a personas.toml includes texts.
#[derive(Debug)]
pub(crate) struct Place {
    /// The start of relative paths.
    path: PathBuf,
    canonical: Option<PathBuf>,
    /// The personas.toml itself.
    own: PathBuf,
}

impl Place {
    pub(crate) fn of(path: &Path) -> Self {
        let directory = directory_of(path);
        let inside = fs::canonicalize(&directory).ok();
        Self { path: directory, canonical: inside, own: canonical(path) }
    }

    /// The file that a path from [`relative_path`] leads to, there or not, where its text may be changed.
    pub(crate) fn reach(&self, relative: &Path) -> Result<PathBuf, Fault> {
        let real = canonical(&self.path.join(relative));
        self.check(&real, &relative.to_string_lossy())?;
        Ok(real)
    }

    fn check(&self, real: &Path, written: &str) -> Result<(), Fault> {
        let Some(below) = self.canonical.as_ref().and_then(|inside| real.strip_prefix(inside).ok()) else {
            let message = format!("{written:?} leads out of the directory of the file through a link");
            return Err(Fault::new(
                Code::OutsideProject,
                message,
                Some("copy the text into the directory".into()),
            ));
        };
        // The file's author did not choose the directories above.
        if is_secret(below, true) || is_secret(real, false) {
            let message = format!("{written:?} usually holds secrets, so no definition can include it");
            let hint = "name a file without secrets";
            return Err(Fault::new(Code::IncludeNotAllowed, message, Some(hint.into())));
        }
        let is_named_so = real.file_name().is_some_and(|name| name.eq_ignore_ascii_case(FILE_NAME));
        if is_named_so || real == self.own {
            let message = format!("{written:?} is a {FILE_NAME}, not a text of its own");
            let hint = "name a file that has the text alone";
            return Err(Fault::new(Code::IncludeNotAllowed, message, Some(hint.into())));
        }
        Ok(())
    }
}

/// True if a file usually holds secrets, by its own path, and by those of the directories on the way.
fn is_secret(path: &Path, with_directories: bool) -> bool {
    static SECRET: OnceLock<Gitignore> = OnceLock::new();
    let secret = SECRET.get_or_init(|| {
        let mut builder = GitignoreBuilder::new("/");
        let added = builder.case_insensitive(true).map(drop).and_then(|()| {
            SECRET_FILES.iter().try_for_each(|pattern| builder.add_line(None, pattern).map(drop))
        });
        match added.and_then(|()| builder.build()) {
            Ok(secret) => secret,
            Err(error) => unreachable!("the patterns are valid: {error}"),
        }
    });
    match with_directories {
        true => secret.matched_path_or_any_parents(path, false).is_ignore(),
        false => secret.matched(path, false).is_ignore(),
    }
}

/// The directory that relative paths start from: that of the file itself, where the path is a
/// link to it, so that a linked configuration finds its texts beside it.
pub fn directory_of(path: &Path) -> PathBuf {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match real.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => PathBuf::from("."),
    }
}

impl Includes {
    pub(crate) fn new(path: &Path, overlay: Overlay) -> Self {
        let path = path.to_owned();
        Self {
            path,
            overlay,
            place: OnceCell::new(),
            read: BTreeMap::new(),
            seen: BTreeMap::new(),
            uses: BTreeMap::new(),
            pending: Vec::new(),
            left: INCLUDED_BYTES,
        }
    }

    fn place(&self) -> &Place {
        self.place.get_or_init(|| Place::of(&self.path))
    }

    /// Notes that a field names a path, also where its text is never read.
    pub(crate) fn note(&mut self, written: &str) {
        if let Ok(relative) = relative_path(written) {
            self.note_file(&relative);
        }
    }

    /// Returns the path as it is watched, and where it leads to.
    fn note_file(&mut self, relative: &Path) -> (PathBuf, PathBuf) {
        let absolute = self.place().path.join(relative);
        let real = canonical(&absolute);
        self.read.entry(absolute.clone()).or_default();
        self.pending.push(real.clone());
        (absolute, real)
    }

    /// Counts the uses by an entry that was read to its end.
    pub(crate) fn settle(&mut self) {
        for real in self.pending.drain(..) {
            *self.uses.entry(real).or_default() += 1;
        }
    }

    /// The number of bytes that may still be read.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Forgets the uses of an entry that is read again.
    pub(crate) fn go_back(&mut self, left: usize) {
        self.forget();
        self.left = left;
    }

    /// Forgets the uses by an entry that was not read to its end.
    pub(crate) fn forget(&mut self) {
        self.pending.clear();
    }

    /// The text of an included file, exactly as it is.
    pub(crate) fn text(&mut self, written: &str) -> Result<String, Fault> {
        let relative = relative_path(written)?;
        let (absolute, real) = self.note_file(&relative);
        self.place().check(&real, written)?;
        let text = match self.overlay.get(&relative) {
            Some(text) => text.clone(),
            None => {
                let (text, stamp) = load(&absolute, &real, written)?;
                self.seen.entry(absolute.clone()).or_insert(stamp);
                text
            }
        };
        let Some(left) = self.left.checked_sub(text.len()) else {
            let message = format!("the included texts of this file have more than {INCLUDED_BYTES} bytes");
            return Err(Fault::new(Code::FileTooLarge, message, Some("split the file".into())));
        };
        self.left = left;
        self.read.insert(absolute, Some(Sha256::digest(&text).into()));
        Ok(text)
    }
}

fn load(absolute: &Path, real: &Path, written: &str) -> Result<(String, Stamp), Fault> {
    let unreadable = |error: &std::io::Error| unreadable(absolute, written, error);
    let file = open(real).map_err(|error| unreadable(&error))?;
    let Some(data) = file.metadata().ok().filter(Metadata::is_file) else {
        let message = format!("{written:?} is not a file");
        return Err(Fault::new(Code::NotAFile, message, Some("name a text file".into())));
    };
    let mut bytes = Vec::new();
    let most = limits::LONG_TEXT_BYTES;
    let limit = u64::try_from(most + 1).unwrap_or(u64::MAX);
    file.take(limit).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() > most {
        let message = format!("{written:?} has more than {most} bytes");
        return Err(Fault::new(Code::FileTooLarge, message, Some("split it".into())));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("{written:?} is not UTF-8 (byte {at})");
        Fault::new(Code::NotUtf8, message, Some("save it as UTF-8 text".into()))
    })?;
    Ok((text, Stamp::of(&data)))
}

/// Opens a file without blocking on a pipe that has no writer.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

fn unreadable(path: &Path, written: &str, error: &std::io::Error) -> Fault {
    if links::real(path).is_err() {
        let hint = "name a text file, or write the text here";
        let message = format!("{written:?} is a link that leads to itself");
        return Fault::new(Code::FileFailed, message, Some(hint.into()));
    }
    if error.kind() != ErrorKind::NotFound {
        return Fault::new(Code::of_io(error), format!("{written:?} cannot be read: {error}"), None);
    }
    if path.is_symlink() {
        let hint = "create what it leads to, or write the text here";
        let message = format!("{written:?} is a link that leads nowhere");
        return Fault::new(Code::FileNotFound, message, Some(hint.into()));
    }
    let hint = "create it, relative to the directory of this file, or write the text here";
    Fault::new(Code::FileNotFound, format!("{written:?} is missing"), Some(hint.into()))
}

/// The steps of a path that stays below its directory, without the idle ones.
pub(crate) fn relative_path(written: &str) -> Result<PathBuf, Fault> {
    let outside = || {
        let hint = "write it relative to the directory of this file, without \"..\"";
        let message = format!("{written:?} leads out of the directory of the file");
        Fault::new(Code::OutsideProject, message, Some(hint.into()))
    };
    let mut steps = PathBuf::new();
    for component in Path::new(written).components() {
        match component {
            Component::Normal(step) => steps.push(step),
            Component::CurDir => {}
            _ => return Err(outside()),
        }
    }
    if steps.as_os_str().is_empty() || written.contains('\0') {
        return Err(Fault::new(Code::InvalidValue, "expected the path of a text file", None));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_of_a_text_counts() {
        let overlay = Overlay::from([("a.md".into(), "x".repeat(40))]);
        let mut includes = Includes { left: 100, ..Includes::new(Path::new("personas.toml"), overlay) };
        assert!(includes.text("a.md").is_ok() && includes.text("./a.md").is_ok());
        let fault = includes.text("a.md").expect_err("too much").into_mistake();
        assert_eq!(fault.cause, Code::FileTooLarge, "{fault:?}");
        includes.settle();
        assert_eq!(includes.uses.into_values().collect::<Vec<_>>(), [3]);
    }
}
