//! `cargo xtask bench NAME`: build what is measured with all optimisations, and measure it.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cargo;
use crate::chores::process;
use crate::chores::workspace::Workspace;
use crate::web::{self, Built};

/// Runs the benchmarks in the crate `bench`; it prints the figures and fails where a bar is missed.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let Some((name, rest)) = arguments.split_first() else {
        bail!(
            "name a benchmark: library [LARGEST], files [LARGEST], conductor, context [FILES], http, import, loop, \
             mcp, preview, or recall [REPOSITORY]"
        );
    };
    let mut measured = Vec::new();
    match name.as_str() {
        "library" | "files" | "conductor" | "context" | "import" | "loop" | "preview" | "recall" => {}
        "http" | "mcp" => {
            if name == "http" {
                // The binary has the page in it.
                build_page()?;
            }
            let built = process::status(cargo().args(["build", "--release", "--package", "masque"]))?;
            if !built.success() {
                return Ok(process::exit_code(built));
            }
            measured.push(workspace.binary("release", "masque"));
        }
        unknown => {
            bail!(
                "unknown benchmark {unknown:?}; there are library, files, conductor, context, http, import, loop, mcp, \
                 preview and recall"
            )
        }
    }
    let mut bench = cargo();
    bench.args(["run", "--release", "--package", "bench", "--", name]).args(measured).args(rest);
    Ok(process::exit_code(process::status(bench.current_dir(&workspace.root))?))
}

fn build_page() -> Result<()> {
    match web::build() {
        Ok(Built::NoNode) => bail!("npm was not found; install Node 20 or newer"),
        Ok(_) => Ok(()),
        Err(error) => bail!("{error}"),
    }
}
