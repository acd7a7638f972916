//! `masque completions`.

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArgs};
use crate::failure::{CommandError, Result};
use crate::output::Output;

pub(super) fn run(args: &CompletionsArgs, output: &mut Output) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "masque", &mut script);
    let script = String::from_utf8(script);
    let script =
        script.map_err(|error| CommandError::Internal(format!("the script is not text: {error}")))?;
    output.exact(&script)
}
