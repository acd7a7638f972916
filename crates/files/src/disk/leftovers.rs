//! Temporary files that a killed process left behind.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The start and end of a temporary file's name, with a random word between them.
pub(super) const PREFIX: &str = ".personas-";
pub(super) const SUFFIX: &str = ".tmp";
const RANDOM_CHARS: usize = 6;

/// The minimum age for removal without a lock: a younger file may still be written, or hold content from
/// before a crash.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Two files that changed places did so in the same moment. Clocks of file systems are coarse.
const MOMENT: Duration = Duration::from_secs(1);

/// Removes temporary files that no process uses. One that changed places with one of our files, just before
/// a crash, may hold a text that was saved by hand: it stays until it is old.
pub(super) fn clear_unused(directory: &Path, files: &[PathBuf]) {
    let replaced = files.iter().filter_map(|file| named_at(&fs::symlink_metadata(file).ok()?));
    let replaced: Vec<SystemTime> = replaced.collect();
    let now = SystemTime::now();
    remove(directory, |data| {
        let together = |named| replaced.iter().any(|replaced| difference(named, *replaced) <= MOMENT);
        !named_at(data).is_some_and(together) || is_older(data, now)
    });
}

fn difference(one: SystemTime, other: SystemTime) -> Duration {
    one.duration_since(other).unwrap_or_else(|error| error.duration())
}

pub(super) fn any(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| is_ours(&entry.file_name()))
}

/// Removes old temporary files. One that cannot be removed does no harm.
pub(super) fn clear(directory: &Path) {
    clear_as_of(directory, SystemTime::now());
}

fn clear_as_of(directory: &Path, now: SystemTime) {
    remove(directory, |data| is_older(data, now));
}

/// Removes those of our files that are left behind, but no links and no directories.
fn remove(directory: &Path, is_left: impl Fn(&Metadata) -> bool) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten().filter(|entry| is_ours(&entry.file_name())) {
        if entry.metadata().is_ok_and(|data| data.is_file() && is_left(&data)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_ours(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn is_older(data: &Metadata, now: SystemTime) -> bool {
    named_at(data).and_then(|since| now.duration_since(since).ok()).is_some_and(|age| age > AGE)
}

/// The time at which a file got its name. An exchanged file may have been written long before.
fn named_at(data: &Metadata) -> Option<SystemTime> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let seconds = u64::try_from(data.ctime()).ok()?;
        let nanos = u32::try_from(data.ctime_nsec()).ok()?;
        Some(SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos))
    }
    #[cfg(not(unix))]
    data.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(home: &Path) -> PathBuf {
        let made = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(home);
        made.expect("a file").keep().expect("it stays").1
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_no_process_uses_goes_at_once() {
        let home = tempfile::tempdir().expect("a directory");
        let personas = home.path().join("personas.toml");
        fs::write(&personas, "mine").expect("it can be written");
        std::thread::sleep(MOMENT + Duration::from_millis(200));
        let unplaced = left(home.path());
        // A link with such a name is not ours, and its target even less.
        let link = home.path().join(".personas-abcdef.tmp");
        std::os::unix::fs::symlink(&personas, &link).expect("a link");
        clear_unused(home.path(), std::slice::from_ref(&personas));
        assert!(!unplaced.exists());
        assert!(link.exists() && personas.exists());

        // The text that another one replaced a moment ago may be the only copy.
        let before = left(home.path());
        fs::rename(&personas, home.path().join("aside")).expect("it moves");
        fs::write(&personas, "new").expect("it can be written");
        clear_unused(home.path(), std::slice::from_ref(&personas));
        assert!(before.exists());
        std::thread::sleep(MOMENT + Duration::from_millis(200));
        fs::write(&personas, "newer").expect("it can be written");
        clear_unused(home.path(), std::slice::from_ref(&personas));
        assert!(!before.exists());
    }

    #[test]
    fn a_leftover_file_goes_after_a_day_and_nothing_else_does() {
        let home = tempfile::tempdir().expect("a directory");
        let made = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(home.path());
        let (_, left) = made.expect("a file").keep().expect("it stays");
        let others = [
            ".personas-.tmp",
            ".personas-abc.tmp",
            ".personas-ab_def.tmp",
            ".personas-abcdef.tmp~",
            "personas.toml",
        ];
        for other in others {
            fs::write(home.path().join(other), "mine").expect("it can be written");
        }
        fs::create_dir(home.path().join(".personas-abcdef.tmp")).expect("a directory");
        let after = |hours: u64| SystemTime::now() + Duration::from_secs(hours * 60 * 60);
        // Its content may be old: only the time of its name counts.
        let file = fs::File::options().write(true).open(&left).expect("it opens");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("a time");
        for now in [SystemTime::now(), after(23)] {
            clear_as_of(home.path(), now);
            assert!(left.exists());
        }
        clear_as_of(home.path(), after(25));
        assert!(!left.exists());
        assert_eq!(fs::read_dir(home.path()).expect("it is there").count(), others.len() + 1);
        clear(&home.path().join("nowhere"));
    }
}
