//! `masque conduct` and `masque context`: tracks on real git repositories, with real processes that are
//! killed, paused and left alone.
//!
//! Numbers in comments are those of "it is good when": 5, 6, 8 and 9 are here, the others where tracks are
//! worked inside of one process.

mod board;
mod cleaning;
mod context;
mod killed;
mod orders;
mod planning;
mod refusals;
mod several;
mod silent;
mod site;
mod working;
