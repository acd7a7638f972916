//! Paths of the workspace and its build directory.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::cargo;
use crate::chores::process;

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Asks cargo, because only it knows every way to move the target directory.
    pub(crate) fn locate() -> Result<Self> {
        let text =
            process::capture(cargo().args(["metadata", "--no-deps", "--offline", "--format-version=1"]))?;
        let metadata: Value = serde_json::from_str(&text).context("cargo metadata did not print JSON")?;
        let path = |key: &str| {
            let value = metadata[key].as_str();
            value.map(PathBuf::from).with_context(|| format!("cargo metadata has no {key}"))
        };
        Ok(Self { root: path("workspace_root")?, target: path("target_directory")? })
    }

    /// An executable that cargo built.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(name)
    }

    /// The place for downloaded test tools: it survives runs and goes with `cargo clean`.
    pub(crate) fn test_environment(&self) -> PathBuf {
        self.target.join("testenv")
    }
}
