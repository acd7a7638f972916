//! Entity tags: `ETag`, `If-None-Match` on reads, `If-Match` on writes.
//!
//! The tag of an entity is its scope and revision, such as `"shared:3"`. A read adds a hash of its body
//! (`"shared:3:9f86d081"`), since an entity shows new names of what it refers to without a revision of
//! its own; `If-Match` ignores the hash. All other reads have the hash alone.

use app::Error;
use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use operations::{BoxedOutcome, CallError, Effect, Operation, Version};
use persona::Scope;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::answer::Answer;
use crate::extract::{Fields, shown};
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::result::ApiResult;

/// Bytes of a hash that make a tag.
const HASH_BYTES: usize = 8;

/// The conditions that a request sets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    if_match: Option<Tag>,
    if_none_match: Option<String>,
}

/// An entity's tag, parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tag(Version);

impl Tag {
    fn parse(text: &str) -> Option<Self> {
        let inner = text.trim().strip_prefix('"')?.strip_suffix('"')?;
        let (scope, rest) = inner.split_once(':')?;
        let revision = rest.split_once(':').map_or(rest, |(revision, _)| revision);
        Some(Self(Version { scope: scope.parse().ok()?, revision: revision.parse().ok()? }))
    }

    fn text(Version { scope, revision }: Version) -> String {
        format!("\"{scope}:{revision}\"")
    }
}

impl Conditions {
    pub(crate) fn read(headers: &HeaderMap) -> ApiResult<Self> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let if_match = match text(IF_MATCH) {
            None => None,
            Some(given) => {
                Some(Tag::parse(given).ok_or_else(|| RequestError::InvalidTag { given: shown(given) })?)
            }
        };
        Ok(Self { if_match, if_none_match: text(IF_NONE_MATCH).map(str::to_owned) })
    }

    /// Turns the conditions of a write into fields of its input.
    pub(crate) fn apply(
        &self,
        operation: &Operation,
        takes: impl Fn(&str) -> bool,
        fields: &mut Fields,
    ) -> ApiResult<()> {
        if operation.effect == Effect::Read {
            return Ok(());
        }
        let revision = match (self.if_match, self.if_none_match.as_deref()) {
            (Some(Tag(version)), _) => version.revision,
            // Revision 0 means that the entity must not exist.
            (None, Some("*")) => 0,
            (None, _) => return Ok(()),
        };
        if !takes("if_revision") {
            return Err(RequestError::NoCondition.into());
        }
        if fields.insert("if_revision".to_owned(), revision.into()).is_some_and(|given| given != revision) {
            return Err(RequestError::ContradictingConditions.into());
        }
        if let Some(Tag(Version { scope, .. })) = self.if_match
            && scope != Scope::Builtin
        {
            // The tag names the definition that was read; another scope may define the name, too.
            fields.entry("scope").or_insert_with(|| Value::from(scope.as_str()));
        }
        Ok(())
    }

    /// The problem of a refused request: a failed condition is 412, with the current revision.
    pub(crate) fn problem(&self, refused: CallError) -> Problem {
        match &refused {
            CallError::Library(Error::Stale { actual, .. }) if self.if_match.is_some() => {
                let current = self.if_match.map(|Tag(version)| Version { revision: *actual, ..version });
                let tag = current.map(Tag::text);
                let actual = *actual;
                Problem::from(refused).precondition_failed(Some(actual), tag)
            }
            CallError::Library(Error::Exists { .. }) if self.if_none_match.is_some() => {
                Problem::from(refused).precondition_failed(None, None)
            }
            _ => refused.into(),
        }
    }

    /// The same answer, or the news that the client's copy of it is current.
    pub(crate) fn apply_to(&self, operation: &Operation, answer: Answer, tag: Option<&str>) -> Answer {
        match tag.filter(|tag| operation.effect == Effect::Read && self.has(tag)) {
            Some(tag) => not_modified(Some(tag)),
            None => answer,
        }
    }

    /// True if the client has a copy with this tag.
    pub(crate) fn has(&self, tag: &str) -> bool {
        let same = |given: &str| given == "*" || given.trim_start_matches("W/") == tag;
        self.if_none_match.as_ref().is_some_and(|given| given.split(',').map(str::trim).any(same))
    }
}

/// The tag of an answer: every read has one, and every write of an entity.
pub(crate) fn tag(operation: &Operation, answer: &BoxedOutcome, body: &str) -> Option<String> {
    if operation.effect != Effect::Read {
        return answer.version().map(Tag::text);
    }
    let hash = hash(body);
    Some(match answer.version() {
        Some(Version { scope, revision }) => format!("\"{scope}:{revision}:{}", &hash[1..]),
        None => hash,
    })
}

/// A tag that is a hash alone.
pub(crate) fn hash(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    let hex: String = digest[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

pub(crate) fn insert(headers: &mut HeaderMap, tag: Option<&str>) {
    if let Some(value) = tag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
        headers.insert(ETAG, value);
    }
}

pub(crate) fn not_modified(tag: Option<&str>) -> Answer {
    let mut answer = Answer::empty(StatusCode::NOT_MODIFIED);
    insert(&mut answer.headers, tag);
    answer
}
