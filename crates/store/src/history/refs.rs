//! The references of a revision, frozen.

use std::collections::{BTreeMap, BTreeSet};

use persona::{AnyEntity, Kind, Name, Scope};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use database::{Dialect, Parameter};

use super::FullRevision;
use crate::{Result, Store, documents};

/// A frozen reference of a revision: by identity and number in the database, by the hash of its content in
/// a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ref {
    pub kind: Kind,
    pub name: Name,
    #[serde(default = "shared")]
    pub scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// `None` in old records: then the name and the number identify it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guid: Option<Uuid>,
    /// The whole entity, if the revision is tagged and the entity is in another database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<serde_json::Value>,
}

fn shared() -> Scope {
    Scope::Shared
}

impl Ref {
    /// The copy that was made when the revision was tagged.
    pub fn copied(&self) -> Result<Option<AnyEntity>> {
        let copy = self.copy.clone().map(|copy| AnyEntity::from_json(self.kind, copy));
        Ok(copy.transpose()?)
    }
}

/// The elements `j.value` of a list of references.
pub(super) fn elements(dialect: Dialect, list: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("json_each({list}) j"),
        Dialect::Postgres => format!("jsonb_array_elements({list}) j(value)"),
    }
}

/// True if the reference `j.value` means the revision `q`.
pub(super) fn meant(dialect: Dialect) -> String {
    let field = |key: &str| dialect.text_in("j.value", key);
    let (kind, name, revision) = (field("kind"), field("name"), field("revision"));
    let (hash, guid) = (field("hash"), field("guid"));
    let of = dialect.text("q.guid");
    format!(
        "{kind} = q.kind AND {name} = q.name AND ({hash} = q.content_hash \
         OR CAST({revision} AS bigint) = q.revision AND coalesce({guid}, {of}) = {of})"
    )
}

impl Store {
    /// Shared entities of these names as they are now, each with all its references.
    pub async fn shared_refs(
        &self,
        wanted: &BTreeSet<(Kind, Name)>,
    ) -> Result<BTreeMap<(Kind, Name), Vec<Ref>>> {
        let mut found = BTreeMap::new();
        let dialect = self.engine().dialect();
        for kind in Kind::ALL {
            let names: Vec<&Name> =
                wanted.iter().filter(|(of, _)| of == kind).map(|(_, name)| name).collect();
            if names.is_empty() {
                continue;
            }
            let reference = dialect.object(&[
                ("kind", format!("'{kind}'")),
                ("name", "a.name".to_owned()),
                ("scope", "'shared'".to_owned()),
                ("revision", "a.revision".to_owned()),
                ("guid", "a.guid".to_owned()),
            ]);
            let sql = format!(
                "SELECT {} FROM {} a WHERE {}",
                dialect.text(&reference),
                documents::table(*kind),
                dialect.in_list("a.name", "$1")
            );
            for row in self.engine().texts(sql, &[Parameter::Json(serde_json::to_string(&names)?)]).await? {
                let own: Ref = serde_json::from_str(&row)?;
                let mut all = Vec::new();
                if let Some(sql) = documents::references(dialect, *kind, "s.name = $1") {
                    for row in self.engine().texts(sql, &[Parameter::from(&own.name)]).await? {
                        all.push(serde_json::from_str(&row)?);
                    }
                }
                let key = (*kind, own.name.clone());
                all.push(own);
                found.insert(key, all);
            }
        }
        Ok(found)
    }

    /// The revision that another one referred to. `origin` is the file of an entity of a file.
    pub async fn referred(&self, origin: &str, wanted: &Ref) -> Result<Option<FullRevision>> {
        let placed =
            [Parameter::from(wanted.scope.as_str()), Parameter::from(origin), Parameter::from(&wanted.name)];
        let place = "r.scope = $1 AND r.origin = $2 AND r.name = $3";
        match (&wanted.hash, wanted.revision, wanted.guid) {
            (Some(hash), _, _) => {
                let values = [&placed[..], &[Parameter::from(hash.as_str())]].concat();
                self.there(&format!("{place} AND r.content_hash = $4"), wanted.kind, &values).await
            }
            (None, Some(revision), Some(guid)) => {
                let values = [Parameter::Uuid(guid), Parameter::Int(revision)];
                self.there("r.guid = $1 AND r.revision = $2", wanted.kind, &values).await
            }
            (None, Some(revision), None) => {
                let values = [&placed[..], &[Parameter::Int(revision)]].concat();
                self.there(&format!("{place} AND r.revision = $4"), wanted.kind, &values).await
            }
            (None, None, _) => Ok(None),
        }
    }

    /// Equal content counts as the same, in any file of this machine.
    pub async fn referred_anywhere(&self, wanted: &Ref) -> Result<Option<FullRevision>> {
        let Some(hash) = &wanted.hash else { return Ok(None) };
        let values = [Parameter::from(&wanted.name), Parameter::from(hash.as_str())];
        self.there("r.name = $1 AND r.content_hash = $2", wanted.kind, &values).await
    }

    /// A deletion records the deleted entity, which is what the reference meant.
    async fn there(&self, condition: &str, kind: Kind, values: &[Parameter]) -> Result<Option<FullRevision>> {
        let here = format!("{condition} AND r.action <> 'delete'");
        match self.full_revision(&here, kind, values).await? {
            Some(found) => Ok(Some(found)),
            None => self.full_revision(condition, kind, values).await,
        }
    }
}
