//! Notifies clients of changes: over a stream that they open (since 2026-07-28), or through the
//! session (before).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use app::{Changes, Library};
use persona::{Code, Report};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, ServiceError, SubscriptionContext, SubscriptionSendError};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::limits::SUBSCRIPTIONS;
use crate::uri::ResourceUri;
use crate::wording;

mod news;
use news::News;

/// The subscriptions of a stream: both lists, and our own addresses up to the limit.
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
        if let Err(error) = tell_stream(library, stream, &news).await {
            tracing::debug!(%error, "a subscription's client is gone");
            return Ok(());
        }
    }
}

async fn tell_stream(
    library: &Library,
    stream: &SubscriptionContext,
    news: &News,
) -> Result<(), SubscriptionSendError> {
    let (sink, accepted) = (stream.sink(), stream.accepted());
    if accepted.prompts_list_changed == Some(true) && news.prompts() {
        sink.notify_prompt_list_changed().await?;
    }
    if accepted.resources_list_changed == Some(true) && news.resources() {
        sink.notify_resource_list_changed().await?;
    }
    let watched = accepted.resource_subscriptions.iter().flatten().map(String::as_str).collect();
    for uri in news.touched(library, watched).await {
        sink.notify_resource_updated(uri).await?;
    }
    Ok(())
}

/// The subscriptions of a session of the older era. Dropped with its session, which ends the task.
#[derive(Debug)]
pub(crate) struct Watch {
    uris: Arc<Mutex<BTreeSet<String>>>,
    _task: DropGuard,
}

impl Watch {
    /// Starts to notify a session's client.
    pub(crate) fn start(library: &Library, peer: Peer<RoleServer>) -> Self {
        let uris = Arc::new(Mutex::new(BTreeSet::new()));
        let ended = CancellationToken::new();
        // Subscribes before the task begins, so that no change is missed.
        let changes = library.changes();
        tokio::spawn(forward(library.clone(), changes, peer, Arc::clone(&uris), ended.clone()));
        Self { uris, _task: ended.drop_guard() }
    }

    /// Adds an address; subscribing twice is the same as once.
    pub(crate) fn add(&self, uri: String) -> Result<(), ErrorData> {
        let mut uris = self.uris.lock().unwrap_or_else(PoisonError::into_inner);
        if uris.len() >= SUBSCRIPTIONS && !uris.contains(&uri) {
            let message =
                format!("a session watches at most {SUBSCRIPTIONS} resources; unsubscribe from one first");
            return Err(wording::invalid_params(&Report::new(Code::Overloaded, message)));
        }
        uris.insert(uri);
        Ok(())
    }

    /// Removes an address, if present.
    pub(crate) fn remove(&self, uri: &str) {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}

async fn forward(
    library: Library,
    mut changes: Changes,
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
        if let Err(error) = tell_session(&library, &peer, &news, &watched).await {
            tracing::debug!(%error, "a session's client is gone");
            return;
        }
    }
}

async fn tell_session(
    library: &Library,
    peer: &Peer<RoleServer>,
    news: &News,
    watched: &BTreeSet<String>,
) -> Result<(), ServiceError> {
    if news.prompts() {
        peer.notify_prompt_list_changed().await?;
    }
    if news.resources() {
        peer.notify_resource_list_changed().await?;
    }
    for uri in news.touched(library, watched.iter().map(String::as_str).collect()).await {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
