//! Progress of slow operations, on standard error.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use app::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use super::Output;

/// Faster operations show no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows the progress of a backup, a copy or an import, step by step: on a terminal, unless the output is
/// JSON.
#[derive(Debug)]
pub(crate) struct TransferProgress {
    started: Instant,
    is_shown: bool,
    bar: Option<ProgressBar>,
}

impl TransferProgress {
    pub(crate) fn new(output: &Output) -> Self {
        let is_shown = io::stderr().is_terminal() && !output.is_json();
        Self { started: Instant::now(), is_shown, bar: None }
    }

    pub(crate) fn at(&mut self, progress: &Progress) {
        if !self.is_shown || self.bar.is_none() && self.started.elapsed() < PATIENCE {
            return;
        }
        let Progress { step, what, unit, done, total } = progress;
        let what = if what.is_empty() { unit } else { what };
        let bar = self.bar.get_or_insert_with(transfer_bar);
        let label = format!("{step} {what}");
        if bar.prefix() != label || bar.message() != *unit {
            bar.set_prefix(label);
            bar.set_message(*unit);
        }
        bar.set_length(*total);
        bar.set_position(*done);
    }
}

fn transfer_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {human_pos} of {human_len} {msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::no_length().with_style(style.progress_chars("=> "))
}

impl Drop for TransferProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Counts items while the output goes to a file or a pipe.
#[derive(Debug)]
pub(crate) struct Counter {
    started: Instant,
    bar: Option<ProgressBar>,
    done: u64,
}

impl Counter {
    pub(crate) fn new(output: &Output) -> Self {
        let seen = output.is_terminal() || !io::stderr().is_terminal();
        let bar = (!seen).then(|| {
            let style = ProgressStyle::with_template("{spinner} {human_pos} listed");
            ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        Self { started: Instant::now(), bar, done: 0 }
    }

    pub(crate) fn add(&mut self, count: usize) {
        self.done += count as u64;
        if let Some(bar) = &self.bar
            && self.started.elapsed() >= PATIENCE
        {
            bar.set_position(self.done);
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
