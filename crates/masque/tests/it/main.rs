//! Runs the built binary as people and programs do: arguments in; text, JSON and exit codes out.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot continue")]

mod home;
mod rehearsed;
mod strace;
mod terminal;
mod wire;
mod wording;

mod chatting;
mod deciding;
mod editing;
mod greetings;
mod running;
mod stopping;
mod talks;
mod unready;

mod first_minute;
mod reading;
mod readme;
mod starting;

mod arcs;
mod authoring;
mod credits;
mod definitions;
mod links;
mod naming;
mod presets;

mod explain;
mod files;
mod helping;
mod history;

mod carry;
mod compose;
mod conflicts;
mod linting;

mod failures;
mod json;

mod access;
mod connect;
mod database;
mod doctor;
mod following;
mod read_only;
mod rehearse;
mod serving;
mod settings;
mod shell;
mod testing;
mod traces;
mod trust;

mod conducting;

mod crash;
mod failing_calls;
mod faults;
mod mistaken;
mod nodes;
mod notices;
mod power_cut;
mod schemathesis;
mod sdk;
