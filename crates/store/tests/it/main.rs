//! The contract of a store: one suite, run against SQLite and a real PostgreSQL.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use testkit::samples;

mod kinds;
mod texts;

mod arcs;
mod inheritance;
mod inherited_arcs;
mod links;

mod frozen;
mod history;
mod revisions;
mod transactions;
mod write_ahead;
mod writers;

mod requests;

mod lists;
mod names;
mod search;

mod load;
mod round_trips;

mod freshness;
mod listening;

mod earlier;
mod migrations;
mod schema;
mod schemas;

mod stock;
mod transfer;

mod generated;
