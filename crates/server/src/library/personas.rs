//! Personas as agents load them.

use app::inputs::{ByName, GetPersona};
use app::outputs::Manifest;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Uri};

use super::named::PersonaInPath;
use super::{Fields, Shared, Shelves};
use crate::answer::Answer;
use crate::asked::{Input, query, shown, with_path};
use crate::problem::Problem;

/// What a manifest says about the requests that load the rest.
const HINTS: [(&str, &str); 5] = [
    ("GET /api/library/part/{name}", "load full content of a specific part"),
    ("GET /api/library/trait/{name}", "load instruction for a specific trait"),
    ("GET /api/library/skill/{name}", "load skill content"),
    ("GET /api/library/guardrail/{name}", "load guardrail content"),
    ("GET /api/personas/{name}?compiled=true", "load the merged prompt if full context is needed"),
];

/// A persona as its address asks for it.
pub(super) async fn get(
    State(shelves): Shared,
    PersonaInPath(name): PersonaInPath,
    uri: Uri,
) -> Answer<Response> {
    let fields = query(&uri)?;
    if fields.contains_key("overrides") {
        return Err(Problem::invalid(format!(
            "overrides do not fit into an address; send them in the body of POST /api/personas/{}/load",
            shown(&name)
        )));
    }
    loaded(&shelves, &with_path(fields, &[("name", &name)])?).await
}

/// A persona as a body asks for it, which has room for overrides.
pub(super) async fn load(
    State(shelves): Shared,
    PersonaInPath(name): PersonaInPath,
    Input(body): Fields,
) -> Answer<Response> {
    loaded(&shelves, &with_path(body, &[("name", &name)])?).await
}

async fn loaded(shelves: &Shelves, input: &GetPersona) -> Answer<Response> {
    let loaded = shelves.library.get_persona(input).await?;
    // Hot personas are kept in the form in which they are sent.
    let json = HeaderValue::from_static("application/json");
    Ok(([(CONTENT_TYPE, json)], loaded.json().to_owned()).into_response())
}

pub(super) async fn manifest(
    State(shelves): Shared,
    PersonaInPath(name): PersonaInPath,
    uri: Uri,
) -> Answer<Json<Manifest>> {
    let input: ByName = with_path(query(&uri)?, &[("name", &name)])?;
    let mut manifest = shelves.library.manifest(&input).await?;
    manifest.on_demand_tools =
        HINTS.iter().map(|(request, when)| ((*request).to_owned(), (*when).to_owned())).collect();
    Ok(Json(manifest))
}
