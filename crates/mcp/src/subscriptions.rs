//! Telling clients what changed: over a stream that they opened for it (since 2026-07-28), or
//! through the session (before).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use app::{Change, Library};
use persona::Kind;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, ServiceError, SubscriptionContext, SubscriptionSendError};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::limits::SUBSCRIPTIONS;
use crate::uri::ResourceUri;

/// What a batch of changes means for those who watch.
#[derive(Debug, Default)]
struct News {
    changes: Vec<Change>,
    /// Too much was missed to tell one change from another.
    everything: bool,
}

impl News {
    /// Waits for a change and takes along all that are there already, so that a burst of writes
    /// is told once. `None` when the library is closed.
    async fn next(changes: &mut Receiver<Change>) -> Option<Self> {
        let mut news = Self::default();
        match changes.recv().await {
            Ok(change) => news.take(change),
            Err(RecvError::Lagged(_)) => news.everything = true,
            Err(RecvError::Closed) => return None,
        }
        loop {
            match changes.try_recv() {
                Ok(change) => news.take(change),
                Err(TryRecvError::Lagged(_)) => news.everything = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(news),
            }
        }
    }

    fn take(&mut self, change: Change) {
        match change {
            Change::Everything => self.everything = true,
            entity @ Change::Entity { .. } => self.changes.push(entity),
        }
    }

    fn lists(&self, kinds: &[Kind]) -> bool {
        let listed = |change: &Change| matches!(change, Change::Entity { kind, listed: true, .. } if kinds.contains(kind));
        self.everything || self.changes.iter().any(listed)
    }

    fn prompts(&self) -> bool {
        self.lists(&[Kind::Persona])
    }

    fn resources(&self) -> bool {
        self.lists(&[Kind::Persona, Kind::Skill])
    }

    /// Whether what stands at an address may read differently now. A persona is made of pieces
    /// that others may share, so that a change of any piece may be a change of every persona.
    fn touches(&self, uri: &ResourceUri) -> bool {
        let touched = |change: &Change| match change {
            Change::Entity { kind, name, .. } => {
                let same = *kind == uri.kind() && name == uri.name();
                same || (uri.kind() == Kind::Persona && *kind != Kind::Persona)
            }
            Change::Everything => true,
        };
        self.everything || self.changes.iter().any(touched)
    }
}

/// What may be watched over a stream: both lists, and as many of our own addresses as we allow.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    accepted.tools_list_changed = None;
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| ResourceUri::parse(uri).is_some());
        uris.truncate(SUBSCRIPTIONS);
    }
    accepted
}

/// Serves one stream until the client leaves, the library closes or the server stops.
pub(crate) async fn listen(
    library: &Library,
    stream: &SubscriptionContext,
    stop: &CancellationToken,
) -> Result<(), ErrorData> {
    let mut changes = library.changes();
    loop {
        let news = tokio::select! {
            () = stream.cancelled() => return Ok(()),
            () = stop.cancelled() => return Ok(()),
            news = News::next(&mut changes) => news,
        };
        let Some(news) = news else { return Ok(()) };
        if let Err(error) = tell_stream(stream, &news).await {
            tracing::debug!(%error, "a subscription's client is gone");
            return Ok(());
        }
    }
}

async fn tell_stream(stream: &SubscriptionContext, news: &News) -> Result<(), SubscriptionSendError> {
    let (sink, accepted) = (stream.sink(), stream.accepted());
    if accepted.prompts_list_changed == Some(true) && news.prompts() {
        sink.notify_prompt_list_changed().await?;
    }
    if accepted.resources_list_changed == Some(true) && news.resources() {
        sink.notify_resource_list_changed().await?;
    }
    for uri in accepted.resource_subscriptions.iter().flatten() {
        if ResourceUri::parse(uri).is_some_and(|parsed| news.touches(&parsed)) {
            sink.notify_resource_updated(uri).await?;
        }
    }
    Ok(())
}

/// What a session of the older era watches. Dropped with its session, and then its task ends.
#[derive(Debug)]
pub(crate) struct Watch {
    uris: Arc<Mutex<BTreeSet<String>>>,
    _task: DropGuard,
}

impl Watch {
    /// Starts to tell a session's client about changes.
    pub(crate) fn start(library: &Library, peer: Peer<RoleServer>) -> Self {
        let uris = Arc::new(Mutex::new(BTreeSet::new()));
        let ended = CancellationToken::new();
        tokio::spawn(forward(library.changes(), peer, Arc::clone(&uris), ended.clone()));
        Self { uris, _task: ended.drop_guard() }
    }

    /// Adds an address; subscribing twice is the same as once.
    pub(crate) fn add(&self, uri: String) -> Result<(), ErrorData> {
        let mut uris = self.uris.lock().unwrap_or_else(PoisonError::into_inner);
        if uris.len() >= SUBSCRIPTIONS && !uris.contains(&uri) {
            let message =
                format!("a session watches at most {SUBSCRIPTIONS} resources; unsubscribe from one first");
            return Err(ErrorData::invalid_params(message, None));
        }
        uris.insert(uri);
        Ok(())
    }

    /// Removes an address, whether it was there or not.
    pub(crate) fn remove(&self, uri: &str) {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}

async fn forward(
    mut changes: Receiver<Change>,
    peer: Peer<RoleServer>,
    uris: Arc<Mutex<BTreeSet<String>>>,
    ended: CancellationToken,
) {
    loop {
        let news = tokio::select! {
            () = ended.cancelled() => return,
            news = News::next(&mut changes) => news,
        };
        let Some(news) = news else { return };
        let watched = uris.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Err(error) = tell_session(&peer, &news, watched).await {
            tracing::debug!(%error, "a session's client is gone");
            return;
        }
    }
}

async fn tell_session(
    peer: &Peer<RoleServer>,
    news: &News,
    watched: BTreeSet<String>,
) -> Result<(), ServiceError> {
    if news.prompts() {
        peer.notify_prompt_list_changed().await?;
    }
    if news.resources() {
        peer.notify_resource_list_changed().await?;
    }
    for uri in watched {
        if ResourceUri::parse(&uri).is_some_and(|parsed| news.touches(&parsed)) {
            peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use persona::Name;

    use super::*;

    fn news(kind: Kind, name: &str, listed: bool) -> News {
        let name = Name::parse(name).expect("a name");
        News { changes: vec![Change::Entity { kind, name, listed }], everything: false }
    }

    fn touches(news: &News, uri: &str) -> bool {
        news.touches(&ResourceUri::parse(uri).expect(uri))
    }

    #[test]
    fn a_persona_touches_itself_alone() {
        let news = news(Kind::Persona, "mentor", false);
        assert!(touches(&news, "persona://mentor") && touches(&news, "persona://mentor/compiled"));
        assert!(!touches(&news, "persona://critic") && !touches(&news, "part://mentor"));
        assert!(!news.prompts() && !news.resources());
    }

    #[test]
    fn a_piece_touches_itself_and_every_persona() {
        let news = news(Kind::Skill, "review", true);
        assert!(touches(&news, "skill://review/SKILL.md") && touches(&news, "persona://critic"));
        assert!(!touches(&news, "part://review"));
        assert!(!news.prompts() && news.resources());
    }

    #[test]
    fn what_was_missed_touches_all() {
        let news = News { changes: Vec::new(), everything: true };
        assert!(touches(&news, "part://x") && news.prompts() && news.resources());
    }

    #[test]
    fn only_our_own_addresses_are_accepted() {
        let requested = SubscriptionFilter::builder()
            .tools_list_changed()
            .resource_subscriptions(["persona://a", "file:///etc/passwd"])
            .build();
        let accepted = accepted(&requested);
        assert_eq!(accepted.tools_list_changed, None);
        assert_eq!(accepted.resource_subscriptions, Some(vec!["persona://a".to_owned()]));
    }
}
