//! The use cases, on both engines.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod life;
