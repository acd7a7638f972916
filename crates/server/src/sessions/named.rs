//! The session and the call that a path names.

use axum::extract::FromRequestParts;
use http::StatusCode;
use http::request::Parts;
use uuid::Uuid;

use crate::asked::{in_path, shown};
use crate::problem::Problem;

/// The session that a path names.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionId(pub(super) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for SessionId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let id = in_path(parts, state, "id").await?;
        Uuid::parse_str(&id).map(Self).map_err(|_| {
            let detail =
                format!("there is no session {:?}; GET /api/sessions lists those there are", shown(&id));
            Problem::new(StatusCode::NOT_FOUND, detail)
        })
    }
}

/// The call that a path names.
#[derive(Debug)]
pub(super) struct CallId(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for CallId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        in_path(parts, state, "call_id").await.map(Self)
    }
}
