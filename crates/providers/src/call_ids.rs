//! Names of tool calls, which a result repeats.

use std::borrow::Cow;

use llm::{Block, Message, Request, SharedMessage};
use uuid::Uuid;

/// Characters of a call's id that OpenAI takes.
const LONGEST: usize = 64;

/// The ids that a conversation has, so that a new one names one call only.
#[derive(Debug, Default)]
pub(crate) struct CallIds {
    /// The messages with calls. They are searched when a call arrives: most replies have none.
    sent: Vec<SharedMessage>,
    /// The ids of this reply.
    new: Vec<String>,
}

impl CallIds {
    pub(crate) fn of(request: &Request) -> Self {
        let calls = |message: &&SharedMessage| ids(message).next().is_some();
        Self { sent: request.messages.iter().filter(calls).cloned().collect(), new: Vec::new() }
    }

    /// The id that the provider gave, if it gave one that is free, else a new one. Some servers give
    /// none, and some count from zero in every answer.
    pub(crate) fn take(&mut self, given: Option<&str>) -> String {
        let id = match given {
            Some(given) if !given.is_empty() && !self.is_taken(given) => given.to_owned(),
            _ => format!("call_{}", Uuid::now_v7().simple()),
        };
        self.new.push(id.clone());
        id
    }

    fn is_taken(&self, id: &str) -> bool {
        let mut sent = self.sent.iter().flat_map(|message| ids(message));
        self.new.iter().any(|new| new == id) || sent.any(|sent| sent == id)
    }
}

/// The ids of a message's calls.
fn ids(message: &Message) -> impl Iterator<Item = &str> {
    let blocks: &[Block] = match message {
        Message::Assistant(blocks) => blocks,
        Message::User { .. } => &[],
    };
    blocks.iter().filter_map(|block| match block {
        Block::ToolCall(block) => Some(block.call.id.as_str()),
        Block::Text { .. } => None,
    })
}

/// An id with letters, digits, `_` and `-` alone, and not too long: the same for a call and its
/// result, another for another call.
pub(crate) fn plain(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.is_empty() && id.len() <= LONGEST && id.chars().all(fits) {
        return Cow::Borrowed(id);
    }
    let start: String = id.chars().take(32).map(|c| if fits(c) { c } else { '_' }).collect();
    Cow::Owned(format!("{start}_{:016x}", fingerprint(id)))
}

/// An id that is not too long.
pub(crate) fn short(id: &str) -> Cow<'_, str> {
    if id.len() <= LONGEST { Cow::Borrowed(id) } else { plain(id) }
}

/// FNV-1a: stable between runs, so that a provider's cache finds what it was sent before.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{CallIds, plain, short};

    #[test]
    fn ids_that_fit_stay_as_they_are() {
        assert_eq!(plain("toolu_01-A"), "toolu_01-A");
        assert_eq!(short("functions.read:0"), "functions.read:0");
    }

    #[test]
    fn others_become_plain_and_stay_apart() {
        let (one, two) = (plain("functions.read:0"), plain("functions.read/0"));
        assert!(one.starts_with("functions_read_0_") && one != two, "{one} {two}");
        let long = "x".repeat(300);
        for id in [plain(&long), short(&long), plain(""), plain("äöü")] {
            assert!(!id.is_empty() && id.len() <= 64, "{id}");
            assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{id}");
        }
    }

    #[test]
    fn a_call_without_an_id_or_with_a_taken_one_gets_its_own() {
        let mut ids = CallIds::default();
        assert_eq!(ids.take(Some("call_0")), "call_0");
        let others = [ids.take(Some("call_0")), ids.take(None), ids.take(Some(""))];
        assert!(others.iter().all(|id| id.starts_with("call_") && id.len() > 20), "{others:?}");
        assert!(others[0] != others[1] && others[1] != others[2]);
    }
}
