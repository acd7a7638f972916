//! One reply, ready for any wire.

use llm::{StopReason, Usage};

use crate::request_content::RequestContent;
use crate::script::{Reply, ScriptPiece, ScriptUsage, TemplateValues};

/// Bytes per token in estimates.
const BYTES_PER_TOKEN: u64 = 4;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RenderedReply {
    /// The unique suffix of this answer's ids.
    pub(crate) stamp: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
    pub(crate) model: String,
    pub(crate) pieces: Vec<ReplyPiece>,
    pub(crate) stop: StopReason,
    pub(crate) usage: Usage,
    /// Of the output: tokens of reasoning.
    pub(crate) reasoning_tokens: u64,
    /// The arguments of every call end in the middle.
    pub(crate) malformed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReplyPiece {
    Reasoning(String),
    Text(String),
    /// The input is JSON text, unless it is meant to be malformed.
    Tool {
        id: Option<String>,
        name: String,
        input: String,
    },
}

impl ReplyPiece {
    /// The pieces to send token by token.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Reasoning(text) | Self::Text(text) | Self::Tool { input: text, .. } => text,
        }
    }
}

impl RenderedReply {
    pub(crate) fn new(
        reply: &Reply,
        received: &RequestContent,
        body_bytes: usize,
        stamp: String,
        created: u64,
    ) -> Self {
        let results = match &received.results[..] {
            [only] => only.text.clone(),
            several => several.iter().map(|result| result.text.as_str()).collect::<Vec<_>>().join("\n"),
        };
        let words = TemplateValues {
            last_user: &received.last_user,
            tool_result: &results,
            model: &received.model,
            call: received.call,
        };
        let malformed = reply.fault.as_ref().is_some_and(|fault| fault.malformed_tool_json);
        let pieces: Vec<ReplyPiece> =
            reply.pieces.iter().map(|scripted| piece(scripted, &words, malformed)).collect();
        let calls = pieces.iter().any(|piece| matches!(piece, ReplyPiece::Tool { .. }));
        let usual = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        let (usage, reasoning_tokens) = usage(reply.usage, body_bytes, &pieces);
        Self {
            stamp,
            created,
            model: received.model.clone(),
            pieces,
            stop: reply.stop.unwrap_or(usual),
            usage,
            reasoning_tokens,
            malformed,
        }
    }

    /// An id for the piece at an index, unlike all others.
    pub(crate) fn piece_id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}{}_{index}", self.stamp)
    }

    /// The id of a call: the script's, or one of our own.
    pub(crate) fn call_id(&self, prefix: &str, index: usize, scripted: Option<&String>) -> String {
        scripted.cloned().unwrap_or_else(|| self.piece_id(prefix, index))
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text().len()).sum()
    }

    pub(crate) fn has_reasoning(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, ReplyPiece::Reasoning(_)))
    }
}

fn piece(scripted: &ScriptPiece, words: &TemplateValues<'_>, malformed: bool) -> ReplyPiece {
    match scripted {
        ScriptPiece::Reasoning(text) => ReplyPiece::Reasoning(text.render(words)),
        ScriptPiece::Text(text) => ReplyPiece::Text(text.render(words)),
        ScriptPiece::Tool { name, id, input } => {
            let mut input = input.render(words);
            if malformed {
                halve(&mut input);
            }
            ReplyPiece::Tool { id: id.clone(), name: name.clone(), input }
        }
    }
}

/// Cuts JSON text so that it is invalid: at least its last brace is gone.
fn halve(input: &mut String) {
    let mut end = (input.len() * 2 / 3).clamp(1, input.len().saturating_sub(1).max(1));
    while !input.is_char_boundary(end) {
        end -= 1;
    }
    input.truncate(end);
}

fn usage(scripted: ScriptUsage, body_bytes: usize, pieces: &[ReplyPiece]) -> (Usage, u64) {
    let (mut output, mut reasoning) = (0, 0);
    for piece in pieces {
        match piece {
            ReplyPiece::Reasoning(text) => reasoning += text.len() as u64,
            ReplyPiece::Text(text) => output += text.len() as u64,
            ReplyPiece::Tool { name, input, .. } => output += (name.len() + input.len()) as u64,
        }
    }
    let estimate = (body_bytes as u64).div_ceil(BYTES_PER_TOKEN).max(1);
    let output_tokens =
        scripted.output.unwrap_or_else(|| (output + reasoning).div_ceil(BYTES_PER_TOKEN).max(1));
    let usage = Usage {
        input_tokens: scripted
            .input
            .unwrap_or_else(|| estimate.max(scripted.cache_read + scripted.cache_write)),
        output_tokens,
        cache_read_tokens: scripted.cache_read,
        cache_write_tokens: scripted.cache_write,
    };
    (usage, reasoning.div_ceil(BYTES_PER_TOKEN).min(output_tokens))
}
