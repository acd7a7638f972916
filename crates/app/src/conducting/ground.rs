//! The place where a track's tickets are worked: worktrees of a repository, or the project's directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use conductor::{CheckRun, Isolation, TicketId, Track};
use tokio_util::sync::CancellationToken;
use tools::Root;
use uuid::Uuid;
use worktrees::{
    Check, CheckOutcome, Command, CommitId, Exit, GitProgram, Integration, Label, Repository, Setup,
    Variables, Worktree, Worktrees,
};

use crate::outputs::TrackBase;
use crate::{Result, Runtime, TrackError};

/// The longest run of a check.
const CHECK_TIME: Duration = Duration::from_secs(30 * 60);
/// Characters of a title in the names of branches.
const SLUG_CHARS: usize = 32;
/// Programs whose first argument is the script that they run.
const INTERPRETERS: [&str; 8] = ["sh", "bash", "zsh", "python", "python3", "node", "ruby", "perl"];

/// Where tickets are worked.
#[derive(Debug, Clone)]
pub(super) enum Ground {
    /// Each ticket in a worktree of its own.
    Trees(Arc<Trees>),
    /// All in the project's directory, one after the other.
    Project(PathBuf),
}

/// The worktrees of a track.
#[derive(Debug)]
pub(super) struct Trees {
    pub(super) worktrees: Worktrees,
    pub(super) track: Label,
    /// The name of the commit that the track starts from, if it names one.
    base: Option<String>,
    withheld: Vec<String>,
}

impl Ground {
    /// The ground of a track. Fails if it wants worktrees and the project is not a git repository.
    pub(super) async fn open(
        runtime: &Runtime,
        project: &str,
        track: (Uuid, &Track),
        isolation: Isolation,
    ) -> Result<Self> {
        let project = Path::new(project);
        if isolation == Isolation::None {
            return Ok(Self::Project(project.to_owned()));
        }
        let repository = Repository::open(&GitProgram::find().await?, project).await?;
        let repository = repository.ok_or_else(|| TrackError::NoRepository { path: project.to_owned() })?;
        let worktrees = Worktrees::open(repository, &runtime.conducting().worktrees_home()?)?;
        let (id, rules) = track;
        let (track, base) = (label(&rules.title, id), rules.base.clone());
        Ok(Self::Trees(Arc::new(Trees { worktrees, track, base, withheld: runtime.withheld_variables() })))
    }
}

/// True if a directory is a part of a git repository with a commit.
pub(super) async fn has_repository(project: &str) -> bool {
    repository(project).await.is_some()
}

async fn repository(project: &str) -> Option<Repository> {
    let git = GitProgram::find().await.ok()?;
    let found = Repository::open(&git, Path::new(project)).await.ok()?;
    found.filter(|it| it.head().commit.is_some())
}

/// The commit that the tickets of a track start from.
pub(super) async fn base_of(project: &str, rules: &Track) -> Option<TrackBase> {
    let repository = repository(project).await?;
    let (branch, commit) = match &rules.base {
        Some(name) => (Some(name.clone()), repository.commit(name).await.ok()??),
        None => (repository.branch().ok().map(str::to_owned), repository.base().ok()?.clone()),
    };
    let branch = branch.map(|name| name.trim_start_matches("refs/heads/").to_owned());
    let uncommitted = repository.uncommitted().await.unwrap_or_default();
    Some(TrackBase { branch, commit: commit.to_string(), uncommitted })
}

/// The name of a track in branches and paths.
pub(super) fn label(title: &str, id: Uuid) -> Label {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug: String = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let slug: String = slug.chars().take(SLUG_CHARS).collect();
    let id = id.simple().to_string();
    let end = &id[id.len() - 8..];
    Label::of(format!("{}-{end}", slug.trim_end_matches('-')).trim_start_matches('-'))
}

impl Trees {
    pub(super) fn ticket(id: &TicketId) -> Label {
        Label::of(id.as_str())
    }

    /// The commit that the track would start from now.
    async fn start(&self) -> Result<CommitId> {
        let repository = self.worktrees.repository();
        let found = match &self.base {
            Some(name) => repository.commit(name).await?,
            // The user may have gone on since the repository was opened.
            None => repository.commit("HEAD").await?.or_else(|| repository.head().commit.clone()),
        };
        let named = || self.base.clone().unwrap_or_else(|| "HEAD".to_owned());
        found.ok_or_else(|| TrackError::NoBase { name: named() }.into())
    }

    /// The track's integration branch.
    pub(super) async fn integration(&self) -> Result<Integration> {
        Ok(self.worktrees.integration(&self.track, &self.start().await?).await?)
    }

    /// Brings a worktree in which nobody has worked onto the newest start of the track.
    pub(super) async fn start_anew(&self, worktree: &mut Worktree) -> Result<()> {
        let mut integration = self.integration().await?;
        self.worktrees.start_anew(&mut integration, &self.start().await?).await?;
        let target = self.worktrees.integration_head(&integration).await?;
        match self.worktrees.bring_onto(worktree, &target).await {
            // What somebody left in it after all is not moved.
            Ok(_) | Err(worktrees::Error::WorktreeDirty { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The head of the integration branch.
    pub(super) async fn target(&self) -> Result<CommitId> {
        Ok(self.worktrees.integration_head(&self.integration().await?).await?)
    }

    /// The worktree of a ticket, made again from its branch if it is gone.
    pub(super) async fn worktree(&self, ticket: &TicketId, base: Option<&str>) -> Result<Worktree> {
        let label = Self::ticket(ticket);
        let base = match base.and_then(CommitId::parse) {
            Some(base) => base,
            None => self.target().await?,
        };
        Ok(self.worktrees.create(&self.track, &label, &base).await?)
    }

    /// The commit that a ticket's work starts from, if it has a branch.
    pub(super) async fn base_of(&self, ticket: &TicketId) -> Result<Option<CommitId>> {
        Ok(self.worktrees.base_of(&self.track, &Self::ticket(ticket)).await?)
    }

    fn command(&self, line: &str, time: Duration) -> Command {
        let variables = Variables { withheld: self.withheld.clone(), added: Worktree::variables() };
        Command { line: line.to_owned(), time, variables }
    }

    /// The setup of a fresh checkout.
    pub(super) fn setup(&self, rules: &Track) -> Setup {
        let Some(setup) = &rules.setup else { return Setup::default() };
        let time = Duration::from_secs(setup.timeout);
        let command = setup.command.as_deref().map(|line| self.command(line, time));
        Setup { copy: setup.copy.clone(), command, ports: 0 }
    }

    /// A check as the worktrees run it.
    pub(super) fn check(&self, rules: &Track, line: &str) -> Check {
        Check {
            command: self.command(line, CHECK_TIME),
            setup: self.setup(rules),
            files: scripts_of(line),
            tests: Vec::new(),
        }
    }

    /// Several checks as one, which the first that fails ends.
    pub(super) fn check_all(&self, rules: &Track, lines: &[String]) -> Option<(String, Check)> {
        let line = together(lines)?;
        let files = lines.iter().flat_map(|line| scripts_of(line)).collect();
        let check = Check { files, ..self.check(rules, &line) };
        Some((line, check))
    }
}

/// One command line of several. Each has a shell of its own: a `cd` or an `exit` in one does not reach the next.
fn together(lines: &[String]) -> Option<String> {
    match lines {
        [] => None,
        [line] => Some(line.clone()),
        lines => Some(lines.iter().map(|line| format!("({line}\n)")).collect::<Vec<_>>().join(" && ")),
    }
}

/// The scripts that a command line runs. They are the base's: a ticket cannot make its own check easier.
fn scripts_of(line: &str) -> Vec<String> {
    let mut scripts = Vec::new();
    for command in line.split([';', '|', '&', '\n']) {
        let is_setting = |word: &&str| word.contains('=') && !word.contains('/');
        let mut words = command.split_whitespace().skip_while(is_setting);
        let Some(program) = words.next() else { continue };
        let script = match INTERPRETERS.contains(&program) {
            true => words.find(|word| !word.starts_with('-')).filter(|word| word.contains(['.', '/'])),
            false => Some(program).filter(|program| program.contains('/')),
        };
        let plain = |path: &&str| path.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        let inside = |path: &&str| !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        let script = script.map(|path| path.trim_start_matches("./"));
        scripts.extend(script.filter(plain).filter(inside).map(str::to_owned));
    }
    scripts
}

/// A run of a command, as the log keeps it.
pub(super) fn check_run(line: &str, outcome: &CheckOutcome) -> CheckRun {
    let exit_code = match outcome.exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) | Exit::TimedOut => None,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a command")]
    let seconds = outcome.seconds.max(0.0) as u64;
    CheckRun {
        command: line.to_owned(),
        exit_code,
        timed_out: outcome.exit == Exit::TimedOut,
        output: end_of(&outcome.tail),
        seconds,
    }
}

/// Runs a check in the project's directory.
pub(super) async fn run_in_project(
    runtime: &Runtime,
    project: &Path,
    line: &str,
    cancel: &CancellationToken,
) -> Result<CheckRun> {
    let failed = |reason: String| TrackError::CheckNotRun { command: line.to_owned(), reason };
    let root = Root::open(project).map_err(|error| failed(error.to_string()))?;
    let began = tokio::time::Instant::now();
    let end = tools::run_line(&root, runtime.shell(), line, CHECK_TIME, cancel).await;
    let end = end.map_err(|error| failed(error.to_string()))?;
    Ok(CheckRun {
        command: line.to_owned(),
        exit_code: end.exit_code,
        timed_out: end.timed_out,
        output: end_of(&end.output),
        seconds: began.elapsed().as_secs(),
    })
}

/// The end of a text, as much as the log keeps.
fn end_of(text: &str) -> String {
    let mut start = text.len().saturating_sub(conductor::limits::OUTPUT_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_names_its_scripts() {
        let check = |line: &str, scripts: &[&str]| assert_eq!(scripts_of(line), scripts, "{line}");
        check("./check.sh", &["check.sh"]);
        check("cargo test && sh scripts/check.sh --all", &["scripts/check.sh"]);
        check("CI=1 ci/run | tee log.txt; python3 -u tests/run.py", &["ci/run", "tests/run.py"]);
        // Arguments are what a ticket may be about.
        check("test -f hello.txt", &[]);
        check("sh -c 'exit 1'", &[]);
        check("/usr/bin/make; ../outside.sh; ./a*.sh", &[]);
    }

    #[test]
    fn checks_run_together_and_keep_to_themselves() {
        let lines = ["cd sub; ./a.sh # first".to_owned(), "exit 3".to_owned()];
        assert_eq!(together(&[]), None);
        assert_eq!(together(&lines[1..]).as_deref(), Some("exit 3"));
        assert_eq!(together(&lines).as_deref(), Some("(cd sub; ./a.sh # first\n) && (exit 3\n)"));
    }

    #[test]
    fn a_track_has_a_readable_name_of_its_own() {
        let id = Uuid::parse_str("01890a5d-ac96-774b-bcce-b302099a8057").expect("an id");
        assert_eq!(label("Add a parser!", id).as_str(), "add-a-parser-099a8057");
        assert_eq!(label("…", id).as_str(), "099a8057");
    }
}
