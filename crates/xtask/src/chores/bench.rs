//! `cargo xtask bench NAME`: build what is measured with all optimisations, and measure it.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cargo;
use crate::chores::process;
use crate::chores::workspace::Workspace;

/// Runs the benchmarks in the crate `bench`; it prints the figures and fails where a bar is missed.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let Some((name, rest)) = arguments.split_first() else {
        bail!("name a benchmark: library [LARGEST], files [LARGEST], import, loop, mcp, or preview");
    };
    let mut measured = Vec::new();
    match name.as_str() {
        "library" | "files" | "import" | "loop" | "preview" => {}
        "mcp" => {
            let built = process::status(cargo().args(["build", "--release", "--package", "masque"]))?;
            if !built.success() {
                return Ok(process::exit_code(built));
            }
            measured.push(workspace.binary("release", "masque"));
        }
        unknown => {
            bail!("unknown benchmark {unknown:?}; there are library, files, import, loop, mcp and preview")
        }
    }
    let mut bench = cargo();
    bench.args(["run", "--release", "--package", "bench", "--", name]).args(measured).args(rest);
    Ok(process::exit_code(process::status(bench.current_dir(&workspace.root))?))
}
