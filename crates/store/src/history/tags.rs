//! Tags: names that callers give to revisions.
//!
//! A tag belongs to an entity, not to its name: a new entity under a freed name does not get it. A tag may
//! name a revision of an earlier entity of the same name.

use persona::{Kind, Name, Scope};
use serde::Deserialize;
use uuid::Uuid;

use super::Revision;
use super::refs::{Ref, elements, meant};
use crate::{Attribution, Error, Result, Store};
use database::{Dialect, now};
use database::{Parameter, Transaction};

/// True if a tag `t` names the revision `r`.
pub(super) const NAMED: &str = "t.revision_guid = r.guid AND t.revision = r.revision";

/// Allows other tags, but no pruning at the same time.
const AGAINST_FORGETTING: &str = "ROW EXCLUSIVE";
/// Allows no tags at the same time: pruning would not see that their revisions must stay.
pub(super) const AGAINST_TAGGING: &str = "SHARE ROW EXCLUSIVE";

/// Locks the tags until the end of a transaction. SQLite has one writer anyway.
pub(super) async fn lock_tags(transaction: &mut Transaction, mode: &str) -> Result<()> {
    if transaction.dialect() == Dialect::Postgres {
        transaction.run(&format!("LOCK TABLE agent_revision_tags IN {mode} MODE"), &[]).await?;
    }
    Ok(())
}

/// A tag to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tagging<'a> {
    pub tag: &'a str,
    /// Takes the tag off another revision of the entity.
    pub moves: bool,
}

impl<'a> From<&'a str> for Tagging<'a> {
    fn from(tag: &'a str) -> Self {
        Self { tag, moves: false }
    }
}

/// The outcome of tagging a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagOutcome {
    Tagged,
    /// The revision has the tag already.
    Unchanged,
    /// Another revision has the tag, and keeps it.
    Taken,
}

impl Store {
    /// Tags a revision of an entity. `refs` are the revision's references, with copies of entities in other
    /// databases.
    pub async fn tag(
        &self,
        guid: Uuid,
        about: &Revision,
        refs: &[Ref],
        Tagging { tag, moves }: Tagging<'_>,
        by: Attribution,
    ) -> Result<TagOutcome> {
        let mut transaction = self.engine().begin().await?;
        lock_tags(&mut transaction, AGAINST_FORGETTING).await?;
        let revision = [Parameter::Uuid(about.guid), Parameter::Int(about.revision)];
        let same = "SELECT count(*) FROM agent_revision_tags \
                    WHERE revision_guid = $1 AND revision = $2 AND guid = $3 AND tag = $4";
        let values = [&revision[..], &[Parameter::Uuid(guid), Parameter::from(tag)]].concat();
        if transaction.number(same, &values).await? > Some(0) {
            return Ok(TagOutcome::Unchanged);
        }
        let sql = "UPDATE agent_revisions SET refs = $3 WHERE guid = $1 AND revision = $2";
        let values = [&revision[..], &[Parameter::Json(serde_json::to_string(refs)?)]].concat();
        if transaction.run(sql, &values).await? == 0 {
            return Err(Error::Forgotten { revision: about.revision, piece: None });
        }
        if let Some(piece) = lost_piece(&mut transaction, &revision).await? {
            return Err(Error::Forgotten { revision: about.revision, piece: Some(piece) });
        }
        let Attribution { who, front, message } = by;
        let values = [
            Parameter::Uuid(guid),
            Parameter::from(tag),
            Parameter::Int(about.revision),
            Parameter::Time(now()),
            Parameter::Text(who),
            Parameter::Text(front),
            Parameter::MaybeText(message),
            Parameter::Uuid(about.guid),
        ];
        let where_taken = match moves {
            true => {
                "UPDATE SET revision = excluded.revision, created_at = excluded.created_at, \
                 author = excluded.author, front = excluded.front, message = excluded.message, \
                 revision_guid = excluded.revision_guid"
            }
            false => "NOTHING",
        };
        let sql = format!(
            "INSERT INTO agent_revision_tags (guid, tag, revision, created_at, author, front, message, revision_guid) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (guid, tag) DO {where_taken}"
        );
        if transaction.run(&sql, &values).await? == 0 {
            return Ok(TagOutcome::Taken);
        }
        transaction.commit().await?;
        Ok(TagOutcome::Tagged)
    }

    /// Removes a tag. False if there was none.
    pub async fn untag(&self, guid: Uuid, tag: &str) -> Result<bool> {
        let mut transaction = self.engine().begin().await?;
        let sql = "DELETE FROM agent_revision_tags WHERE guid = $1 AND tag = $2";
        let removed = transaction.run(sql, &[Parameter::Uuid(guid), Parameter::from(tag)]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }
}

/// A reference of a revision without a copy and without a revision.
async fn lost_piece(
    transaction: &mut Transaction,
    revision: &[Parameter],
) -> Result<Option<(Scope, Kind, Name)>> {
    #[derive(Deserialize)]
    struct Lost(Scope, Kind, Name);
    let dialect = transaction.dialect();
    let (refs, meant) = (elements(dialect, "r.refs"), meant(dialect));
    let field = |key: &str| dialect.text_in("j.value", key);
    let (scope, kind, name, copy) = (field("scope"), field("kind"), field("name"), field("copy"));
    let array = match dialect {
        Dialect::Sqlite => "json_array",
        Dialect::Postgres => "json_build_array",
    };
    let row = dialect.text(&format!("{array}(coalesce({scope}, 'shared'), {kind}, {name})"));
    let sql = format!(
        "SELECT {row} FROM agent_revisions r CROSS JOIN {refs} WHERE r.guid = $1 AND r.revision = $2 AND {copy} IS NULL \
         AND NOT EXISTS (SELECT 1 FROM agent_revisions q WHERE {meant}) LIMIT 1"
    );
    let lost = transaction.text(&sql, revision).await?;
    let lost: Option<Lost> = lost.map(|lost| serde_json::from_str(&lost)).transpose()?;
    Ok(lost.map(|Lost(scope, kind, name)| (scope, kind, name)))
}
