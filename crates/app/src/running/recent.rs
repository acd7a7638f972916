//! Conversations of the sessions that this process ran last: the next message reads only what was added.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent::{Conversation, Entry, LogEntry, Note, Session};
use sessions::Sessions;
use uuid::Uuid;

use crate::Result;

/// Entries read at once.
const LOG_PAGE: usize = 500;

/// Conversations at rest, within a limit of memory. A run takes its conversation and brings it back.
#[derive(Debug)]
pub(super) struct RecentConversations {
    most_bytes: usize,
    kept: Mutex<AllKept>,
}

#[derive(Debug, Default)]
struct AllKept {
    by_session: HashMap<Uuid, Kept>,
    /// The sessions in the order in which they were kept.
    order: BTreeMap<u64, Uuid>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    conversation: Conversation,
    /// The place in the log up to which it is complete.
    seq: i64,
    order: u64,
    bytes: usize,
}

impl RecentConversations {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, kept: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, AllKept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a conversation that is complete up to a place of its session's log. The oldest ones make room.
    pub(super) fn keep(&self, session: Uuid, seq: i64, conversation: Conversation) {
        let bytes = conversation.memory_bytes();
        let mut all = self.lock();
        all.take(session);
        if bytes > self.most_bytes {
            return;
        }
        let order = all.next;
        all.next += 1;
        all.bytes += bytes;
        all.order.insert(order, session);
        all.by_session.insert(session, Kept { conversation, seq, order, bytes });
        while all.bytes > self.most_bytes {
            let Some(oldest) = all.order.values().next().copied() else { return };
            all.take(oldest);
        }
    }

    /// A session's conversation. Reads what was added to the log since it was kept, or all of it.
    pub(super) async fn read(&self, sessions: &Sessions, session: &Session) -> Result<Conversation> {
        if session.last_seq == 0 {
            return Ok(Conversation::default());
        }
        let kept = self.lock().take(session.id).filter(|kept| kept.seq <= session.last_seq);
        if let Some(Kept { mut conversation, seq, .. }) = kept
            && (seq == session.last_seq || catch_up(sessions, session.id, &mut conversation, seq).await?)
        {
            return Ok(conversation);
        }
        Ok(sessions.turns(session.id).await?.into())
    }
}

impl AllKept {
    fn take(&mut self, session: Uuid) -> Option<Kept> {
        let kept = self.by_session.remove(&session)?;
        self.order.remove(&kept.order);
        self.bytes -= kept.bytes;
        Some(kept)
    }
}

/// Adds the turns after a place of the log. Returns false if turns were taken back: the conversation may
/// have them.
async fn catch_up(
    sessions: &Sessions,
    session: Uuid,
    conversation: &mut Conversation,
    mut after: i64,
) -> Result<bool> {
    loop {
        let page = sessions.log(session, after, LOG_PAGE).await?;
        let is_last = page.len() < LOG_PAGE;
        for LogEntry { seq, entry } in page {
            match entry {
                Entry::Turn(turn) => conversation.push(turn),
                Entry::Note { note: Note::TextDiscarded { .. }, .. } => return Ok(false),
                Entry::Note { .. } => {}
            }
            after = seq;
        }
        if is_last {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use agent::{NewTurn, TurnBody};

    use super::super::record::{entry, turn_of};
    use super::*;

    fn conversation(bytes: usize) -> Conversation {
        let turn = NewTurn::from(TurnBody::User { content: "x".repeat(bytes) });
        turn_of(entry(turn)).into_iter().collect::<Vec<_>>().into()
    }

    /// The kept ones among these sessions.
    fn kept(recent: &RecentConversations, ids: &[Uuid]) -> Vec<bool> {
        ids.iter().map(|id| recent.lock().by_session.contains_key(id)).collect()
    }

    #[test]
    fn the_oldest_conversations_make_room() {
        let recent = RecentConversations::new(3 * conversation(1_000).memory_bytes());
        let ids: Vec<Uuid> = (0..4).map(|_| Uuid::now_v7()).collect();
        for id in &ids[..3] {
            recent.keep(*id, 1, conversation(1_000));
        }
        assert_eq!(kept(&recent, &ids), [true, true, true, false]);
        // Kept again, the first one is the newest.
        recent.keep(ids[0], 2, conversation(1_000));
        recent.keep(ids[3], 1, conversation(1_000));
        assert_eq!(kept(&recent, &ids), [true, false, true, true]);
        assert!(recent.lock().bytes <= recent.most_bytes);
    }

    #[test]
    fn a_conversation_beyond_the_limit_is_not_kept() {
        let recent = RecentConversations::new(conversation(1_000).memory_bytes());
        let (one, other) = (Uuid::now_v7(), Uuid::now_v7());
        recent.keep(one, 1, conversation(1_000));
        recent.keep(other, 1, conversation(1_001));
        assert_eq!(kept(&recent, &[one, other]), [true, false]);
        recent.keep(one, 2, conversation(2_000));
        assert_eq!((kept(&recent, &[one]), recent.lock().bytes), (vec![false], 0));
    }
}
