//! Answers of reads, kept as they are sent.
//!
//! A read of definitions gives the same answer until the library changes. The library counts its changes,
//! those of other processes included, so an answer is sent again only while the count is that from before
//! it was read. All callers that are let in may read everything: with roles, a role would be part of the key.

use std::sync::Arc;

use app::Library;
use axum::body::{Body, Bytes};
use axum::response::Response;
use http::uri::PathAndQuery;
use http::{HeaderMap, StatusCode, Uri};
use persona::Name;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::answer::Answer;
use crate::api::Endpoint;
use crate::conditional::{self, Conditions};
use crate::limits::{KEPT_READ_BYTES, KEPT_READS_BYTES};
use crate::secure_headers;

/// The operations whose answers are kept. They depend on nothing but their input, definitions, and the
/// state of personas. Those that load a persona count as a use of it.
const KEPT: [(&str, Uses); 6] = [
    ("explain_persona", Uses::Persona),
    ("get_agent_persona", Uses::Persona),
    ("get_entity", Uses::Nothing),
    ("get_persona_manifest", Uses::Persona),
    ("list_library", Uses::Nothing),
    ("search_library", Uses::Nothing),
];
/// The expected weight of an answer.
const USUAL_BYTES: u64 = 8 * 1024;
/// The overhead of an answer: its headers, its keys, pointers, the cache's own bookkeeping.
const OVERHEAD_BYTES: usize = 2 * 1024;

/// The use that a read makes of what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Uses {
    Nothing,
    Persona,
}

/// The kept answers of a server.
#[derive(Debug)]
pub(crate) struct KeptReads(Cache<Box<str>, Arc<KeptRead>, ByWeight>);

/// An answer with status 200.
#[derive(Debug)]
pub(crate) struct KeptRead {
    pub(crate) endpoint: Arc<Endpoint>,
    /// The library's generation from before it was read. No other one may send it.
    generation: u64,
    /// All headers that do not belong to one request.
    headers: HeaderMap,
    tag: String,
    body: Bytes,
    /// The persona that each sending uses.
    used: Option<Name>,
}

/// A read whose answer will be kept.
#[derive(Debug)]
pub(crate) struct Keeping {
    endpoint: Arc<Endpoint>,
    generation: u64,
    target: Box<str>,
    used: Option<Name>,
}

#[derive(Debug, Clone)]
struct ByWeight;

impl Weighter<Box<str>, Arc<KeptRead>> for ByWeight {
    fn weight(&self, target: &Box<str>, kept: &Arc<KeptRead>) -> u64 {
        (kept.body.len() + 2 * target.len() + OVERHEAD_BYTES) as u64
    }
}

/// True if the answers of an operation are kept.
pub(crate) fn is_kept(operation: &str) -> bool {
    uses(operation).is_some()
}

fn uses(operation: &str) -> Option<Uses> {
    KEPT.iter().find(|(name, _)| *name == operation).map(|(_, uses)| *uses)
}

impl KeptReads {
    pub(crate) fn new() -> Self {
        let expected = usize::try_from(KEPT_READS_BYTES / USUAL_BYTES).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(expected, KEPT_READS_BYTES, ByWeight))
    }

    /// The current answer to a request for this target.
    pub(crate) fn find(&self, uri: &Uri, library: &Library) -> Option<Arc<KeptRead>> {
        let kept = self.0.get(uri.path_and_query().map(PathAndQuery::as_str)?)?;
        let generation = library.generation().ok().flatten()?;
        if kept.generation != generation {
            return None;
        }
        if let Some(used) = &kept.used {
            library.note_use(used);
        }
        Some(kept)
    }

    /// Begins to keep an answer, before anything is read for it. `None` while changes might go unnoticed.
    pub(crate) fn begin(
        endpoint: &Arc<Endpoint>,
        uri: &Uri,
        named: Option<&str>,
        library: &Library,
    ) -> Option<Keeping> {
        let uses = uses(endpoint.operation.name)?;
        let target: Box<str> = uri.path_and_query()?.as_str().into();
        let used = named.filter(|_| uses == Uses::Persona).and_then(|name| Name::parse(name).ok());
        let generation = library.generation().ok().flatten()?;
        Some(Keeping { endpoint: Arc::clone(endpoint), generation, target, used })
    }

    pub(crate) fn keep(&self, keeping: Keeping, answer: &Answer, tag: &str) {
        if answer.status != StatusCode::OK || answer.body.len() > KEPT_READ_BYTES {
            return;
        }
        let Keeping { endpoint, generation, target, used } = keeping;
        let mut headers = answer.headers.clone();
        secure_headers::insert(&mut headers);
        let (tag, body) = (tag.to_owned(), answer.body.clone());
        self.0.insert(target, Arc::new(KeptRead { endpoint, generation, headers, tag, body, used }));
    }
}

impl KeptRead {
    /// The response to a request with these conditions.
    pub(crate) fn response(&self, conditions: &Conditions) -> Response {
        if conditions.has(&self.tag) {
            let mut answer = conditional::not_modified(Some(&self.tag));
            secure_headers::insert(&mut answer.headers);
            return answer.into();
        }
        let mut response = Response::new(Body::from(self.body.clone()));
        response.headers_mut().clone_from(&self.headers);
        response
    }
}

#[cfg(test)]
mod tests {
    use operations::{Effect, Method};

    use super::*;

    #[test]
    fn kept_operations_are_reads_with_an_address() {
        for (name, _) in KEPT {
            let operation = operations::find(name).expect(name);
            assert_eq!(operation.effect, Effect::Read, "{name}");
            assert!(operation.http.routes().any(|route| route.method == Method::Get), "{name}");
        }
    }
}
