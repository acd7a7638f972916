//! Drives the built binary as people and programs do: arguments in; text, JSON and exit codes out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod home;
mod terminal;
mod wire;

mod first_minute;
mod reading;

mod arcs;
mod authoring;
mod definitions;
mod links;
mod presets;

mod explain;
mod files;
mod history;

mod carry;
mod compose;
mod conflicts;
mod linting;

mod failures;
mod json;

mod connect;
mod database;
mod doctor;
mod following;
mod serving;
mod shell;

mod crash;
mod nodes;
mod sdk;
