//! `cargo xtask serve`: build and run the server.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use anyhow::{Context, Error, Result};

use crate::workspace::cargo;

/// Becomes cargo, which in turn becomes masque: Ctrl-C and the exit code then need no passing on.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let error = cargo().args(["run", "--package", "masque", "--", "serve"]).args(arguments).exec();
    Err(Error::new(error)).context("could not start cargo")
}
