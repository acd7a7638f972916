//! Makes a new worktree ready: files that git ignores, ports, a command.

use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::changes::shown;
use crate::git::fields;
use crate::{CheckOutcome, Command, Error, Result, Tree, Watcher, Worktree, Worktrees, limits, ports};

/// Names the setup that succeeded, and its outcome.
pub(crate) const DONE: &str = "masque-setup";

/// What a worktree needs before a command can run in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// Paths and patterns of files that git ignores, copied from the user's checkout. A file that usually
    /// holds a secret is copied only if it is listed by its exact path.
    pub copy: Vec<String>,
    pub command: Option<Command>,
    /// Ports to lease: `MASQUE_PORT`, `MASQUE_PORT_2` and so on.
    pub ports: usize,
}

/// What came of a setup.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetupOutcome {
    pub copied: Vec<String>,
    pub skipped: Vec<Skipped>,
    pub ports: Vec<u16>,
    /// `None` without a command, and if the same command succeeded here before.
    pub command: Option<CheckOutcome>,
}

impl SetupOutcome {
    pub fn passed(&self) -> bool {
        self.command.as_ref().is_none_or(CheckOutcome::passed)
    }

    /// The variables of the leased ports.
    pub fn variables(&self) -> Vec<(String, String)> {
        variables_of(&self.ports)
    }
}

/// A listed file that was not copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    pub path: String,
    pub reason: SkipReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A link, which could lead anywhere.
    Link,
    /// It usually holds a secret, and only a pattern lists it.
    Secret,
    /// The worktree has something at the path.
    Exists,
    /// Git would not ignore it in the worktree, so that it could be committed.
    NotIgnored,
    /// Its path in the worktree leads out of it.
    Outside,
    /// The limit on files or bytes is reached.
    TooMuch,
}

fn variables_of(ports: &[u16]) -> Vec<(String, String)> {
    let name = |at: usize| if at == 0 { "MASQUE_PORT".to_owned() } else { format!("MASQUE_PORT_{}", at + 1) };
    ports.iter().enumerate().map(|(at, port)| (name(at), port.to_string())).collect()
}

impl Worktrees {
    /// Makes the worktree ready. What was done is not done again, and nothing is overwritten.
    pub async fn setup(
        &self,
        worktree: &Worktree,
        setup: &Setup,
        watcher: Watcher<'_>,
    ) -> Result<SetupOutcome> {
        let _lock = self.lock(worktree.track(), worktree.ticket()).await?;
        let log = self.log(worktree.track(), worktree.ticket(), "setup")?;
        self.prepare(&worktree.tree, setup, Some(&log), watcher).await
    }

    /// The same for any tree that this process owns.
    pub(crate) async fn prepare(
        &self,
        tree: &Tree,
        setup: &Setup,
        log: Option<&Path>,
        watcher: Watcher<'_>,
    ) -> Result<SetupOutcome> {
        if let Some(command) = &setup.command {
            command.validate("setup.command")?;
        }
        let (copied, skipped) = self.copy_ignored(tree, &setup.copy).await?;
        let ports = ports::lease(&self.ports(), tree.path(), setup.ports).await?;
        let Some(command) = &setup.command else {
            return Ok(SetupOutcome { copied, skipped, ports, command: None });
        };
        let digest = format!("{:x}", Sha256::digest(command.line.as_bytes()));
        if tree.note(DONE).is_some_and(|done| done == digest.as_bytes()) {
            return Ok(SetupOutcome { copied, skipped, ports, command: None });
        }
        let mut command = command.clone();
        command.variables.added.extend(variables_of(&ports));
        let outcome = command.run(tree, log, watcher).await?;
        if outcome.passed() {
            tree.write_note(DONE, digest.as_bytes())?;
        }
        Ok(SetupOutcome { copied, skipped, ports, command: Some(outcome) })
    }

    async fn copy_ignored(&self, tree: &Tree, patterns: &[String]) -> Result<(Vec<String>, Vec<Skipped>)> {
        let (mut copied, mut skipped) = (Vec::new(), Vec::new());
        let (Some(top), false) = (self.repository().top(), patterns.is_empty()) else {
            return Ok((copied, skipped));
        };
        let patterns: Vec<&str> = patterns.iter().map(|pattern| from_root(pattern)).collect();
        let paths = self.ignored_files(&patterns).await?;
        let to = open(tree.path())?;
        // Git fails at a single one of them.
        let links = crate::submodules::links(&tree.git()).await?;
        let (outside, paths): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| leads_out(&to, &links, path));
        let ignored = ignored_in(tree, &paths).await?;
        let copying = Copying { from: open(top)?, to, temp: self.temp(), patterns, ignored };
        let left_out = outside.iter().map(|path| Skipped { path: shown(path), reason: SkipReason::Outside });
        skipped.extend(left_out);
        let (mut files, mut bytes) = (0, 0);
        for path in paths {
            let shown = shown(&path);
            let is_over = files >= limits::COPIED_FILES || bytes >= limits::COPIED_BYTES;
            let done = if is_over { Err(SkipReason::TooMuch) } else { copying.copy(&path)? };
            match done {
                Ok(length) => {
                    files += 1;
                    bytes += length;
                    copied.push(shown);
                }
                Err(reason) => skipped.push(Skipped { path: shown, reason }),
            }
        }
        Ok((copied, skipped))
    }

    /// The files of the user's checkout that git ignores and that a pattern lists.
    async fn ignored_files(&self, patterns: &[&str]) -> Result<Vec<Vec<u8>>> {
        if patterns.len() > limits::PATTERNS {
            let count = patterns.len();
            return Err(Error::TooMany { field: "setup.copy", most: limits::PATTERNS, count });
        }
        let mut specs = Vec::new();
        for &pattern in patterns {
            let leads_out = Path::new(pattern).is_absolute() || pattern.split('/').any(|part| part == "..");
            if leads_out || pattern.is_empty() || pattern.contains('\0') {
                return Err(Error::Pattern {
                    field: "setup.copy",
                    pattern: pattern.to_owned(),
                    source: None,
                });
            }
            specs.push(format!(":(top,glob){pattern}"));
        }
        let git = self.repository().users_git();
        let list = git.call(["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"]);
        let output = list.args(specs).slow().ok().await?;
        Ok(fields(&output).filter(|path| !path.ends_with(b"/")).map(<[u8]>::to_vec).collect())
    }
}

/// A pattern without what only says that it begins at the root, as all do.
fn from_root(pattern: &str) -> &str {
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    pattern.strip_prefix("./").unwrap_or(pattern)
}

/// True if a path passes through a link of the tree, or into one of its submodules.
fn leads_out(tree: &Dir, submodules: &[PathBuf], path: &[u8]) -> bool {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    let mut above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    above.any(|above| {
        submodules.iter().any(|submodule| submodule == above)
            || tree.symlink_metadata(above).is_ok_and(|metadata| metadata.is_symlink())
    })
}

fn open(path: &Path) -> Result<Dir> {
    Dir::open_ambient_dir(path, ambient_authority()).map_err(Error::file(path))
}

/// Those of the paths that git would ignore in a tree.
async fn ignored_in(tree: &Tree, paths: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = paths.join(&0);
    input.push(0);
    let git = tree.git();
    let call = git.call(["check-ignore", "-z", "--stdin"]).input(input).slow();
    let failure = call.failure();
    let done = call.done().await?;
    match done.code {
        // Exit code 1 says that none is ignored.
        0 | 1 => Ok(fields(&done.output).map(<[u8]>::to_vec).collect()),
        _ => Err(failure(done)),
    }
}

struct Copying<'a> {
    from: Dir,
    to: Dir,
    temp: PathBuf,
    patterns: Vec<&'a str>,
    ignored: Vec<Vec<u8>>,
}

impl Copying<'_> {
    /// Copies one file; the length of it, or the reason why it is not copied.
    fn copy(&self, path: &[u8]) -> Result<std::result::Result<u64, SkipReason>> {
        let relative = Path::new(std::ffi::OsStr::from_bytes(path));
        let failed = |source: io::Error| Error::File { path: relative.to_path_buf(), source };
        let metadata = self.from.symlink_metadata(relative).map_err(failed)?;
        if !metadata.is_file() {
            return Ok(Err(SkipReason::Link));
        }
        let is_listed = self.patterns.iter().any(|pattern| pattern.as_bytes() == path);
        if is_secret(relative) && !is_listed {
            return Ok(Err(SkipReason::Secret));
        }
        if !self.ignored.iter().any(|ignored| ignored == path) {
            return Ok(Err(SkipReason::NotIgnored));
        }
        if self.to.symlink_metadata(relative).is_ok() {
            return Ok(Err(SkipReason::Exists));
        }
        // A whole file appears under its name, or none: a process that is killed leaves no half of it.
        let mut whole = tempfile::NamedTempFile::new_in(&self.temp).map_err(Error::file(&self.temp))?;
        let mut source = self.from.open(relative).map_err(failed)?.take(limits::COPIED_BYTES);
        let length = io::copy(&mut source, &mut whole).map_err(failed)?;
        let mode = cap_std::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        let permissions = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode);
        whole.as_file().set_permissions(permissions).map_err(failed)?;
        Ok(self.place(&whole, relative).map(|()| length))
    }

    /// Gives a finished file its name in the tree. `Dir` never leaves its directory, whatever links a
    /// commit has in the way.
    fn place(&self, whole: &tempfile::NamedTempFile, relative: &Path) -> std::result::Result<(), SkipReason> {
        let outside = |_| SkipReason::Outside;
        if let Some(parent) = relative.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.to.create_dir_with_parents(parent).map_err(outside)?;
        }
        let temp = open(&self.temp).map_err(|_| SkipReason::Outside)?;
        let name = whole.path().file_name().ok_or(SkipReason::Outside)?;
        temp.hard_link(name, &self.to, relative).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => SkipReason::Exists,
            _ => SkipReason::Outside,
        })
    }
}

trait CreateWithParents {
    fn create_dir_with_parents(&self, path: &Path) -> io::Result<()>;
}

impl CreateWithParents for Dir {
    fn create_dir_with_parents(&self, path: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        self.create_dir_with(path, &builder)
    }
}

/// True for a file that usually holds a secret.
fn is_secret(path: &Path) -> bool {
    static PATTERNS: LazyLock<Gitignore> = LazyLock::new(|| {
        let mut builder = GitignoreBuilder::new("");
        let _ = builder.case_insensitive(true);
        for pattern in persona::SECRET_FILES {
            let _ = builder.add_line(None, pattern);
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    });
    PATTERNS.matched_path_or_any_parents(path, false).is_ignore()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_secret;

    #[test]
    fn secrets_are_known_by_their_names() {
        for path in [".env", "a/.env.local", "deploy/ID_RSA", ".ssh/config", "a/.aws/credentials", "x.PEM"] {
            assert!(is_secret(Path::new(path)), "{path}");
        }
        for path in [".env.example", "a/config.toml", "id_rsa.pub", "environment"] {
            assert!(!is_secret(Path::new(path)), "{path}");
        }
    }
}
