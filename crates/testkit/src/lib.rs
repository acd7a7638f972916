//! What tests and benchmarks of several crates need: fresh databases on both engines, personas.toml
//! files beside them, and libraries of any size made from a seed.
//!
//! Used from tests and benchmarks only; no product code depends on it. It must not judge: what a
//! library ought to answer is said by the tests.

mod databases;
pub use databases::{Database, on_each_engine, postgres};

mod files;
pub use files::Files;

mod prose;

mod generate;
pub use generate::{Generated, generate};

mod fill;
pub use fill::fill;

pub mod samples;
pub mod sessions;
