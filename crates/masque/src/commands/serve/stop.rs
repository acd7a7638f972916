//! The request to stop: Ctrl-C, or SIGTERM from whoever supervises the process.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from the moment it is made, so that no request is missed once the server has said
/// where it is.
#[derive(Debug)]
pub(in crate::commands) struct Stop {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

#[cfg(unix)]
impl Stop {
    pub(in crate::commands) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
impl Stop {
    pub(in crate::commands) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    async fn asked(&mut self) {
        self.interrupt.recv().await;
    }
}

impl Stop {
    /// Ends when the process is asked to stop. A second request ends the process at once.
    pub(in crate::commands) async fn wait(mut self) {
        self.asked().await;
        tokio::spawn(async move {
            self.asked().await;
            std::process::exit(130);
        });
    }
}
