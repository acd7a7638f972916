//! The files of a project in a prompt: which, how much of each, within a budget.

mod answer;
pub use answer::{Context, LeftOut, Note, Reason, Shown, View, Why};

mod error;
pub use error::Error;

mod hash;
pub use hash::{ContentHash, ContentHashError};

mod project;
pub use project::Project;

mod request;
pub use request::{Request, Seeds};

mod gather;

mod plan;
pub use plan::{Plan, SummaryWanted};

mod cache;
pub use cache::{Cache, CacheFigures};

mod selection;

mod walk;

mod source;

mod stamp;

mod facts;

mod ranking;

mod budget;

mod section;

mod render;

mod parallel;

pub mod imports;
pub mod language;
pub mod limits;
pub mod outline;
pub mod skeleton;
pub mod symbols;
