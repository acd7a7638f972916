//! A scripted model over the real wire: for tests, for benchmarks, and for a first try without a key.
//!
//! A [`Script`] maps requests to replies. A [`Rehearsal`] serves it on a port, in the protocol of each
//! request: Anthropic Messages, OpenAI Responses, chat completions or Gemini. A [`Recorder`] is a proxy
//! between a client and a real provider and writes a [`Cassette`]; a [`Replay`] plays it back.
//!
//! This crate must not know personas, sessions, or the adapters (`providers`) that talk to it: it would
//! share their mistakes.

pub mod limits;

mod protocol;
pub use protocol::{Protocol, ProtocolError};

mod script;
pub use script::{Script, ScriptError};

mod request_content;

mod rendered_reply;

mod wire;

mod score;

mod serve;
pub use serve::{Fixed, Options, Recorded, Rehearsal};

mod cassette;
pub use cassette::{Cassette, CassetteError};

mod record;
pub use record::{RecordError, Recorder, RecordingOptions};

mod replay;
pub use replay::{Replay, Tempo};
