//! Watching processes from outside.

use std::fs;
use std::time::{Duration, Instant};

/// How long a test waits for an event before it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// True if a process exists and is not a zombie.
pub(crate) fn is_running(id: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    let state = status.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Waits until a process has ended.
pub(crate) async fn ended(id: u32) -> bool {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if !is_running(id) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

/// Reads a process id that a program writes to a file.
pub(crate) async fn id_in(path: &std::path::Path) -> u32 {
    let started = Instant::now();
    loop {
        if let Some(id) = fs::read_to_string(path).ok().and_then(|text| text.strip_suffix('\n')?.parse().ok())
        {
            return id;
        }
        assert!(started.elapsed() < PATIENCE, "{} was not written", path.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
