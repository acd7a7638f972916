//! `/api/library` and what belongs to it: entities of any kind, loaded personas, lint and conflicts.
//!
//! Each request is an input of `app`: the path says what it is about, the address of a read and the
//! body of a write say the rest, under the names that MCP and the command line have for it.

use std::sync::Arc;

use app::inputs::{DeleteEntity, GetEntity, ListLibrary, RevisionText, Rollback, SaveEntity};
use app::outputs::{Deleted, Document, History, Page, RevisionDiff, RolledBack, Written};
use app::{Author, Library, LintOptions, RevisionRef};
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode, Uri};
use persona::{AnyEntity, Kind, Name, Scope};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::answer::{Answer, whole};
use crate::asked::{Input, NoBody, query, with_path};

mod conflicts;
mod lint;

mod named;
use named::{KindInPath, Target};

mod personas;
mod problem_header;

/// The front that changes made here are recorded under.
const FRONT: &str = "http";

/// What the history calls a revision that made an entity.
const CREATE: &str = "create";

/// What all routes share.
#[derive(Debug)]
struct Shelves {
    library: Library,
    author: Author,
    lint: LintOptions,
}

type Shared = State<Arc<Shelves>>;
/// The fields of a body, before the path has added its own.
type Fields = Input<Map<String, Value>>;

/// The routes over a library. Changes are recorded as `user`'s; without a name, as the front's.
pub(crate) fn routes(library: Library, user: Option<String>, lint: LintOptions) -> Router {
    let told = from_fn_with_state(library.clone(), problem_header::tell);
    let author = Author::new(user.unwrap_or_else(|| FRONT.to_owned()), FRONT);
    Router::new()
        .route("/api/library/{kind}", get(list))
        .route("/api/library/{kind}/{name}", get(one).put(save).delete(remove))
        .route("/api/library/{kind}/{name}/history", get(history))
        .route("/api/library/{kind}/{name}/diff", get(diff))
        .route("/api/library/{kind}/{name}/rollback", post(rollback))
        .route("/api/personas/{name}", get(personas::get))
        .route("/api/personas/{name}/load", post(personas::load))
        .route("/api/personas/{name}/manifest", get(personas::manifest))
        .route("/api/lint", get(lint::lint))
        .route("/api/conflicts", get(conflicts::list))
        .route("/api/conflicts/{kind}/{name}", post(conflicts::resolve))
        .with_state(Arc::new(Shelves { library, author, lint }))
        .route_layer(told)
}

async fn list(State(shelves): Shared, KindInPath(kind): KindInPath, uri: Uri) -> Answer<Json<Page>> {
    let input: ListLibrary = with_path(query(&uri)?, &[("kind", kind.as_str())])?;
    Ok(Json(shelves.library.list(kind, input).await?))
}

/// An entity as it was written, now or at a revision.
async fn one(State(shelves): Shared, target: Target, uri: Uri) -> Answer<Json<Document<AnyEntity>>> {
    let input: GetEntity = with_path(query(&uri)?, &target.path())?;
    Ok(Json(shelves.library.get_entity(&input).await?))
}

/// Puts an entity there; 201 where the scope did not have one of that name.
async fn save(State(shelves): Shared, target: Target, Input(body): Fields) -> Answer<Response> {
    let input: SaveEntity = with_path(body, &target.path())?;
    let (written, is_new) = whole(async move {
        let written = shelves.library.save_entity(&shelves.author, input).await?;
        let is_new = is_new(&shelves.library, &written).await;
        Ok((written, is_new))
    })
    .await?;
    if !is_new {
        return Ok(Json(written).into_response());
    }
    let Written { kind, name, scope, .. } = &written;
    let location = HeaderValue::try_from(format!("/api/library/{kind}/{name}?scope={scope}"));
    let mut response = (StatusCode::CREATED, Json(written)).into_response();
    if let Ok(location) = location {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// Whether a write made an entity, which only its revision tells. It is done by now, so that whatever
/// keeps us from looking is no failure.
async fn is_new(library: &Library, written: &Written) -> bool {
    let Written { kind, name, scope, revision, changed, .. } = written;
    let made = async || library.revision(*kind, name, Some(*scope), &RevisionRef::Number(*revision)).await;
    *changed && made().await.is_ok_and(|(_, made)| made.about.action == CREATE)
}

/// What is not there is as good as deleted, and the answer says which it was.
async fn remove(State(shelves): Shared, target: Target, uri: Uri, _: NoBody) -> Answer<Json<Deleted>> {
    let input: DeleteEntity = with_path(query(&uri)?, &target.path())?;
    Ok(Json(whole(async move { shelves.library.delete_entity(&shelves.author, input).await }).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryInput {
    kind: Kind,
    name: Name,
    scope: Option<Scope>,
    limit: Option<u32>,
}

async fn history(State(shelves): Shared, target: Target, uri: Uri) -> Answer<Json<History>> {
    let HistoryInput { kind, name, scope, limit } = with_path(query(&uri)?, &target.path())?;
    let limit = limit.map(|limit| limit as usize);
    Ok(Json(shelves.library.history(kind, &name, scope, limit).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffInput {
    kind: Kind,
    name: Name,
    scope: Option<Scope>,
    /// A revision's number or a tag; the one before the newest where none is named.
    from: Option<RevisionText>,
    /// The newest where none is named.
    to: Option<RevisionText>,
}

async fn diff(State(shelves): Shared, target: Target, uri: Uri) -> Answer<Json<RevisionDiff>> {
    let DiffInput { kind, name, scope, from, to } = with_path(query(&uri)?, &target.path())?;
    let (from, to) = (from.map(|from| from.parse()), to.map(|to| to.parse()));
    Ok(Json(shelves.library.diff(kind, &name, scope, from.as_ref(), to.as_ref()).await?))
}

/// Makes an earlier revision the newest.
async fn rollback(State(shelves): Shared, target: Target, Input(body): Fields) -> Answer<Json<RolledBack>> {
    let input: Rollback = with_path(body, &target.path())?;
    Ok(Json(whole(async move { shelves.library.rollback(&shelves.author, input).await }).await?))
}
