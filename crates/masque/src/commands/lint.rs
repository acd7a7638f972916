//! `masque lint`: checks definitions and files.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use app::LintOptions;
use app::outputs::{LintFinding, LintReport, LintRule, Written};
use persona::lint::Level;
use persona::{Kind, Name, Scope};
use providers::Providers;

use crate::cli::{Deny, LintArgs, LintFormat};
use crate::config::Config;
use crate::failure::{CommandError, Failure, Result};
use crate::output::{Output, Warning};
use crate::project::{Connections, Project};
use crate::workspace::Workspace;

mod sarif;
mod text;

/// Maximum number of entries for a lint reminder after other commands.
const REMINDED: usize = 2_000;

/// Maximum number of entries for lint after an edit or in `doctor`. More would take too long.
pub(super) const EXAMINED: usize = 20_000;

/// The scripted provider.
const REHEARSAL: &str = "rehearsal";

/// The lint findings to remind of after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LintReminder {
    /// The command has shown them.
    None,
    All,
    /// Only those about one definition.
    About(LintSubject),
}

/// A definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LintSubject {
    kind: Kind,
    name: Name,
    /// None for the strongest scope that has it.
    scope: Option<Scope>,
}

impl LintSubject {
    pub(super) fn new(kind: Kind, name: Name, scope: Option<Scope>) -> Self {
        Self { kind, name, scope }
    }
}

/// The findings and the project's root.
struct LintRun {
    found: LintReport,
    root: Option<PathBuf>,
    /// True if shared was checked because there are no files.
    implied_shared: bool,
}

pub(crate) async fn run(args: LintArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let LintArgs { scopes, format, deny, paths } = args;
    if let Some(path) = paths.first() {
        return Err(path_error(path));
    }
    let report = examine(scopes, workspace).await?;
    let implied = if output.is_json() { LintFormat::Json } else { LintFormat::Text };
    match format.unwrap_or(implied) {
        LintFormat::Text => text::print(&report, output)?,
        LintFormat::Json => output.json(&report.found)?,
        LintFormat::Sarif => output.json(&sarif::log(&report))?,
    }
    let denied = match deny {
        None | Some(Deny::Error) => Level::Error,
        Some(Deny::Warning) => Level::Warning,
        Some(Deny::Note) => Level::Note,
    };
    let fails = report.found.findings.iter().any(|finding| finding.level >= denied);
    if fails { Err(Failure::Answered) } else { Ok(()) }
}

/// The error for a path argument. Lint checks whole scopes, because pieces refer to each other.
fn path_error(path: &Path) -> Failure {
    let directory = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let command = match directory.as_os_str().is_empty() || directory == Path::new(".") {
        true => "masque lint".to_owned(),
        false => format!("masque lint --project {}", directory.display()),
    };
    CommandError::LintPath { path: path.display().to_string(), command }.into()
}

/// The lint options of a workspace.
pub(super) fn options(workspace: &Workspace, scopes: Vec<Scope>) -> LintOptions {
    options_of(&workspace.config, workspace.project.as_ref(), scopes)
}

pub(super) fn options_of(config: &Config, project: Option<&Project>, scopes: Vec<Scope>) -> LintOptions {
    // The project's providers are known names, trusted or not.
    let project = project.map(|project| Connections::read(&project.file()));
    let of_project = project.iter().flat_map(|project| &project.provider_names);
    let env_allowed: BTreeSet<String> = config.env_allow.clone();
    // A variable that is not UTF-8 counts as unset.
    let env_set = env_allowed.iter().filter(|name| std::env::var(name).is_ok()).cloned().collect();
    LintOptions {
        scopes,
        part_tokens: config.lint_part_tokens,
        providers: Some(providers(
            config.providers.keys().map(String::as_str),
            of_project.map(String::as_str),
            |name| std::env::var_os(name).is_some_and(|key| !key.is_empty()),
        )),
        other_providers: Providers::usual().map(|(name, _)| name.to_owned()).collect(),
        env_allowed,
        env_set,
    }
}

/// Reminds of lint findings after another command, on a terminal.
pub(super) async fn remind(workspace: &Workspace, about: Option<&LintSubject>, output: &mut Output) {
    let library = &workspace.library;
    let is_shown = io::stderr().is_terminal() && !output.is_json();
    // Without files, lint would check shared. A file without entries may have misspelt tables.
    let files = library.scopes_with_files();
    if !is_shown || files.is_empty() || library.file_entries() > REMINDED {
        return;
    }
    let Ok(mut report) = library.lint(options(workspace, files)).await else { return };
    let mut place = "in your files".to_owned();
    if let Some(LintSubject { kind, name, scope }) = about {
        let scope = match scope {
            Some(scope) => *scope,
            None => library.scope_of(*kind, name).await.unwrap_or(Scope::Project),
        };
        report.findings.retain(|found| is_about(found, *kind, name, scope));
        place = format!("about {} {name}", kind.spoken());
    }
    if let Some(found) = count_text(&report) {
        // Print it after the output. Write errors are ignored.
        let _ = output.flush();
        let _ = writeln!(io::stderr(), "lint: {found} {place}; run `masque lint`");
    }
}

/// Counts errors and warnings, without the errors that every command reports.
pub(super) fn counts(report: &LintReport) -> [(Level, usize); 2] {
    let is_reported =
        |found: &LintFinding| !matches!(found.rule, LintRule::Definition(_)) && found.level == Level::Error;
    let others = report.findings.iter().filter(|found| !is_reported(found));
    [Level::Error, Level::Warning]
        .map(|level| (level, others.clone().filter(|found| found.level == level).count()))
}

/// The counts as text. None if there are none.
pub(super) fn count_text(report: &LintReport) -> Option<String> {
    text::count_text(counts(report))
}

fn is_about(found: &LintFinding, kind: Kind, name: &Name, scope: Scope) -> bool {
    let of_it = found.kind == Some(kind) && found.name.as_deref() == Some(name.as_str());
    of_it && found.scope == Some(scope)
}

/// Prints findings about a definition that was just written. An error of lint is ignored.
pub(super) async fn print_findings(
    written: &Written,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<LintReminder> {
    let Written { kind, name, scope, .. } = written;
    if !is_quick(*scope, workspace).await {
        output.advise(&format!(
            "{scope} has too many entries to lint after each edit; run `masque lint --scope {scope}`"
        ))?;
        return Ok(LintReminder::All);
    }
    let Ok(report) = workspace.library.lint(options(workspace, vec![*scope])).await else {
        return Ok(LintReminder::All);
    };
    let about = |found: &LintFinding| {
        is_about(found, *kind, name, *scope) && matches!(found.rule, LintRule::Definition(_))
    };
    let findings: Vec<LintFinding> = report.findings.into_iter().filter(about).collect();
    if output.is_json() {
        let warning =
            |found: &LintFinding| Warning::Lint { rule: found.rule.to_string(), sentence: found.sentence() };
        output.warn(&findings.iter().map(warning).collect::<Vec<_>>())?;
    } else {
        text::print_below(&findings, workspace.library.path(*scope), output)?;
    }
    Ok(if findings.is_empty() { LintReminder::All } else { LintReminder::None })
}

/// True if a scope is small enough to lint after an edit.
async fn is_quick(scope: Scope, workspace: &Workspace) -> bool {
    if scope.is_file() {
        return workspace.library.file_entries() <= EXAMINED;
    }
    // If the database fails here, lint fails too and prints nothing.
    let Ok(info) = workspace.library.database_info().await else { return true };
    let entries: i64 = info.counts.iter().map(|(_, count)| count).sum();
    usize::try_from(entries).is_ok_and(|entries| entries <= EXAMINED)
}

async fn examine(scopes: Vec<Scope>, workspace: &Workspace) -> Result<LintRun> {
    let library = &workspace.library;
    let implied_shared = scopes.is_empty() && library.scopes_with_files().is_empty();
    let found = library.lint(options(workspace, scopes)).await?;
    let root = library.path(Scope::Project).and_then(Path::parent).map(Path::to_path_buf);
    Ok(LintRun { found, root, implied_shared })
}

/// The known providers: those of the user, of the project, with a key in the environment, and local
/// ones. If the user has none, for example in CI, all usual providers are known.
fn providers<'a>(
    of_user: impl IntoIterator<Item = &'a str>,
    of_project: impl IntoIterator<Item = &'a str>,
    is_set: impl Fn(&str) -> bool,
) -> BTreeSet<String> {
    let keyed = Providers::usual().filter(|(_, key)| is_set(key)).map(|(name, _)| name);
    let mut known: BTreeSet<&str> = of_user.into_iter().chain(keyed).collect();
    if known.is_empty() {
        known.extend(Providers::usual().map(|(name, _)| name));
    }
    known.extend(of_project);
    known.extend(Providers::LOCAL);
    known.insert(REHEARSAL);
    known.into_iter().map(str::to_owned).collect()
}

impl LintRun {
    /// The project's file, relative if no project is open.
    fn project_file(&self) -> PathBuf {
        self.root.as_deref().unwrap_or(Path::new("")).join("personas.toml")
    }

    /// A path relative to the project's root, if it is inside.
    fn relative<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        self.root.as_ref().and_then(|root| path.strip_prefix(root).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::providers;

    #[test]
    fn providers_are_known_by_configuration_or_key() {
        let none: Vec<_> = providers([], [], |_| false).into_iter().collect();
        assert_eq!(none, ["anthropic", "gemini", "llamacpp", "ollama", "openai", "rehearsal"]);
        let known = |configured: &[&'static str], key: &str| {
            let known = providers(configured.iter().copied(), ["house"], |name| name == key);
            known.into_iter().filter(|name| name != "house").collect::<Vec<_>>().join(" ")
        };
        assert_eq!(known(&["work"], ""), "llamacpp ollama rehearsal work");
        assert_eq!(known(&[], "GEMINI_API_KEY"), "gemini llamacpp ollama rehearsal");
        assert_eq!(known(&["openai"], "ANTHROPIC_API_KEY"), "anthropic llamacpp ollama openai rehearsal");
    }

    #[test]
    fn a_projects_provider_does_not_hide_the_usual_ones() {
        let known: Vec<_> = providers([], ["house"], |_| false).into_iter().collect();
        assert_eq!(known, ["anthropic", "gemini", "house", "llamacpp", "ollama", "openai", "rehearsal"]);
    }
}
