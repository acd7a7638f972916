//! Commits that only a worktree names.

use std::collections::HashSet;
use std::path::Path;

use crate::git::Git;
use crate::{CommitId, Error, Result, Tree, Worktrees, limits};

impl Worktrees {
    /// The tips of commits that only the worktree has: in its head, its reflog, its own references, or what
    /// an operation under way notes, such as changes that a rebase put aside. No reference of the repository
    /// has them. Fails if there are more than an archive holds.
    pub(crate) async fn lost_commits(&self, tree: &Tree) -> Result<Vec<CommitId>> {
        let named = named(tree).await?;
        if named.is_empty() {
            return Ok(Vec::new());
        }
        // A checkpoint is replaced by the next one, so it keeps nothing. Not `--all`: it counts the heads of
        // all worktrees, also of this one.
        let git = self.repository().git();
        let list = git
            .call(["rev-list", "--parents", "--stdin"])
            .args(["--not", "--exclude=refs/masque/checkpoint/*", "--glob=refs/*"])
            .input(named.iter().flat_map(|id| [id.as_str(), "\n"]).collect::<String>().into_bytes())
            .ok()
            .await?;
        let list = String::from_utf8_lossy(&list);
        // A commit that another one has for a parent is kept with it.
        let parents: HashSet<&str> = list.lines().flat_map(|line| line.split(' ').skip(1)).collect();
        let unreachable: HashSet<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
        let is_tip = |id: &CommitId| unreachable.contains(id.as_str()) && !parents.contains(id.as_str());
        let tips: Vec<CommitId> = named.into_iter().filter(is_tip).collect();
        match tips.len() {
            count if count > limits::ARCHIVED_COMMITS => {
                Err(Error::TooMany { field: "archive", most: limits::ARCHIVED_COMMITS, count })
            }
            _ => Ok(tips),
        }
    }
}

/// The commits that a worktree names in any way, its head first, each once.
async fn named(tree: &Tree) -> Result<Vec<CommitId>> {
    let git = Git::bare(tree.program(), tree.admin());
    let head = git.commit("HEAD").await?;
    let mut named = Vec::new();
    words_below(tree.admin(), &mut named)?;
    // Not every repository keeps references and logs in files.
    let own = ["refs/worktree", "refs/bisect", "refs/rewritten"];
    named.extend(ids(&git.call(["for-each-ref", "--format=%(objectname)"]).args(own).ok().await?));
    if tree.admin().join("reftable").exists() {
        // Such as `ORIG_HEAD`, which is a file otherwise. Every git that knows the format knows the option.
        let format = "--format=%(objectname) %(refname)";
        let listed = git.call(["for-each-ref", "--include-root-refs", format]).ok().await?;
        let roots = listed.split(|byte| *byte == b'\n').filter(|line| !line.contains(&b'/'));
        named.extend(roots.flat_map(ids));
    }
    if head.is_some() && !tree.admin().join("logs/HEAD").exists() {
        named.extend(ids(&git.call(["rev-list", "--walk-reflogs", "HEAD", "--"]).ok().await?));
    }
    let mut seen = HashSet::new();
    let mut commits: Vec<CommitId> = head.into_iter().chain(existing(&git, &named).await?).collect();
    commits.retain(|id| seen.insert(id.clone()));
    Ok(commits)
}

/// Adds every word in the files of a directory that could name a commit, the last one of a file first.
fn words_below(directory: &Path, words: &mut Vec<CommitId>) -> Result<()> {
    let failed = |error| Error::file(directory)(error);
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        match entry.file_name().to_str() {
            // Those of submodules, and of no commit.
            Some("modules" | "index" | "index.lock") => {}
            _ if kind.is_dir() => words_below(&path, words)?,
            _ if kind.is_file() => match std::fs::read(&path) {
                Ok(text) => words.extend(ids(&text).into_iter().rev()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::file(&path)(error)),
            },
            _ => {}
        }
    }
    Ok(())
}

/// The words of a text that are full names of objects.
fn ids(text: &[u8]) -> Vec<CommitId> {
    let words = text.split(|byte| !byte.is_ascii_alphanumeric());
    let id = |word: &[u8]| CommitId::parse(std::str::from_utf8(word).ok()?);
    words.filter_map(id).filter(|id| !id.is_null()).collect()
}

/// The commits behind those of the names that have one.
async fn existing(git: &Git, named: &[CommitId]) -> Result<Vec<CommitId>> {
    let mut seen = HashSet::new();
    let unique = named.iter().filter(|id| seen.insert(id.as_str()));
    let input: String = unique.map(|id| format!("{id}^{{commit}}\n")).collect();
    let format = "--batch-check=%(objectname) %(objecttype)";
    let output = git.call(["cat-file", format]).input(input.into_bytes()).ok().await?;
    let output = String::from_utf8_lossy(&output);
    let commit = |line: &str| CommitId::parse(line.strip_suffix(" commit")?);
    Ok(output.lines().filter_map(commit).collect())
}
