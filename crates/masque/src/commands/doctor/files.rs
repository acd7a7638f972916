//! Checks config.toml and both personas.toml files.

use std::path::{Path, PathBuf};

use app::inputs::List;
use app::{FileScopes, Library, Location, OpenOptions, Problem as FileProblem, ProblemLevel, WatchMode};
use persona::{Kind, Scope, limits};
use serde::Serialize;

use super::DoctorProblem;
use super::database::Shared;
use crate::commands::lint;
use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::locations::Directories;
use crate::output::{Output, Warning};
use crate::project::{Project, read_text};
use crate::trust::{TrustList, TrustState};

/// The inputs of the check.
pub(super) struct Surroundings<'a> {
    pub(super) directories: &'a Directories,
    pub(super) config: &'a Config,
    pub(super) shared: Shared,
}

#[derive(Debug, Serialize)]
pub(super) struct FilesReport {
    config: ConfigReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<ProjectReport>,
    /// A warning about a skipped personas.toml.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed_over: Option<String>,
    personas: Vec<FileReport>,
    /// Lint findings that are not problems here.
    #[serde(skip_serializing_if = "Option::is_none")]
    lint: Option<LintCounts>,
    /// How file changes are detected. None if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    watching: Option<Watching>,
    /// The database with the history of files.
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
    #[serde(rename = "trusted", serialize_with = "is_trusted")]
    trust: TrustState,
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
    problems: &mut Vec<DoctorProblem>,
) -> FilesReport {
    let directories = surroundings.directories;
    let config = examine_config(directories, problems);
    let project = Project::find(project, Some(&directories.home)).unwrap_or_else(|failure| {
        problems.push(DoctorProblem::new(message_of(&failure), "fix --project, or unset MASQUE_PROJECT"));
        None
    });
    let mut report = FilesReport {
        config,
        project: project.as_ref().map(|project| ProjectReport {
            root: project.root.clone(),
            found: project.origin.as_str(),
            open: project.is_open(),
            trust: trust_state(directories, project, problems),
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
        let advice = "fix this first; the rest of the report is complete";
        problems
            .push(DoctorProblem::new(format!("cannot check the files: {}", message_of(&failure)), advice));
    }
    report
}

fn is_trusted<S: serde::Serializer>(
    trust: &TrustState,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_bool(*trust == TrustState::Trusted)
}

fn trust_state(
    directories: &Directories,
    project: &Project,
    problems: &mut Vec<DoctorProblem>,
) -> TrustState {
    match TrustList::read(directories) {
        Ok(list) => list.state(&project.root, &read_text(&project.file())),
        Err(failure) => {
            problems
                .push(DoctorProblem::new(message_of(&failure), "until this is fixed, no project is trusted"));
            TrustState::Untrusted
        }
    }
}

fn examine_config(directories: &Directories, problems: &mut Vec<DoctorProblem>) -> ConfigReport {
    let path = directories.config_file();
    let warnings = match Config::read(&path) {
        Ok(config) => config.warnings.iter().map(Warning::text).collect(),
        Err(failure) => {
            let advice = "fix it; until then, commands that open the library fail";
            problems.push(DoctorProblem::new(message_of(&failure), advice));
            Vec::new()
        }
    };
    ConfigReport { exists: path.exists(), path, warnings }
}

/// Opens the files with a temporary history, so that the check creates and records nothing.
async fn examine_personas(
    surroundings: &Surroundings<'_>,
    project: Option<&Project>,
    report: &mut FilesReport,
    problems: &mut Vec<DoctorProblem>,
) -> Result<()> {
    let scratch = tempfile::tempdir()
        .map_err(|error| Failure::file("create a directory in", &std::env::temp_dir(), &error))?;
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
                let advice = "restore its target, or remove the link";
                problems.push(DoctorProblem::new(format!("{} is a broken link", path.display()), advice));
            }
            let mut entries = count(&library, scope).await?;
            if let Some(broken) = found.iter_mut().find(|problem| is_of_whole(problem, &path))
                && let Some(known) = last_valid(surroundings.directories, scope, &files).await
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
                Some(_) => "fix and save it; no restart is needed",
                None => "fix it; until then, the last valid version is used",
            };
            problems.push(DoctorProblem::new(text, advice));
        } else if let Some(file) = report.personas.iter_mut().find(|file| file.path == found.path) {
            file.warnings.push(text);
        }
    }
    if !matches!(surroundings.shared, Shared::Unknown) && library.file_entries() <= lint::EXAMINED {
        report.lint = Some(lint_files(&library, surroundings.config, project, problems).await?);
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

/// The problem of a broken file, with the version in use, which only its history knows. A broken file
/// records nothing, so reading its own history is safe.
async fn last_valid(directories: &Directories, scope: Scope, files: &FileScopes) -> Option<FileProblem> {
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

async fn lint_files(
    library: &Library,
    config: &Config,
    project: Option<&Project>,
    problems: &mut Vec<DoctorProblem>,
) -> Result<LintCounts> {
    let report = library.lint(lint::options_of(config, project, library.scopes_with_files())).await?;
    let [(_, errors), (_, warnings)] = lint::counts(&report);
    let words = lint::count_text(&report);
    if let Some(words) = words.as_ref().filter(|_| errors > 0) {
        problems.push(DoctorProblem::new(format!("lint found {words} in your files"), "run `masque lint`"));
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

fn message_of(failure: &Failure) -> String {
    failure.sentence().unwrap_or_default()
}

impl FilesReport {
    /// True if there are warnings.
    pub(super) fn has_warnings(&self) -> bool {
        self.passed_over.is_some() || self.lint.as_ref().is_some_and(|lint| lint.warnings > 0)
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<()> {
        let ConfigReport { path, exists, warnings } = &self.config;
        output.field("config", &format!("{}{}", path.display(), absent(*exists)))?;
        warnings.iter().try_for_each(|warning| output.field("", &format!("warning: {warning}")))?;
        match &self.project {
            Some(ProjectReport { root, found, trust, .. }) => {
                output.field("project", &format!("{} ({found})", root.display()))?;
                let trusted = match trust {
                    TrustState::Trusted => "yes",
                    TrustState::Changed => {
                        "no: it changed since you trusted it; `masque trust` shows the changes"
                    }
                    TrustState::Untrusted => "no; `masque trust` explains what trust allows",
                };
                output.field("trusted", trusted)?;
            }
            None => output.field("project", "none")?,
        }
        self.passed_over.iter().try_for_each(|warning| output.field("", &format!("warning: {warning}")))?;
        for FileReport { scope, path, exists, entries, warnings } in &self.personas {
            let holds = match (exists, entries) {
                (false, _) => absent(false).to_owned(),
                (true, 1) => " (1 entry)".to_owned(),
                (true, entries) => format!(" ({entries} entries)"),
            };
            output.field(&format!("{scope} file"), &format!("{}{holds}", path.display()))?;
            warnings.iter().try_for_each(|warning| output.field("", warning))?;
        }
        if let Some(words) = self.lint.as_ref().and_then(|lint| lint.words.as_ref()) {
            output.field("lint", &format!("{words}; run `masque lint`"))?;
        }
        match &self.watching {
            Some(Watching::Native) => output.field("watching", "native file events")?,
            Some(Watching::Polling { reason }) => {
                output.field("watching", &format!("polling: {reason}"))?;
            }
            None => {}
        }
        output.field("file history", &self.local_database.display().to_string())
    }
}

fn absent(exists: bool) -> &'static str {
    if exists { "" } else { " (does not exist yet)" }
}
