//! What others ask of this process: Ctrl-C, SIGTERM from whoever supervises it, SIGHUP when its
//! terminal is closed.

use std::io;
use std::time::Duration;

#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};
#[cfg(windows)]
use tokio::signal::windows;
use tokio::sync::watch;

use crate::failure::{Failure, Result};
use crate::terminal;

/// How long requests count as one: a shell that hangs up tells its jobs besides the kernel, and
/// `timeout` tells a process and then its group.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// Why a process is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    HangUp,
}

impl Signal {
    /// What shells say of a program that such a signal ended.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::HangUp => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Listens from the moment it is made, so that no request is missed from then on.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: unix::Signal,
    #[cfg(windows)]
    interrupt: windows::CtrlC,
    ends: Ends,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self> {
        #[cfg(unix)]
        let interrupt = unix::signal(SignalKind::interrupt());
        #[cfg(windows)]
        let interrupt = windows::ctrl_c();
        Ok(Self { interrupt: interrupt.map_err(|error| unheard(&error))?, ends: Ends::listen()? })
    }

    /// The next one of any kind.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            signal = self.ends.next() => signal,
        }
    }
}

/// Those that end the process whatever it is doing, as Ctrl-C need not. That one is not listened for:
/// where nobody waits for it, it still ends the process by itself.
#[derive(Debug)]
#[cfg(unix)]
struct Ends {
    terminate: unix::Signal,
    /// None where nobody wants to hear of it, as under `nohup`.
    hang_up: Option<unix::Signal>,
}

#[cfg(unix)]
impl Ends {
    fn listen() -> Result<Self> {
        let hear = |kind| unix::signal(kind).map_err(|error| unheard(&error));
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

/// Whether whoever started this process wants it to outlive its terminal. A listener would undo
/// that.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn ignores_hang_up() -> bool {
    const HANG_UP: u64 = 1;
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & HANG_UP != 0)
}

/// Other systems do not say. `nohup` leaves no terminal to its program, so that one which has a
/// terminal was not started by it.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn ignores_hang_up() -> bool {
    use std::io::IsTerminal as _;

    !(io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal())
}

#[derive(Debug)]
#[cfg(windows)]
struct Ends(windows::CtrlClose);

#[cfg(windows)]
impl Ends {
    fn listen() -> Result<Self> {
        windows::ctrl_close().map(Self).map_err(|error| unheard(&error))
    }

    async fn next(&mut self) -> Signal {
        self.0.recv().await;
        Signal::HangUp
    }
}

fn unheard(error: &io::Error) -> Failure {
    Failure::broken(format!("cannot wait for signals: {error}"))
}

/// Ends the process at the next request, whatever it is doing.
pub(crate) async fn end_at_next() {
    tokio::time::sleep(SAME_REQUEST).await;
    let Ok(mut signals) = Signals::listen() else { return };
    let next = signals.next().await;
    terminal::restore();
    std::process::exit(next.exit_code().into());
}

/// That the process was asked to end, for everybody who has something to put down before. Whoever
/// looks late still sees it. Ctrl-C is not among it: what that stops is for each to say.
#[derive(Debug, Clone)]
pub(crate) struct Ending(watch::Receiver<Option<Signal>>);

impl Ending {
    /// Listens from now on, for as long as the process lives. The first request is told to everybody;
    /// with another one, of any kind, the process ends at once.
    pub(crate) fn listen() -> Result<Self> {
        let mut ends = Ends::listen()?;
        let (tell, told) = watch::channel(None);
        tokio::spawn(async move {
            tell.send_replace(Some(ends.next().await));
            end_at_next().await;
        });
        Ok(Self(told))
    }

    /// What the process was asked to end by, if it was.
    pub(crate) fn now(&self) -> Option<Signal> {
        *self.0.borrow()
    }

    /// Waits until the process is asked to end.
    pub(crate) async fn asked(&self) -> Signal {
        let mut told = self.0.clone();
        let asked = told.wait_for(Option::is_some).await.ok().and_then(|signal| *signal);
        match asked {
            Some(signal) => signal,
            // Nobody is left to say so.
            None => std::future::pending().await,
        }
    }

    /// What comes of something that may be left where it stands.
    pub(crate) async fn or<T>(&self, doing: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            signal = self.asked() => Err(Failure::Stopped(signal)),
            done = doing => done,
        }
    }
}
