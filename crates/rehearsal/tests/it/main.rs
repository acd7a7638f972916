//! Rehearsals over the real wire: raw bytes, recorded streams, and the providers' own clients.

mod client;
mod clients;
mod faults;
mod pace;
mod recording;
mod replies;
mod streams;
