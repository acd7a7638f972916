//! The user's settings, and the two personas.toml: where they are, what they hold, what is wrong
//! with them and how they are followed.

use std::path::{Path, PathBuf};

use app::inputs::List;
use app::{FileScopes, Library, Location, OpenOptions, ProblemLevel, WatchMode};
use persona::{Kind, Scope, limits};
use serde::Serialize;

use super::Problem;
use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::locations::Directories;
use crate::output::Output;
use crate::project::Project;
use crate::trust::Trust;

#[derive(Debug, Serialize)]
pub(super) struct FilesReport {
    config: ConfigReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<ProjectReport>,
    personas: Vec<FileReport>,
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
#[serde(tag = "mode", rename_all = "snake_case")]
enum Watching {
    Native,
    Polling { reason: String },
}

pub(super) async fn examine(
    directories: &Directories,
    project: Option<&Path>,
    problems: &mut Vec<Problem>,
) -> FilesReport {
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
        personas: Vec::new(),
        watching: None,
        local_database: directories.local_database(),
    };
    if let Err(failure) = examine_personas(directories, project.as_ref(), &mut report, problems).await {
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

/// Opens the files beside a database that is thrown away: a check must not make what it checks,
/// nor record what it sees.
async fn examine_personas(
    directories: &Directories,
    project: Option<&Project>,
    report: &mut FilesReport,
    problems: &mut Vec<Problem>,
) -> Result<()> {
    let scratch = tempfile::tempdir()
        .map_err(|error| Failure::file("make a directory in", &std::env::temp_dir(), &error))?;
    let database = scratch.path().join("doctor.db");
    let files = FileScopes {
        global: Some(directories.personas_file()),
        project: project.map(Project::file),
        local: Location::Sqlite(database.clone()),
        locks: scratch.path().join("locks"),
        writable: false,
    };
    let database = database.to_string_lossy().into_owned();
    let options = OpenOptions { database, create: true, files: Some(files), default_scope: Scope::Shared };
    let library = Library::open(options).await?;
    library.watch();
    report.watching = library.watching().map(|mode| match mode {
        WatchMode::Native => Watching::Native,
        WatchMode::Polling { reason } => Watching::Polling { reason },
    });
    for scope in [Scope::Global, Scope::Project] {
        if let Some(path) = library.path(scope) {
            let (path, exists) = (path.to_path_buf(), path.exists());
            let entries = count(&library, scope).await?;
            report.personas.push(FileReport { scope, path, exists, entries, warnings: Vec::new() });
        }
    }
    for found in library.problems() {
        let text = found.to_string();
        if found.level == ProblemLevel::Error {
            problems.push(Problem::new(text, "mend it; what was good before stays in force until then"));
        } else if let Some(file) = report.personas.iter_mut().find(|file| file.path == found.path) {
            file.warnings.push(text);
        }
    }
    library.close().await;
    Ok(())
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
    match failure {
        Failure::Told { message, .. } => message.clone(),
        _ => String::new(),
    }
}

impl FilesReport {
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
        for FileReport { scope, path, exists, entries, warnings } in &self.personas {
            let holds = match (exists, entries) {
                (false, _) => absent(false).to_owned(),
                (true, 1) => " (1 entry)".to_owned(),
                (true, entries) => format!(" ({entries} entries)"),
            };
            output.field(&format!("{scope} file"), &format!("{}{holds}", path.display()))?;
            warnings.iter().try_for_each(|warning| output.field("", warning))?;
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
