//! The request to stop: Ctrl-C, SIGTERM from whoever supervises the process, or the end of its
//! terminal.

use crate::failure::Result;
use crate::signals::{self, Signals};

/// Listens from the moment it is made, so that no request is missed once the server has said
/// where it is.
#[derive(Debug)]
pub(in crate::commands) struct Stop(Signals);

impl Stop {
    pub(in crate::commands) fn listen() -> Result<Self> {
        Signals::listen().map(Self)
    }

    /// Ends when the process is asked to stop. A second request ends the process at once.
    pub(in crate::commands) async fn wait(mut self) {
        self.0.next().await;
        tokio::spawn(signals::end_at_next());
    }
}
