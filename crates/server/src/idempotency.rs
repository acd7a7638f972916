//! `Idempotency-Key`: a write whose answer was lost can be sent again, and runs once.

use app::{Library, RequestClaim, StoredAnswer};
use http::HeaderName;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::request::Parts;
use operations::{Effect, Operation};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::answer::Answer;
use crate::extract::Fields;
use crate::limits::{KEY_CHARS, KEY_RETRY_AFTER_S};
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::result::ApiResult;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Marks an answer that was given before.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The key of a write, and a fingerprint of its request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RequestKey {
    key: String,
    fingerprint: String,
}

/// The beginning of a request with a key.
pub(crate) enum Begun {
    /// The first one: the caller runs it.
    First(Attempt),
    /// It ran before.
    Answered(StoredAnswer),
}

impl RequestKey {
    /// The key of a write, if it has one. Reads need none.
    pub(crate) fn read(operation: &Operation, parts: &Parts, fields: &Fields) -> ApiResult<Option<Self>> {
        let Some(key) = parts.headers.get(IDEMPOTENCY_KEY).filter(|_| operation.effect != Effect::Read)
        else {
            return Ok(None);
        };
        let visible = key.to_str().ok().filter(|key| key.bytes().all(|byte| byte.is_ascii_graphic()));
        match visible.filter(|key| (1..=KEY_CHARS).contains(&key.len())) {
            Some(key) => Ok(Some(Self { key: key.to_owned(), fingerprint: fingerprint(parts, fields) })),
            None => Err(RequestError::InvalidKey { most: KEY_CHARS }.into()),
        }
    }

    /// Claims the key. Fails if another request has it, or if the first one has no answer.
    pub(crate) async fn begin(self, library: &Library) -> ApiResult<Begun> {
        match library.claim_request(&self.key, &self.fingerprint).await? {
            RequestClaim::Granted(claim) => {
                Ok(Begun::First(Attempt::start(library.clone(), self.key, claim)))
            }
            RequestClaim::Answered(answer) => Ok(Begun::Answered(answer)),
            RequestClaim::UnderWay => {
                Err(Problem::from(RequestError::UnderWay).retry_after(KEY_RETRY_AFTER_S))
            }
            RequestClaim::Unknown => Err(RequestError::CutOff.into()),
            RequestClaim::OtherRequest => Err(RequestError::KeyReused.into()),
        }
    }
}

/// A hash of everything in a request that decides its effect.
fn fingerprint(parts: &Parts, fields: &Fields) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    add(parts.method.as_str().as_bytes());
    add(parts.uri.path().as_bytes());
    for name in [IF_MATCH, IF_NONE_MATCH] {
        add(parts.headers.get(name).map_or(&[][..], |value| value.as_bytes()));
    }
    add(serde_json::Value::Object(fields.clone()).to_string().as_bytes());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first request with a key, while it runs. Its claim is renewed until it is settled. If it is dropped
/// before that, its outcome stays unknown.
pub(crate) struct Attempt {
    library: Library,
    key: String,
    claim: Uuid,
    _renewal: DropGuard,
}

impl Attempt {
    fn start(library: Library, key: String, claim: Uuid) -> Self {
        let ended = CancellationToken::new();
        tokio::spawn(ended.clone().run_until_cancelled_owned(renew(library.clone(), key.clone(), claim)));
        Self { library, key, claim, _renewal: ended.drop_guard() }
    }

    /// Keeps the answer if the request had, or may have had, an effect. Otherwise frees the key.
    pub(crate) async fn settle(self, kept: Result<StoredAnswer, &Problem>) {
        let kept = match kept {
            Ok(answer) => Some(answer),
            Err(problem) => problem.may_have_happened().then(|| problem.to_answer().to_stored()),
        };
        let settled = match kept {
            Some(answer) => self.library.answer_request(&self.key, self.claim, &answer).await,
            None => self.library.release_request(&self.key, self.claim).await,
        };
        if let Err(error) = settled {
            tracing::warn!(%error, "the answer to a request with a key was not stored");
        }
    }
}

async fn renew(library: Library, key: String, claim: Uuid) {
    loop {
        tokio::time::sleep(Library::RENEW_CLAIM).await;
        if let Err(error) = library.renew_request(&key, claim).await {
            tracing::debug!(%error, "a claim was not renewed");
        }
    }
}

/// A kept answer, marked as such.
pub(crate) fn replay(stored: StoredAnswer) -> ApiResult<Answer> {
    let mut answer = Answer::from_stored(stored)?;
    answer.headers.insert(REPLAYED, http::HeaderValue::from_static("true"));
    Ok(answer)
}

#[cfg(test)]
mod tests;
