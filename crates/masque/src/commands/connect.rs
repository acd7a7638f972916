//! `masque connect` adds Masque to the configuration file of an MCP client; `masque disconnect` removes it.
//!
//! Only the entry "masque" changes; all other bytes stay. The user's old file is kept as a backup; that of a
//! project is under version control. A file that cannot be parsed is not written.

use std::path::Path;

use app::{Remedy, Report};
use serde_json::json;

use crate::cli::{ConnectArgs, DisconnectArgs};
use crate::failure::{CommandError, Failure, Result};
use crate::locations::Directories;
use crate::output::Output;

mod clients;
pub(super) use clients::{ClientFile, Format};

mod bearer;
pub(super) use bearer::is_local;
use bearer::{Bearer, VARIABLE};

mod entry;
use entry::{Entry, LeftOut};

mod json_file;
mod toml_file;

mod state;
pub(super) use state::{ClientState, read_state};

mod program;
pub(super) use program::executable;
mod replace;
use replace::Reader;

/// The key of our entry in every client's configuration.
const NAME: &str = "masque";
/// Maximum size of a configuration file. Claude Code keeps its history in one.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

pub(super) fn run(args: &ConnectArgs, database: Option<&str>, output: &mut Output) -> Result<()> {
    let directories = Directories::find()?;
    let target = ClientFile::of(args.client, args.project.as_deref(), &directories)?;
    let entry = Entry::from_args(args, &target, database, &directories)?;
    if args.print {
        return print(&target, &entry, &target.merged("", &entry)?, output);
    }
    let old = read(&target.file)?;
    let new = match target.merged(old.as_deref().unwrap_or_default(), &entry) {
        Ok(new) => new,
        // The user adds the entry to a file that cannot be parsed.
        Err(Failure::Reported(report)) => {
            let fresh = target.merged("", &entry.without_secret())?;
            let message = format!("{}\nadd this yourself:\n\n{}", report.message, fresh.trim_end());
            return Err(Report { message, ..*report }.into());
        }
        Err(other) => return Err(other),
    };
    let changed = old.as_deref() != Some(new.as_str());
    let reader = if entry.is_secret() { Reader::User } else { Reader::AsBefore };
    let backup = if changed { replace::file(&target, old.as_deref(), &new, reader)? } else { None };
    let done = Connected { target: &target, entry: &entry, changed, backup: backup.as_deref() };
    done.print(args, &directories, output)
}

/// Removes our entry.
pub(super) fn disconnect(args: &DisconnectArgs, output: &mut Output) -> Result<()> {
    let target = ClientFile::of(args.client, args.project.as_deref(), &Directories::find()?)?;
    let old = read(&target.file)?.unwrap_or_default();
    let new = target.cut(&old)?;
    // `connect` made the file of a project that has nothing else.
    let is_removed = new.as_ref().is_some_and(|new| target.is_ours_alone(new));
    let backup = match &new {
        Some(_) if is_removed => {
            replace::remove(&target, &old)?;
            None
        }
        Some(new) => replace::file(&target, Some(&old), new, Reader::AsBefore)?,
        None => None,
    };
    if output.is_json() {
        return output.json(&json!({
            "client": target.word(),
            "file": target.file,
            "changed": new.is_some(),
            "removed": is_removed,
            "backup": backup,
        }));
    }
    let (label, file) = (target.label(), target.file.display());
    if new.is_none() {
        return output.line(format!("nothing to remove: {label} is not connected in {file}"));
    }
    if is_removed {
        return output.line(format!("disconnected {label}: removed {file}, which had nothing else"));
    }
    output.line(format!("disconnected {label}: wrote {file}"))?;
    match backup {
        Some(backup) => output.line(format!("saved the old file as {}", backup.display())),
        None => Ok(()),
    }
}

fn print(target: &ClientFile, entry: &Entry, fresh: &str, output: &mut Output) -> Result<()> {
    if output.is_json() {
        let answer = json!({
            "client": target.word(),
            "file": target.file,
            "content": fresh,
            "password_left_out": entry.left_out() == Some(LeftOut::Password),
            "path_left_out": entry.left_out() == Some(LeftOut::Path),
        });
        return output.json(&answer);
    }
    if let Some(left_out) = entry.left_out() {
        output.advise(left_out.advice())?;
    }
    output.advise(&format!("Configuration of {} in {}:", target.label(), target.file.display()))?;
    output.exact(fresh)
}

/// The outcome of `connect`.
struct Connected<'a> {
    target: &'a ClientFile,
    entry: &'a Entry,
    changed: bool,
    backup: Option<&'a Path>,
}

impl Connected<'_> {
    fn print(&self, args: &ConnectArgs, directories: &Directories, output: &mut Output) -> Result<()> {
        let Self { target, entry, changed, backup } = *self;
        let path = if entry.url().is_none() { program::note_about_path(target)? } else { None };
        if output.is_json() {
            return output.json(&json!({
                "client": target.word(),
                "file": target.file,
                "changed": changed,
                "backup": backup,
                "password_left_out": entry.left_out() == Some(LeftOut::Password),
                "path_left_out": entry.left_out() == Some(LeftOut::Path),
                "on_path": path.is_none(),
                "token": entry.bearer().map(|bearer| match bearer {
                    Bearer::Literal(_) => "written",
                    Bearer::Variable => "variable",
                }),
            }));
        }
        let (label, file) = (target.label(), target.file.display());
        if changed {
            output.line(format!("connected {label}: wrote {file}"))?;
        } else {
            output.line(format!("nothing to change: {label} is already connected in {file}"))?;
        }
        if let Some(backup) = backup {
            output.line(format!("saved the old file as {}", backup.display()))?;
        }
        if let Some(left_out) = entry.left_out() {
            output.advise(left_out.advice())?;
        }
        if let Some(note) = path {
            output.advise(&note)?;
        }
        if let Some(note) = note_about_token(entry, args, directories) {
            output.advise(&note)?;
        }
        if !changed {
            return Ok(());
        }
        if args.tools.is_none() {
            output.line(
                "tools: load, which reads personas; --tools author adds writing, --tools all arcs too",
            )?;
        }
        output.line(target.next_step())
    }
}

/// Says where the token of the server is.
fn note_about_token(entry: &Entry, args: &ConnectArgs, directories: &Directories) -> Option<String> {
    Some(match entry.bearer()? {
        Bearer::Literal(_) => "the file has the token of your servers, so only you can read it".to_owned(),
        Bearer::Variable => {
            let file = args.token_file.clone().unwrap_or_else(|| directories.token_file());
            let file = file.display();
            format!(
                "the token is not written: set it where the client starts: export {VARIABLE}=$(cat {file})"
            )
        }
    })
}

/// Reads a configuration file. None if it does not exist.
fn read(file: &Path) -> Result<Option<String>> {
    let metadata = match std::fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::file("read", file, &error)),
    };
    if !metadata.is_file() {
        let file = file.display();
        return Err(CommandError::NotAFile { file: file.to_string() }.into());
    }
    if metadata.len() > MOST_BYTES {
        let (file, most_mib) = (file.display().to_string(), MOST_BYTES / (1024 * 1024));
        return Err(CommandError::FileTooLarge { file, most_mib, remedy: print_instead() }.into());
    }
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            let what = file.display().to_string();
            Err(CommandError::NotText { what, at: None, remedy: print_instead() }.into())
        }
        Err(error) => Err(Failure::file("read", file, &error)),
    }
}

/// A file that masque does not edit can be edited by hand.
fn print_instead() -> Option<Remedy> {
    Some(Remedy::UseField { field: "--print".to_owned() })
}
