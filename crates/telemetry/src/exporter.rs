//! The thread that sends spans.

use std::io;
use std::sync::mpsc as blocking;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::counts::{self, Counts};
use crate::layer::TraceLayer;
use crate::limits::{BATCH, BATCH_WAIT, QUEUE, RETRY_PAUSE, TRIES};
use crate::sender::{SendError, Sender};
use crate::settings::TraceSettings;
use crate::span::Span;

/// The thread that sends spans. It stops when this is finished or dropped.
#[derive(Debug)]
pub struct Exporter {
    stopping: CancellationToken,
    ended: blocking::Receiver<()>,
}

/// Starts the thread that sends spans. It has a runtime of its own: neither a busy runtime of the process
/// delays it, nor its end the process.
pub fn start(settings: TraceSettings) -> io::Result<(TraceLayer, Exporter)> {
    let counts = counts::begin();
    let (queue, queued) = mpsc::channel(QUEUE);
    let stopping = CancellationToken::new();
    let (end, ended) = blocking::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let task = Task { endpoint: settings.endpoint(), stopping: stopping.clone(), counts, is_failing: false };
    std::thread::Builder::new().name("traces".to_owned()).spawn(move || {
        runtime.block_on(task.run(settings, queued));
        // A process that no longer waits does not hear of it.
        let _ = end.send(());
    })?;
    Ok((TraceLayer::new(queue, counts), Exporter { stopping, ended }))
}

impl Exporter {
    /// Sends the spans that ended, but does not take longer than this.
    pub fn finish(self, within: Duration) {
        self.stopping.cancel();
        let _ = self.ended.recv_timeout(within);
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

struct Task {
    endpoint: String,
    stopping: CancellationToken,
    counts: &'static Counts,
    /// True if the last batch was lost. Logs name only the first of several.
    is_failing: bool,
}

impl Task {
    async fn run(mut self, settings: TraceSettings, mut queue: mpsc::Receiver<Span>) {
        let sender = match Sender::new(settings) {
            Ok(sender) => sender,
            Err(error) => {
                tracing::warn!(endpoint = self.endpoint, %error, "traces cannot be sent");
                // Closing the queue counts all later spans as dropped.
                return queue.close();
            }
        };
        let mut batch = Vec::new();
        while self.collect(&mut queue, &mut batch).await {
            self.send(&sender, &batch).await;
            batch.clear();
        }
        // Spans that ended before the stop, each batch once.
        queue.close();
        while !batch.is_empty() || queue.recv_many(&mut batch, BATCH).await > 0 {
            self.send(&sender, &batch).await;
            batch.clear();
        }
    }

    /// Waits for spans, then a little for more. False if the exporter stops.
    async fn collect(&self, queue: &mut mpsc::Receiver<Span>, batch: &mut Vec<Span>) -> bool {
        tokio::select! {
            _ = queue.recv_many(batch, BATCH) => {}
            () = self.stopping.cancelled() => return false,
        }
        let deadline = Instant::now() + BATCH_WAIT;
        while batch.len() < BATCH {
            let room = BATCH - batch.len();
            tokio::select! {
                more = timeout_at(deadline, queue.recv_many(batch, room)) => {
                    if !more.is_ok_and(|more| more > 0) {
                        break;
                    }
                }
                () = self.stopping.cancelled() => return false,
            }
        }
        !batch.is_empty()
    }

    /// Sends a batch, again after a pause if the collector is overloaded or away. Then it is lost.
    async fn send(&mut self, sender: &Sender, batch: &[Span]) {
        let mut pause = RETRY_PAUSE;
        for tries in 1.. {
            let error = match sender.send(batch).await {
                Ok(()) => return self.sent(batch.len()),
                Err(error) => error,
            };
            if !error.is_passing() || tries == TRIES || self.stopping.is_cancelled() {
                return self.lost(batch.len(), &error);
            }
            let wanted = match error {
                SendError::Refused { retry_after, .. } => retry_after,
                SendError::Client(_) | SendError::Transport(_) => None,
            };
            tokio::select! {
                () = sleep(wanted.unwrap_or(pause)) => {}
                () = self.stopping.cancelled() => {}
            }
            pause *= 2;
        }
    }

    fn sent(&mut self, spans: usize) {
        self.counts.add_sent(spans);
        if std::mem::take(&mut self.is_failing) {
            tracing::warn!(endpoint = self.endpoint, "traces are sent again");
        }
    }

    fn lost(&mut self, spans: usize, error: &SendError) {
        self.counts.add_dropped(spans);
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!(endpoint = self.endpoint, %error, "traces are lost until the collector takes them");
        }
    }
}
