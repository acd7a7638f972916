//! Progress of what takes longer than a second, on standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use app::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use super::Output;

/// What is done sooner than this needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Follows a backup or a copy, table by table.
#[derive(Debug)]
pub(crate) struct TransferProgress {
    last_told: Instant,
    bar: Option<ProgressBar>,
    /// Whether plain lines may be written where there is no terminal.
    lines: bool,
}

impl TransferProgress {
    pub(crate) fn new(output: &Output) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let template = "{prefix} {msg} [{bar:30}] {human_pos} of {human_len} rows";
            let style = ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::no_length().with_style(style.progress_chars("=> "))
        });
        Self { last_told: Instant::now(), bar, lines: !output.is_json() }
    }

    pub(crate) fn at(&mut self, progress: &Progress) {
        let Progress { step, table, done, total } = progress;
        if let Some(bar) = &self.bar {
            if bar.message() != *table || bar.prefix() != *step {
                bar.set_prefix(*step);
                bar.set_message(*table);
            }
            bar.set_length(*total);
            bar.set_position(*done);
        } else if self.lines && self.last_told.elapsed() >= PATIENCE {
            self.last_told = Instant::now();
            let _ = writeln!(io::stderr(), "{step} {table}: {done} of {total} rows");
        }
    }
}

impl Drop for TransferProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Counts what is written into a file or a pipe, where nobody sees it go by.
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
