//! The use cases, on both engines, with and without files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod world;

mod amending;
mod bundles;
mod conducting;
mod conflicts;
mod deleting;
mod destinations;
mod entities;
mod file_personas;
mod going_back;
mod granting;
mod history;
mod importing;
mod inheritance;
mod life;
mod linting;
mod live;
mod names_used_again;
mod pieces_renamed;
mod previewing;
mod promotion;
mod renaming;
mod running;
mod silence;
mod standing;
mod templates;
mod testing;
mod updating;
mod usage;
