//! A scripted model, over the real wire: for tests, for benchmarks, and for a first try without a key.
//!
//! A [`Script`] says what to answer to what; a [`Rehearsal`] answers so on a port, in the protocol
//! that it is asked in: Anthropic Messages, OpenAI Responses, chat completions or Gemini. A
//! [`Recorder`] sits between a client and a real provider and writes a [`Cassette`]; a
//! [`Replay`] plays it back.
//!
//! This crate must not know personas or sessions, nor the adapters (`providers`) that talk to it:
//! it would then make their mistakes with them.

pub mod limits;

mod protocol;
pub use protocol::{Protocol, ProtocolError};

mod script;
pub use script::{Script, ScriptError};

mod heard;

mod answer;

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
