//! Fixtures for tests and benchmarks of several crates: fresh databases on both engines, personas.toml
//! files beside them, and libraries of any size made from a seed.
//!
//! Used from tests and benchmarks only; no product code depends on it. It must not judge: the tests
//! say what a library must answer.

mod databases;
pub use databases::{Database, on_each_engine, on_postgres, postgres};

mod files;
pub use files::Files;

mod prose;

mod generate;
pub use generate::{Generated, generate};

mod fill;
pub use fill::fill;

mod reports;
pub use reports::{remedies, reports};

pub mod samples;
pub mod sessions;
