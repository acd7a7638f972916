//! Temporary files that a killed process left behind.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The start and end of a temporary file's name, with a random word between them.
pub(super) const PREFIX: &str = ".personas-";
pub(super) const SUFFIX: &str = ".tmp";
const RANDOM_CHARS: usize = 6;

/// The minimum age for removal: a younger file may still be written, or hold content from before a crash.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes old temporary files. One that cannot be removed does no harm.
pub(super) fn clear(directory: &Path) {
    clear_as_of(directory, SystemTime::now());
}

fn clear_as_of(directory: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten().filter(|entry| is_ours(&entry.file_name())) {
        let is_left = |data: Metadata| data.is_file() && is_older(&data, now);
        if entry.metadata().is_ok_and(is_left) {
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

/// True if a file is old. An exchanged file may have been written long before, so the time counts at
/// which it got its name.
fn is_older(data: &Metadata, now: SystemTime) -> bool {
    #[cfg(unix)]
    let since = {
        use std::os::unix::fs::MetadataExt as _;
        u64::try_from(data.ctime()).ok().map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    };
    #[cfg(not(unix))]
    let since = data.modified().ok();
    since.and_then(|since| now.duration_since(since).ok()).is_some_and(|age| age > AGE)
}

#[cfg(test)]
mod tests {
    use super::*;

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
