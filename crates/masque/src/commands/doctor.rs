//! `masque doctor`: what is configured, what answers, and what is wrong.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Serialize;

use super::connect::executable;
use super::health::{self, Listener};
use crate::cli::{DEFAULT_ADDRESS, DoctorArgs};
use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::locations::Directories;
use crate::output::{Output, Style};
use crate::project::Project;
use crate::runtime::Reach;
use crate::session::Wanted;

mod clients;
use clients::ClientReport;

mod database;
use database::DatabaseReport;

mod files;
use files::{FilesReport, Surroundings};

mod providers;
use providers::ProviderReport;

mod servers;
use servers::ServerReport as McpServerReport;

/// Something that is wrong, and what to do about it.
#[derive(Debug, Serialize)]
struct Problem {
    what: String,
    advice: String,
}

impl Problem {
    fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    program: PathBuf,
    config_directory: PathBuf,
    data_directory: PathBuf,
    database: DatabaseReport,
    files: FilesReport,
    providers: Vec<ProviderReport>,
    mcp_servers: Vec<McpServerReport>,
    /// What of the project is not in force, and why.
    notices: Vec<String>,
    server: ServerReport,
    clients: Vec<ClientReport>,
    problems: Vec<Problem>,
}

#[derive(Debug, Serialize)]
struct ServerReport {
    address: &'static str,
    state: &'static str,
}

pub(super) async fn run(args: DoctorArgs, wanted: Wanted<'_>, output: &mut Output) -> Result<()> {
    let directories = Directories::find()?;
    let program = executable()?;
    let mut problems = Vec::new();
    // What is wrong with either is told with the files.
    let config = Config::read(&directories.config_file()).unwrap_or_default();
    let project = Project::find(wanted.project, Some(&directories.home)).unwrap_or_default();
    let reach = Reach::of(&config, project.as_ref(), Some(&directories));
    let database = database::examine(wanted.database, &mut problems).await?;
    let shared = database.shared(wanted.database)?;
    let surroundings = Surroundings { directories: &directories, config: &config, shared };
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        config_directory: directories.masque_config(),
        data_directory: directories.masque_data(),
        database,
        files: files::examine(&surroundings, wanted.project, &mut problems).await,
        providers: providers::examine(&reach, &mut problems).await,
        mcp_servers: servers::examine(&reach, args.try_servers, &mut problems).await,
        notices: reach.notices,
        server: server(&mut problems).await,
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

async fn server(problems: &mut Vec<Problem>) -> ServerReport {
    let listener = match DEFAULT_ADDRESS.parse::<SocketAddr>() {
        Ok(address) => health::ask(address).await,
        Err(_) => Listener::Nobody,
    };
    let state = match listener {
        Listener::Nobody => "none",
        Listener::Masque => "answers",
        Listener::Other => {
            problems.push(Problem::new(
                format!("another program, or a masque that is not well, listens on {DEFAULT_ADDRESS}"),
                "stop it, or serve on another port: masque serve --addr 127.0.0.1:4748",
            ));
            "something else"
        }
    };
    ServerReport { address: DEFAULT_ADDRESS, state }
}

fn print(report: &Report, output: &mut Output) -> Result<()> {
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
    let ServerReport { address, state } = &report.server;
    let server = match *state {
        "answers" => format!("answers on {address}"),
        "none" => format!("none on {address}; `masque serve` starts one"),
        state => format!("{state} on {address}"),
    };
    output.field("server", &server)?;
    output.blank()?;
    report.clients.iter().try_for_each(|client| client.print(output))?;
    output.blank()?;
    verdict(&report.problems, report.files.is_doubtful(), output)
}

fn directory(path: &std::path::Path) -> String {
    let absent = if path.is_dir() { "" } else { " (not there yet)" };
    format!("{}{absent}", path.display())
}

fn verdict(problems: &[Problem], doubtful: bool, output: &mut Output) -> Result<()> {
    if problems.is_empty() {
        let line = match doubtful {
            true => output.styled(Style::Doubtful, "Nothing is wrong but what `masque lint` warns of."),
            false => output.styled(Style::Good, "Nothing is wrong."),
        };
        return output.styled_line(&line);
    }
    for Problem { what, advice } in problems {
        let mark = output.styled(Style::Bad, "problem:");
        // A mistake in a file is shown with its line, below.
        let (first, rest) = what.split_once('\n').unwrap_or((what, ""));
        output.styled_line(&format!("{mark} {}", output.styled(Style::Title, first)))?;
        if !rest.is_empty() {
            output.exact(&format!("{rest}\n"))?;
        }
        output.paragraph(2, advice)?;
    }
    Ok(())
}
