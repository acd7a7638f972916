//! `masque schema`: the JSON Schema of a personas.toml.

use crate::failure::{Failure, Result};
use crate::output::Output;

pub(super) fn run(output: &mut Output) -> Result<()> {
    let schema = app::json_schema();
    if output.is_json() {
        return output.json(&schema);
    }
    // It is written into a file more often than read by a program, so it is laid out.
    let text = serde_json::to_string_pretty(&schema);
    let text = text.map_err(|error| Failure::broken(format!("cannot write JSON: {error}")))?;
    output.exact(&format!("{text}\n"))
}
