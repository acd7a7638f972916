//! Signals: Ctrl-C, SIGTERM from a supervisor, SIGHUP when the terminal closes.

use std::io;
use std::time::Duration;

#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};
#[cfg(windows)]
use tokio::signal::windows;
use tokio::sync::watch;

use crate::failure::{CommandError, Failure, Result};
use crate::terminal;

/// Signals within this time count as one: on hangup, the shell and the kernel both signal, and
/// `timeout` signals a process and then its group.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// A signal that ends the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    HangUp,
}

impl Signal {
    /// The exit code that shells use for the signal.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::HangUp => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Listens for signals from creation on.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: unix::Signal,
    #[cfg(windows)]
    interrupt: windows::CtrlC,
    ends: EndSignals,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self> {
        #[cfg(unix)]
        let interrupt = unix::signal(SignalKind::interrupt());
        #[cfg(windows)]
        let interrupt = windows::ctrl_c();
        Ok(Self { interrupt: interrupt.map_err(|error| listen_error(&error))?, ends: EndSignals::listen()? })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            signal = self.ends.next() => signal,
        }
    }
}

/// Signals that always end the process. Ctrl-C is not among them: without a listener, it ends the
/// process by default.
#[derive(Debug)]
#[cfg(unix)]
struct EndSignals {
    terminate: unix::Signal,
    /// None if the signal is ignored, as under `nohup`.
    hang_up: Option<unix::Signal>,
}

#[cfg(unix)]
impl EndSignals {
    fn listen() -> Result<Self> {
        let hear = |kind| unix::signal(kind).map_err(|error| listen_error(&error));
        Ok(Self {
            terminate: hear(SignalKind::terminate())?,
            hang_up: if ignores_hang_up() { None } else { Some(hear(SignalKind::hangup())?) },
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            () = hung_up(&mut self.hang_up) => Signal::HangUp,
        }
    }
}

#[cfg(unix)]
async fn hung_up(hang_up: &mut Option<unix::Signal>) {
    match hang_up {
        Some(hang_up) => {
            hang_up.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// True if SIGHUP was ignored at start, as under `nohup`. A listener would undo that.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn ignores_hang_up() -> bool {
    const HANG_UP: u64 = 1;
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & HANG_UP != 0)
}

/// Guesses whether `nohup` started the process: it leaves no terminal to the program.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn ignores_hang_up() -> bool {
    use std::io::IsTerminal as _;

    !(io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal())
}

#[derive(Debug)]
#[cfg(windows)]
struct EndSignals(windows::CtrlClose);

#[cfg(windows)]
impl EndSignals {
    fn listen() -> Result<Self> {
        windows::ctrl_close().map(Self).map_err(|error| listen_error(&error))
    }

    async fn next(&mut self) -> Signal {
        self.0.recv().await;
        Signal::HangUp
    }
}

fn listen_error(error: &io::Error) -> Failure {
    CommandError::Internal(format!("cannot listen for signals: {error}")).into()
}

/// Exits the process at the next signal.
pub(crate) async fn exit_at_next() {
    tokio::time::sleep(SAME_REQUEST).await;
    let Ok(mut signals) = Signals::listen() else { return };
    let next = signals.next().await;
    terminal::restore();
    std::process::exit(next.exit_code().into());
}

/// A shutdown request by SIGTERM or SIGHUP, for tasks that must stop cleanly. Late readers still see
/// it. Ctrl-C is handled by each command.
#[derive(Debug, Clone)]
pub(crate) struct Shutdown(watch::Receiver<Option<Signal>>);

impl Shutdown {
    /// Listens for the rest of the process. The first signal requests the shutdown; a second one exits
    /// at once.
    pub(crate) fn listen() -> Result<Self> {
        let mut ends = EndSignals::listen()?;
        let (sender, receiver) = watch::channel(None);
        tokio::spawn(async move {
            sender.send_replace(Some(ends.next().await));
            exit_at_next().await;
        });
        Ok(Self(receiver))
    }

    /// The signal that requested the shutdown, if any.
    pub(crate) fn signal(&self) -> Option<Signal> {
        *self.0.borrow()
    }

    /// Waits for a shutdown request.
    pub(crate) async fn requested(&self) -> Signal {
        let mut receiver = self.0.clone();
        let requested = receiver.wait_for(Option::is_some).await.ok().and_then(|signal| *signal);
        match requested {
            Some(signal) => signal,
            // The sender is gone, so no request can arrive.
            None => std::future::pending().await,
        }
    }

    /// Runs a future, or fails at a shutdown request.
    pub(crate) async fn race<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            signal = self.requested() => Err(Failure::Stopped(signal)),
            done = future => done,
        }
    }
}
