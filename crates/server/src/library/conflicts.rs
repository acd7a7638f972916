//! Names that several scopes define: seen, and settled.

use std::collections::BTreeMap;

use app::Resolution;
use app::inputs::parse;
use app::outputs::{Conflict, Resolved};
use axum::Json;
use axum::extract::State;
use http::Uri;
use persona::{Kind, Name, Scope};
use serde::{Deserialize, Serialize};

use super::named::Target;
use super::{Fields, Shared};
use crate::answer::{Answer, whole};
use crate::asked::{Input, query, with_path};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListInput {
    kind: Option<Kind>,
    name: Option<Name>,
}

#[derive(Debug, Serialize)]
pub(super) struct Conflicts {
    conflicts: Vec<Conflict>,
}

pub(super) async fn list(State(shelves): Shared, uri: Uri) -> Answer<Json<Conflicts>> {
    let ListInput { kind, name } = parse(&query(&uri)?).map_err(Problem::invalid)?;
    Ok(Json(Conflicts { conflicts: shelves.library.conflicts(kind, name.as_ref()).await? }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResolveInput {
    kind: Kind,
    name: Name,
    /// Keep this scope's definition, delete the others.
    #[serde(rename = "use")]
    use_scope: Option<Scope>,
    /// Field by field: the scope that each is taken from.
    take: Option<BTreeMap<String, Scope>>,
    message: Option<String>,
}

pub(super) async fn resolve(
    State(shelves): Shared,
    target: Target,
    Input(body): Fields,
) -> Answer<Json<Resolved>> {
    let ResolveInput { kind, name, use_scope, take, message } = with_path(body, &target.path())?;
    let resolution = match (use_scope, take) {
        (Some(scope), None) => Resolution::Use(scope),
        (None, Some(take)) => Resolution::Merge(take),
        (None, None) => {
            return Err(Problem::invalid(
                r#"how is it settled? send {"use": "project"}, or {"take": {"summary": "global"}} for each field that differs"#,
            ));
        }
        (Some(_), Some(_)) => {
            return Err(Problem::invalid("use keeps one definition, take merges them; send one of the two"));
        }
    };
    let resolved = whole(async move {
        shelves.library.resolve_conflict(&shelves.author, kind, &name, resolution, message).await
    });
    Ok(Json(resolved.await?))
}
