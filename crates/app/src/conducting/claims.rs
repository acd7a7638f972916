//! This process's claims of tickets, and its view of the claims of others.

use std::sync::{Mutex, PoisonError};

use agent::{LeaseObserver, LeaseVerdict, Sighting};
use conductor::TicketId;
use database::Presence;
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tracks::{ClaimSighting, Claimed, Fence, Holder, Tracks};
use uuid::Uuid;

use crate::Result;

/// Claims in the name of this process.
#[derive(Debug)]
pub(super) struct Claims {
    tracks: Tracks,
    holder: Holder,
    /// Shows other processes that this one lives, from its first claim on.
    presence: OnceCell<Option<Presence>>,
    others: Mutex<LeaseObserver>,
    /// The beginning of this process's own time.
    started: Instant,
}

impl Claims {
    pub(super) fn new(tracks: Tracks) -> Self {
        let name = format!("process {}", std::process::id());
        Self {
            tracks,
            holder: Holder { node: Uuid::now_v7(), name },
            presence: OnceCell::new(),
            others: Mutex::default(),
            started: Instant::now(),
        }
    }

    /// Claims a ticket, or the steps of the track itself. `None` while another process has it. A process
    /// that does not renew its claim for as long as a lease lasts loses it.
    pub(super) async fn take(&self, track: Uuid, ticket: Option<&TicketId>) -> Result<Option<Fence>> {
        self.announce().await;
        let seen = match self.tracks.claim(track, ticket, &self.holder).await? {
            Claimed::Taken(fence) => return Ok(Some(fence)),
            Claimed::Busy(seen) => seen,
        };
        let ClaimSighting { beat, is_over, is_blocked } = seen;
        let sighting = Sighting { beat, is_over, is_blocked };
        let verdict = {
            let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
            others.look(key(track, ticket), sighting, self.started.elapsed())
        };
        if verdict != LeaseVerdict::Over {
            return Ok(None);
        }
        Ok(match self.tracks.take_over(track, ticket, beat, &self.holder).await? {
            Claimed::Taken(fence) => Some(fence),
            Claimed::Busy(_) => None,
        })
    }

    async fn announce(&self) {
        let announce = async || match self.tracks.announce(self.holder.node).await {
            Ok(presence) => presence,
            Err(error) => {
                tracing::warn!(%error, "the claims of processes that are gone were not released");
                None
            }
        };
        self.presence.get_or_init(announce).await;
    }
}

/// A claim's key among those that are observed.
fn key(track: Uuid, ticket: Option<&TicketId>) -> Uuid {
    let mut hash = Sha256::new();
    hash.update(track.as_bytes());
    hash.update(ticket.map_or("", TicketId::as_str).as_bytes());
    let digest = hash.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(bytes)
}
