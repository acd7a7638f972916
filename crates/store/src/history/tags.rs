//! Tags: names of revisions that callers can ask for.
//!
//! A tag belongs to an entity, not to its name: what somebody makes under a name that was given up
//! does not get it. What it names may be a revision of an earlier entity of the same name.

use uuid::Uuid;

use super::Revision;
use crate::engine::Value;
use crate::state::now;
use crate::{Attribution, Result, Store};

/// That a tag `t` names the revision `r`.
pub(super) const NAMED: &str = "t.revision_guid = r.guid AND t.revision = r.revision";

impl Store {
    /// Gives an entity a tag for a revision; one that names another revision is moved.
    pub(crate) async fn tag(&self, guid: Uuid, about: &Revision, tag: &str, by: Attribution) -> Result<()> {
        let mut transaction = self.engine().begin().await?;
        let Attribution { who, front, message } = by;
        let values = [
            Value::Uuid(guid),
            Value::from(tag),
            Value::Int(about.revision),
            Value::Time(now()),
            Value::Text(who),
            Value::Text(front),
            Value::MaybeText(message),
            Value::Uuid(about.guid),
        ];
        transaction
            .run(
                "INSERT INTO agent_revision_tags (guid, tag, revision, created_at, author, front, message, revision_guid) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                 ON CONFLICT (guid, tag) DO UPDATE SET revision = excluded.revision, created_at = excluded.created_at, \
                 author = excluded.author, front = excluded.front, message = excluded.message, \
                 revision_guid = excluded.revision_guid",
                &values,
            )
            .await?;
        transaction.commit().await
    }

    /// Takes a tag away; whether it was there.
    pub(crate) async fn untag(&self, guid: Uuid, tag: &str) -> Result<bool> {
        let mut transaction = self.engine().begin().await?;
        let sql = "DELETE FROM agent_revision_tags WHERE guid = $1 AND tag = $2";
        let removed = transaction.run(sql, &[Value::Uuid(guid), Value::from(tag)]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }
}
