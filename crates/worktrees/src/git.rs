//! The user's `git`, started with a clean environment, a time limit and bounded output.
//!
//! Nothing of git's prose is read: exit codes and formats for programs say everything.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use crate::process::Group;
use crate::{CommitId, Error, LEAST_GIT, Result, limits};

/// Variables that reach git. Those of the user's own git, such as `GIT_DIR` and `GIT_INDEX_FILE`, do not.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Settings of every command. None of them changes which files are committed; they keep git from running
/// hooks and daemons, from asking, from collecting garbage under a half finished step, from writing
/// settings of the repository, and from speaking another encoding.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "core.safecrlf=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "submodule.recurse=false",
    "worktree.guessRemote=false",
    "worktree.useRelativePaths=false",
    "branch.autoSetupMerge=false",
    "advice.addEmbeddedRepo=false",
    "color.ui=never",
    "log.showSignature=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
];

/// The author and committer of commits that Masque itself makes.
const NAME: &str = "Masque";
const EMAIL: &str = "masque@localhost";

/// The git that is run. Its version was checked.
#[derive(Debug, Clone)]
pub struct GitProgram(Arc<PathBuf>);

impl GitProgram {
    /// The `git` on the search path. Fails if it is missing or older than [`LEAST_GIT`].
    pub async fn find() -> Result<Self> {
        Self::at(Path::new("git")).await
    }

    /// A git at a path, or of this name.
    pub async fn at(program: &Path) -> Result<Self> {
        let found = Self(Arc::new(located(program)));
        let git =
            Git { program: found.clone(), place: std::env::temp_dir(), dir: None, tree: None, index: None };
        let text = git.call(["version"]).line().await?;
        match version(&text) {
            Some(version) if version >= LEAST_GIT => Ok(found),
            _ => Err(Error::GitTooOld { found: text }),
        }
    }
}

/// The path of a program on the search path. Looked up once: a program with a path starts without a copy of
/// this process, which takes longer the larger it is.
fn located(program: &Path) -> PathBuf {
    let is_executable = |path: &PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let is_name = program.components().count() == 1 && program.file_name() == Some(program.as_os_str());
    let search = std::env::var_os("PATH").filter(|_| is_name).unwrap_or_default();
    let paths = std::env::split_paths(&search).filter_map(|it| std::path::absolute(it.join(program)).ok());
    // Without one, starting it fails with the name.
    paths.into_iter().find(is_executable).unwrap_or_else(|| program.to_path_buf())
}

/// The version in `git version 2.47.3 (Apple Git-1)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    let mut next = || {
        let number = numbers.next()?;
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        number[..end].parse().ok()
    };
    Some((next()?, next()?))
}

/// Git in one place.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    program: GitProgram,
    /// The working directory of commands.
    place: PathBuf,
    /// The repository or the administrative directory of a worktree. Named, so that git never walks up
    /// into a repository around the place.
    dir: Option<PathBuf>,
    tree: Option<PathBuf>,
    /// An index in place of that of the working tree.
    index: Option<PathBuf>,
}

impl Git {
    /// Git that looks for the repository around a place.
    pub(crate) fn around(program: &GitProgram, place: &Path) -> Self {
        Self { program: program.clone(), place: place.to_path_buf(), dir: None, tree: None, index: None }
    }

    /// Git for objects and references: no working tree, no index.
    pub(crate) fn bare(program: &GitProgram, dir: &Path) -> Self {
        Self { dir: Some(dir.to_path_buf()), ..Self::around(program, dir) }
    }

    /// Git in a working tree.
    pub(crate) fn in_tree(program: &GitProgram, dir: &Path, tree: &Path) -> Self {
        Self { dir: Some(dir.to_path_buf()), tree: Some(tree.to_path_buf()), ..Self::around(program, tree) }
    }

    /// Git for objects and references of a repository whose settings may name a working tree that is gone,
    /// such as that of a submodule.
    pub(crate) fn detached(program: &GitProgram, dir: &Path) -> Self {
        Self::in_tree(program, dir, dir)
    }

    /// The same with another index.
    pub(crate) fn with_index(self, index: &Path) -> Self {
        Self { index: Some(index.to_path_buf()), ..self }
    }

    pub(crate) fn program(&self) -> &GitProgram {
        &self.program
    }

    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    pub(crate) fn call<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Call<'_> {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        Call {
            git: self,
            args,
            settings: Vec::new(),
            env: Vec::new(),
            input: None,
            time: limits::GIT_TIME,
            most: limits::GIT_OUTPUT_BYTES,
        }
    }

    /// The commit that a name means, if there is one.
    pub(crate) async fn commit(&self, name: &str) -> Result<Option<CommitId>> {
        let text = format!("{name}^{{commit}}");
        let call = self.call(["rev-parse", "--verify", "--quiet", "--end-of-options"]).arg(&text);
        Ok(call.answer().await?.and_then(|answer| CommitId::parse(&answer)))
    }

    /// The tree of a commit.
    pub(crate) async fn tree_of(&self, commit: &CommitId) -> Result<CommitId> {
        self.call(["rev-parse", "--verify"]).arg(format!("{commit}^{{tree}}")).id().await
    }

    /// True if a commit is another one, or behind it.
    pub(crate) async fn is_ancestor(&self, ancestor: &CommitId, of: &CommitId) -> Result<bool> {
        self.call(["merge-base", "--is-ancestor"]).arg(ancestor).arg(of).holds().await
    }

    /// Fails if the repository has no such commit.
    pub(crate) async fn require(&self, commit: &CommitId) -> Result<()> {
        match self.commit(commit.as_str()).await? {
            Some(_) => Ok(()),
            None => Err(Error::UnknownCommit { commit: commit.to_string() }),
        }
    }
}

/// A command that is about to run.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    git: &'a Git,
    args: Vec<OsString>,
    settings: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    input: Option<Vec<u8>>,
    time: Duration,
    most: usize,
}

/// A command that ran.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) output: Vec<u8>,
    /// True if the output was longer than allowed, and cut.
    pub(crate) is_cut: bool,
    /// The beginning of what it wrote for people.
    pub(crate) words: String,
}

impl Done {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }
}

impl Call<'_> {
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// A setting of this command alone.
    pub(crate) fn setting(mut self, setting: impl AsRef<OsStr>) -> Self {
        self.settings.push(setting.as_ref().to_owned());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = Some(input);
        self
    }

    /// For commands that write a working tree.
    pub(crate) fn slow(mut self) -> Self {
        self.time = limits::CHECKOUT_TIME;
        self
    }

    /// Cuts the output instead of failing.
    pub(crate) fn most(mut self, bytes: usize) -> Self {
        self.most = bytes;
        self
    }

    /// The output of a command that must succeed.
    pub(crate) async fn ok(self) -> Result<Vec<u8>> {
        let (shown, place, most) = (self.shown(), self.git.place.clone(), self.most);
        let done = self.done().await?;
        match done.code {
            0 if done.is_cut && most == limits::GIT_OUTPUT_BYTES => {
                Err(Error::GitFlood { command: shown, most })
            }
            0 => Ok(done.output),
            code => Err(Error::GitFailed { command: shown, place, code: Some(code), words: done.words }),
        }
    }

    /// The output as text, without the end of its last line.
    pub(crate) async fn line(self) -> Result<String> {
        let output = self.ok().await?;
        Ok(String::from_utf8_lossy(&output).trim_end_matches(['\n', '\r']).to_owned())
    }

    /// The name of an object.
    pub(crate) async fn id(self) -> Result<CommitId> {
        let shown = self.shown();
        CommitId::parse(&self.line().await?).ok_or(Error::GitUnclear { command: shown })
    }

    /// True for exit code 0, false for 1. Any other one is a failure.
    pub(crate) async fn holds(self) -> Result<bool> {
        let (shown, place) = (self.shown(), self.git.place.clone());
        let done = self.done().await?;
        match done.code {
            0 => Ok(true),
            1 => Ok(false),
            code => Err(Error::GitFailed { command: shown, place, code: Some(code), words: done.words }),
        }
    }

    /// The output of a command whose exit code 1 says that there is none. Any other one is a failure.
    pub(crate) async fn answer(self) -> Result<Option<String>> {
        let failure = self.failure();
        let done = self.done().await?;
        match done.code {
            0 => Ok(Some(done.text().trim_end().to_owned())),
            1 => Ok(None),
            _ => Err(failure(done)),
        }
    }

    /// A failure of this command, for a caller that knows its exit codes.
    pub(crate) fn failure(&self) -> impl FnOnce(Done) -> Error + use<> {
        let (command, place) = (self.shown(), self.git.place.clone());
        move |done| Error::GitFailed { command, place, code: Some(done.code), words: done.words }
    }

    /// Runs the command, whatever its exit code is. A command that a signal ended has none, and fails: it
    /// gave no answer.
    pub(crate) async fn done(self) -> Result<Done> {
        let time = self.time;
        let (command, place) = (self.shown(), self.git.place.clone());
        match tokio::time::timeout(time, self.run()).await {
            Ok(done) => done,
            Err(_) => Err(Error::GitTimeout { command, place, limit: time }),
        }
    }

    async fn run(mut self) -> Result<Done> {
        let input = self.input.take();
        let mut child = match self.command(input.is_some()).spawn() {
            Ok(child) => child,
            // The system gives the same error for a missing program and a missing directory.
            Err(source) if self.git.place.is_dir() => {
                return Err(Error::NoGit { program: self.git.program.0.to_path_buf(), source });
            }
            Err(source) => return Err(Error::File { path: self.git.place.clone(), source }),
        };
        let group = Group::of(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // Git may end before it has read everything; its exit code says whether that matters.
                let _ = stdin.write_all(&input).await;
            }
        };
        let (_, output, words) =
            tokio::join!(write, bounded(stdout, self.most), bounded(stderr, limits::GIT_WORDS_BYTES));
        let status = child.wait().await.map_err(Error::file(&self.git.place))?;
        drop(group);
        let (output, is_cut) = output.map_err(Error::file(&self.git.place))?;
        let (words, _) = words.map_err(Error::file(&self.git.place))?;
        let words = String::from_utf8_lossy(&words).trim().to_owned();
        match status.code() {
            Some(code) => Ok(Done { code, output, is_cut, words }),
            None => {
                let (command, place) = (self.shown(), self.git.place.clone());
                Err(Error::GitFailed { command, place, code: None, words })
            }
        }
    }

    fn command(&self, has_input: bool) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&*self.git.program.0);
        for setting in SETTINGS.iter().map(OsStr::new).chain(self.settings.iter().map(OsString::as_os_str)) {
            command.arg("-c").arg(setting);
        }
        command.args(&self.args).current_dir(&self.git.place).env_clear();
        command.envs(PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs([
            ("LC_ALL", "C"),
            ("GIT_EDITOR", "true"),
            ("GIT_SEQUENCE_EDITOR", "true"),
            ("GIT_PAGER", "cat"),
            ("GIT_TERMINAL_PROMPT", "0"),
            // A look at a checkout must not write its index.
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_AUTHOR_NAME", NAME),
            ("GIT_AUTHOR_EMAIL", EMAIL),
            ("GIT_COMMITTER_NAME", NAME),
            ("GIT_COMMITTER_EMAIL", EMAIL),
        ]);
        command.envs(self.git.dir.iter().map(|dir| ("GIT_DIR", dir)));
        command.envs(self.git.tree.iter().map(|tree| ("GIT_WORK_TREE", tree)));
        command.envs(self.git.index.iter().map(|index| ("GIT_INDEX_FILE", index)));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        let stdin = if has_input { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        command
    }

    /// The command as an error names it: its subcommand alone, because arguments hold long names.
    fn shown(&self) -> String {
        let words: Vec<_> = self.args.iter().take(2).map(|arg| arg.to_string_lossy()).collect();
        match &*words.iter().map(AsRef::as_ref).collect::<Vec<&str>>() {
            [group @ ("worktree" | "submodule"), sub] => format!("git {group} {sub}"),
            [name, ..] => format!("git {name}"),
            [] => "git".to_owned(),
        }
    }
}

/// Reads everything and keeps the beginning. True if something was left out.
async fn bounded(from: Option<impl AsyncRead + Unpin>, most: usize) -> std::io::Result<(Vec<u8>, bool)> {
    let (mut kept, mut is_cut) = (Vec::new(), false);
    let Some(mut from) = from else { return Ok((kept, is_cut)) };
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok((kept, is_cut));
        }
        let fits = count.min(most - kept.len());
        kept.extend_from_slice(&buffer[..fits]);
        is_cut |= fits < count;
    }
}

/// The fields of output in which each ends with a NUL byte.
pub(crate) fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.strip_suffix(b"\0").unwrap_or(output).split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_of_all_makers_are_read() {
        let cases = [
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
            ("git version 2.45.1.windows.1", Some((2, 45))),
            ("git version 2.50-rc0", Some((2, 50))),
            ("git version 3.0", Some((3, 0))),
            ("hello", None),
            ("git version two", None),
        ];
        for (text, expected) in cases {
            assert_eq!(version(text), expected, "{text}");
        }
    }
}
