//! Small helpers around child processes.

use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result, bail};

/// How much of a failed command's output goes into the error message.
const ERROR_TAIL_LINES: usize = 30;

/// Runs the command with inherited output.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| format!("could not start {}", name(command)))
}

/// Runs the command and returns its standard output; a failure carries the end of what it printed.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("could not start {}", name(command)))?;
    if !output.status.success() {
        let mut printed = output.stdout;
        printed.extend_from_slice(&output.stderr);
        bail!("{} failed ({}):\n{}", name(command), output.status, tail(&String::from_utf8_lossy(&printed)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The last lines of a log: enough to see why something failed.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(ERROR_TAIL_LINES);
    lines[first..].join("\n")
}

/// The child's exit code as our own; a child that was killed by a signal counts as failed.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Every directory on PATH that holds all of the named programs, in order.
pub(crate) fn directories_on_path(programs: &[&str]) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|directory| programs.iter().all(|program| directory.join(program).is_file()))
        .collect()
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}
