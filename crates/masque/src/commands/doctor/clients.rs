//! Checks the MCP clients on this machine.

use std::path::PathBuf;

use serde::Serialize;
use server::Token;

use super::DoctorProblem;
use crate::commands::connect::{ClientFile, ClientState, is_local, read_state};
use crate::failure::Result;
use crate::locations::Directories;
use crate::output::Output;
use crate::token::UserToken;

#[derive(Debug, Serialize)]
pub(super) struct ClientReport {
    client: &'static str,
    file: PathBuf,
    installed: bool,
    connected: bool,
    /// The program or address of the entry, or the reason why the file is not readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(super) fn examine(directories: &Directories, problems: &mut Vec<DoctorProblem>) -> Vec<ClientReport> {
    let targets = ClientFile::every(directories);
    targets.iter().map(|target| examine_one(target, directories, problems)).collect()
}

fn examine_one(
    target: &ClientFile,
    directories: &Directories,
    problems: &mut Vec<DoctorProblem>,
) -> ClientReport {
    let (client, label) = (target.word(), target.label());
    let (connected, note) = match read_state(target) {
        ClientState::NotConfigured => (false, None),
        ClientState::Address { url, authorization } => {
            let own = UserToken::peek(directories);
            if let Some(what) = token_problem(&url, authorization.as_deref(), own.as_ref()) {
                problems.push(DoctorProblem::new(
                    format!("{label} calls {url} {what}"),
                    format!("run `masque connect {client} --http {url}` again"),
                ));
            }
            (true, Some(format!("calls {url}")))
        }
        ClientState::Program(program) => {
            if program.is_absolute() && !program.is_file() {
                problems.push(DoctorProblem::new(
                    format!("{label} starts {}, which does not exist", program.display()),
                    format!("run `masque connect {client}` again"),
                ));
            }
            (true, Some(format!("starts {}", program.display())))
        }
        // The client may accept a file that we cannot parse.
        ClientState::Unreadable(reason) => (false, Some(format!("cannot read its configuration: {reason}"))),
    };
    let installed = target.is_installed(directories);
    ClientReport { client, file: target.file.clone(), installed, connected, note }
}

/// The reason why a server of this machine refuses a client. A header with a variable may be right.
fn token_problem(url: &str, authorization: Option<&str>, own: Option<&Token>) -> Option<&'static str> {
    if !is_local(url) {
        return None;
    }
    let Some(header) = authorization else { return Some("without the token of the server") };
    let is_own = own.is_some_and(|own| header.strip_prefix("Bearer ") == Some(own.expose()));
    (!is_own && !header.contains("${")).then_some("with another token than that of your servers")
}

impl ClientReport {
    pub(super) fn print(&self, output: &mut Output) -> Result<()> {
        let client = self.client;
        let text = match (self.connected, self.installed, &self.note) {
            (true, _, Some(note)) => format!("connected: {note}"),
            (true, _, None) => "connected".to_owned(),
            (false, _, Some(note)) => note.clone(),
            (false, true, None) => format!("installed, not connected; run `masque connect {client}`"),
            (false, false, None) => "not installed".to_owned(),
        };
        output.field(client, &text)
    }
}
