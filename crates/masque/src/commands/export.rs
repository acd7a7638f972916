//! `masque export`: prints entities with everything they refer to as TOML.

use std::path::{Path, PathBuf};

use app::outputs::EntityRef;
use persona::{Kind, Name};
use serde::Serialize;

use super::written::list;
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
}

pub(crate) async fn run(args: ExportArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let ExportArgs { names, kind, output: file, only } = args;
    let kind = kind.map_or(Kind::Persona, Kind::from);
    let names: Vec<(Kind, Name)> = names.into_iter().map(|name| (kind, name)).collect();
    let (bundle, missing) = workspace.library.export(&names, only.scope).await?;
    if !missing.is_empty() {
        output.advise(&format!(
            "The bundle refers to missing entities: {}. Create or unlink them before importing it.",
            list(&missing)
        ))?;
    }
    let Some(file) = file.filter(|file| file != Path::new("-")) else {
        if output.is_json() {
            return output.json(&ExportOutput { file: None, bundle: Some(bundle), missing });
        }
        return output.exact(&bundle);
    };
    std::fs::write(&file, &bundle).map_err(|error| Failure::file("write", &file, &error))?;
    if output.is_json() {
        return output.json(&ExportOutput { file: Some(file), bundle: None, missing });
    }
    output.line(format!("wrote {}; import it with `masque import`", file.display()))
}
