//! `masque conduct`: works tracks of tickets, shows them and steers them.

use crate::cli::{ConductArgs, ConductCommand};
use crate::failure::Result;
use crate::output::Output;
use crate::runtime;
use crate::workspace::Workspace;

pub(crate) mod find;
mod words;

mod begin;
mod plan;

mod board;
mod follow;
mod work;

mod clean;
mod orders;
mod show;

pub(super) async fn run(
    args: ConductArgs,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    args.check()?;
    let runtime = runtime::open(workspace).await?;
    match args.command {
        None => begin::run(args, &runtime, workspace, verbose, output).await,
        Some(ConductCommand::Resume(args)) => {
            let report = args.report.as_deref();
            begin::resume(&args.id, report, &runtime, workspace, verbose, output).await
        }
        Some(ConductCommand::List(args)) => show::list(&args, &runtime, output).await,
        Some(ConductCommand::Show(args)) => show::show(&args.id, &runtime, output).await,
        Some(ConductCommand::Log(args)) => show::log(args, &runtime, output).await,
        Some(ConductCommand::Report(args)) => show::report(&args.id, &runtime, output).await,
        Some(ConductCommand::Diff(args)) => show::diff(args, &runtime, output).await,
        Some(ConductCommand::Merge(args)) => clean::merge(args, &runtime, output).await,
        Some(ConductCommand::Clean(args)) => clean::clean(&args, &runtime, output).await,
        Some(ConductCommand::Order(order)) => orders::run(order, &runtime, &workspace.author, output).await,
    }
}
