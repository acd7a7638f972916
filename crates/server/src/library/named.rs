//! The kind and the name that a path says.

use axum::extract::FromRequestParts;
use http::StatusCode;
use http::request::Parts;
use persona::{Kind, ParseKindError};

use crate::asked::in_path;
use crate::problem::Problem;

/// The kind that a path names. Below one that there is not, nothing is.
#[derive(Debug, Clone, Copy)]
pub(super) struct KindInPath(pub(super) Kind);

impl<S: Send + Sync> FromRequestParts<S> for KindInPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let kind = in_path(parts, state, "kind").await?.parse();
        kind.map(Self).map_err(|error: ParseKindError| Problem::new(StatusCode::NOT_FOUND, error.to_string()))
    }
}

/// The entity that a path names. The name is parsed with the rest of the input.
#[derive(Debug)]
pub(super) struct Target {
    kind: Kind,
    name: String,
}

impl Target {
    /// What the path says of an input.
    pub(super) fn path(&self) -> [(&'static str, &str); 2] {
        [("kind", self.kind.as_str()), ("name", &self.name)]
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Target {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let KindInPath(kind) = KindInPath::from_request_parts(parts, state).await?;
        Ok(Self { kind, name: in_path(parts, state, "name").await? })
    }
}

/// The persona that a path names.
#[derive(Debug)]
pub(super) struct PersonaInPath(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PersonaInPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        in_path(parts, state, "name").await.map(Self)
    }
}
