//! The history of a git repository, read by `git`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Commits that are looked at.
const LOOKED_AT: usize = 2_000;

#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) subject: String,
    pub(crate) touched: Vec<Touched>,
}

#[derive(Debug)]
pub(crate) struct Touched {
    pub(crate) path: String,
    /// Lines that were added or removed.
    pub(crate) lines: usize,
}

/// The newest commits with one parent, the newest first. Renames count as two files.
pub(crate) fn commits(repository: &Path) -> Result<Vec<Commit>> {
    let count = format!("--max-count={LOOKED_AT}");
    let format = "--format=%x01%H%x00%P%x00%s%x00";
    let mut git = git(repository);
    git.args(["log", "--no-merges", "--no-renames", "-z", "--numstat", &count, format, "HEAD"]);
    let log = text(&mut git)?;
    Ok(log.split('\u{1}').filter_map(commit).collect())
}

/// One commit of the log: id, parents and subject, then for each file its counts and path, all between NULs.
fn commit(text: &str) -> Option<Commit> {
    let mut fields = text.split('\0').map(|field| field.trim_matches('\n'));
    let mut next = || fields.next().filter(|field| !field.is_empty()).map(str::to_owned);
    let (id, parent, subject) = (next()?, next()?, next()?);
    let touched = |field: &str| match field.splitn(3, '\t').collect::<Vec<_>>()[..] {
        [added, removed, path] => {
            // A binary file has dashes for counts.
            let lines = [added, removed].iter().filter_map(|count| count.parse::<usize>().ok()).sum();
            Some(Touched { path: path.to_owned(), lines })
        }
        _ => None,
    };
    let touched = fields.filter_map(touched).collect();
    (!parent.contains(' ')).then_some(Commit { id, parent, subject, touched })
}

/// Writes the files of a commit into an empty directory.
pub(crate) fn check_out(repository: &Path, commit: &str, directory: &Path) -> Result<()> {
    let index = tempfile::tempdir()?;
    let mut git = git(repository);
    git.env("GIT_INDEX_FILE", index.path().join("index"));
    git.arg("--work-tree").arg(directory).args(["read-tree", "--reset", "-u", commit]);
    text(&mut git).map(drop)
}

fn git(repository: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(repository);
    git
}

fn text(command: &mut Command) -> Result<String> {
    let output = command.output().context("git does not start; install it")?;
    ensure!(output.status.success(), "git fails: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
