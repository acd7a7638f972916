//! Child processes: their start, their CPU time, their memory.

use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

/// A child that is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Ok(Self(command.spawn().context("the process does not start")?))
    }

    /// CPU seconds that it used so far, in user and in kernel mode.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        cpu_seconds(&self.0.id().to_string())
    }

    /// Memory that is resident: all of it, and the part that no file backs.
    pub(crate) fn resident_megabytes(&self) -> Result<(f64, f64)> {
        resident_megabytes(&self.0.id().to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// CPU seconds that this process used so far.
pub(crate) fn own_cpu_seconds() -> Result<f64> {
    cpu_seconds("self")
}

/// CPU seconds that a process ("self" for this one) used so far, in user and in kernel mode.
pub(crate) fn cpu_seconds(process: &str) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name, in brackets, may hold blanks; the fields follow it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // Linux counts these in hundredths of a second.
    Ok((ticks(11) + ticks(12)) / 100.0)
}

/// Resident memory of a process ("self" for this one): all of it, and what no file backs.
pub(crate) fn resident_megabytes(process: &str) -> Result<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0)
            / 1024.0
    };
    Ok((field("VmRSS:"), field("RssAnon:")))
}
