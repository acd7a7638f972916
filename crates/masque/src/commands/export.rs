//! `masque export`: personas with all that they refer to, as one TOML text.

use std::path::{Path, PathBuf};

use app::outputs::Piece;
use persona::{Kind, Name};
use serde::Serialize;

use super::written::list;
use crate::cli::ExportArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;

/// Where the bundle went, or what it is.
#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<String>,
    /// What is named in it and is not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Piece>,
}

pub(crate) async fn run(args: ExportArgs, session: &Session, output: &mut Output) -> Result<()> {
    let ExportArgs { names, kind, output: file, only } = args;
    let kind = kind.map_or(Kind::Persona, Kind::from);
    let names: Vec<(Kind, Name)> = names.into_iter().map(|name| (kind, name)).collect();
    let (bundle, missing) = session.library.export(&names, only.scope).await?;
    if !missing.is_empty() {
        output.advise(&format!(
            "These are named in it and are not there: {}. It can be imported once they are, or once they are unlinked.",
            list(&missing)
        ))?;
    }
    let Some(file) = file.filter(|file| file != Path::new("-")) else {
        if output.is_json() {
            return output.json(&Answer { file: None, bundle: Some(bundle), missing });
        }
        return output.exact(&bundle);
    };
    std::fs::write(&file, &bundle).map_err(|error| Failure::file("write", &file, &error))?;
    if output.is_json() {
        return output.json(&Answer { file: Some(file), bundle: None, missing });
    }
    output.line(format!("wrote {}; import it with `masque import`", file.display()))
}
