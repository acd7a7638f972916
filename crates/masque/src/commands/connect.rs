//! `masque connect`: adds Masque to the configuration file of an MCP client.
//!
//! Only the entry "masque" changes; all other bytes stay. The old file is kept as a backup. A file that
//! cannot be parsed is not written.

use std::path::{Path, PathBuf};

use app::{Remedy, Report};
use serde_json::json;

use crate::cli::ConnectArgs;
use crate::failure::{CommandError, Failure, Result};
use crate::locations::Directories;
use crate::output::Output;

mod clients;
pub(super) use clients::{ClientFile, Format};

mod entry;
use entry::Entry;

mod json_file;
mod toml_file;

mod state;
pub(super) use state::{ClientState, read_state};

mod replace;

/// The key of our entry in every client's configuration.
const NAME: &str = "masque";
/// Maximum size of a configuration file. Claude Code keeps its history in one.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

pub(super) fn run(args: &ConnectArgs, database: Option<&str>, output: &mut Output) -> Result<()> {
    let target = ClientFile::of(args.client, args.project.as_deref(), &Directories::find()?)?;
    let entry = Entry::from_args(args, database)?;
    let fresh = target.merged("", &entry)?;
    if args.print {
        return print(&target, &fresh, output);
    }
    let old = read(&target.file)?;
    let new = match target.merged(old.as_deref().unwrap_or_default(), &entry) {
        Ok(new) => new,
        // The user adds the entry to a file that cannot be parsed.
        Err(Failure::Told(report)) => {
            let message = format!("{}\nadd this yourself:\n\n{}", report.message, fresh.trim_end());
            return Err(Report { message, ..*report }.into());
        }
        Err(other) => return Err(other),
    };
    let changed = old.as_deref() != Some(new.as_str());
    let backup = if changed {
        replace::file(&target.file, old.as_deref(), &new, entry.holds_a_secret())?
    } else {
        None
    };
    print_result(&target, changed, backup.as_deref(), &entry, output)
}

fn print(target: &ClientFile, fresh: &str, output: &mut Output) -> Result<()> {
    if output.is_json() {
        let answer = json!({ "client": target.word(), "file": target.file, "content": fresh });
        return output.json(&answer);
    }
    output.advise(&format!("Configuration of {} in {}:", target.label(), target.file.display()))?;
    output.exact(fresh)
}

fn print_result(
    target: &ClientFile,
    changed: bool,
    backup: Option<&Path>,
    entry: &Entry,
    output: &mut Output,
) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({
            "client": target.word(),
            "file": target.file,
            "changed": changed,
            "backup": backup,
        }));
    }
    let (label, file) = (target.label(), target.file.display());
    if !changed {
        return output.line(format!("nothing to change: {label} is already connected in {file}"));
    }
    output.line(format!("connected {label}: wrote {file}"))?;
    if let Some(backup) = backup {
        output.line(format!("saved the old file as {}", backup.display()))?;
    }
    if entry.holds_a_secret() {
        output.line("note: that file now contains the password of the database")?;
    }
    output.line(target.next_step())
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

/// The path that starts this program. Prefers `masque` on the PATH if it is this program, because a
/// package manager keeps it up to date.
pub(super) fn executable() -> Result<PathBuf> {
    let this = std::env::current_exe()
        .map_err(|error| CommandError::Internal(format!("the path of this program is unknown: {error}")))?;
    let same = |candidate: &PathBuf| match (candidate.canonicalize(), this.canonicalize()) {
        (Ok(candidate), Ok(this)) => candidate == this,
        _ => false,
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    let named = directories.map(|directory| directory.join("masque")).find(|file| file.is_file());
    Ok(named.filter(same).unwrap_or(this))
}
