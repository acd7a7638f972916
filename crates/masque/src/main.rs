//! The `masque` binary: parses the command line, calls the library, prints the result.
//!
//! Only this crate knows about terminals, exit codes and the configuration files of other programs.
//! Decisions about personas belong to `app` and `persona`.

mod ask;
mod cli;
mod completion;
mod config;
mod definition;
mod failure;
mod locations;
mod logging;
mod project;
mod runtime;
mod signals;
mod terminal;
mod token;
mod trust;
mod wording;
mod workspace;

mod commands;
mod output;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::FromArgMatches as _;
use clap::error::ErrorKind as UsageError;

use cli::{Cli, Command};
use failure::{CommandError, Result};
use logging::Logging;
use output::{ColorChoice, Output};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(line) = tools::kept_command(std::env::args_os()) {
        return tools::keep(&line);
    }
    hide_memory();
    if completion::answer() {
        return ExitCode::SUCCESS;
    }
    let parsed = cli::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let (json, color) = (cli.global.json, cli.global.color);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::report(&failure, json, color);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Keeps other processes of the user, such as the commands of a model, from reading this one's memory and
/// its environment, which may hold keys.
fn hide_memory() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
    {
        tracing::warn!(%error, "other processes of the user can read this one");
    }
}

fn run(cli: Cli) -> Result<()> {
    let logging = Logging::start(&cli)?;
    let mut output = Output::new(cli.global.json, cli.global.color);
    output.warn(logging.warning.as_slice())?;
    // Only servers use several threads. Other commands start faster with one.
    let mut builder = match cli.command {
        Command::Serve(_) | Command::Mcp(_) | Command::Rehearse(_) => {
            tokio::runtime::Builder::new_multi_thread()
        }
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::Internal(format!("cannot start: {error}")))?;
    let outcome = runtime.block_on(commands::run(cli, &mut output));
    // A pending read of standard input must not delay the exit.
    runtime.shutdown_background();
    terminal::restore();
    logging.finish();
    outcome.and(output.flush())
}

/// Prints help, the version or a usage error. Only the latter is a failure.
fn usage(error: &clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), UsageError::DisplayHelp | UsageError::DisplayVersion);
    let is_given = |flag: &str| {
        std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == flag)
    };
    if is_given("--json") && !is_help {
        output::report(&failure::usage(error).into(), true, ColorChoice::Never);
    } else if error.kind() != UsageError::DisplayHelp || is_given("--no-pager") || page_help(error).is_err() {
        let _ = error.print();
    }
    ExitCode::from(if is_help { 0 } else { 2 })
}

/// Prints a help through the pager. Fails without a terminal.
fn page_help(error: &clap::Error) -> std::io::Result<()> {
    if !std::io::stdout().is_terminal() {
        return Err(std::io::ErrorKind::Unsupported.into());
    }
    let help = error.render();
    let help = if ColorChoice::Auto.applies(true) { help.ansi().to_string() } else { help.to_string() };
    // The pager's Ctrl-C is caught by the runtime.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _entered = runtime.enter();
    output::page(&help)
}
