//! One file per command.

use app::{AsReport as _, Problem, ProblemLevel};

use crate::cli::{Cli, Command, LibraryCommand, RunCommand};
use crate::failure::{Failure, Result};
use crate::output::{Output, Warning};
use crate::session::{Session, Wanted};

mod answer;
mod chat;
mod models;
mod opening;
mod plan;
mod run;
mod sessions;

mod list;
mod pages;
mod search;

mod compile;
mod manifest;
mod meant;
mod show;

mod create;
mod delete;
mod link;
mod update;
mod whole;
mod written;

mod duplicate;
mod edit;
mod new;
mod rename;

mod arc;

mod diff;
mod history;
mod rollback;
mod tag;

mod conflicts;
mod export;
mod fields;
mod import;
mod promote;

mod lint;
use lint::{About, Findings};

mod db;

mod connect;
mod mcp;
mod rehearse;
mod retention;
mod serve;

mod completions;
mod doctor;
mod health;
mod schema;
mod trust;

/// What is in force of entries with a mistake.
const LAST_GOOD: &str = "until they are mended, entries with a mistake stay in force as they last were, if \
                         they were good when they were last there";

pub(crate) async fn run(cli: Cli, output: &mut Output) -> Result<()> {
    let Cli { global, command } = cli;
    let database = global.db.as_deref();
    let wanted = Wanted { database, project: global.project.as_deref(), json: global.json };
    match command {
        Command::Run(command) => {
            let session = Session::open(wanted).await?;
            // Before the talk: afterwards nobody would see what was not in force during it.
            tell_problems(&session, global.verbose > 0, output)?;
            let outcome = with_models(command, &session, global.verbose > 0, output).await;
            session.library.close().await;
            outcome
        }
        Command::Library(command) => {
            let session = Session::open(wanted).await?;
            // Lint's answer is about the files already.
            let answered = matches!(command, LibraryCommand::Lint(_));
            let outcome = in_library(command, &session, output).await;
            let told = if answered {
                output.warn(&of_config(&session))
            } else {
                match &outcome {
                    Ok(Findings::Told) => {}
                    Ok(Findings::UntoldOf(about)) => lint::remind(&session, Some(about), output).await,
                    _ => lint::remind(&session, None, output).await,
                }
                tell_other_problems(&session, global.verbose > 0, outcome.as_ref().err(), output)
            };
            // What the reads of this command noted is kept even where its output was cut short.
            session.library.close().await;
            outcome.and(told)
        }
        Command::Serve(args) => serve::run(&args, wanted, output).await,
        Command::Mcp(args) => mcp::run(args, wanted, output).await,
        Command::Connect(args) => connect::run(&args, database, output),
        Command::Trust(args) => trust::run(args, wanted, output).await,
        Command::Doctor(args) => doctor::run(args, wanted, output).await,
        Command::Rehearse(args) => rehearse::run(args, output).await,
        Command::Schema => schema::run(output),
        Command::Completions(args) => completions::run(&args, output),
    }
}

async fn with_models(
    command: RunCommand,
    session: &Session,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    match command {
        RunCommand::Chat(args) => chat::run(args, session, verbose, output).await,
        RunCommand::Run(args) => run::run(args, session, verbose, output).await,
        RunCommand::Sessions(args) => sessions::run(args, session, verbose, output).await,
        RunCommand::Plan(args) => plan::run(args, session, verbose, output).await,
        RunCommand::Models(args) => models::run(&args, session, output).await,
    }
}

/// Runs a command over the library, and says whether it told by itself what lint finds.
async fn in_library(command: LibraryCommand, session: &Session, output: &mut Output) -> Result<Findings> {
    let outcome = match command {
        LibraryCommand::List(args) => list::run(args, session, output).await,
        LibraryCommand::Search(args) => search::run(args, session, output).await,
        LibraryCommand::Show(args) => {
            let about = About::shown(&args);
            return show::run(args, session, output)
                .await
                .map(|()| about.map_or(Findings::Untold, Findings::UntoldOf));
        }
        LibraryCommand::Manifest(args) => manifest::run(args, session, output).await,
        LibraryCommand::Compile(args) => compile::run(args, session, output).await,
        LibraryCommand::New(args) => new::run(args, session, output).await,
        LibraryCommand::Create(args) => create::run(args.kind, session, output).await,
        LibraryCommand::Update(args) => update::run(args.kind, session, output).await,
        LibraryCommand::Edit(args) => return edit::run(args, session, output).await,
        LibraryCommand::Duplicate(args) => duplicate::run(args, session, output).await,
        LibraryCommand::Rename(args) => rename::run(args, session, output).await,
        LibraryCommand::Delete(args) => delete::run(args, session, output).await,
        LibraryCommand::Link(args) => link::link(args, session, output).await,
        LibraryCommand::Unlink(args) => link::unlink(args, session, output).await,
        LibraryCommand::Arc(command) => arc::run(command, session, output).await,
        LibraryCommand::History(args) => history::run(&args, session, output).await,
        LibraryCommand::Diff(args) => diff::run(&args, session, output).await,
        LibraryCommand::Rollback(args) => rollback::run(args, session, output).await,
        LibraryCommand::Tag(args) => tag::run(&args, session, output).await,
        LibraryCommand::Conflicts(args) => conflicts::run(args, session, output).await,
        LibraryCommand::Promote(args) => promote::run(args, session, output).await,
        LibraryCommand::Export(args) => export::run(args, session, output).await,
        LibraryCommand::Import(args) => import::run(args, session, output).await,
        LibraryCommand::Lint(args) => lint::run(args, session, output).await,
        LibraryCommand::Db(command) => db::run(command, session, output).await,
    };
    outcome.map(|()| Findings::Untold)
}

/// A mistake in a file is told by every command until it is mended, since what the file says is
/// not in force meanwhile; what is merely doubtful only where somebody wants to know.
fn tell_problems(session: &Session, verbose: bool, output: &mut Output) -> Result<()> {
    tell_other_problems(session, verbose, None, output)
}

/// The same after a command that failed: what it failed of is told as its failure.
fn tell_other_problems(
    session: &Session,
    verbose: bool,
    failure: Option<&Failure>,
    output: &mut Output,
) -> Result<()> {
    let mut warnings = of_config(session);
    if verbose || session.library.has_errors() {
        let failed = match failure {
            Some(Failure::Told(report)) => report.subject.place.clone(),
            _ => None,
        };
        let problems = session.library.problems().into_iter();
        let told = problems.filter(|problem| verbose || problem.level == ProblemLevel::Error);
        let told: Vec<Problem> =
            told.filter(|problem| failed.is_none() || problem.subject().place != failed).collect();
        let hides = |problem: &Problem| problem.level == ProblemLevel::Error && problem.entry.is_some();
        let entries = told.iter().any(hides);
        warnings.extend(told.into_iter().map(Warning::File));
        if entries && !output.is_json() {
            warnings.push(Warning::Said(LAST_GOOD.to_owned()));
        }
    }
    output.warn(&warnings)
}

fn of_config(session: &Session) -> Vec<Warning> {
    session.config.warnings.iter().cloned().map(Warning::Said).collect()
}
