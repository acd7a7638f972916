//! A reply while it arrives.

use agent::{Entry, Event};
use sessions::RunChange;

use super::record::{NotStored, Record};

/// Events of a reply that are not forwarded yet: first the text, then the entries.
#[derive(Default)]
pub(super) struct ReplyBuffer {
    passing: Option<(Passing, String)>,
    pub(super) entries: Vec<Entry>,
    pub(super) request_id: Option<String>,
}

/// A kind of text that is reported and not stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    Text,
    Reasoning,
}

impl ReplyBuffer {
    /// Adds text. Pieces of one kind that arrive together are reported as one.
    pub(super) async fn push(
        &mut self,
        record: &mut Record,
        kind: Passing,
        text: String,
    ) -> Result<(), NotStored> {
        if !self.entries.is_empty() || self.passing.as_ref().is_some_and(|(of, _)| *of != kind) {
            self.flush(record).await?;
        }
        match &mut self.passing {
            Some((_, passing)) => passing.push_str(&text),
            None => self.passing = Some((kind, text)),
        }
        Ok(())
    }

    /// Reports the text.
    pub(super) fn report_text(&mut self, record: &Record) {
        if let Some((kind, content)) = self.passing.take() {
            record.live.feed.report_passing(match kind {
                Passing::Text => Event::TextDelta { content },
                Passing::Reasoning => Event::ReasoningDelta { content },
            });
        }
    }

    /// Reports the text and records the entries.
    pub(super) async fn flush(&mut self, record: &mut Record) -> Result<(), NotStored> {
        self.report_text(record);
        match self.entries.is_empty() {
            true => Ok(()),
            false => record.append(std::mem::take(&mut self.entries), RunChange::default()).await,
        }
    }
}
