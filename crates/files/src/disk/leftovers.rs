//! What a killed process left beside a file that it was replacing.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What the names of temporary files begin and end with; between them stands a random word.
pub(super) const PREFIX: &str = ".personas-";
pub(super) const SUFFIX: &str = ".tmp";
const RANDOM_CHARS: usize = 6;

/// How long one is left alone: somebody may be writing it, or looking for what was in a file when the
/// machine went down.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes temporary files that nobody comes back for. One that cannot be removed is in nobody's way.
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

/// Whether it has stood there for long. A file that has changed places with the one that replaces it
/// may have been written long before, so what counts is when it got its name.
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
    fn what_was_left_goes_after_a_day_and_nothing_else_does() {
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
        // Its text may be older than anybody's patience: it has only just got this place.
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
