//! The identity of a new definition: that of a deleted entity that comes back, or a new one.
//!
//! Tags belong to an entity, not to its name. A new entity under a freed name is another one, whose callers
//! must not get the tagged revisions of the old one.

use persona::{AnyEntity, Kind, Name};
use serde::Deserialize;
use uuid::Uuid;

use super::Action;
use crate::Result;
use crate::history::GONE;
use database::{Column, Dialect, Parameter, Transaction};

/// The last record of a name of the database.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Last {
    pub(super) revision: i64,
    /// The entity, where it is gone.
    gone: Option<Uuid>,
    /// Its definition, if the record is a deletion.
    entity: serde_json::Value,
}

/// The [`Last`] of the record `r` as JSON.
pub(super) fn last(dialect: Dialect) -> String {
    let deleted = "CASE WHEN r.action = 'delete' THEN r.entity END";
    dialect.object(&[
        ("revision", "r.revision".to_owned()),
        ("gone", GONE.to_owned()),
        ("entity", dialect.json_value(deleted, Column::Json)),
    ])
}

impl Last {
    pub(super) async fn of(transaction: &mut Transaction, kind: Kind, name: &Name) -> Result<Self> {
        let dialect = transaction.dialect();
        let sql = format!(
            "SELECT {} FROM agent_revisions r WHERE r.scope = 'shared' AND r.origin = '' AND r.kind = $1 AND r.name = $2 \
             ORDER BY r.revision DESC LIMIT 1",
            dialect.text(&last(dialect))
        );
        let row = transaction.text(&sql, &[Parameter::from(kind.as_str()), Parameter::from(name)]).await?;
        Ok(row.map(|row| serde_json::from_str(&row)).transpose()?.unwrap_or_default())
    }

    /// The entity that a definition brings back: it is rolled back, or made again just as it was.
    pub(super) fn brought_back(&self, entity: &AnyEntity, action: Action) -> Option<Uuid> {
        let old = || AnyEntity::from_json(entity.kind(), self.entity.clone());
        let same = || old().is_ok_and(|old| old == *entity);
        self.gone.filter(|_| action == Action::Restore || same())
    }
}
