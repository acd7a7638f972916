//! Games as scripts, and many seeded games of scripted players.

mod auction;
mod debate;
mod inputs;
mod machine;
mod mafia;
mod parley;
mod play;
mod random;
mod render;
mod twenty_questions;
