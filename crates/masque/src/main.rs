//! The `masque` program: parse the command line, ask the library, print the answer.
//!
//! The only binary, and the only crate that knows of terminals, exit codes and the configuration
//! files of other programs. It decides nothing about personas: that is `app`'s and `persona`'s.

mod ask;
mod cli;
mod config;
mod definition;
mod failure;
mod locations;
mod project;
mod runtime;
mod session;
mod signals;
mod terminal;
mod trust;
mod wording;

mod commands;
mod output;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind as UsageError;
use tracing_subscriber::EnvFilter;

use cli::{Cli, Command};
use failure::{Failure, Result};
use output::{ColorChoice, Output};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(line) = tools::kept_command(std::env::args_os()) {
        return tools::keep(&line);
    }
    let cli = match Cli::try_parse() {
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

fn run(cli: Cli) -> Result<()> {
    log(&cli)?;
    let mut output = Output::new(cli.global.json, cli.global.color);
    // Only the servers have work for several threads; the others start faster without them.
    let mut builder = match cli.command {
        Command::Serve(_) | Command::Mcp(_) | Command::Rehearse(_) => {
            tokio::runtime::Builder::new_multi_thread()
        }
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build();
    let runtime = runtime.map_err(|error| Failure::broken(format!("cannot start: {error}")))?;
    let outcome = runtime.block_on(commands::run(cli, &mut output));
    // A read of standard input that is still under way must not hold up the end.
    runtime.shutdown_background();
    terminal::restore();
    outcome.and(output.flush())
}

/// Help and version are answers; everything else that clap says is invalid input.
fn usage(error: &clap::Error) -> ExitCode {
    let answered = matches!(error.kind(), UsageError::DisplayHelp | UsageError::DisplayVersion);
    let json =
        std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
    if json && !answered {
        let message = error.to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message).trim_end().to_owned();
        output::report(&Failure::invalid(message), true, ColorChoice::Never);
    } else {
        let _ = error.print();
    }
    ExitCode::from(if answered { 0 } else { 2 })
}

/// Sends events to standard error: those of MASQUE_LOG's filter, or what `--verbose` asks for.
fn log(cli: &Cli) -> Result<()> {
    let serves = matches!(cli.command, Command::Serve(_) | Command::Mcp(_) | Command::Rehearse(_));
    let directives = match (std::env::var("MASQUE_LOG"), cli.global.verbose) {
        (Ok(filter), _) if !filter.is_empty() => filter,
        // A client's mistake is the client's to read; rmcp would warn of each here as well.
        // Directories come and go while they are followed, which is no news.
        (_, 0) if serves => "warn,rmcp::service=off,notify=error".to_owned(),
        (_, 0) => return Ok(()),
        (_, 1) => "info,sqlx=warn,notify=error".to_owned(),
        // Below "info" rmcp logs whole answers, and what personas say is nobody's log entry.
        (_, 2) => "debug,sqlx=info,rmcp=info".to_owned(),
        (_, _) => "trace,rmcp=info".to_owned(),
    };
    let filter = EnvFilter::try_new(&directives).map_err(|error| {
        Failure::invalid(format!("MASQUE_LOG={directives:?} is not a filter ({error}); try MASQUE_LOG=debug"))
    })?;
    let color = cli.global.color.applies(std::io::stderr().is_terminal());
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(color).with_writer(std::io::stderr).init();
    Ok(())
}
