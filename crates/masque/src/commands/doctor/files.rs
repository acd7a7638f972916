//! The user's settings, and the two personas.toml: where they are, what they hold, what is wrong
//! with them and how they are followed.

use std::path::{Path, PathBuf};

use app::inputs::List;
use app::{FileScopes, Library, Location, OpenOptions, Problem as FileProblem, ProblemLevel, WatchMode};
use persona::{Kind, Scope, limits};
use serde::Serialize;

use super::Problem;
use super::database::Shared;
use crate::commands::lint;
use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::locations::Directories;
use crate::output::Output;
use crate::project::Project;
use crate::trust::Trust;

/// What is known before the files are looked at.
pub(super) struct Surroundings<'a> {
    pub(super) directories: &'a Directories,
    pub(super) config: &'a Config,
    /// Files refer to what is there.
    pub(super) shared: Shared,
}

#[derive(Debug, Serialize)]
pub(super) struct FilesReport {
    config: ConfigReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<ProjectReport>,
    /// A file that could be a project's, and why it is not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed_over: Option<String>,
    personas: Vec<FileReport>,
    /// What lint finds besides mistakes that are problems here.
    #[serde(skip_serializing_if = "Option::is_none")]
    lint: Option<LintCounts>,
    /// How changes of the files are noticed; none where that could not be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    watching: Option<Watching>,
    /// Where the files' history is kept.
    local_database: PathBuf,
}

#[derive(Debug, Serialize)]
struct ConfigReport {
    path: PathBuf,
    exists: bool,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ProjectReport {
    root: PathBuf,
    found: &'static str,
    open: bool,
    trusted: bool,
}

#[derive(Debug, Serialize)]
struct FileReport {
    scope: Scope,
    path: PathBuf,
    exists: bool,
    entries: usize,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct LintCounts {
    errors: usize,
    warnings: usize,
    #[serde(skip)]
    words: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
enum Watching {
    Native,
    Polling { reason: String },
}

pub(super) async fn examine(
    surroundings: &Surroundings<'_>,
    project: Option<&Path>,
    problems: &mut Vec<Problem>,
) -> FilesReport {
    let directories = surroundings.directories;
    let config = examine_config(directories, problems);
    let project = Project::find(project, Some(&directories.home)).unwrap_or_else(|failure| {
        problems.push(Problem::new(said(&failure), "correct --project, or unset MASQUE_PROJECT"));
        None
    });
    let mut report = FilesReport {
        config,
        project: project.as_ref().map(|project| ProjectReport {
            root: project.root.clone(),
            found: project.found.as_str(),
            open: project.is_open(),
            trusted: is_trusted(directories, project, problems),
        }),
        passed_over: match &project {
            Some(project) if project.is_open() => None,
            _ => Project::passed_over(Some(&directories.home)),
        },
        personas: Vec::new(),
        lint: None,
        watching: None,
        local_database: directories.local_database(),
    };
    if let Err(failure) = examine_personas(surroundings, project.as_ref(), &mut report, problems).await {
        let advice = "look at what the message names; the rest of this report stands";
        problems.push(Problem::new(format!("the files cannot be examined: {}", said(&failure)), advice));
    }
    report
}

fn is_trusted(directories: &Directories, project: &Project, problems: &mut Vec<Problem>) -> bool {
    match Trust::read(directories) {
        Ok(trust) => trust.holds(&project.root),
        Err(failure) => {
            problems.push(Problem::new(said(&failure), "until then no project is trusted"));
            false
        }
    }
}

fn examine_config(directories: &Directories, problems: &mut Vec<Problem>) -> ConfigReport {
    let path = directories.config_file();
    let warnings = match Config::read(&path) {
        Ok(config) => config.warnings,
        Err(failure) => {
            let advice = "correct it: until then no command that opens the library runs";
            problems.push(Problem::new(said(&failure), advice));
            Vec::new()
        }
    };
    ConfigReport { exists: path.exists(), path, warnings }
}

/// Opens the files with a history that is thrown away: a check must not make what it checks, nor
/// record what it sees.
async fn examine_personas(
    surroundings: &Surroundings<'_>,
    project: Option<&Project>,
    report: &mut FilesReport,
    problems: &mut Vec<Problem>,
) -> Result<()> {
    let scratch = tempfile::tempdir()
        .map_err(|error| Failure::file("make a directory in", &std::env::temp_dir(), &error))?;
    let local = scratch.path().join("doctor.db");
    let files = FileScopes {
        global: Some(surroundings.directories.personas_file()),
        project: project.map(Project::file),
        local: Location::Sqlite(local.clone()),
        locks: scratch.path().join("locks"),
        writable: false,
    };
    let database = match &surroundings.shared {
        Shared::At(database) => database.clone(),
        Shared::Nothing | Shared::Unknown => local.to_string_lossy().into_owned(),
    };
    let library = open(database, files.clone()).await?;
    library.watch();
    report.watching = library.watching().map(|mode| match mode {
        WatchMode::Native => Watching::Native,
        WatchMode::Polling { reason } => Watching::Polling { reason },
    });
    let mut found = library.problems();
    for scope in [Scope::Global, Scope::Project] {
        if let Some(path) = library.path(scope) {
            let (path, exists) = (path.to_path_buf(), path.exists());
            if path.is_symlink() && !exists {
                let advice = "put back what it leads to, or remove the link";
                problems
                    .push(Problem::new(format!("{} is a link that leads nowhere", path.display()), advice));
            }
            let mut entries = count(&library, scope).await?;
            if let Some(broken) = found.iter_mut().find(|problem| is_of_whole(problem, &path))
                && let Some(known) = last_good(surroundings.directories, scope, &files).await
            {
                entries = known.in_force.map_or(0, |in_force| in_force.entries);
                *broken = known;
            }
            report.personas.push(FileReport { scope, path, exists, entries, warnings: Vec::new() });
        }
    }
    for found in found {
        let text = found.to_string();
        if found.level == ProblemLevel::Error {
            let advice = match found.in_force {
                Some(_) => "mend it and save; nothing needs to be started anew",
                None => "mend it; what was good before stays in force until then",
            };
            problems.push(Problem::new(text, advice));
        } else if let Some(file) = report.personas.iter_mut().find(|file| file.path == found.path) {
            file.warnings.push(text);
        }
    }
    if !matches!(surroundings.shared, Shared::Unknown) && library.file_entries() <= lint::EXAMINED {
        report.lint = Some(look(&library, surroundings.config, project, problems).await?);
    }
    library.close().await;
    Ok(())
}

async fn open(database: String, files: FileScopes) -> Result<Library> {
    let options = OpenOptions { database, create: true, files: Some(files), default_scope: Scope::Shared };
    Ok(Library::open(options).await?)
}

fn is_of_whole(problem: &FileProblem, path: &Path) -> bool {
    problem.in_force.is_some() && problem.path == path
}

/// What is wrong with a file as a whole, and what is in force instead: only its history tells. There
/// is nothing to record of such a file, so that its own history can be asked.
async fn last_good(directories: &Directories, scope: Scope, files: &FileScopes) -> Option<FileProblem> {
    let local = directories.local_database();
    if !local.exists() {
        return None;
    }
    let only = |of: Scope, path: &Option<PathBuf>| path.clone().filter(|_| of == scope);
    let files = FileScopes {
        global: only(Scope::Global, &files.global),
        project: only(Scope::Project, &files.project),
        local: Location::Sqlite(local.clone()),
        locks: files.locks.clone(),
        writable: false,
    };
    let library = open(local.to_string_lossy().into_owned(), files).await.ok()?;
    let problem = library.problems().into_iter().find(|problem| problem.in_force.is_some());
    library.close().await;
    problem
}

async fn look(
    library: &Library,
    config: &Config,
    project: Option<&Project>,
    problems: &mut Vec<Problem>,
) -> Result<LintCounts> {
    let report = library.lint(lint::options_of(config, project, Vec::new())).await?;
    let [(_, errors), (_, warnings)] = lint::counts(&report);
    let words = lint::counted(&report);
    if let Some(words) = words.as_ref().filter(|_| errors > 0) {
        problems
            .push(Problem::new(format!("lint finds {words} in your files"), "see them with `masque lint`"));
    }
    Ok(LintCounts { errors, warnings, words })
}

async fn count(library: &Library, scope: Scope) -> Result<usize> {
    let mut entries = 0;
    for kind in Kind::ALL {
        let mut cursor = None;
        loop {
            let limit = u32::try_from(limits::PAGE).ok();
            let query = List { tags: None, query: None, limit, cursor, scope: Some(scope) };
            let page = library.list(*kind, query).await?;
            entries += page.items.len();
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(entries)
}

fn said(failure: &Failure) -> String {
    failure.sentence().unwrap_or_default()
}

impl FilesReport {
    /// Whether something may not be as it was meant.
    pub(super) fn is_doubtful(&self) -> bool {
        self.passed_over.is_some() || self.lint.as_ref().is_some_and(|lint| lint.warnings > 0)
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<()> {
        let ConfigReport { path, exists, warnings } = &self.config;
        output.field("config", &format!("{}{}", path.display(), absent(*exists)))?;
        warnings.iter().try_for_each(|warning| output.field("", &format!("warning: {warning}")))?;
        match &self.project {
            Some(ProjectReport { root, found, trusted, .. }) => {
                output.field("project", &format!("{} ({found})", root.display()))?;
                output.field(
                    "trusted",
                    if *trusted { "yes" } else { "no; `masque trust` says what that means" },
                )?;
            }
            None => output.field("project", "none")?,
        }
        self.passed_over.iter().try_for_each(|said| output.field("", &format!("warning: {said}")))?;
        for FileReport { scope, path, exists, entries, warnings } in &self.personas {
            let holds = match (exists, entries) {
                (false, _) => absent(false).to_owned(),
                (true, 1) => " (1 entry in force)".to_owned(),
                (true, entries) => format!(" ({entries} entries in force)"),
            };
            output.field(&format!("{scope} file"), &format!("{}{holds}", path.display()))?;
            warnings.iter().try_for_each(|warning| output.field("", warning))?;
        }
        if let Some(words) = self.lint.as_ref().and_then(|lint| lint.words.as_ref()) {
            output.field("lint", &format!("{words}; see them with `masque lint`"))?;
        }
        match &self.watching {
            Some(Watching::Native) => output.field("followed", "by the system, at once")?,
            Some(Watching::Polling { reason }) => {
                output.field("followed", &format!("by looking again and again: {reason}"))?;
            }
            None => {}
        }
        output.field("file history", &self.local_database.display().to_string())
    }
}

fn absent(exists: bool) -> &'static str {
    if exists { "" } else { " (not there yet)" }
}
