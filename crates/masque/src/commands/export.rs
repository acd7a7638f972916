//! `masque export`: personas with all that they refer to, as one TOML text.

use std::path::{Path, PathBuf};

use persona::{Kind, Name};
use serde::Serialize;

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
}

pub(crate) async fn run(args: ExportArgs, session: &Session, output: &mut Output) -> Result<()> {
    let ExportArgs { names, kind, output: file, only } = args;
    let kind = kind.map_or(Kind::Persona, Kind::from);
    let names: Vec<(Kind, Name)> = names.into_iter().map(|name| (kind, name)).collect();
    let bundle = session.library.export(&names, only.scope).await?;
    let Some(file) = file.filter(|file| file != Path::new("-")) else {
        if output.is_json() {
            return output.json(&Answer { file: None, bundle: Some(bundle) });
        }
        return output.exact(&bundle);
    };
    std::fs::write(&file, &bundle).map_err(|error| Failure::file("write", &file, &error))?;
    if output.is_json() {
        return output.json(&Answer { file: Some(file), bundle: None });
    }
    output.line(format!("wrote {}; import it with `masque import`", file.display()))
}
