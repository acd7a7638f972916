//! Working trees that Masque made: how they are recognised, looked at and removed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::git::{Git, fields};
use crate::process::{kill_marked, works_in};
use crate::repository::path_of;
use crate::{CommitId, Error, GitProgram, Label, Repository, Result, Worktrees, limits, lock};

/// Written once a working tree is complete. A tree without it was never handed out.
const MARKER: &str = "masque.json";
/// Written before a tree is removed, once nothing in it is of value any more.
const REMOVING: &str = "masque-removing";

/// A working tree in its own directory, linked to the user's repository.
#[derive(Debug, Clone)]
pub struct Tree {
    program: GitProgram,
    path: PathBuf,
    /// Its administrative directory, in `worktrees` of the repository.
    admin: PathBuf,
}

/// What a working tree is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marker {
    pub(crate) track: String,
    pub(crate) ticket: String,
    pub(crate) base: CommitId,
    /// True if it was made again and lacks what its checkpoint has, which was not restored so far.
    #[serde(default)]
    pub(crate) lacks_checkpoint: bool,
}

impl Marker {
    pub(crate) fn new(track: &Label, ticket: &Label, base: &CommitId) -> Self {
        let (track, ticket) = (track.to_string(), ticket.to_string());
        Self { track, ticket, base: base.clone(), lacks_checkpoint: false }
    }
}

/// What a place holds.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// Complete, and what it is for.
    Complete(Tree, Marker),
    /// Its creation or its removal did not end.
    Unfinished(Tree),
    /// Git knows it, but the directory is gone.
    Gone(Tree),
    /// Something that git does not know as this worktree.
    Foreign,
}

/// What differs from the head. Paths are as git has them, relative to the top.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) changed: Vec<Vec<u8>>,
    pub(crate) untracked: Vec<Vec<u8>>,
}

impl Status {
    pub(crate) fn is_clean(&self) -> bool {
        self.changed.is_empty() && self.untracked.is_empty()
    }
}

impl Tree {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn admin(&self) -> &Path {
        &self.admin
    }

    pub(crate) fn program(&self) -> &GitProgram {
        &self.program
    }

    pub(crate) fn git(&self) -> Git {
        Git::in_tree(&self.program, &self.admin, &self.path)
    }

    /// The mark of processes that run commands here.
    pub(crate) fn mark(&self) -> String {
        self.path.display().to_string()
    }

    /// Removes locks of git that a killed process left. A young one may have a living process, which then
    /// works in the directory.
    pub(crate) fn remove_stale_locks(&self) {
        for path in ["index.lock", "HEAD.lock"].map(|name| self.admin.join(name)) {
            if path.exists() {
                let is_used = works_in(&self.path).unwrap_or(true);
                lock::remove_stale(&path, if is_used { limits::STALE_LOCK } else { Duration::ZERO });
            }
        }
    }

    pub(crate) fn write_marker(&self, marker: &Marker) -> Result<()> {
        let text = serde_json::to_vec(marker).unwrap_or_default();
        write_whole(&self.admin.join(MARKER), &text)
    }

    pub(crate) fn marker(&self) -> Option<Marker> {
        serde_json::from_slice(&self.note(MARKER)?).ok()
    }

    /// Notes that the worktree lacks nothing of its checkpoint any more.
    pub(crate) fn has_checkpoint(&self) -> Result<()> {
        match self.marker() {
            Some(marker) if marker.lacks_checkpoint => {
                self.write_marker(&Marker { lacks_checkpoint: false, ..marker })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn note(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.admin.join(name)).ok()
    }

    pub(crate) fn write_note(&self, name: &str, text: &[u8]) -> Result<()> {
        write_whole(&self.admin.join(name), text)
    }

    pub(crate) fn remove_note(&self, name: &str) {
        let _ = std::fs::remove_file(self.admin.join(name));
    }

    /// True while a merge, a rebase or the like is under way.
    pub(crate) fn is_busy(&self) -> bool {
        is_busy(&self.admin)
    }

    /// True if everything of value was proven to be elsewhere.
    pub(crate) fn is_being_removed(&self) -> bool {
        self.admin.join(REMOVING).exists()
    }

    /// Removes directory and registration. The caller has the proof that nothing is lost. Killed in
    /// between, the next look at the place finishes it.
    pub(crate) async fn remove(&self) -> Result<()> {
        if self.admin.exists() {
            write_whole(&self.admin.join(REMOVING), b"")?;
        }
        let (path, admin, mark) = (self.path.clone(), self.admin.clone(), self.mark());
        let removed = tokio::task::spawn_blocking(move || {
            kill_marked(&mark);
            remove_directory(&path)?;
            // First the file that ties both, so that half of the rest is not taken for a worktree.
            match std::fs::remove_file(admin.join("gitdir")) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::file(&admin.join("gitdir"))(error))
                }
                _ => remove_directory(&admin),
            }
        });
        removed.await.map_err(|error| Error::File { path: self.path.clone(), source: error.into() })?
    }
}

/// True while a merge, a rebase or the like is under way in the working tree of a git directory.
pub(crate) fn is_busy(git_dir: &Path) -> bool {
    let signs =
        ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer"];
    signs.iter().any(|name| git_dir.join(name).exists())
}

/// Removes a directory with everything below it. A missing one is fine. Directories that a test made
/// read-only are made writable.
pub(crate) fn remove_directory(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            make_writable(path);
            std::fs::remove_dir_all(path).map_err(Error::file(path))
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file(path)(error)),
        _ => Ok(()),
    }
}

fn make_writable(directory: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700));
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        // The type of the entry itself: a link is not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// Writes a file in one step, so that no reader sees a part of it.
pub(crate) fn write_whole(path: &Path, text: &[u8]) -> Result<()> {
    let directory = path.parent().unwrap_or(path);
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        std::io::Write::write_all(&mut file, text)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)
    };
    write().map(drop).map_err(Error::file(path))
}

/// What differs from the head in the working tree that git runs in, as its index has it. Writes nothing.
pub(crate) async fn status(git: &Git) -> Result<Status> {
    let output = git
        .call(["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=none"])
        .slow()
        .ok()
        .await?;
    let mut status = Status::default();
    let mut entries = fields(&output);
    while let Some(entry) = entries.next() {
        // The number of fields before the path.
        let before = match entry.first() {
            Some(b'?') => 1,
            Some(b'1') => 8,
            Some(b'2') => 9,
            Some(b'u') => 10,
            _ => continue,
        };
        let path = entry.splitn(before + 1, |byte| *byte == b' ').last().unwrap_or_default().to_vec();
        match entry.first() {
            Some(b'?') => status.untracked.push(path),
            first => {
                status.changed.push(path);
                if first == Some(&b'2') {
                    // The path that it was renamed from.
                    status.changed.extend(entries.next().map(<[u8]>::to_vec));
                }
            }
        }
    }
    Ok(status)
}

impl Worktrees {
    /// Looks at a place.
    pub(crate) fn find(&self, path: &Path) -> Result<Found> {
        let program = self.repository().program().clone();
        let admin = registration(self.repository(), path)?;
        let exists = path.symlink_metadata().is_ok();
        let Some(admin) = admin else {
            let is_link = path.is_symlink();
            let is_empty = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            return Ok(if !exists || is_empty && !is_link { Found::Nothing } else { Found::Foreign });
        };
        let tree = Tree { program, path: path.to_path_buf(), admin };
        if !exists {
            return Ok(Found::Gone(tree));
        }
        let marker = tree.marker();
        let is_linked = link_of(path).is_some_and(|link| link == tree.admin);
        Ok(match marker {
            _ if tree.is_being_removed() => Found::Unfinished(tree),
            Some(marker) if is_linked => Found::Complete(tree, marker),
            Some(_) => Found::Foreign,
            None => Found::Unfinished(tree),
        })
    }

    /// The tree that git knows at a path, in whatever state.
    pub(crate) fn registered(&self, path: &Path) -> Result<Option<Tree>> {
        let program = self.repository().program().clone();
        let admin = registration(self.repository(), path)?;
        Ok(admin.map(|admin| Tree { program, path: path.to_path_buf(), admin }))
    }

    /// Makes a working tree in a place where nothing is. `target` is a branch or `--detach` and a commit.
    pub(crate) async fn add(&self, path: &Path, target: &[&str], marker: &Marker) -> Result<Tree> {
        if let Some(parent) = path.parent() {
            crate::places::make_directory(parent)?;
        }
        let (options, commit) = target.split_at(target.len() - 1);
        // From the user's checkout, because the new worktree inherits its sparse patterns.
        let git = self.repository().users_git();
        git.call(["worktree", "add", "--quiet"]).args(options).arg(path).args(commit).slow().ok().await?;
        let Some(admin) = registration(self.repository(), path)? else {
            return Err(Error::WorktreeUnsound { path: path.to_path_buf() });
        };
        let tree = Tree { program: self.repository().program().clone(), path: path.to_path_buf(), admin };
        self.fill_submodules(&tree).await?;
        tree.write_marker(marker)?;
        Ok(tree)
    }

    /// Fails if a tree whose creation did not end holds a file that its commit lacks. It was never handed
    /// out, so it should hold nothing else.
    pub(crate) async fn prove_unused(&self, tree: &Tree, commit: &CommitId) -> Result<()> {
        let index = self.temp_file()?;
        let git = Git::in_tree(self.repository().program(), self.repository().common_dir(), tree.path());
        git.call(["read-tree"]).arg(commit).env("GIT_INDEX_FILE", &index).ok().await?;
        let others =
            git.call(["ls-files", "--others", "-z"]).env("GIT_INDEX_FILE", &index).slow().ok().await?;
        if others.is_empty() {
            Ok(())
        } else {
            Err(Error::WorktreeUnsound { path: tree.path().to_path_buf() })
        }
    }

    /// The path of a file that does not exist, for an index of our own.
    pub(crate) fn temp_file(&self) -> Result<tempfile::TempPath> {
        let directory = self.temp();
        let make = || {
            let path = tempfile::NamedTempFile::new_in(&directory)?.into_temp_path();
            // Git refuses an empty index.
            std::fs::remove_file(&path)?;
            Ok(path)
        };
        make().map_err(Error::file(&directory))
    }
}

/// The administrative directory of a worktree at a path.
fn registration(repository: &Repository, path: &Path) -> Result<Option<PathBuf>> {
    let directory = repository.common_dir().join("worktrees");
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file(&directory)(error)),
    };
    let wanted = path.join(".git");
    let is_wanted =
        |admin: &PathBuf| std::fs::read(admin.join("gitdir")).is_ok_and(|text| path_of(&text) == wanted);
    Ok(entries.flatten().map(|entry| entry.path()).find(is_wanted))
}

/// The administrative directory that a worktree names in its `.git` file.
fn link_of(path: &Path) -> Option<PathBuf> {
    let file = path.join(".git");
    let is_file = file.symlink_metadata().ok()?.is_file();
    let text = std::fs::read(file).ok().filter(|text| is_file && text.len() < 16 * 1024)?;
    path_of(text.strip_prefix(b"gitdir: ")?).canonicalize().ok()
}

/// The registrations of working trees below a directory.
pub(crate) fn registered_below(repository: &Repository, directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(repository.common_dir().join("worktrees")) else { return Vec::new() };
    let paths = entries.flatten().filter_map(|entry| {
        let path = path_of(&std::fs::read(entry.path().join("gitdir")).ok()?);
        Some(path.parent()?.to_path_buf()).filter(|path| path.starts_with(directory))
    });
    paths.take(limits::LISTED_PATHS).collect()
}
