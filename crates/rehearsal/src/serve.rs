//! A script on a port.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;

use crate::Script;

mod listen;
pub(crate) use listen::{Listening, read};

mod log;
pub use log::Recorded;
pub(crate) use log::query_without_secrets;

mod player;
pub(crate) use player::{Ending, Player, Step};

mod perform;

mod stage;
use stage::Stage;

/// Options of a rehearsal.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Keeps requests for [`Rehearsal::requests`].
    pub record: bool,
    /// Ids and times that are the same in every run.
    pub fixed: Option<Fixed>,
}

/// A fixed source of ids in place of clock and chance: they count from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixed {
    /// The time of all answers, in seconds since 1970.
    pub created: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { record: true, fixed: None }
    }
}

/// A scripted model that listens. Dropping it ends it, with all its streams.
#[derive(Debug)]
pub struct Rehearsal {
    listening: Listening,
    stage: Arc<Stage>,
}

impl Rehearsal {
    /// Starts on an address; port 0 takes any free one.
    pub async fn start(script: Script, address: SocketAddr) -> io::Result<Self> {
        Self::start_with(script, address, Options::default()).await
    }

    /// Starts on this machine alone, on any free port.
    pub async fn start_local(script: Script) -> io::Result<Self> {
        Self::start(script, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub async fn start_with(script: Script, address: SocketAddr, options: Options) -> io::Result<Self> {
        Self::start_on(script, TcpListener::bind(address).await?, options)
    }

    /// Starts on a listener that the caller opened.
    pub fn start_on(script: Script, listener: TcpListener, options: Options) -> io::Result<Self> {
        let stage = Arc::new(Stage::new(script, options));
        let router = Router::new().fallback(stage::answer).with_state(Arc::clone(&stage));
        Ok(Self { listening: Listening::start(listener, router)?, stage })
    }

    pub fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// `http://…`, without a path. Clients of OpenAI's protocols need `/v1` after it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Requests so far, oldest first. The oldest are dropped first.
    pub fn requests(&self) -> Vec<Recorded> {
        self.stage.requests()
    }

    /// Requests after a position, and the position for the next call. Starts at 0.
    pub fn requests_since(&self, position: u64) -> (Vec<Recorded>, u64) {
        self.stage.requests_since(position)
    }

    /// The number of requests for a reply, kept or not.
    pub fn request_count(&self) -> u64 {
        self.stage.request_count()
    }

    /// Streams that are being sent now.
    pub fn open_streams(&self) -> usize {
        self.stage.streams.open()
    }

    /// Streams whose client went away before their end.
    pub fn abandoned_streams(&self) -> usize {
        self.stage.streams.abandoned()
    }

    /// Forgets all requests, and makes every reply usable as often as at the start.
    pub fn clear(&self) {
        self.stage.clear();
    }

    /// Ends all connections and frees the port.
    pub async fn stop(self) {
        self.listening.stop().await;
    }
}
