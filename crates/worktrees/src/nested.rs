//! Repositories in a worktree: those of submodules, and those that a worker made. Neither an archive nor a
//! commit of the worktree holds what is in them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::Git;
use crate::overlooked::Overlooked;
use crate::repository::path_of;
use crate::{Error, Result, Tree, Worktrees};

/// The repositories that go with a worktree.
#[derive(Debug, Default)]
struct Nested {
    /// The directory of each, with its working tree, if that is there.
    repositories: BTreeMap<PathBuf, Option<PathBuf>>,
}

/// True if a repository in a worktree has changes, or commits that are nowhere else: not in the user's
/// clone of a submodule, and in no branch of a remote. Directories that git ignores are searched, too.
pub(crate) async fn has_own_work(worktrees: &Worktrees, tree: &Tree) -> Result<bool> {
    let (top, modules) = (tree.path().to_path_buf(), tree.admin().join("modules"));
    let found = tokio::task::spawn_blocking(move || Nested::find(&top, &modules)).await;
    let nested =
        found.map_err(|error| Error::File { path: tree.path().to_path_buf(), source: error.into() })??;
    for (directory, place) in nested.repositories {
        if let Some(place) = place {
            let git = Git::in_tree(tree.program(), &directory, &place);
            let is_clean = Overlooked::find(&git, &place).await?.is_empty()
                && crate::tree::status(&git).await?.is_clean();
            if !is_clean {
                return Ok(true);
            }
        }
        let git = Git::detached(tree.program(), &directory);
        // Its references of remotes are those of the clone that it was made from.
        let head = git.commit("HEAD").await?;
        let list = git.call(["rev-list"]).args(head).args(["--all", "--reflog", "--not", "--remotes"]);
        let own = list.ok().await?;
        let known = directory.strip_prefix(tree.admin().join("modules")).ok();
        let known = known.map(|name| worktrees.repository().common_dir().join("modules").join(name));
        let is_known = match known.filter(|known| known.join("HEAD").exists()) {
            Some(known) => has_all(&Git::detached(tree.program(), &known), own).await?,
            None => own.is_empty(),
        };
        if !is_known {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if a repository has all commits of a list.
async fn has_all(git: &Git, list: Vec<u8>) -> Result<bool> {
    if list.is_empty() {
        return Ok(true);
    }
    let count = list.iter().filter(|byte| **byte == b'\n').count();
    let found = git.call(["cat-file", "--batch-check=%(objecttype)"]).input(list).ok().await?;
    let commits = found.split(|byte| *byte == b'\n').filter(|line| *line == b"commit");
    Ok(commits.count() == count)
}

impl Nested {
    fn find(top: &Path, modules: &Path) -> Result<Self> {
        let mut nested = Self::default();
        // A submodule that was removed from the worktree is still in here.
        nested.search(modules, true)?;
        nested.search(top, false)?;
        Ok(nested)
    }

    /// Searches a directory for repositories: for ones without a working tree among the modules of a
    /// worktree, for ones with a working tree in the worktree itself.
    fn search(&mut self, root: &Path, is_modules: bool) -> Result<()> {
        let mut open = vec![root.to_path_buf()];
        while let Some(directory) = open.pop() {
            if is_modules && is_repository(&directory) {
                open.push(directory.join("modules"));
                self.repositories.entry(directory).or_default();
                continue;
            }
            let failed = |error| Error::file(&directory)(error);
            let entries = match std::fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let path = entry.path();
                if entry.file_name() == ".git" {
                    // The one at the top is the worktree's own.
                    if let Some(found) = repository_at(&path).filter(|_| directory != root) {
                        self.repositories.insert(found, Some(directory.clone()));
                    }
                } else if entry.file_type().map_err(failed)?.is_dir() {
                    open.push(path);
                }
            }
        }
        Ok(())
    }
}

/// The directory of the repository that a `.git` stands for. `None` if there is none, as behind the files
/// of this name that some packages contain.
fn repository_at(path: &Path) -> Option<PathBuf> {
    let found = match path.symlink_metadata().ok()?.is_file() {
        false => path.to_path_buf(),
        true => {
            let text = std::fs::read(path).ok().filter(|text| text.len() < 16 * 1024)?;
            path.parent()?.join(path_of(text.strip_prefix(b"gitdir: ")?))
        }
    };
    // One that is damaged counts, too: git fails in it, and nobody knows what it holds.
    let is_one = |found: &PathBuf| found.join("objects").exists() || found.join("commondir").exists();
    found.canonicalize().ok().filter(is_one)
}

fn is_repository(directory: &Path) -> bool {
    directory.join("HEAD").is_file() && directory.join("objects").is_dir()
}
