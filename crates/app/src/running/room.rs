//! Makes room in a model's context by summing up older turns.

use std::borrow::Cow;
use std::sync::Arc;

use agent::{NewTurn, Note, SUMMARY_PROMPT, Turn, TurnBody, cut, in_force, transcript};
use futures::StreamExt as _;
use llm::{Message, Request, Sampling, System, Usage};
use persona::TokenCounter as _;
use sessions::RunChange;

use super::drive::Driver;
use super::models::Candidate;
use super::record::{NotStored, entry, noted};
use crate::Tokenizer;

/// The share of a model's context at which the conversation is summed up.
const FULL: f64 = 0.8;
/// The share of a model's context that stays verbatim.
const KEPT: f64 = 0.35;
/// Tokens left free for the answer, if its length is not limited.
const ANSWER_TOKENS: u32 = 4096;
/// The longest summary.
const SUMMARY_TOKENS: u32 = 2048;
/// A lower bound of a token's bytes: a short conversation need not be counted.
const BYTES_PER_TOKEN: usize = 2;

/// A summary, and what it cost.
struct Summed {
    content: String,
    usage: Usage,
    request_id: Option<String>,
}

impl Driver {
    /// Sums up older turns if they no longer fit, or if the model at `refused` said so. Returns true if
    /// it did.
    pub(super) async fn make_room(
        &mut self,
        candidates: &[Candidate],
        refused: Option<usize>,
    ) -> Result<bool, NotStored> {
        let candidate = &candidates[refused.unwrap_or(0)];
        let window = candidate.provider.context_tokens(&candidate.model.model);
        let counter = Tokenizer;
        let tokens = |turn: &Turn| counter.count(&said(turn)) + OVERHEAD_TOKENS;
        let Some((full, keep)) = self.budget(window, candidate, refused.is_some()) else { return Ok(false) };
        let bytes: usize = in_force(&self.record.turns).map(|turn| said(turn).len()).sum();
        if bytes / BYTES_PER_TOKEN < full && refused.is_none() {
            return Ok(false);
        }
        let all: usize = in_force(&self.record.turns).map(tokens).sum();
        if all < full && refused.is_none() {
            return Ok(false);
        }
        let Some(through) = cut(&self.record.turns, &tokens, keep.min(all / 2)) else { return Ok(false) };
        let Some(Summed { content, usage, request_id }) =
            self.summary(candidate, &transcript(&self.record.turns, through), keep).await
        else {
            return Ok(false);
        };
        // An empty summary costs tokens too.
        let is_usable = !content.trim().is_empty();
        let summary = is_usable.then(|| entry(NewTurn::from(TurnBody::Summary { content, through })));
        let usage = noted(Note::Usage { model: candidate.model.clone(), usage, request_id });
        self.record.append(summary.into_iter().chain([usage]).collect(), RunChange::default()).await?;
        Ok(is_usable)
    }

    /// The tokens at which the conversation is summed up, and those that stay. The persona's prompt is
    /// subtracted first: it is never summed up.
    fn budget(&self, window: Option<u32>, candidate: &Candidate, refused: bool) -> Option<(usize, usize)> {
        let counter = Tokenizer;
        let bytes: usize = in_force(&self.record.turns).map(|turn| said(turn).len()).sum();
        // A model that refused has a smaller window than this.
        let window = match window {
            Some(window) => window as usize,
            None if refused => bytes / BYTES_PER_TOKEN,
            None => return None,
        };
        let prompt = counter.count(&self.prepared.prompt);
        let answer = candidate.sampling.max_output_tokens.unwrap_or(ANSWER_TOKENS) as usize;
        let left = window.saturating_sub(prompt).saturating_sub(answer.min(window / 2));
        let part = |share: f64| (left as f64 * share) as usize;
        Some((part(FULL), part(KEPT)))
    }

    async fn summary(&self, candidate: &Candidate, transcript: &str, keep: usize) -> Option<Summed> {
        let shown = transcript.floor_char_boundary(keep.max(SUMMARY_TOKENS as usize) * 4);
        let request = Request {
            model: candidate.model.model.clone(),
            system: System { stable: SUMMARY_PROMPT.to_owned(), reminder: None },
            messages: vec![Message::User {
                results: Vec::new(),
                texts: vec![transcript[..shown].to_owned()],
            }],
            tools: Arc::default(),
            sampling: Sampling { max_output_tokens: Some(SUMMARY_TOKENS), ..Sampling::default() },
        };
        let mut stream = candidate.provider.stream(request);
        let (mut content, mut request_id) = (String::new(), None);
        loop {
            let event = tokio::select! {
                () = self.record.cancel.cancelled() => return None,
                event = stream.next() => event?,
            };
            match event {
                Ok(llm::Event::Started { request_id: id }) => request_id = request_id.or(id),
                Ok(llm::Event::TextDelta(delta)) => content.push_str(&delta),
                Ok(llm::Event::Finished { usage, .. }) => {
                    return Some(Summed { content, usage, request_id });
                }
                Ok(_) => {}
                Err(failure) => {
                    tracing::warn!(session = %self.record.session.id, %failure, "older turns were not summed up");
                    return None;
                }
            }
        }
    }
}

/// What a turn costs besides its text.
const OVERHEAD_TOKENS: usize = 8;

fn said(turn: &Turn) -> Cow<'_, str> {
    match &turn.body {
        TurnBody::User { content }
        | TurnBody::AssistantText { content }
        | TurnBody::Summary { content, .. } => Cow::Borrowed(content),
        TurnBody::ToolResult { output, .. } => Cow::Borrowed(output),
        TurnBody::ToolCall { call, .. } => {
            Cow::Owned(format!("{} {}", call.name, serde_json::Value::Object(call.input.clone())))
        }
    }
}
