//! The editing agent over HTTP, with a scripted model behind the server.

mod world;

mod bounds;
mod conflicts;
mod curl;
mod outcomes;
mod pieces;
mod proposing;
mod reading;
mod seed;
mod undoing;
