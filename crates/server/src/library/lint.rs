//! What lint finds, in the form that `masque lint --json` has.

use app::LintOptions;
use app::outputs::LintReport;
use axum::Json;
use axum::extract::State;
use http::Uri;
use persona::Scope;
use serde::Deserialize;

use super::Shared;
use crate::answer::Answer;
use crate::asked::query;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LintInput {
    /// What is looked at; without any, the files, or shared where there are none.
    #[serde(default)]
    scopes: Vec<Scope>,
}

pub(super) async fn lint(State(shelves): Shared, uri: Uri) -> Answer<Json<LintReport>> {
    let LintInput { scopes } = app::inputs::parse(&query(&uri)?).map_err(Problem::invalid)?;
    Ok(Json(shelves.library.lint(LintOptions { scopes, ..shelves.lint.clone() }).await?))
}
