//! Revisions of a file's entries as rows, inserted in batches.

use std::collections::{BTreeMap, BTreeSet};

use chrono::SecondsFormat;
use persona::{Kind, Name};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{HEAD, Head, Recorded, ScopeFile, history_key};
use crate::Result;
use database::{Parameter, Transaction, now};
use store::{Action, Attribution, GONE, LockOwner, Ref, move_locks};

/// The recorded history of the entries that change.
pub(super) struct Known {
    heads: BTreeMap<(Kind, Name), Head>,
    last: BTreeMap<(Kind, Name), Last>,
}

/// The last record of a name.
#[derive(Debug, Default, Deserialize)]
struct Last {
    revision: i64,
    hash: Option<String>,
    /// The entry, if it was deleted.
    gone: Option<Uuid>,
}

impl Last {
    /// The deleted entry that a change brings back: by a rollback, by creating it exactly as it was, or by
    /// hand, for example by returning to a branch.
    fn brought_back(&self, change: &Recorded, by_hand: bool) -> Option<Uuid> {
        let same = self.hash.as_ref() == Some(&change.hash);
        self.gone.filter(|_| change.action == Action::Restore || same || by_hand)
    }
}

impl Known {
    pub(super) async fn of(
        transaction: &mut Transaction,
        file: &ScopeFile,
        changes: &[Recorded],
    ) -> Result<Self> {
        #[derive(Deserialize)]
        struct Row {
            kind: Kind,
            name: Name,
            last: Option<Last>,
            head: Option<Head>,
        }
        let names: BTreeSet<(Kind, &Name)> = changes
            .iter()
            .flat_map(|change| {
                let names = [Some(change.entity.name()), change.renamed_from.as_ref()];
                names.into_iter().flatten().map(|name| (change.entity.kind(), name))
            })
            .collect();
        let mut values = history_key(file).to_vec();
        values.push(Parameter::Json(serde_json::to_string(&names)?));
        let (kind, name) = ("(j.value ->> 0)", "(j.value ->> 1)");
        let sql = format!(
            "SELECT json_object('kind', {kind}, 'name', {name}, \
             'last', (SELECT json_object('revision', r.revision, 'hash', r.content_hash, 'gone', {GONE}) \
             FROM agent_revisions r WHERE r.scope = $1 AND r.origin = $2 AND r.kind = {kind} AND r.name = {name} \
             ORDER BY r.revision DESC LIMIT 1), \
             'head', (SELECT {HEAD} FROM file_entries e \
             WHERE e.scope = $1 AND e.origin = $2 AND e.kind = {kind} AND e.name = {name})) FROM json_each($3) j"
        );
        let (mut heads, mut lasts) = (BTreeMap::new(), BTreeMap::new());
        for row in transaction.texts(&sql, &values).await? {
            let Row { kind, name, last, head } = serde_json::from_str(&row)?;
            lasts.insert((kind, name.clone()), last.unwrap_or_default());
            if let Some(head) = head {
                heads.insert((kind, name), head);
            }
        }
        Ok(Self { heads, last: lasts })
    }
}

/// A revision to record, as one row of a list.
#[derive(Debug, Serialize)]
pub(super) struct NewRevision {
    kind: Kind,
    name: Name,
    /// The name of the entry that it continues.
    before: Name,
    guid: Uuid,
    revision: i64,
    action: &'static str,
    entity: String,
    refs: String,
    hash: String,
    created_at: Option<String>,
    /// True if no earlier revision belongs to the same entity.
    #[serde(skip)]
    is_new: bool,
}

impl NewRevision {
    pub(super) fn new(change: &Recorded, known: &Known, refs: &[Ref], by_hand: bool) -> Result<Self> {
        let Recorded { action, entity, hash, renamed_from } = change;
        let (kind, name) = (entity.kind(), entity.name().clone());
        let before = renamed_from.clone().unwrap_or_else(|| name.clone());
        let head = known.heads.get(&(kind, before.clone()));
        let last = known.last.get(&(kind, name.clone()));
        let counted = last.map_or(0, |last| last.revision);
        let brought_back = last.and_then(|last| last.brought_back(change, by_hand));
        let known = head.map(|head| head.guid).or(brought_back);
        Ok(Self {
            kind,
            name,
            before,
            guid: known.unwrap_or_else(Uuid::now_v7),
            revision: head.map_or(0, |head| head.revision).max(counted) + 1,
            action: action.as_str(),
            entity: serde_json::to_string(entity)?,
            refs: serde_json::to_string(refs)?,
            hash: hash.clone(),
            created_at: head.map(|head| head.created_at.to_rfc3339_opts(SecondsFormat::Micros, true)),
            is_new: known.is_none(),
        })
    }

    fn is_gone(&self) -> bool {
        self.action == Action::Delete.as_str()
    }

    /// True if an entity takes a name that another one may have had.
    fn takes_name(&self) -> bool {
        self.is_new || self.before != self.name
    }
}

pub(super) async fn insert(
    transaction: &mut Transaction,
    file: &ScopeFile,
    rows: &[NewRevision],
    attribution: &Attribution,
) -> Result<()> {
    let with = |rows: &[&NewRevision], more: &[Parameter]| -> Result<Vec<Parameter>> {
        let list = Parameter::Json(serde_json::to_string(rows)?);
        Ok([&history_key(file)[..], &[list], more].concat())
    };
    let all: Vec<&NewRevision> = rows.iter().collect();
    let attributed = [
        Parameter::Text(attribution.who.clone()),
        Parameter::Text(attribution.front.clone()),
        Parameter::MaybeText(attribution.message.clone()),
        Parameter::Time(now()),
    ];
    transaction
        .run(
            "INSERT INTO agent_revisions (scope, origin, kind, name, guid, revision, action, author, front, message, \
             entity, refs, content_hash, created_at) SELECT $1, $2, value ->> 'kind', value ->> 'name', value ->> 'guid', \
             value ->> 'revision', value ->> 'action', $4, $5, $6, value ->> 'entity', value ->> 'refs', value ->> 'hash', $7 \
             FROM json_each($3)",
            &with(&all, &attributed)?,
        )
        .await?;
    // The stage of a deleted persona and the locks of an entity are kept for that one alone, should it return.
    let others: Vec<&NewRevision> = rows.iter().filter(|row| row.takes_name()).collect();
    if !others.is_empty() {
        let sql = "DELETE FROM persona_state WHERE (scope, origin, name) IN (SELECT $1, $2, value ->> 'name' \
                   FROM json_each($3) WHERE value ->> 'kind' = 'persona')";
        transaction.run(sql, &with(&others, &[])?).await?;
        let sql = "DELETE FROM agent_locks WHERE (scope, origin, kind, name) IN \
                   (SELECT $1, $2, value ->> 'kind', value ->> 'name' FROM json_each($3))";
        transaction.run(sql, &with(&others, &[])?).await?;
    }
    let left: Vec<&NewRevision> = rows.iter().filter(|row| row.is_gone() || row.before != row.name).collect();
    if !left.is_empty() {
        let sql = "DELETE FROM file_entries WHERE (scope, origin, kind, name) IN \
                   (SELECT $1, $2, value ->> 'kind', value ->> 'before' FROM json_each($3))";
        transaction.run(sql, &with(&left, &[])?).await?;
        for row in left.iter().filter(|row| !row.is_gone()) {
            let (scope, origin) = (file.scope, file.origin.as_str());
            let owner = LockOwner { scope, origin, kind: row.kind, name: &row.before };
            move_locks(transaction, owner, &row.name).await?;
        }
        for row in left.iter().filter(|row| row.kind == Kind::Persona && !row.is_gone()) {
            let sql = "UPDATE persona_state SET name = $4 WHERE scope = $1 AND origin = $2 AND name = $3";
            let values =
                [&history_key(file)[..], &[Parameter::from(&row.before), Parameter::from(&row.name)]]
                    .concat();
            transaction.run(sql, &values).await?;
        }
        // Stages in an arc follow its new name.
        for row in left.iter().filter(|row| row.kind == Kind::Arc && !row.is_gone()) {
            let sql = "UPDATE persona_state SET arc = $4 WHERE scope = $1 AND origin = $2 AND arc = $3";
            let values =
                [&history_key(file)[..], &[Parameter::from(&row.before), Parameter::from(&row.name)]]
                    .concat();
            transaction.run(sql, &values).await?;
        }
    }
    let there: Vec<&NewRevision> = rows.iter().filter(|row| !row.is_gone()).collect();
    // "WHERE TRUE" tells SQLite that ON belongs to the insert and not to a join.
    let sql = "INSERT INTO file_entries (scope, origin, kind, name, guid, revision, content_hash, created_at, updated_at) \
               SELECT $1, $2, value ->> 'kind', value ->> 'name', value ->> 'guid', value ->> 'revision', value ->> 'hash', \
               coalesce(value ->> 'created_at', $4), $4 FROM json_each($3) WHERE TRUE \
               ON CONFLICT (scope, origin, kind, name) DO UPDATE SET guid = excluded.guid, revision = excluded.revision, \
               content_hash = excluded.content_hash, updated_at = excluded.updated_at";
    transaction.run(sql, &with(&there, &[Parameter::Time(now())])?).await?;
    Ok(())
}
