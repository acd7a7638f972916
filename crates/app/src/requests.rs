//! Requests with a key, which run at most once.

use async_recursion::async_recursion as boxed;
use std::time::Duration;

use store::{RequestClaim, Store, StoredAnswer};
use uuid::Uuid;

use crate::{Library, Result};

impl Library {
    /// How often a caller renews its claim.
    pub const RENEW_CLAIM: Duration = Store::RENEW_CLAIM;

    /// Claims a key for a request, or returns what became of it. Every node on the same database sees
    /// the claim.
    #[boxed]
    pub async fn claim_request(&self, key: &str, fingerprint: &str) -> Result<RequestClaim> {
        Ok(self.scopes.database().claim_request(key, fingerprint).await?)
    }

    /// Keeps a claim while its request runs.
    #[boxed]
    pub async fn renew_request(&self, key: &str, claim: Uuid) -> Result<()> {
        Ok(self.scopes.database().renew_request(key, claim).await?)
    }

    /// Stores the answer to a claimed request.
    #[boxed]
    pub async fn answer_request(&self, key: &str, claim: Uuid, answer: &StoredAnswer) -> Result<()> {
        Ok(self.scopes.database().answer_request(key, claim, answer).await?)
    }

    /// Frees the key of a request that had no effect.
    #[boxed]
    pub async fn release_request(&self, key: &str, claim: Uuid) -> Result<()> {
        Ok(self.scopes.database().release_request(key, claim).await?)
    }
}
