//! `masque export`: prints entities with everything they refer to as TOML.

use std::path::{Path, PathBuf};

use app::outputs::{EntityRef, Exported, ScopedEntityRef};
use persona::{Kind, Name};
use serde::Serialize;

use super::lookup;
use super::written::{list, place_text};
use crate::cli::ExportArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::workspace::Workspace;

/// The JSON output: the file, or the bundle itself.
#[derive(Serialize)]
struct ExportOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<String>,
    /// Missing references.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<EntityRef>,
    /// Definitions that a stronger scope hides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<ScopedEntityRef>,
}

pub(crate) async fn run(args: ExportArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let mut names: Vec<(Kind, Name)> = Vec::new();
    for target in args.targets()? {
        names.push((lookup::kind("export", &target, args.only.scope, workspace).await?, target.name));
    }
    let ExportArgs { all, output: file, only, .. } = args;
    let Exported { toml: bundle, missing, hidden } = match all {
        true => workspace.library.export_all(only.scope).await?,
        false => workspace.library.export(&names, only.scope).await?,
    };
    if !missing.is_empty() {
        output.advise(&format!(
            "The bundle refers to missing entities: {}. Create or unlink them before importing it.",
            list(&missing)
        ))?;
    }
    if !hidden.is_empty() {
        let left_out: Vec<String> = hidden.iter().map(place_text).collect();
        output
            .advise(&format!("Left out, because a stronger scope has the name: {}.", left_out.join(", ")))?;
    }
    if bundle.trim().is_empty() {
        output.advise("There is nothing to export: only the builtins are here.")?;
    }
    let Some(file) = file.filter(|file| file != Path::new("-")) else {
        if output.is_json() {
            return output.json(&ExportOutput { file: None, bundle: Some(bundle), missing, hidden });
        }
        return output.exact(&bundle);
    };
    std::fs::write(&file, &bundle).map_err(|error| Failure::file("write", &file, &error))?;
    if output.is_json() {
        return output.json(&ExportOutput { file: Some(file), bundle: None, missing, hidden });
    }
    output.line(format!("wrote {}; import it with `masque import`", file.display()))
}
