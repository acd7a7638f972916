//! `masque doctor`: checks the configuration and everything it names.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Serialize;

use super::connect::executable;
use super::health::{self, Listener};
use crate::cli::{DEFAULT_ADDRESS, DoctorArgs};
use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::locations::Directories;
use crate::output::{Output, Style, Warning};
use crate::project::Project;
use crate::runtime::AllowedConnections;
use crate::workspace::WorkspaceOptions;

mod clients;
use clients::ClientReport;

mod database;
use database::DatabaseReport;

mod files;
use files::{FilesReport, Surroundings};

mod providers;
use providers::ProviderReport;

mod servers;
use servers::McpServerReport;

mod traces;
use traces::TracesReport;

/// A problem and its remedy.
#[derive(Debug, Serialize)]
struct DoctorProblem {
    what: String,
    advice: String,
}

impl DoctorProblem {
    fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }
}

#[derive(Debug, Serialize)]
struct DoctorReport {
    version: &'static str,
    program: PathBuf,
    config_directory: PathBuf,
    data_directory: PathBuf,
    database: DatabaseReport,
    files: FilesReport,
    providers: Vec<ProviderReport>,
    mcp_servers: Vec<McpServerReport>,
    /// Notices about ignored parts of the project.
    notices: Vec<String>,
    server: HttpServerReport,
    traces: TracesReport,
    clients: Vec<ClientReport>,
    problems: Vec<DoctorProblem>,
}

#[derive(Debug, Serialize)]
struct HttpServerReport {
    address: &'static str,
    state: &'static str,
}

pub(super) async fn run(args: DoctorArgs, options: WorkspaceOptions<'_>, output: &mut Output) -> Result<()> {
    let directories = Directories::find()?;
    let program = executable()?;
    let mut problems = Vec::new();
    // The report on files has the errors of both.
    let config = Config::read(&directories.config_file()).unwrap_or_default();
    let project = Project::find(options.project, Some(&directories.home)).unwrap_or_default();
    let allowed = AllowedConnections::resolve(&config, project.as_ref(), Some(&directories));
    let database = database::examine(options.database, &mut problems).await?;
    let shared = database.shared(options.database)?;
    let surroundings = Surroundings { directories: &directories, config: &config, shared };
    let report = DoctorReport {
        version: env!("CARGO_PKG_VERSION"),
        config_directory: directories.masque_config(),
        data_directory: directories.masque_data(),
        database,
        files: files::examine(&surroundings, options.project, &mut problems).await,
        providers: providers::examine(&allowed, &mut problems).await,
        mcp_servers: servers::examine(&allowed, args.try_servers, &mut problems).await,
        notices: allowed.notices.iter().map(Warning::text).collect(),
        server: server(&mut problems).await,
        traces: traces::examine(&mut problems).await,
        clients: clients::examine(&directories, &mut problems),
        program,
        problems,
    };
    if output.is_json() {
        output.json(&report)?;
    } else {
        print(&report, output)?;
    }
    if report.problems.is_empty() { Ok(()) } else { Err(Failure::Answered) }
}

async fn server(problems: &mut Vec<DoctorProblem>) -> HttpServerReport {
    let listener = match DEFAULT_ADDRESS.parse::<SocketAddr>() {
        Ok(address) => health::probe(address).await,
        Err(_) => Listener::None,
    };
    let state = match listener {
        Listener::None => "none",
        Listener::Masque => "answers",
        Listener::Other => {
            problems.push(DoctorProblem::new(
                format!("another program, or an unhealthy masque, listens on {DEFAULT_ADDRESS}"),
                "stop it, or serve on another port: masque serve --addr 127.0.0.1:4748",
            ));
            "something else"
        }
    };
    HttpServerReport { address: DEFAULT_ADDRESS, state }
}

fn print(report: &DoctorReport, output: &mut Output) -> Result<()> {
    let title = output.styled(Style::Title, format!("masque {}", report.version));
    output.styled_line(&title)?;
    output.field("program", &report.program.display().to_string())?;
    output.field("settings", &directory(&report.config_directory))?;
    output.field("data", &directory(&report.data_directory))?;
    output.blank()?;
    report.database.print(output)?;
    output.blank()?;
    report.files.print(output)?;
    report.notices.iter().try_for_each(|notice| output.field("", notice))?;
    output.blank()?;
    providers::print(&report.providers, output)?;
    servers::print(&report.mcp_servers, output)?;
    output.blank()?;
    let HttpServerReport { address, state } = &report.server;
    let server = match *state {
        "answers" => format!("answers on {address}"),
        "none" => format!("not running on {address}; `masque serve` starts it"),
        state => format!("{state} on {address}"),
    };
    output.field("server", &server)?;
    report.traces.print(output)?;
    output.blank()?;
    report.clients.iter().try_for_each(|client| client.print(output))?;
    output.blank()?;
    verdict(&report.problems, report.files.has_warnings(), output)
}

fn directory(path: &std::path::Path) -> String {
    let absent = if path.is_dir() { "" } else { " (does not exist yet)" };
    format!("{}{absent}", path.display())
}

fn verdict(problems: &[DoctorProblem], has_warnings: bool, output: &mut Output) -> Result<()> {
    if problems.is_empty() {
        let line = match has_warnings {
            true => output.styled(Style::Warning, "No problems, except for warnings; see `masque lint`."),
            false => output.styled(Style::Good, "No problems found."),
        };
        return output.styled_line(&line);
    }
    for DoctorProblem { what, advice } in problems {
        let mark = output.styled(Style::Bad, "problem:");
        // Further lines show the place in a file.
        let (first, rest) = what.split_once('\n').unwrap_or((what, ""));
        output.styled_line(&format!("{mark} {}", output.styled(Style::Title, first)))?;
        if !rest.is_empty() {
            output.exact(&format!("{rest}\n"))?;
        }
        output.paragraph(2, advice)?;
    }
    Ok(())
}
