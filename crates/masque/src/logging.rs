//! Logs on standard error, and traces for a collector.

use std::io::IsTerminal as _;

use telemetry::{Exporter, FLUSH, SettingsError, TARGET, TraceSettings};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use crate::cli::{Cli, Command, LibraryCommand};
use crate::config::Config;
use crate::failure::{CommandError, Result};
use crate::locations::Directories;
use crate::output::{Warning, WarningCode};

/// Sends what is left when a command has ended.
#[derive(Debug, Default)]
pub(crate) struct Logging {
    exporter: Option<Exporter>,
    /// The reason why there are no traces.
    pub(crate) warning: Option<Warning>,
}

impl Logging {
    /// Logs with the filter of MASQUE_LOG, or at the level of `--verbose`. Sends traces if an endpoint is
    /// configured. With neither, nothing listens to events and spans.
    pub(crate) fn start(cli: &Cli) -> Result<Self> {
        let filter = filter(cli)?;
        let (settings, mut warning) = match is_traced(&cli.command).then(trace_settings) {
            None => (None, None),
            Some(Ok(settings)) => (settings, None),
            Some(Err(error)) => (None, Some(off(&error.to_string()))),
        };
        let started = settings.map(telemetry::start).transpose().unwrap_or_else(|error| {
            warning = Some(off(&error.to_string()));
            None
        });
        let (traces, exporter) = started.unzip();
        if filter.is_some() || traces.is_some() {
            let color = cli.global.color.applies(std::io::stderr().is_terminal());
            let log = fmt::layer().with_ansi(color).with_writer(std::io::stderr);
            let log = filter.map(|filter| log.with_filter(filter));
            let traces = traces.map(|traces| traces.with_filter(filter_fn(telemetry::is_trace)));
            tracing_subscriber::registry().with(log).with(traces).init();
        }
        Ok(Self { exporter, warning })
    }

    /// Sends the last spans, but does not delay the end for long.
    pub(crate) fn finish(self) {
        if let Some(exporter) = self.exporter {
            exporter.finish(FLUSH);
        }
    }
}

/// The settings of traces: from the environment, or the user's file. An invalid file has none: its command
/// says what is wrong.
pub(crate) fn trace_settings() -> std::result::Result<Option<TraceSettings>, SettingsError> {
    let file = Directories::find().map(|directories| directories.config_file());
    let config = file.and_then(|file| Config::read(&file)).unwrap_or_default();
    let environment = |name: &str| std::env::var(name).ok();
    TraceSettings::find(&environment, config.trace_endpoint.as_deref())
}

fn off(problem: &str) -> Warning {
    Warning::new(WarningCode::TracesOff, format!("there are no traces: {problem}"))
}

/// True for commands that run personas or serve.
fn is_traced(command: &Command) -> bool {
    matches!(
        command,
        Command::Serve(_) | Command::Mcp(_) | Command::Run(_) | Command::Library(LibraryCommand::Edit(_))
    )
}

/// The events to log. `None` logs nothing.
fn filter(cli: &Cli) -> Result<Option<EnvFilter>> {
    let serves = matches!(cli.command, Command::Serve(_) | Command::Mcp(_) | Command::Rehearse(_));
    let directives = match (std::env::var("MASQUE_LOG"), cli.global.verbose) {
        (Ok(filter), _) if !filter.is_empty() => filter,
        // Clients see their own errors, so rmcp need not log them. Watched directories come and go.
        (_, 0) if serves => "warn,rmcp::service=off,notify=error".to_owned(),
        (_, 0) => return Ok(None),
        (_, 1) => "info,sqlx=warn,notify=error".to_owned(),
        // Below "info", rmcp logs whole answers with the texts of personas.
        (_, 2) => "debug,sqlx=info,rmcp=info".to_owned(),
        (_, _) => "trace,rmcp=info".to_owned(),
    };
    // Each line would repeat the fields of all spans around it.
    let filter = EnvFilter::try_new(format!("{directives},{TARGET}=off"));
    filter.map(Some).map_err(|error| {
        CommandError::InvalidLogFilter { value: directives, problem: error.to_string() }.into()
    })
}
