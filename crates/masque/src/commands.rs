//! One file per command.

use app::{AsReport as _, Problem, ProblemLevel};

use crate::cli::{Cli, Command, LibraryCommand, RunCommand, SessionsCommand};
use crate::failure::{Failure, Result};
use crate::output::{Output, Warning, WarningCode};
use crate::workspace::{Workspace, WorkspaceOptions};

mod answer;
mod chat;
mod models;
mod open_session;
pub(crate) use open_session::SHORT_ID;
mod plan;
mod run;
mod sessions;
mod testing;

mod conduct;
pub(crate) use conduct::find as track_ids;
mod context;

mod list;
mod pages;
mod search;

mod compile;
mod lookup;
mod manifest;
mod show;

mod create;
mod delete;
mod link;
mod presets;
mod update;
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
use lint::{LintReminder, LintSubject};

mod db;

mod connect;
mod mcp;
mod rehearse;
mod retention;
mod serve;

mod completions;
mod doctor;
mod health;
mod init;
mod man;
mod schema;
mod trust;

/// Explains which version of an entry with errors is in use.
const LAST_VALID: &str = "entries with errors keep their last valid version until fixed";

pub(crate) async fn run(cli: Cli, output: &mut Output) -> Result<()> {
    let Cli { global, command } = cli;
    let database = global.db.as_deref();
    let options = WorkspaceOptions { database, project: global.project.as_deref(), json: global.json };
    match command {
        Command::Run(command) => {
            let workspace = Workspace::open(options).await?;
            // Warn before the run, which uses the files as they are now.
            warn_problems(&workspace, global.verbose > 0, output)?;
            if is_read(&command) && !global.no_pager {
                output.start_paging();
            }
            let outcome = with_models(command, &workspace, global.verbose > 0, output).await;
            let outcome = output.finish_paging().and(outcome);
            workspace.library.close().await;
            outcome.map_err(|failure| workspace.with_place(failure))
        }
        Command::Library(command) => {
            let workspace = Workspace::open(options).await?;
            // Lint itself reports on the files.
            let is_lint = matches!(command, LibraryCommand::Lint(_));
            if is_paged(&command) && !global.no_pager {
                output.start_paging();
            }
            let outcome = in_library(command, &workspace, output).await;
            let outcome =
                output.finish_paging().and(outcome).map_err(|failure| workspace.with_place(failure));
            let warned = if is_lint {
                output.warn(&config_warnings(&workspace))
            } else {
                match &outcome {
                    Ok(LintReminder::None) => {}
                    Ok(LintReminder::About(about)) => lint::remind(&workspace, Some(about), output).await,
                    _ => lint::remind(&workspace, None, output).await,
                }
                warn_other_problems(&workspace, global.verbose > 0, outcome.as_ref().err(), output)
            };
            // Record the reads of this command even if its output was cut short.
            workspace.library.close().await;
            outcome.and(warned)
        }
        Command::Serve(args) => serve::run(&args, options, output).await,
        Command::Mcp(args) => mcp::run(args, options, output).await,
        Command::Connect(args) => connect::run(&args, database, output),
        Command::Disconnect(args) => connect::disconnect(&args, output),
        Command::Trust(args) => trust::run(args, options, output).await,
        Command::Doctor(args) => {
            if !global.no_pager {
                output.start_paging();
            }
            let outcome = doctor::run(args, options, output).await;
            output.finish_paging().and(outcome)
        }
        Command::Rehearse(args) => rehearse::run(args, output).await,
        Command::Schema(args) => {
            if !global.no_pager {
                output.start_paging();
            }
            let outcome = schema::run(&args, output);
            output.finish_paging().and(outcome)
        }
        Command::Completions(args) => completions::run(&args, output),
        Command::Init(args) => init::run(&args, global.project.as_deref(), output),
        Command::Man(args) => man::run(&args, global.no_pager, output),
    }
}

/// True for commands whose output may be long, and which ask nothing.
fn is_paged(command: &LibraryCommand) -> bool {
    match command {
        LibraryCommand::List(_)
        | LibraryCommand::Search(_)
        | LibraryCommand::Show(_)
        | LibraryCommand::Manifest(_)
        | LibraryCommand::Compile(_)
        | LibraryCommand::Diff(_)
        | LibraryCommand::History(_)
        | LibraryCommand::Lint(_) => true,
        LibraryCommand::Export(args) => args.output.is_none(),
        LibraryCommand::Import(args) => args.dry_run,
        LibraryCommand::Conflicts(args) => !args.resolves(),
        _ => false,
    }
}

/// The same for commands about runs. `test` and `compare` are missing: they say first what they may cost.
fn is_read(command: &RunCommand) -> bool {
    match command {
        RunCommand::Models(_) | RunCommand::Context(_) => true,
        RunCommand::Conduct(args) => args.is_read(),
        RunCommand::Plan(args) => !args.approve && args.send_back.is_none(),
        RunCommand::Sessions(args) => matches!(
            args.command,
            None | Some(SessionsCommand::List(_) | SessionsCommand::Show(_) | SessionsCommand::Export(_))
        ),
        _ => false,
    }
}

async fn with_models(
    command: RunCommand,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    match command {
        RunCommand::Chat(args) => chat::run(args, workspace, verbose, output).await,
        RunCommand::Run(args) => run::run(args, workspace, verbose, output).await,
        RunCommand::Sessions(args) => sessions::run(args, workspace, verbose, output).await,
        RunCommand::Plan(args) => plan::run(args, workspace, verbose, output).await,
        RunCommand::Models(args) => models::run(&args, workspace, output).await,
        RunCommand::Test(args) => testing::test(args, workspace, output).await,
        RunCommand::Compare(args) => testing::compare(args, workspace, output).await,
        RunCommand::Conduct(args) => conduct::run(*args, workspace, verbose, output).await,
        RunCommand::Context(args) => context::run(args, workspace, output).await,
    }
}

/// Runs a command. Returns the lint findings to remind of afterwards.
async fn in_library(
    command: LibraryCommand,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<LintReminder> {
    let outcome = match command {
        LibraryCommand::List(args) => list::run(args, workspace, output).await,
        LibraryCommand::Search(args) => search::run(args, workspace, output).await,
        LibraryCommand::Show(args) => {
            let scope = args.only.scope;
            let (kind, name) = show::run(args, workspace, output).await?;
            return Ok(LintReminder::About(LintSubject::new(kind, name, scope)));
        }
        LibraryCommand::Manifest(args) => manifest::run(args, workspace, output).await,
        LibraryCommand::Compile(args) => compile::run(args, workspace, output).await,
        LibraryCommand::New(args) => new::run(args, workspace, output).await,
        LibraryCommand::Create(args) => create::run(args.kind, workspace, output).await,
        LibraryCommand::Update(args) => update::run(args, workspace, output).await,
        LibraryCommand::Edit(args) => return edit::run(args, workspace, output).await,
        LibraryCommand::Duplicate(args) => duplicate::run(args, workspace, output).await,
        LibraryCommand::Rename(args) => rename::run(args, workspace, output).await,
        LibraryCommand::Delete(args) => delete::run(args, workspace, output).await,
        LibraryCommand::Link(args) => link::link(args, workspace, output).await,
        LibraryCommand::Unlink(args) => link::unlink(args, workspace, output).await,
        LibraryCommand::Arc(command) => arc::run(command, workspace, output).await,
        LibraryCommand::History(args) => history::run(&args, workspace, output).await,
        LibraryCommand::Diff(args) => diff::run(&args, workspace, output).await,
        LibraryCommand::Rollback(args) => rollback::run(args, workspace, output).await,
        LibraryCommand::Tag(args) => tag::run(&args, workspace, output).await,
        LibraryCommand::Conflicts(args) => conflicts::run(args, workspace, output).await,
        LibraryCommand::Promote(args) => promote::run(args, workspace, output).await,
        LibraryCommand::Export(args) => export::run(args, workspace, output).await,
        LibraryCommand::Import(args) => import::run(args, workspace, output).await,
        LibraryCommand::Lint(args) => lint::run(args, workspace, output).await,
        LibraryCommand::Db(command) => db::run(command, workspace, output).await,
    };
    outcome.map(|()| LintReminder::All)
}

/// Warns about errors in files, which are not in effect until fixed. Verbose output has warnings too.
fn warn_problems(workspace: &Workspace, verbose: bool, output: &mut Output) -> Result<()> {
    warn_other_problems(workspace, verbose, None, output)
}

/// Leaves out the problem that the command already failed with.
fn warn_other_problems(
    workspace: &Workspace,
    verbose: bool,
    failure: Option<&Failure>,
    output: &mut Output,
) -> Result<()> {
    let mut warnings = config_warnings(workspace);
    if verbose || workspace.library.has_errors() {
        let failed = match failure {
            Some(Failure::Reported(report)) => report.subject.place.clone(),
            _ => None,
        };
        let problems = workspace.library.problems().into_iter();
        let shown = problems.filter(|problem| verbose || problem.level == ProblemLevel::Error);
        let shown: Vec<Problem> =
            shown.filter(|problem| failed.is_none() || problem.subject().place != failed).collect();
        let hides = |problem: &Problem| problem.level == ProblemLevel::Error && problem.entry.is_some();
        let entries = shown.iter().any(hides);
        warnings.extend(shown.into_iter().map(Warning::File));
        if entries && !output.is_json() {
            warnings.push(Warning::new(WarningCode::LastValidVersion, LAST_VALID));
        }
    }
    output.warn(&warnings)
}

fn config_warnings(workspace: &Workspace) -> Vec<Warning> {
    workspace.config.warnings.clone()
}
