//! `masque completions`: the script that asks masque for candidates.

use clap_complete::env::Shells;

use crate::cli::CompletionsArgs;
use crate::completion;
use crate::failure::{CommandError, Result};
use crate::output::Output;

/// The name of the command, which the script calls from the PATH.
const NAME: &str = "masque";

pub(super) fn run(args: &CompletionsArgs, output: &mut Output) -> Result<()> {
    let shell = args.shell.to_string();
    let shells = Shells::builtins();
    let completer = shells.completer(&shell);
    let completer = completer.ok_or_else(|| CommandError::Internal(format!("no script for {shell}")))?;
    let mut script = Vec::new();
    completer
        .write_registration(completion::VARIABLE, NAME, NAME, NAME, &mut script)
        .map_err(CommandError::Output)?;
    output.exact(&String::from_utf8_lossy(&script))
}
