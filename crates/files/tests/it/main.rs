//! Reading and editing a personas.toml, and its schema.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod editing;
mod fuzz;
mod properties;
mod reading;
mod schema_of_files;
