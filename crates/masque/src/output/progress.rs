//! Progress of slow operations, on standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use app::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use super::Output;

/// Faster operations show no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows the progress of a backup or a copy, table by table.
#[derive(Debug)]
pub(crate) struct TransferProgress {
    last_shown: Instant,
    bar: Option<ProgressBar>,
    /// True if progress is written as plain lines without a terminal.
    lines: bool,
}

impl TransferProgress {
    pub(crate) fn new(output: &Output) -> Self {
        Self { last_shown: Instant::now(), bar: None, lines: !output.is_json() }
    }

    pub(crate) fn at(&mut self, progress: &Progress) {
        if self.bar.is_none() && self.last_shown.elapsed() < PATIENCE {
            return;
        }
        self.last_shown = Instant::now();
        let Progress { step, table, done, total } = progress;
        if io::stderr().is_terminal() {
            let bar = self.bar.get_or_insert_with(transfer_bar);
            if bar.message() != *table || bar.prefix() != *step {
                bar.set_prefix(*step);
                bar.set_message(*table);
            }
            bar.set_length(*total);
            bar.set_position(*done);
        } else if self.lines {
            let _ = writeln!(io::stderr(), "{step} {table}: {done} of {total} rows");
        }
    }
}

fn transfer_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {msg} [{bar:30}] {human_pos} of {human_len} rows");
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
