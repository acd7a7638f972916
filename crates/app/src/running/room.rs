//! Makes room in a model's context by summing up older turns.

use std::sync::Arc;

use agent::{ContextWindow, NewTurn, Note, Overflow, SUMMARY_PROMPT, TurnBody, transcript};
use futures::StreamExt as _;
use llm::{Failure, Message, Request, Sampling, System, Usage};
use persona::TokenCounter as _;
use sessions::RunChange;

use super::models::{Candidate, Models};
use super::record::{NotStored, Record, entry, noted};
use super::spans;
use crate::Tokenizer;

/// The longest summary.
const SUMMARY_TOKENS: u32 = 2048;

/// A summary, and its cost.
struct Summary {
    content: String,
    usage: Usage,
    request_id: Option<String>,
}

/// Sums up older turns if they do not fit beside the prompt, or if the model has refused them. Returns
/// true if it did.
pub(super) async fn make_room(
    record: &mut Record,
    prompt_tokens: usize,
    candidate: &Candidate,
    models: &Models,
    is_refused: bool,
) -> Result<bool, NotStored> {
    let tokens = candidate.provider.context_tokens(&candidate.model.model);
    if tokens.is_none() && !is_refused {
        return Ok(false);
    }
    let answer_tokens = candidate.sampling.max_output_tokens;
    let window = ContextWindow { tokens, prompt_tokens, answer_tokens };
    let count = |text: &str| Tokenizer.count(text);
    let Some(Overflow { through, keep }) = window.overflow(&record.turns, &count, is_refused) else {
        return Ok(false);
    };
    let request = summary_request(candidate, &transcript(&record.turns, through), keep);
    let Summary { content, usage, request_id } = match summarize(candidate, request, record).await {
        Ok(Some(summary)) => summary,
        Ok(None) => return Ok(false),
        Err(failure) => {
            tracing::warn!(session = %record.session.id, %failure, "older turns were not summed up");
            return Ok(false);
        }
    };
    // An empty summary costs tokens too.
    let cost = models.count(&record.session.persona, &candidate.model, usage);
    let is_usable = !content.trim().is_empty();
    let summary = is_usable.then(|| entry(NewTurn::from(TurnBody::Summary { content, through })));
    let usage = noted(Note::Usage { model: candidate.model.clone(), usage, cost, request_id });
    record.append(summary.into_iter().chain([usage]).collect(), RunChange::default()).await?;
    Ok(is_usable)
}

fn summary_request(candidate: &Candidate, transcript: &str, keep: usize) -> Request {
    let shown = transcript.floor_char_boundary(keep.max(SUMMARY_TOKENS as usize) * 4);
    Request {
        model: candidate.model.model.clone(),
        system: System { stable: SUMMARY_PROMPT.to_owned(), ..System::default() },
        messages: vec![
            Message::User { results: Vec::new(), texts: vec![transcript[..shown].to_owned()] }.into(),
        ],
        tools: Arc::default(),
        sampling: Sampling { max_output_tokens: Some(SUMMARY_TOKENS), ..Sampling::default() },
        output: None,
        may_omit: &[],
    }
}

/// Gets a summary. None if the run is cancelled, or the answer was cut off.
async fn summarize(
    candidate: &Candidate,
    request: Request,
    record: &Record,
) -> Result<Option<Summary>, Failure> {
    let mut stream = spans::chat(&*candidate.provider, request, Some(record));
    let (mut content, mut request_id) = (String::new(), None);
    loop {
        let event = tokio::select! {
            () = record.cancel.cancelled() => return Ok(None),
            event = stream.next() => event,
        };
        match event.transpose()? {
            None => return Ok(None),
            Some(llm::ReplyEvent::Started { request_id: id }) => request_id = request_id.or(id),
            Some(llm::ReplyEvent::TextDelta(delta)) => content.push_str(&delta),
            Some(llm::ReplyEvent::Finished { usage, .. }) => {
                return Ok(Some(Summary { content, usage, request_id }));
            }
            Some(_) => {}
        }
    }
}
