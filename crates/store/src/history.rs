//! History: what was recorded of an entity, by number or by tag.
//!
//! Entities of the database are recorded beside them; those of files in the local database, keyed
//! by the file that they stand in.

use chrono::{DateTime, Utc};
use persona::{AnyEntity, Kind, Name, Scope};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::dialect::Column;
use crate::engine::Value;
use crate::state::now;
use crate::{Attribution, Error, Result, Store};

/// Where a history is kept: a scope and, for files, the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shelf<'a> {
    pub(crate) scope: Scope,
    pub(crate) origin: &'a str,
}

/// The entity that a name's newest revision `r` is of, where that says that it was deleted and
/// nothing came after it.
pub(crate) const GONE: &str = "CASE WHEN r.action = 'delete' AND NOT EXISTS \
    (SELECT 1 FROM agent_revisions n WHERE n.guid = r.guid AND n.revision > r.revision) THEN r.guid END";

impl Shelf<'static> {
    pub(crate) const SHARED: Self = Self { scope: Scope::Shared, origin: "" };
}

/// A revision, without what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Revision {
    pub guid: Uuid,
    pub name: Name,
    pub revision: i64,
    pub action: String,
    pub author: String,
    pub front: String,
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
    #[serde(default)]
    pub tags: Vec<Tag>,
}

/// A name that a revision was given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Tag {
    pub tag: String,
    /// None where that was not recorded yet.
    pub author: Option<String>,
    pub front: Option<String>,
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
}

/// A revision with the whole entity, and what it referred to.
#[derive(Debug, Clone)]
pub struct FullRevision {
    pub about: Revision,
    pub entity: AnyEntity,
    pub(crate) refs: Vec<Ref>,
}

/// A piece as a revision knew it, and where it is.
#[derive(Debug, Clone)]
pub struct Referred {
    pub scope: Scope,
    pub then: FullRevision,
    /// The name that it was last recorded under.
    pub newest_name: Name,
}

/// Something that a revision refers to, as it was then: by number in the database, by the hash of
/// its content in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ref {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
    #[serde(default = "shared")]
    pub(crate) scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hash: Option<String>,
}

fn shared() -> Scope {
    Scope::Shared
}

/// How a caller names a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevisionRef {
    Number(i64),
    Tag(String),
}

impl RevisionRef {
    /// Digits are a number; anything else is a tag.
    pub fn parse(text: &str) -> Self {
        match text.parse() {
            Ok(number) => Self::Number(number),
            Err(_) => Self::Tag(text.to_owned()),
        }
    }
}

impl std::fmt::Display for RevisionRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Tag(tag) => write!(f, "{tag:?}"),
        }
    }
}

impl Store {
    fn about(&self) -> String {
        let dialect = self.engine().dialect();
        let tag = dialect.object(&[
            ("tag", "t.tag".to_owned()),
            ("author", "t.author".to_owned()),
            ("front", "t.front".to_owned()),
            ("message", "t.message".to_owned()),
            ("created_at", dialect.time_text("t.created_at")),
        ]);
        let tags = dialect.array(
            &tag,
            "agent_revision_tags t WHERE t.guid = r.guid AND t.revision = r.revision",
            "t.tag",
        );
        dialect.object(&[
            ("guid", "r.guid".to_owned()),
            ("name", "r.name".to_owned()),
            ("revision", "r.revision".to_owned()),
            ("action", "r.action".to_owned()),
            ("author", "r.author".to_owned()),
            ("front", "r.front".to_owned()),
            ("message", "r.message".to_owned()),
            ("created_at", dialect.time_text("r.created_at")),
            ("tags", dialect.nested(&tags)),
        ])
    }

    /// The identity under which the newest revision of a name was recorded; it outlives renames.
    pub(crate) async fn identity(&self, shelf: Shelf<'_>, kind: Kind, name: &Name) -> Result<Option<Uuid>> {
        let sql = format!(
            "SELECT {} FROM agent_revisions r WHERE r.scope = $1 AND r.origin = $2 AND r.kind = $3 AND r.name = $4 \
             ORDER BY r.id DESC LIMIT 1",
            self.engine().dialect().text("r.guid")
        );
        let values = [
            Value::from(shelf.scope.as_str()),
            Value::from(shelf.origin),
            Value::from(kind.as_str()),
            Value::from(name),
        ];
        let guid = self.engine().texts(sql, &values).await?.into_iter().next();
        Ok(guid.and_then(|guid| Uuid::parse_str(&guid).ok()))
    }

    /// The name that an entity had when it was last recorded.
    pub(crate) async fn newest_name(&self, guid: Uuid) -> Result<Option<Name>> {
        let sql = "SELECT name FROM agent_revisions WHERE guid = $1 ORDER BY revision DESC LIMIT 1";
        let name = self.engine().text(sql, &[Value::Uuid(guid)]).await?;
        Ok(name.and_then(|name| Name::parse(&name).ok()))
    }

    /// What was recorded under a name and, before renames, under its earlier names; newest first.
    pub(crate) async fn history(
        &self,
        shelf: Shelf<'_>,
        kind: Kind,
        name: &Name,
        limit: usize,
    ) -> Result<Vec<Revision>> {
        let Some(guid) = self.identity(shelf, kind, name).await? else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT {} FROM agent_revisions r WHERE r.scope = $1 AND r.origin = $2 AND r.kind = $3 \
             AND (r.guid = $5 OR r.name = $4) ORDER BY r.id DESC LIMIT {limit}",
            self.engine().dialect().text(&self.about())
        );
        let values = [
            Value::from(shelf.scope.as_str()),
            Value::from(shelf.origin),
            Value::from(kind.as_str()),
            Value::from(name),
            Value::Uuid(guid),
        ];
        let rows = self.engine().texts(sql, &values).await?;
        rows.iter().map(|row| Ok(serde_json::from_str(row)?)).collect()
    }

    /// One revision, whole.
    pub(crate) async fn revision(
        &self,
        shelf: Shelf<'_>,
        kind: Kind,
        name: &Name,
        wanted: &RevisionRef,
    ) -> Result<Option<FullRevision>> {
        let Some(guid) = self.identity(shelf, kind, name).await? else { return Ok(None) };
        let number = match wanted {
            RevisionRef::Number(number) => Some(*number),
            RevisionRef::Tag(tag) => {
                let sql = "SELECT revision FROM agent_revision_tags WHERE guid = $1 AND tag = $2";
                let values = [Value::Uuid(guid), Value::from(tag.as_str())];
                self.engine().number(sql.to_owned(), &values).await?
            }
        };
        let Some(number) = number else { return Ok(None) };
        // Another entity may have had the name before; the number means this one's first.
        let found = self
            .full_revision("r.guid = $1 AND r.revision = $2", kind, &[Value::Uuid(guid), Value::Int(number)])
            .await?;
        if found.is_some() {
            return Ok(found);
        }
        let values = [
            Value::from(shelf.scope.as_str()),
            Value::from(shelf.origin),
            Value::from(name),
            Value::Int(number),
        ];
        let named = "r.scope = $1 AND r.origin = $2 AND r.name = $3 AND r.revision = $4";
        self.full_revision(named, kind, &values).await
    }

    /// The revision that another one referred to.
    pub(crate) async fn referred(&self, origin: &str, wanted: &Ref) -> Result<Option<FullRevision>> {
        let mut values =
            vec![Value::from(wanted.scope.as_str()), Value::from(origin), Value::from(&wanted.name)];
        let mut condition = "r.scope = $1 AND r.origin = $2 AND r.name = $3".to_owned();
        match (&wanted.hash, wanted.revision) {
            (Some(hash), _) => {
                condition.push_str(" AND r.content_hash = $4");
                values.push(Value::from(hash.as_str()));
            }
            (None, Some(revision)) => {
                condition.push_str(" AND r.revision = $4");
                values.push(Value::Int(revision));
            }
            (None, None) => return Ok(None),
        }
        // A deletion records what it deleted; that it was there is what was referred to.
        let here = format!("{condition} AND r.action <> 'delete'");
        match self.full_revision(&here, wanted.kind, &values).await? {
            Some(found) => Ok(Some(found)),
            None => self.full_revision(&condition, wanted.kind, &values).await,
        }
    }

    async fn full_revision(
        &self,
        condition: &str,
        kind: Kind,
        values: &[Value],
    ) -> Result<Option<FullRevision>> {
        #[derive(Deserialize)]
        struct Row {
            about: Revision,
            entity: serde_json::Value,
            refs: Vec<Ref>,
        }
        let dialect = self.engine().dialect();
        let row = dialect.object(&[
            ("about", self.about()),
            ("entity", dialect.json_value("r.entity", Column::Json)),
            ("refs", dialect.json_value("r.refs", Column::Json)),
        ]);
        let sql = format!(
            "SELECT {} FROM agent_revisions r WHERE {condition} AND r.kind = '{kind}' ORDER BY r.id DESC LIMIT 1",
            dialect.text(&row)
        );
        let Some(row) = self.engine().texts(sql, values).await?.into_iter().next() else { return Ok(None) };
        let Row { about, entity, refs } = serde_json::from_str(&row)?;
        Ok(Some(FullRevision { about, entity: AnyEntity::from_json(kind, entity)?, refs }))
    }

    /// Names a revision; a tag that names another one of the same entity is moved.
    pub(crate) async fn tag(&self, about: &Revision, tag: &str, by: Attribution) -> Result<()> {
        let mut transaction = self.engine().begin().await?;
        let Attribution { who, front, message } = by;
        let values = [
            Value::Uuid(about.guid),
            Value::from(tag),
            Value::Int(about.revision),
            Value::Time(now()),
            Value::Text(who),
            Value::Text(front),
            Value::MaybeText(message),
        ];
        transaction
            .run(
                "INSERT INTO agent_revision_tags (guid, tag, revision, created_at, author, front, message) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7) \
                 ON CONFLICT (guid, tag) DO UPDATE SET revision = excluded.revision, created_at = excluded.created_at, \
                 author = excluded.author, front = excluded.front, message = excluded.message",
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

    /// Forgets all but the newest `keep` revisions of each entity. The newest, those that are
    /// tagged, and what tagged ones refer to stay. Returns how many went.
    pub async fn prune(&self, keep: usize) -> Result<u64> {
        self.prune_around(keep, &[]).await
    }

    /// What tagged revisions refer to in a scope.
    pub(crate) async fn tagged_refs(&self, scope: Scope) -> Result<Vec<Ref>> {
        let refs = self.engine().dialect().text("p.refs");
        let sql = format!(
            "SELECT {refs} FROM agent_revision_tags t JOIN agent_revisions p ON p.guid = t.guid AND p.revision = t.revision"
        );
        let mut all = Vec::new();
        for row in self.engine().texts(sql, &[]).await? {
            let refs: Vec<Ref> = serde_json::from_str(&row)?;
            all.extend(refs.into_iter().filter(|found| found.scope == scope));
        }
        Ok(all)
    }

    /// The same as [`Store::prune`], with more that stays.
    pub(crate) async fn prune_around(&self, keep: usize, also: &[Ref]) -> Result<u64> {
        if keep == 0 {
            return Err(Error::Invalid("at least the newest revision is kept; give 1 or more".to_owned()));
        }
        let dialect = self.engine().dialect();
        let rank = "row_number() OVER (PARTITION BY guid ORDER BY revision DESC)";
        let elements = |list: &str| match dialect {
            crate::dialect::Dialect::Sqlite => format!("json_each({list}) j"),
            crate::dialect::Dialect::Postgres => format!("jsonb_array_elements({list}) j(value)"),
        };
        let field = |key: &str| dialect.text_in("j.value", key);
        let (kind, name, revision, hash) = (field("kind"), field("name"), field("revision"), field("hash"));
        let meant = format!(
            "{kind} = q.kind AND {name} = q.name AND (CAST({revision} AS bigint) = q.revision OR {hash} = q.content_hash)"
        );
        let (in_refs, in_list) = (elements("p.refs"), elements("$1"));
        let sql = format!(
            "DELETE FROM agent_revisions WHERE id IN (\
             SELECT q.id FROM (SELECT id, guid, revision, kind, name, content_hash, {rank} AS place FROM agent_revisions) q \
             WHERE q.place > {keep} \
             AND NOT EXISTS (SELECT 1 FROM agent_revision_tags t WHERE t.guid = q.guid AND t.revision = q.revision) \
             AND NOT EXISTS (SELECT 1 FROM agent_revision_tags t JOIN agent_revisions p ON p.guid = t.guid AND p.revision = t.revision \
             CROSS JOIN {in_refs} WHERE {meant}) \
             AND NOT EXISTS (SELECT 1 FROM {in_list} WHERE {meant}))"
        );
        let also = Value::Json(serde_json::to_string(also)?);
        let mut transaction = self.engine().begin().await?;
        let gone = transaction.run(&sql, &[also]).await?;
        transaction.commit().await?;
        Ok(gone)
    }
}
