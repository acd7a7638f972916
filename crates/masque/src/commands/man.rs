//! `masque man`: the manual pages.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap_mangen::Man;
use serde_json::json;

use crate::cli::{self, ManArgs};
use crate::failure::{CommandError, Failure, Result};
use crate::locations;
use crate::output::Output;

/// The program that formats pages, with the arguments for a page on its standard input.
const READER: (&str, [&str; 2]) = ("man", ["-l", "-"]);

pub(super) fn run(args: &ManArgs, no_pager: bool, output: &mut Output) -> Result<()> {
    match &args.out {
        Some(directory) => write_pages(directory, output),
        None => {
            let mut page = Vec::new();
            Man::new(cli::command()).render(&mut page).map_err(CommandError::Output)?;
            let page = String::from_utf8_lossy(&page);
            match output.is_json() {
                true => output.json(&json!({ "page": page })),
                false if output.is_terminal() && !no_pager && is_read(&page) => Ok(()),
                false => output.exact(&page),
            }
        }
    }
}

/// Shows a page with `man`, which formats and pages it. False without a `man` that can.
fn is_read(page: &str) -> bool {
    let (program, arguments) = READER;
    let Some(program) = locations::on_path(program) else { return false };
    let Ok(mut reader) = Command::new(program).args(arguments).stdin(Stdio::piped()).spawn() else {
        return false;
    };
    if let Some(mut stdin) = reader.stdin.take() {
        // A reader that was closed early has shown enough.
        let _ = stdin.write_all(page.as_bytes());
    }
    reader.wait().is_ok_and(|status| status.success())
}

/// Writes the page of masque and of each command.
fn write_pages(directory: &Path, output: &mut Output) -> Result<()> {
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::file("create the directory", directory, &error))?;
    let mut command = cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    write_page(&command, "masque", directory, &mut pages)?;
    if output.is_json() {
        return output.json(&json!({ "directory": directory, "pages": pages }));
    }
    output.line(format!("wrote {} pages to {}", pages.len(), directory.display()))?;
    output.advise(&format!("Read one with `man -l {}`.", directory.join("masque.1").display()))
}

/// Writes the page of a command, then those of its subcommands: `masque-sessions-show.1`.
fn write_page(command: &clap::Command, name: &str, directory: &Path, pages: &mut Vec<PathBuf>) -> Result<()> {
    let file = directory.join(format!("{name}.1"));
    let mut page = Vec::new();
    Man::new(command.clone()).title(name).render(&mut page).map_err(CommandError::Output)?;
    std::fs::write(&file, page).map_err(|error| Failure::file("write", &file, &error))?;
    pages.push(file);
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .try_for_each(|command| {
            write_page(command, &format!("{name}-{}", command.get_name()), directory, pages)
        })
}
