//! The editing agent: a chat in which a persona is changed by telling what to change.
//!
//! It is a session of the runtime with the persona `persona_editor`, whose tools act on one persona of the
//! library and on its pieces, and on nothing else. Each persona links its current editing session.

mod chat;
mod events;
mod halving;
mod journal;
mod library_tools;
mod locks;
mod personas;
mod piece;
mod planning;
mod proposal;
mod question;
mod run;
mod seed_tools;
mod source;
mod stored_persona;
mod test_summary;
mod tool;
mod undo;

pub(crate) use chat::EDITOR;
pub use chat::{ChatHistory, ChatTurn, ClearedChat};
pub use events::{ChatEvent, ChatEvents};
pub use library_tools::{Caller, LibraryOperation, LibraryTool, Reach};
pub use locks::Locks;
pub use proposal::{
    AppliedChange, AppliedProposal, DismissedProposal, EditorProposal, ProposalAnswer, ProposedDefinition,
};
pub(crate) use run::EditingRun;
pub(crate) use source::{EditorTools, fill_in};
pub use stored_persona::StoredPersona;
pub use undo::{KeptEntity, KeptReason, UndoneTurn};
