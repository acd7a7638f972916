//! Every byte of the user's that Masque must not write.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Below the git directory, what is Masque's or is shared by all who write commits.
const OURS: &[&str] = &[
    "objects",
    "worktrees",
    "rr-cache",
    "packed-refs",
    "refs/masque",
    "refs/test",
    "refs/heads/masque",
    "logs/refs/masque",
    "logs/refs/heads/masque",
];

/// Contents, modes and times of the files in a checkout: the index, the configuration, the stash and the
/// references of the user among them.
#[derive(Debug)]
pub(crate) struct Untouched {
    top: PathBuf,
    /// Below the git directory, what may differ.
    except: Vec<PathBuf>,
    files: Files,
}

/// Mode, time and content by path.
type Files = BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>;

impl Untouched {
    pub(crate) fn at(top: &Path) -> Self {
        Self::except(top, &[])
    }

    /// The same without some paths below the git directory.
    pub(crate) fn except(top: &Path, paths: &[&str]) -> Self {
        let except: Vec<PathBuf> = OURS.iter().chain(paths).map(PathBuf::from).collect();
        let files = files(top, &except);
        assert!(files.keys().any(|path| path.ends_with("HEAD") || path.ends_with(".git")), "a checkout");
        Self { top: top.to_path_buf(), except, files }
    }

    /// Fails if anything differs now.
    #[track_caller]
    pub(crate) fn holds(&self) {
        let now = files(&self.top, &self.except);
        let all = self.files.keys().chain(now.keys());
        let mut differing: Vec<&PathBuf> =
            all.filter(|path| self.files.get(*path) != now.get(*path)).collect();
        differing.dedup();
        assert!(differing.is_empty(), "{differing:?} changed");
    }
}

fn files(top: &Path, except: &[PathBuf]) -> Files {
    let mut files = Files::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for entry in std::fs::read_dir(top.join(&below)).expect("a directory") {
            let path = below.join(entry.expect("an entry").file_name());
            let full = top.join(&path);
            let metadata = full.symlink_metadata().expect("an entry");
            if path.strip_prefix(".git").is_ok_and(|path| except.iter().any(|it| it == path)) {
                continue;
            }
            if metadata.is_dir() {
                open.push(path);
                continue;
            }
            let content = match metadata.is_symlink() {
                true => full.read_link().expect("a link").into_os_string().into_encoded_bytes(),
                false => std::fs::read(&full).expect("a file"),
            };
            files.insert(path, (metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), content));
        }
    }
    files
}
