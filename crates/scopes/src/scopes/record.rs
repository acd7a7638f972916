//! The history of files. Each change is recorded once, by the first process that sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use persona::{AnyEntity, Kind, Meta, Name, Rename, Scope};
use serde::Deserialize;
use uuid::Uuid;

use super::{ScopeFile, Scopes, heirs, is_current};
use database::{Parameter, Transaction, now};
use files::{Document, FileEntry};
use store::{Action, Attribution, Ref};

use crate::Result;

mod refs;
use refs::{closure, refs};
mod rows;
mod seen;
use rows::{Known, NewRevision, insert};

/// The number of revisions per insert.
const CHUNK: usize = 1_000;
/// The front of edits made by hand, as recorded in a history.
const BY_HAND: &str = "file";

/// The newest recorded revision of an entry.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
    pub(crate) guid: Uuid,
    pub(crate) revision: i64,
    pub(crate) hash: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// One change of an entry, to be recorded.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) action: Action,
    /// The entity after the change, or before its deletion.
    pub(crate) entity: AnyEntity,
    pub(crate) hash: String,
    /// The name before a rename.
    pub(crate) renamed_from: Option<Name>,
}

const HEAD: &str = "json_object('kind', e.kind, 'name', e.name, 'guid', e.guid, 'revision', e.revision, \
                    'hash', e.content_hash, 'created_at', e.created_at, 'updated_at', e.updated_at)";

fn history_key(file: &ScopeFile) -> [Parameter; 2] {
    [Parameter::from(file.scope.as_str()), Parameter::from(file.origin.as_str())]
}

impl Scopes {
    /// Scope, revision and times of an entry of a file.
    pub(crate) async fn file_meta(&self, file: &ScopeFile, kind: Kind, name: &Name) -> Result<Meta> {
        Ok(match self.head(file, kind, name).await? {
            Some(head) => Meta {
                scope: file.scope,
                revision: head.revision,
                guid: None,
                created_at: Some(head.created_at),
                updated_at: Some(head.updated_at),
            },
            // Its history could not be written, but it is in force.
            None => Meta { scope: file.scope, ..Meta::BUILTIN },
        })
    }

    pub(crate) async fn head(&self, file: &ScopeFile, kind: Kind, name: &Name) -> Result<Option<Head>> {
        let sql = format!(
            "SELECT {HEAD} FROM file_entries e WHERE e.scope = $1 AND e.origin = $2 AND e.kind = $3 AND e.name = $4"
        );
        let mut values = history_key(file).to_vec();
        values.extend([Parameter::from(kind.as_str()), Parameter::from(name)]);
        let row = self.local().engine().short_text(&sql, &values).await?;
        Ok(row.map(|row| serde_json::from_str(&row)).transpose()?)
    }

    /// The highest revision that a name of a file ever had. It is never used again.
    pub(crate) async fn newest(&self, file: &ScopeFile, kind: Kind, name: &Name) -> Result<i64> {
        let mut values = history_key(file).to_vec();
        values.extend([Parameter::from(kind.as_str()), Parameter::from(name)]);
        Ok(self.local().engine().short_number(NEWEST, &values).await?.unwrap_or(0))
    }

    /// The last recorded version of a file that can no longer be read.
    pub(crate) async fn last_valid(&self, file: &ScopeFile) -> Document {
        match self.recorded(file, None).await {
            Ok(document) => document,
            Err(error) => {
                tracing::warn!(%error, path = %file.path.display(), "the file's history cannot be read");
                Document::empty(&file.path)
            }
        }
    }

    /// The entries as last recorded, optionally only those with the given names.
    async fn recorded(&self, file: &ScopeFile, only: Option<&[&(Kind, Name)]>) -> Result<Document> {
        #[derive(Deserialize)]
        struct Row {
            kind: Kind,
            entity: serde_json::Value,
        }
        let sql = "SELECT json_object('kind', e.kind, 'entity', json(r.entity)) FROM file_entries e \
                   JOIN agent_revisions r ON r.guid = e.guid AND r.revision = e.revision \
                   WHERE e.scope = $1 AND e.origin = $2";
        let mut sql = sql.to_owned();
        let mut values = history_key(file).to_vec();
        if let Some(only) = only {
            sql.push_str(" AND (e.kind, e.name) IN (SELECT value ->> 0, value ->> 1 FROM json_each($3))");
            values.push(Parameter::Json(serde_json::to_string(only)?));
        }
        let mut document = Document::empty(&file.path);
        for row in self.local().engine().texts(sql, &values).await? {
            let Row { kind, entity } = serde_json::from_str(&row)?;
            let entity = AnyEntity::from_json(kind, entity)?;
            let entries = document.entries.entry(kind).or_default();
            entries.insert(entity.name().clone(), Arc::new(FileEntry::new(entity)));
        }
        Ok(document)
    }

    /// The hash of the last recorded text.
    pub(crate) async fn seen_hash(&self, file: &ScopeFile) -> Result<Option<String>> {
        let sql = "SELECT content_hash FROM file_origins WHERE scope = $1 AND origin = $2";
        Ok(self.local().engine().text(sql, &history_key(file)).await?)
    }

    /// The time at which that text was first seen.
    pub(crate) async fn seen_at(&self, file: &ScopeFile) -> Result<Option<DateTime<Utc>>> {
        let sql = "SELECT json_quote(seen_at) FROM file_origins WHERE scope = $1 AND origin = $2";
        let seen = self.local().engine().text(sql, &history_key(file)).await?;
        Ok(seen.map(|seen| serde_json::from_str(&seen)).transpose()?)
    }

    /// Records the differences between a file and its last recorded version: edits made by hand. False if the
    /// file has changed since and must be read again first.
    pub(crate) async fn record_seen(&self, file: &ScopeFile, document: &Document) -> Result<bool> {
        let known = self.seen_hash(file).await?;
        if known.as_deref() == Some(document.hash.as_str()) || known.is_none() && document.entries.is_empty()
        {
            return Ok(true);
        }
        let mut transaction = self.local().engine().begin().await?;
        // A writer of the file holds this database meanwhile. A change since the read is recorded, and
        // must not be taken for undone.
        if !is_current(&file.path, document).await? {
            return Ok(false);
        }
        let sql = format!("SELECT {HEAD} FROM file_entries e WHERE e.scope = $1 AND e.origin = $2");
        let rows = transaction.texts(&sql, &history_key(file)).await?;
        let heads: Vec<Head> =
            rows.iter().map(|row| serde_json::from_str(row)).collect::<std::result::Result<_, _>>()?;
        let changes = self.seen_changes(file, heads, document).await?;
        let path = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let attribution =
            Attribution { who: path.unwrap_or_default(), front: BY_HAND.to_owned(), message: None };
        self.record(&mut transaction, file, &changes, document, &attribution).await?;
        put_origin(&mut transaction, file, &document.hash).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Records changes of a file's entries. `document` is the file after them.
    pub(crate) async fn record(
        &self,
        transaction: &mut Transaction,
        file: &ScopeFile,
        changes: &[Recorded],
        document: &Document,
        attribution: &Attribution,
    ) -> Result<()> {
        let shared = self.shared_revisions(file, changes, document).await?;
        for changes in portions(changes) {
            let known = Known::of(transaction, file, changes).await?;
            let rows: Vec<NewRevision> = changes
                .iter()
                .map(|change| {
                    let refs = match change.action {
                        Action::Delete => Vec::new(),
                        _ => refs(self, file, document, &change.entity, &shared),
                    };
                    NewRevision::new(change, &known, &refs, attribution.front == BY_HAND)
                })
                .collect::<Result<_>>()?;
            insert(transaction, file, &rows, attribution).await?;
        }
        for change in changes.iter().filter(|change| change.entity.kind() == Kind::Arc) {
            let Some(old) = change.renamed_from.clone() else { continue };
            let new = change.entity.name().clone();
            let heirs = self.heirs(file.scope, &old).await?;
            let rename = Rename { kind: Kind::Arc, old, new, scope: file.scope };
            heirs::follow(transaction, &heirs, &rename).await?;
        }
        Ok(())
    }

    /// The revisions of all shared pieces that changed entries may refer to.
    async fn shared_revisions(
        &self,
        file: &ScopeFile,
        changes: &[Recorded],
        document: &Document,
    ) -> Result<BTreeMap<(Kind, Name), Vec<Ref>>> {
        let mut wanted: BTreeSet<(Kind, Name)> = BTreeSet::new();
        for change in changes {
            closure(self, file, document, &change.entity, &mut |kind, scope, name, _| {
                if scope == Scope::Shared {
                    wanted.insert((kind, name.clone()));
                }
            });
        }
        Ok(self.database().shared_refs(&wanted).await?)
    }
}

const NEWEST: &str =
    "SELECT max(revision) FROM agent_revisions WHERE scope = $1 AND origin = $2 AND kind = $3 AND name = $4";

/// Splits changes into batches in which each entry occurs once, so that a later batch continues from the
/// revisions of the earlier one.
fn portions(mut changes: &[Recorded]) -> impl Iterator<Item = &[Recorded]> {
    std::iter::from_fn(move || {
        let mut seen: BTreeSet<(Kind, &Name)> = BTreeSet::new();
        let fresh = changes.iter().take(CHUNK).take_while(|change| {
            let kind = change.entity.kind();
            let before = change.renamed_from.as_ref().is_none_or(|old| seen.insert((kind, old)));
            before & seen.insert((kind, change.entity.name()))
        });
        let (now, later) = changes.split_at(fresh.count());
        changes = later;
        (!now.is_empty()).then_some(now)
    })
}

/// Stores the hash of the recorded text, so that the next reader need not compare its entries.
pub(crate) async fn put_origin(transaction: &mut Transaction, file: &ScopeFile, hash: &str) -> Result<()> {
    let mut values = history_key(file).to_vec();
    values.extend([Parameter::from(hash), Parameter::Time(now())]);
    transaction
        .run(
            "INSERT INTO file_origins (scope, origin, content_hash, seen_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (scope, origin) DO UPDATE SET content_hash = excluded.content_hash, seen_at = excluded.seen_at",
            &values,
        )
        .await?;
    Ok(())
}
