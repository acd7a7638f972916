//! `masque test` and `masque compare`: run test inputs and print the report.

use std::io::{self, IsTerminal as _};

use app::running::Runtime;
use app::testing::{RunOutcome, StartedTest, TestEvent, TestReport, report};
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{CompareArgs, TestArgs, TestFormat};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::runtime;
use crate::signals::Signals;
use crate::workspace::Workspace;

pub(super) async fn test(args: TestArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let runtime = runtime::open(workspace).await?;
    let format = args.format();
    let started = runtime.start_test(args.into_input()?).await?;
    finish(&runtime, started, format, output).await
}

pub(super) async fn compare(args: CompareArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let runtime = runtime::open(workspace).await?;
    let format = args.format();
    let started = runtime.start_comparison(args.into_input()?).await?;
    finish(&runtime, started, format, output).await
}

/// Follows a run to its end and prints it. Ctrl-C cancels it; the cells so far are kept.
async fn finish(
    runtime: &Runtime,
    StartedTest { id }: StartedTest,
    format: Option<TestFormat>,
    output: &mut Output,
) -> Result<()> {
    let implied = if output.is_json() { TestFormat::Json } else { TestFormat::Table };
    let format = format.unwrap_or(implied);
    let mut signals = Signals::listen()?;
    let mut events = runtime.test_events(id).await?;
    let estimate = runtime.test_run(id).await?.estimate;
    if format == TestFormat::Table {
        output.advise(&report::estimate(&estimate))?;
    }
    let bar = progress(estimate.cells, output);
    let mut signal = None;
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            received = signals.next(), if signal.is_none() => {
                signal = Some(received);
                runtime.cancel_test(id).await?;
                continue;
            }
        };
        match event {
            Some(TestEvent::CellFinished { .. }) => bar.inc(1),
            Some(_) => {}
            None => break,
        }
    }
    bar.finish_and_clear();
    let run = runtime.test_run(id).await?;
    runtime.stop().await;
    print(&run, format, output)?;
    match (signal, run.outcome()) {
        (Some(signal), _) => Err(Failure::Stopped(signal)),
        (None, RunOutcome::Passed) => Ok(()),
        (None, RunOutcome::Failed) => Err(Failure::Answered),
        (None, RunOutcome::Unfinished) => Err(Failure::Unfinished),
    }
}

fn print(run: &TestReport, format: TestFormat, output: &mut Output) -> Result<()> {
    match format {
        TestFormat::Table => output.line(report::text(run).trim_end()),
        TestFormat::Json => output.json(run),
        TestFormat::Junit => output.exact(&report::junit(run)),
        TestFormat::Markdown => output.exact(&report::markdown(run)),
    }
}

/// A bar on a terminal; nothing without one.
fn progress(cells: usize, output: &Output) -> ProgressBar {
    if !io::stderr().is_terminal() || output.is_json() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(cells as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} cells") {
        bar.set_style(style);
    }
    bar
}
