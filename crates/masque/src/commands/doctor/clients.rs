//! The MCP clients on this machine, and whether they know Masque.

use std::path::PathBuf;

use serde::Serialize;

use super::Problem;
use crate::commands::connect::{State, Target, state};
use crate::failure::Result;
use crate::locations::Directories;
use crate::output::Output;

#[derive(Debug, Serialize)]
pub(super) struct ClientReport {
    client: &'static str,
    file: PathBuf,
    installed: bool,
    connected: bool,
    /// What it starts or calls, or why its file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(super) fn examine(directories: &Directories, problems: &mut Vec<Problem>) -> Vec<ClientReport> {
    let targets = Target::every(directories);
    targets.iter().map(|target| examine_one(target, directories, problems)).collect()
}

fn examine_one(target: &Target, directories: &Directories, problems: &mut Vec<Problem>) -> ClientReport {
    let (client, label) = (target.word(), target.label());
    let (connected, note) = match state(target) {
        State::NotConfigured => (false, None),
        State::Address(url) => (true, Some(format!("calls {url}"))),
        State::Program(program) => {
            if program.is_absolute() && !program.is_file() {
                problems.push(Problem::new(
                    format!("{label} is told to start {}, which is not there", program.display()),
                    format!("run `masque connect {client}` again"),
                ));
            }
            (true, Some(format!("starts {}", program.display())))
        }
        // Comments are allowed in some of these files, so this need not be a fault.
        State::Unreadable(reason) => (false, Some(format!("its file is not understood: {reason}"))),
    };
    let installed = target.is_installed(directories);
    ClientReport { client, file: target.file.clone(), installed, connected, note }
}

impl ClientReport {
    pub(super) fn print(&self, output: &mut Output) -> Result<()> {
        let client = self.client;
        let text = match (self.connected, self.installed, &self.note) {
            (true, _, Some(note)) => format!("connected: {note}"),
            (true, _, None) => "connected".to_owned(),
            (false, _, Some(note)) => note.clone(),
            (false, true, None) => format!("there, not connected; `masque connect {client}`"),
            (false, false, None) => "not found".to_owned(),
        };
        output.field(client, &text)
    }
}
