//! `masque schema`: prints the JSON Schema of a personas.toml or a track.toml.

use crate::cli::{SchemaArgs, SchemaOf};
use crate::failure::{Failure, Result};
use crate::output::Output;

pub(super) fn run(args: &SchemaArgs, output: &mut Output) -> Result<()> {
    let schema = match args.of {
        SchemaOf::Personas => app::json_schema(),
        SchemaOf::Track => conductor::track_schema(),
    };
    if output.is_json() {
        return output.json(&schema);
    }
    // Pretty, because it usually goes to a file.
    let text = serde_json::to_string_pretty(&schema);
    let text = text.map_err(|error| Failure::json(&error))?;
    output.exact(&format!("{text}\n"))
}
