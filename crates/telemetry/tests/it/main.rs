//! Spans that reach a collector, and what happens if it is away.

mod collector;

mod sending;
mod trees;
