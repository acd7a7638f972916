//! Runs the built binary as people and programs do: arguments in; text, JSON and exit codes out.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot continue")]

mod home;
mod rehearsed;
mod terminal;
mod wire;
mod wording;

mod chatting;
mod deciding;
mod greetings;
mod running;
mod stopping;
mod talks;
mod unready;

mod first_minute;
mod reading;
mod readme;

mod arcs;
mod authoring;
mod credits;
mod definitions;
mod links;
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

mod connect;
mod database;
mod doctor;
mod following;
mod rehearse;
mod serving;
mod settings;
mod shell;
mod trust;

mod crash;
mod mistaken;
mod nodes;
mod sdk;
