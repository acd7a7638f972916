//! Reading and editing a personas.toml.

mod editing;
mod fuzz;
mod properties;
mod reading;
mod speed;
