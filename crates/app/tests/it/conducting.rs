//! Tracks from their file to the integration branch, with scripted models and real git repositories.
//!
//! Numbers in comments are those of "it is good when": 1 to 4 and 7 are here, the others where processes are
//! killed.

mod capping;
mod diamond;
mod in_force;
mod merging;
mod people;
mod planning;
mod site;
mod verifying;
