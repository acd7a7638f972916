//! Detects a file that is still being written. Many programs empty a file and then write it in pieces; a
//! reader in between must not take the missing rest for deleted.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file that was not touched for this long is complete.
pub const QUIET: Duration = Duration::from_millis(25);
/// The same for a file that lost all its content. After that, the loss is intended.
pub const QUIET_WHERE_EMPTY: Duration = Duration::from_millis(150);
/// The longest wait for a file that is written continuously.
pub const LIMIT: Duration = Duration::from_millis(100);
/// The same for a file that lost all its content. A change takes effect within 200 ms.
pub const LIMIT_WHERE_EMPTY: Duration = Duration::from_millis(160);
/// The interval between looks at the file.
pub const STEP: Duration = Duration::from_millis(5);

/// The state of some files at one moment. The first one may include the others.
#[derive(Debug, Clone)]
pub struct Look {
    paths: Vec<PathBuf>,
    stamps: Vec<Option<Stamp>>,
    /// The time of the last change. For a missing file, that of its directory.
    touched: Option<SystemTime>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    file: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    pub fn of(data: &Metadata) -> Self {
        Self { file: inode(data), length: data.len(), modified: data.modified().ok() }
    }
}

/// Tells a file from another one that takes its place, on systems that can.
pub(super) fn inode(data: &Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(data);
    #[cfg(not(unix))]
    {
        let _ = data;
        0
    }
}

impl Look {
    pub fn at(path: &Path) -> Self {
        let mut look = Self { paths: Vec::new(), stamps: Vec::new(), touched: None };
        look.add(path.to_owned());
        if look.stamps == [None] {
            let directory = path.parent().and_then(|directory| fs::metadata(directory).ok());
            look.touched = directory.and_then(|data| data.modified().ok());
        }
        look
    }

    /// Adds one more file.
    pub fn add(&mut self, path: PathBuf) {
        let stamp = fs::metadata(&path).ok().map(|data| Stamp::of(&data));
        self.add_as(path, stamp);
    }

    /// Adds a file with a known state.
    pub fn add_as(&mut self, path: PathBuf, stamp: Option<Stamp>) {
        self.touched = self.touched.max(stamp.as_ref().and_then(|stamp| stamp.modified));
        self.paths.push(path);
        self.stamps.push(stamp);
    }

    /// Looks at the same files again.
    pub fn again(&self) -> Self {
        let mut paths = self.paths.iter();
        let mut look = Self::at(paths.next().map_or(Path::new(""), PathBuf::as_path));
        paths.for_each(|path| look.add(path.clone()));
        look
    }

    /// Looks once more. If anything changed in between, the files count as touched just now.
    pub fn unless_touched(self) -> Self {
        // A file that is being emptied loses its length before its time of change is updated. A busy machine
        // may stop the writer between the two.
        if self.stamps.iter().flatten().any(|stamp| stamp.length == 0) {
            std::thread::sleep(QUIET);
        }
        let touched = if self.is_same(&self.again()) { self.touched } else { Some(SystemTime::now()) };
        Self { touched, ..self }
    }

    /// True if nothing has changed since.
    pub fn is_same(&self, other: &Self) -> bool {
        self.stamps == other.stamps
    }

    /// True if another file has taken the place of the first one. Such a file is complete from the start.
    pub fn is_replaced(&self, before: &Self) -> bool {
        let file = |look: &Self| look.stamps.first().cloned().flatten().map(|stamp| stamp.file);
        cfg!(unix) && file(self).is_some() && file(self) != file(before)
    }

    /// True if the files were not touched for this long, or if the clocks disagree.
    pub fn is_quiet(&self, time: Duration) -> bool {
        let age = self.touched.and_then(|touched| SystemTime::now().duration_since(touched).ok());
        age.is_none_or(|age| age >= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_quiet_after_a_while() {
        let home = tempfile::tempdir().expect("a directory");
        let (path, other) = (home.path().join("p.toml"), home.path().join("text.md"));
        let missing = Look::at(&path);
        assert!(!missing.is_quiet(Duration::from_secs(60)), "its directory is new");
        std::thread::sleep(QUIET * 2);
        assert!(missing.is_quiet(QUIET) && missing.is_same(&missing.again()));
        fs::write(&path, "one").expect("it can be written");
        let mut look = missing.again();
        assert!(!look.is_same(&missing) && !look.is_quiet(Duration::from_secs(60)));
        std::thread::sleep(QUIET * 2);
        assert!(look.is_quiet(QUIET));
        // A text that it includes is part of it.
        fs::write(&other, "text").expect("it can be written");
        look.add(other);
        assert!(!look.is_quiet(Duration::from_secs(60)) && look.is_same(&look.again()));
        fs::write(&path, "three").expect("it can be written");
        assert!(!look.is_same(&look.again()) && !look.again().is_replaced(&look));
    }

    #[test]
    fn times_to_come_are_long_ago() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("p.toml");
        let file = fs::File::create(&path).expect("a file");
        file.set_modified(SystemTime::now() + Duration::from_secs(60)).expect("a time");
        assert!(Look::at(&path).is_quiet(QUIET_WHERE_EMPTY));
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_is_a_different_file() {
        let home = tempfile::tempdir().expect("a directory");
        let (path, new) = (home.path().join("p.toml"), home.path().join("new"));
        fs::write(&path, "one").expect("it can be written");
        let before = Look::at(&path);
        fs::write(&path, "two").expect("it can be written");
        assert!(!before.again().is_replaced(&before));
        fs::write(&new, "three").expect("it can be written");
        fs::rename(&new, &path).expect("it can be renamed");
        assert!(before.again().is_replaced(&before));
        fs::remove_file(&path).expect("it can be deleted");
        assert!(!before.again().is_replaced(&before));
    }
}
