//! What tests of several crates need: fresh databases on both engines.
//!
//! Used from tests and benchmarks only; no product code depends on it.

mod databases;
pub use databases::{Database, on_each_engine, postgres};
