//! `masque rehearse`: the scripted model, and recordings of real ones.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use rehearsal::Protocol;

use super::listen::{self, ListenAddress};
use crate::failure::Result;

#[derive(Debug, Args)]
#[command(after_help = "\
A rehearsal is a scripted model that speaks the protocols of Anthropic, OpenAI (responses and chat) \
and Gemini on one port. A script is a TOML file with a list of [[reply]]; see docs/rehearsal.md.

  masque rehearse                                    the builtin script
  masque rehearse talk.toml --port 4800
  masque rehearse talk.toml --log                    print every request
  masque rehearse --check talk.toml                  check the script and exit
  masque rehearse --record tape.toml --upstream https://api.anthropic.com
  masque rehearse --replay tape.toml                 exits with 1 if a request differs")]
pub(crate) struct RehearseArgs {
    /// Script [default: the builtin one, which explains how to set up a model]
    #[arg(value_name = "SCRIPT", conflicts_with_all = ["script", "check", "record", "replay"])]
    pub(crate) positional: Option<PathBuf>,
    /// Script; the same as SCRIPT
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "record", "replay"])]
    pub(crate) script: Option<PathBuf>,
    /// Print the path and body of every request, without keys
    #[arg(long, conflicts_with_all = ["check", "record", "replay"])]
    pub(crate) log: bool,
    /// Address to listen on; loopback only
    #[arg(long, alias = "listen", value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    #[arg(value_parser = listen::address)]
    addr: ListenAddress,
    /// Port to listen on, instead of that of the address
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Check a script and exit
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "replay"])]
    pub(crate) check: Option<PathBuf>,
    /// Forward requests to a real provider, and record them in a cassette (.toml or .json)
    #[arg(long, value_name = "FILE", requires = "upstream", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Provider to record; the client's keys are forwarded and never written
    #[arg(long, value_name = "URL", requires = "record")]
    pub(crate) upstream: Option<String>,
    /// Record only this protocol: anthropic, openai-responses, openai-chat or gemini
    #[arg(long, value_name = "KIND", requires = "record")]
    pub(crate) kind: Option<Protocol>,
    /// Replay a cassette; a request that differs from the recorded one is refused
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Replay without the recorded pauses
    #[arg(long, requires = "replay")]
    pub(crate) at_once: bool,
}

impl RehearseArgs {
    pub(crate) fn address(&self) -> Result<SocketAddr> {
        self.addr.with_port(self.port)
    }
}
