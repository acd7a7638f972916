//! The stop request of a server: Ctrl-C, SIGTERM or SIGHUP.

use crate::failure::Result;
use crate::signals::{self, Signals};

/// Listens from creation on, so that no request is missed once the address is printed.
#[derive(Debug)]
pub(in crate::commands) struct Stop(Signals);

impl Stop {
    pub(in crate::commands) fn listen() -> Result<Self> {
        Signals::listen().map(Self)
    }

    /// Waits for the request. A second one exits the process at once.
    pub(in crate::commands) async fn wait(mut self) {
        self.0.next().await;
        tokio::spawn(signals::exit_at_next());
    }
}
