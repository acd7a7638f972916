//! The domain, seen from outside: layers and assembly as one-line scripts and as
//! properties of random libraries; compiled texts and answers as golden texts.

mod script;

mod assembly;
mod budget;
mod inheritance;
mod layers;
mod properties;
mod resolving;

mod wardrobe;

mod blocks;
mod compiled;
mod fingerprint;
mod views;

mod arcs;
mod bounds;
mod entities;
mod error_codes;

mod env;
mod explain;
mod lint;
mod wording;
