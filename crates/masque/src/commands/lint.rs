//! `masque lint`: what is wrong with definitions and files, for people, programs and code hosts.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use app::LintOptions;
use app::outputs::{PlacedFinding, Written};
use persona::Scope;
use persona::lint::Level;
use serde::Serialize;

use crate::cli::{Deny, LintArgs, LintFormat};
use crate::failure::{Failure, Result};
use crate::output::{Output, Stream, Warning};
use crate::project::Connections;
use crate::session::Session;

mod entry;
use entry::Entry;

mod sarif;
mod text;

/// Providers whose key may stand in the environment, under one of these names.
const KEYS: [(&str, &[&str]); 3] =
    [("anthropic", &["ANTHROPIC_API_KEY"]), ("openai", &["OPENAI_API_KEY"]), ("gemini", &["GEMINI_API_KEY"])];

/// Entries up to which lint looks at the files along with other commands.
const REMINDED: usize = 2_000;

/// Entries of a scope up to which lint looks at it after an edit; more would keep somebody waiting.
const EXAMINED: usize = 20_000;

/// Providers that need no key.
const KEYLESS: [&str; 3] = ["llamacpp", "ollama", "rehearsal"];

/// All that was found, and where the project is.
struct Report {
    entries: Vec<Entry>,
    root: Option<PathBuf>,
}

#[derive(Serialize)]
struct Answer<'a> {
    findings: &'a [Entry],
    errors: usize,
    warnings: usize,
    notes: usize,
}

pub(crate) async fn run(args: LintArgs, session: &Session, output: &mut Output) -> Result<()> {
    let LintArgs { scopes, format, deny } = args;
    let report = examine(scopes, session).await?;
    let implied = if output.is_json() { LintFormat::Json } else { LintFormat::Text };
    match format.unwrap_or(implied) {
        LintFormat::Text => text::print(&report, output)?,
        LintFormat::Json => output.json(&Answer {
            findings: &report.entries,
            errors: report.count(Level::Error),
            warnings: report.count(Level::Warning),
            notes: report.count(Level::Note),
        })?,
        LintFormat::Sarif => output.json(&sarif::log(&report))?,
    }
    let denied = match deny {
        None => Level::Error,
        Some(Deny::Warning) => Level::Warning,
        Some(Deny::Note) => Level::Note,
    };
    let fails = report.entries.iter().any(|entry| entry.level >= denied);
    if fails { Err(Failure::Answered) } else { Ok(()) }
}

/// What lint is to know of the surroundings.
pub(super) fn options(session: &Session, scopes: Vec<Scope>) -> LintOptions {
    let config = &session.config;
    // A provider that the project names is no slip of the pen, trusted or not.
    let project = session.project.as_ref().map(|project| Connections::read(&project.file()));
    let of_project = project.iter().flat_map(|project| &project.provider_names);
    let env_allowed: BTreeSet<String> = config.env_allow.clone();
    let env_set = env_allowed.iter().filter(|name| std::env::var_os(name).is_some()).cloned().collect();
    LintOptions {
        scopes,
        part_tokens: config.lint_part_tokens,
        providers: providers(config.providers.keys().chain(of_project).map(String::as_str), |name| {
            std::env::var_os(name).is_some_and(|key| !key.is_empty())
        }),
        env_allowed,
        env_set,
    }
}

/// Tells somebody at a terminal, after another command, that lint has something to say.
pub(super) async fn remind(session: &Session, output: &Output) {
    let wanted = io::stderr().is_terminal() && !output.is_json();
    if !wanted || !(1..=REMINDED).contains(&session.library.file_entries()) {
        return;
    }
    let Ok(report) = session.library.lint(options(session, Vec::new())).await else { return };
    let count = |level| report.findings.iter().filter(|found| found.finding.level == level).count();
    if let Some(found) = text::counted([Level::Error, Level::Warning].map(|level| (level, count(level)))) {
        let _ = writeln!(io::stderr(), "lint: {found} in your files; see them with `masque lint`");
    }
}

/// Tells what lint finds about a definition that was just written. It is kept all the same, so that
/// whatever keeps lint from looking is no failure either.
pub(super) async fn tell_of(written: &Written, session: &Session, output: &mut Output) -> Result<()> {
    let Written { kind, name, scope, .. } = written;
    if !is_quick(*scope, session).await {
        return output.advise(&format!(
            "{scope} has too many entries to look at after each edit; `masque lint --scope {scope}` does"
        ));
    }
    let Ok(report) = session.library.lint(options(session, vec![*scope])).await else { return Ok(()) };
    let about = |found: &PlacedFinding| {
        let finding = &found.finding;
        finding.kind == *kind && finding.name == *name && finding.scope == *scope
    };
    let entries: Vec<Entry> = report.findings.into_iter().filter(about).map(Entry::of_finding).collect();
    if output.is_json() {
        let said = |entry: &Entry| Warning::Said(format!("{} [{}]", entry.sentence(), entry.rule));
        return output.warn(&entries.iter().map(said).collect::<Vec<_>>());
    }
    text::print_group(&entries, Stream::Error, output)
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
    let options = options(session, scopes.clone());
    let found = library.lint(options).await?;
    let mut entries: Vec<Entry> = found.findings.into_iter().map(Entry::of_finding).collect();
    let scope_of = |path: &Path| {
        [Scope::Project, Scope::Global].into_iter().find(|scope| library.path(*scope) == Some(path))
    };
    for problem in found.problems {
        let scope = scope_of(&problem.path);
        if !scopes.is_empty() && scope.is_some_and(|scope| !scopes.contains(&scope)) {
            continue;
        }
        entries.push(Entry::of_problem(problem, scope));
    }
    entries.sort_by_key(Entry::place);
    let root = library.path(Scope::Project).and_then(Path::parent).map(Path::to_path_buf);
    Ok(Report { entries, root })
}

/// The providers that a model may name. Where nothing is configured yet, none can be called wrong.
fn providers<'a>(
    configured: impl IntoIterator<Item = &'a str>,
    is_set: impl Fn(&str) -> bool,
) -> Option<BTreeSet<String>> {
    let keyed = KEYS.iter().filter(|(_, names)| names.iter().any(|name| is_set(name)));
    let keyed = keyed.map(|(provider, _)| *provider);
    let mut known: BTreeSet<String> = configured.into_iter().chain(keyed).map(str::to_owned).collect();
    if known.is_empty() {
        return None;
    }
    known.extend(KEYLESS.map(str::to_owned));
    Some(known)
}

impl Report {
    fn count(&self, level: Level) -> usize {
        self.entries.iter().filter(|entry| entry.level == level).count()
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
        assert_eq!(providers([], |_| false), None);
        let known = |configured: &[&'static str], key: &str| {
            let known = providers(configured.iter().copied(), |name| name == key).expect("some are known");
            known.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(known(&["work"], ""), "llamacpp ollama rehearsal work");
        assert_eq!(known(&[], "GEMINI_API_KEY"), "gemini llamacpp ollama rehearsal");
        assert_eq!(known(&["openai"], "ANTHROPIC_API_KEY"), "anthropic llamacpp ollama openai rehearsal");
    }
}
