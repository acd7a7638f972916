//! The scripted model, and recordings of real ones.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use rehearsal::Protocol;

#[derive(Debug, Args)]
#[command(after_help = "\
A rehearsal speaks the protocols of Anthropic, OpenAI (responses and chat) and Gemini on one port,
and says what its script says. Scripts are TOML: an ordered list of [[reply]]; docs/rehearsal.md
describes them.

  masque rehearse                                    what answers where no model is set up
  masque rehearse talk.toml --listen 127.0.0.1:4800
  masque rehearse talk.toml --log                    also show what it is sent
  masque rehearse --check talk.toml                  only look for mistakes
  masque rehearse --record tape.toml --upstream https://api.anthropic.com
  masque rehearse --replay tape.toml                 exit code 1 if a request differed")]
pub(crate) struct RehearseArgs {
    /// The script [default: the one that says how to set a model up]
    #[arg(value_name = "SCRIPT", conflicts_with_all = ["script", "check", "record", "replay"])]
    pub(crate) positional: Option<PathBuf>,
    /// The script, by name
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "record", "replay"])]
    pub(crate) script: Option<PathBuf>,
    /// Print every request that comes: its path and its body, without keys
    #[arg(long, conflicts_with_all = ["check", "record", "replay"])]
    pub(crate) log: bool,
    /// Where to listen; loopback addresses only
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Look for mistakes in a script, and do nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "replay"])]
    pub(crate) check: Option<PathBuf>,
    /// Pass requests on to a real provider, and write what passes into a cassette (.toml or .json)
    #[arg(long, value_name = "FILE", requires = "upstream", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// The provider to record; keys are those that the client sends, and are never written
    #[arg(long, value_name = "URL", requires = "record")]
    pub(crate) upstream: Option<String>,
    /// Record only this protocol: anthropic, openai-responses, openai-chat or gemini
    #[arg(long, value_name = "KIND", requires = "record")]
    pub(crate) kind: Option<Protocol>,
    /// Play a cassette back; a request that differs from the recorded one is refused
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Play without the pauses of the recording
    #[arg(long, requires = "replay")]
    pub(crate) at_once: bool,
}
