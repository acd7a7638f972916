//! Submodules of a new worktree, from the clones that the user's repository has already.
//!
//! Only submodules that the user initialised are filled. No setting of the repository is written, and no
//! network is used for a commit that is on this machine.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::git::{Git, fields};
use crate::{Result, Tree, Worktrees, limits};

/// The mode of a submodule in a tree or an index.
pub(crate) const GITLINK: &[u8] = b"160000";

/// A submodule of one working tree.
#[derive(Debug)]
struct Submodule {
    name: String,
    path: PathBuf,
    commit: String,
}

impl Worktrees {
    /// Checks out the submodules of a working tree, and those in them.
    pub(crate) async fn fill_submodules(&self, tree: &Tree) -> Result<()> {
        let mut open = vec![(tree.path().to_path_buf(), self.repository().common_dir().to_path_buf(), 0)];
        while let Some((place, source, depth)) = open.pop() {
            let git = Git::around(self.repository().program(), &place);
            if depth == limits::SUBMODULE_DEPTH || place.join(".gitmodules").symlink_metadata().is_err() {
                continue;
            }
            for submodule in submodules(&git).await? {
                let clone = source.join("modules").join(&submodule.name);
                let url = url(&Git::detached(self.repository().program(), &source), &submodule.name).await?;
                // Without an address the user has not initialised it.
                let Some(url) = url else { continue };
                fill(&git, &submodule, &clone, &url).await?;
                open.push((place.join(&submodule.path), clone, depth + 1));
            }
        }
        Ok(())
    }
}

async fn fill(git: &Git, submodule: &Submodule, clone: &Path, url: &str) -> Result<()> {
    let is_local = clone.join("HEAD").exists() && {
        let commit = format!("{}^{{commit}}", submodule.commit);
        Git::detached(git.program(), clone).call(["cat-file", "-e"]).arg(commit).done().await?.code == 0
    };
    let source = if is_local { clone.as_os_str() } else { OsStr::new(url) };
    let mut setting = std::ffi::OsString::from(format!("submodule.{}.url=", submodule.name));
    setting.push(source);
    git.call(["submodule", "--quiet", "update", "--checkout", "--force", "--"])
        .arg(&submodule.path)
        .setting(setting)
        .setting("protocol.file.allow=always")
        .slow()
        .ok()
        .await?;
    if is_local {
        // A worker that fetches means the real origin.
        let inner = Git::around(git.program(), &git.place().join(&submodule.path));
        inner.call(["remote", "set-url", "origin", url]).done().await?;
    }
    Ok(())
}

/// The submodules in the index.
async fn submodules(git: &Git) -> Result<Vec<Submodule>> {
    let named = git
        .call(["config", "--file", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$"])
        .done()
        .await?;
    let mut names = Vec::new();
    for field in fields(&named.output) {
        let Some(at) = field.iter().position(|byte| *byte == b'\n') else { continue };
        let key = String::from_utf8_lossy(&field[..at]).into_owned();
        let name = key.strip_prefix("submodule.").and_then(|key| key.strip_suffix(".path"));
        names.extend(
            name.filter(|name| is_safe(name)).map(|name| (name.to_owned(), field[at + 1..].to_vec())),
        );
    }
    let found = staged(git).await?.into_iter().filter_map(|(path, commit)| {
        let (name, _) = names.iter().find(|(_, named)| named == path.as_os_str().as_bytes())?;
        Some(Submodule { name: name.clone(), path, commit })
    });
    Ok(found.collect())
}

/// The paths of submodules in the index, whether they have a name or not.
pub(crate) async fn links(git: &Git) -> Result<Vec<PathBuf>> {
    Ok(staged(git).await?.into_iter().map(|(path, _)| path).collect())
}

/// The same with their commits.
async fn staged(git: &Git) -> Result<Vec<(PathBuf, String)>> {
    let staged = git.call(["ls-files", "--stage", "-z"]).ok().await?;
    let links = fields(&staged).filter(|entry| entry.starts_with(GITLINK));
    let found = links.filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'\t')?;
        let commit = String::from_utf8_lossy(entry[..at].split(|byte| *byte == b' ').nth(1)?).into_owned();
        Some((PathBuf::from(OsStr::from_bytes(&entry[at + 1..])), commit))
    });
    Ok(found.collect())
}

/// A name from a file of the repository becomes a path, so it must not leave its directory.
fn is_safe(name: &str) -> bool {
    !name.starts_with('/') && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

async fn url(git: &Git, name: &str) -> Result<Option<String>> {
    let done = git.call(["config", "--get"]).arg(format!("submodule.{name}.url")).done().await?;
    Ok((done.code == 0).then(|| done.text().trim_end().to_owned()))
}
