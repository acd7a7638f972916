//! `masque lint`: what is wrong with definitions and files, for people, programs and code hosts.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use app::LintOptions;
use app::outputs::{LintFinding, LintReport, LintRule, Written};
use persona::lint::Level;
use persona::{Kind, Name, Scope};
use providers::Providers;

use crate::cli::{Deny, LintArgs, LintFormat, ShowArgs};
use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::output::{Output, Warning};
use crate::project::{Connections, Project};
use crate::session::Session;

mod sarif;
mod text;

/// Entries up to which lint looks at the files along with other commands.
const REMINDED: usize = 2_000;

/// Entries up to which lint looks at a scope after an edit, or at the files along with `doctor`; more
/// would keep somebody waiting.
pub(super) const EXAMINED: usize = 20_000;

/// The provider that plays a script.
const REHEARSAL: &str = "rehearsal";

/// Whether somebody has just read what lint found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Findings {
    Told,
    Untold,
    /// Nothing was told, and nothing but this was asked for.
    UntoldOf(About),
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    kind: Kind,
    name: Name,
    /// None: the strongest that has it.
    scope: Option<Scope>,
}

impl About {
    /// What `show` shows.
    pub(super) fn shown(args: &ShowArgs) -> Option<Self> {
        let target = args.target().ok()?;
        Some(Self { kind: target.kind, name: target.name, scope: args.only.scope })
    }
}

/// All that was found, and where the project is.
struct Report {
    found: LintReport,
    root: Option<PathBuf>,
    /// Whether shared was looked at because there is no file.
    implied_shared: bool,
}

pub(crate) async fn run(args: LintArgs, session: &Session, output: &mut Output) -> Result<()> {
    let LintArgs { scopes, format, deny, paths } = args;
    if let Some(path) = paths.first() {
        return Err(not_by_path(path));
    }
    let report = examine(scopes, session).await?;
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

/// Lint looks at whole scopes: a piece is right or wrong by what stands around it.
fn not_by_path(path: &Path) -> Failure {
    let directory = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let how = match directory.as_os_str().is_empty() || directory == Path::new(".") {
        true => "masque lint".to_owned(),
        false => format!("masque lint --project {}", directory.display()),
    };
    let path = path.display();
    Failure::invalid(format!(
        "lint looks at all of a project, with the files that it names, and not at {path} alone; call `{how}`"
    ))
}

/// What lint is to know of the surroundings.
pub(super) fn options(session: &Session, scopes: Vec<Scope>) -> LintOptions {
    options_of(&session.config, session.project.as_ref(), scopes)
}

pub(super) fn options_of(config: &Config, project: Option<&Project>, scopes: Vec<Scope>) -> LintOptions {
    // A provider that the project names is no slip of the pen, trusted or not.
    let project = project.map(|project| Connections::read(&project.file()));
    let of_project = project.iter().flat_map(|project| &project.provider_names);
    let env_allowed: BTreeSet<String> = config.env_allow.clone();
    // What is not text cannot be filled in, and counts as unset there too.
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

/// Tells somebody at a terminal, after another command, that lint has something to say: of the
/// definition that was asked for, or of all.
pub(super) async fn remind(session: &Session, about: Option<&About>, output: &mut Output) {
    let library = &session.library;
    let wanted = io::stderr().is_terminal() && !output.is_json();
    // Without files, lint would look at shared. A file without entries may have misspelt their tables.
    let files = library.scopes_with_files();
    if !wanted || files.is_empty() || library.file_entries() > REMINDED {
        return;
    }
    let Ok(mut report) = library.lint(options(session, files)).await else { return };
    let mut place = "in your files".to_owned();
    if let Some(About { kind, name, scope }) = about {
        let scope = match scope {
            Some(scope) => *scope,
            None => library.scope_of(*kind, name).await.unwrap_or(Scope::Project),
        };
        report.findings.retain(|found| is_about(found, *kind, name, scope));
        place = format!("about {} {name}", kind.spoken());
    }
    if let Some(found) = counted(&report) {
        // After the answer, and nothing can be done about either where it is closed.
        let _ = output.flush();
        let _ = writeln!(io::stderr(), "lint: {found} {place}; see them with `masque lint`");
    }
}

/// How many errors and warnings lint has besides the mistakes that every command tells.
pub(super) fn counts(report: &LintReport) -> [(Level, usize); 2] {
    let is_told =
        |found: &LintFinding| !matches!(found.rule, LintRule::Definition(_)) && found.level == Level::Error;
    let untold = report.findings.iter().filter(|found| !is_told(found));
    [Level::Error, Level::Warning]
        .map(|level| (level, untold.clone().filter(|found| found.level == level).count()))
}

/// The same in words; none where there are none.
pub(super) fn counted(report: &LintReport) -> Option<String> {
    text::counted(counts(report))
}

fn is_about(found: &LintFinding, kind: Kind, name: &Name, scope: Scope) -> bool {
    let of_it = found.kind == Some(kind) && found.name.as_deref() == Some(name.as_str());
    of_it && found.scope == Some(scope)
}

/// Tells what lint finds about a definition that was just written. It is kept all the same, so that
/// whatever keeps lint from looking is no failure either.
pub(super) async fn tell_of(written: &Written, session: &Session, output: &mut Output) -> Result<Findings> {
    let Written { kind, name, scope, .. } = written;
    if !is_quick(*scope, session).await {
        output.advise(&format!(
            "{scope} has too many entries to look at after each edit; `masque lint --scope {scope}` does"
        ))?;
        return Ok(Findings::Untold);
    }
    let Ok(report) = session.library.lint(options(session, vec![*scope])).await else {
        return Ok(Findings::Untold);
    };
    let about = |found: &LintFinding| {
        is_about(found, *kind, name, *scope) && matches!(found.rule, LintRule::Definition(_))
    };
    let findings: Vec<LintFinding> = report.findings.into_iter().filter(about).collect();
    if output.is_json() {
        let said = |found: &LintFinding| Warning::Said(format!("{} [{}]", found.sentence(), found.rule));
        output.warn(&findings.iter().map(said).collect::<Vec<_>>())?;
    } else {
        text::print_below(&findings, session.library.path(*scope), output)?;
    }
    Ok(if findings.is_empty() { Findings::Untold } else { Findings::Told })
}

/// Whether a scope is small enough to be looked at along with a command that is about one entity.
async fn is_quick(scope: Scope, session: &Session) -> bool {
    if scope.is_file() {
        return session.library.file_entries() <= EXAMINED;
    }
    // Whoever cannot look here cannot look there either, and says nothing.
    let Ok(info) = session.library.database_info().await else { return true };
    let entries: i64 = info.counts.iter().map(|(_, count)| count).sum();
    usize::try_from(entries).is_ok_and(|entries| entries <= EXAMINED)
}

async fn examine(scopes: Vec<Scope>, session: &Session) -> Result<Report> {
    let library = &session.library;
    let implied_shared = scopes.is_empty() && library.scopes_with_files().is_empty();
    let found = library.lint(options(session, scopes)).await?;
    let root = library.path(Scope::Project).and_then(Path::parent).map(Path::to_path_buf);
    Ok(Report { found, root, implied_shared })
}

/// The providers that a model may name: those that are configured or have their key here, and those
/// that need none. Where the user has configured nothing yet, as where a code host checks the files,
/// all that a key would configure are meant; what the project configures says nothing about that.
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

impl Report {
    /// The project's file; where no project is open, as a project would have it.
    fn project_file(&self) -> PathBuf {
        self.root.as_deref().unwrap_or(Path::new("")).join("personas.toml")
    }

    /// A path as it is read from the project's root, where it is below that.
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
    fn a_projects_provider_does_not_make_the_others_unknown() {
        let known: Vec<_> = providers([], ["house"], |_| false).into_iter().collect();
        assert_eq!(known, ["anthropic", "gemini", "house", "llamacpp", "ollama", "openai", "rehearsal"]);
    }
}
