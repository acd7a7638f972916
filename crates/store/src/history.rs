//! The history of an entity, by number or by tag.
//!
//! Entities of the database have their history beside them. That of files is in the local database, keyed
//! by file.

use chrono::{DateTime, Utc};
use persona::{AnyEntity, Kind, Name, Scope};
use serde::Deserialize;
use uuid::Uuid;

use crate::{Result, Store};
use database::{Column, Parameter};

mod refs;
pub use refs::Ref;
mod pruning;
mod tags;
use tags::NAMED;
pub use tags::{TagOutcome, Tagging};

/// The key of a history: a scope and, for files, the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryKey<'a> {
    pub scope: Scope,
    pub origin: &'a str,
}

/// The entity of a name's newest revision `r`, if that revision deleted it and none followed.
pub const GONE: &str = "CASE WHEN r.action = 'delete' AND NOT EXISTS \
    (SELECT 1 FROM agent_revisions n WHERE n.guid = r.guid AND n.revision > r.revision) THEN r.guid END";

impl HistoryKey<'static> {
    pub const SHARED: Self = Self { scope: Scope::Shared, origin: "" };
}

/// A revision without its definition.
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
    /// True if the number alone means another revision here, or none: this one is of an earlier entity of the
    /// name, or of an earlier name of the entity.
    #[serde(default)]
    pub shadowed: bool,
}

impl Revision {
    /// The reference that names this revision.
    pub fn reference(&self) -> RevisionRef {
        match self.shadowed {
            true => RevisionRef::Earlier { entity: ending(self.guid), number: self.revision },
            false => RevisionRef::Number(self.revision),
        }
    }
}

/// The number of hexadecimal digits that identify an entity.
const ENDING: usize = 8;

/// The end of an identity, short enough to type. Its beginning is the time, and similar for many.
fn ending(guid: Uuid) -> String {
    let mut digits = guid.simple().to_string();
    digits.split_off(digits.len() - ENDING)
}

/// A tag of a revision.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Tag {
    pub tag: String,
    /// The entity that has the tag.
    pub guid: Uuid,
    /// True if another entity than the current one of this name has the tag. It cannot be used under this
    /// name.
    #[serde(default)]
    pub of_another: bool,
    /// `None` in old records.
    pub author: Option<String>,
    pub front: Option<String>,
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
}

/// A revision with its definition and its references.
#[derive(Debug, Clone)]
pub struct FullRevision {
    pub about: Revision,
    pub entity: AnyEntity,
    pub refs: Vec<Ref>,
}

/// A frozen piece of a revision, and its scope.
#[derive(Debug, Clone)]
pub struct Referred {
    pub scope: Scope,
    pub then: FullRevision,
    /// The current name. `None` if it was deleted.
    pub name_now: Option<Name>,
}

/// A piece of a revision that no history has any more in that version.
#[derive(Debug, Clone)]
pub struct Forgotten {
    pub scope: Scope,
    pub kind: Kind,
    pub name: Name,
}

/// A caller's name for a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevisionRef {
    Number(i64),
    /// A revision of an earlier entity of the name, whose number alone means another one.
    Earlier {
        entity: String,
        number: i64,
    },
    Tag(String),
}

impl RevisionRef {
    /// Digits are a number, and `1a2b3c4d:2` the second revision of an earlier entity, as histories
    /// list them; anything else is a tag.
    pub fn parse(text: &str) -> Self {
        if let Ok(number) = text.parse() {
            return Self::Number(number);
        }
        let is_entity =
            |text: &str| text.len() == ENDING && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text.split_once(':').map(|(entity, number)| (entity, number.parse())) {
            Some((entity, Ok(number))) if is_entity(entity) => {
                Self::Earlier { entity: entity.to_ascii_lowercase(), number }
            }
            _ => Self::Tag(text.to_owned()),
        }
    }
}

impl std::fmt::Display for RevisionRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Earlier { entity, number } => write!(f, "{entity}:{number}"),
            Self::Tag(tag) => write!(f, "{tag:?}"),
        }
    }
}

impl Store {
    /// A revision `r` as JSON, with the tags that `shown` selects.
    fn about(&self, shown: &str) -> String {
        let dialect = self.engine().dialect();
        let tag = dialect.object(&[
            ("tag", "t.tag".to_owned()),
            ("guid", "t.guid".to_owned()),
            ("author", "t.author".to_owned()),
            ("front", "t.front".to_owned()),
            ("message", "t.message".to_owned()),
            ("created_at", dialect.time_text("t.created_at")),
        ]);
        let tags = dialect.array(&tag, &format!("agent_revision_tags t WHERE {NAMED} AND {shown}"), "t.tag");
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

    /// The identity of a name's newest revision. It survives renames.
    pub async fn identity(
        &self,
        history_key: HistoryKey<'_>,
        kind: Kind,
        name: &Name,
    ) -> Result<Option<Uuid>> {
        let sql = format!(
            "SELECT {} FROM agent_revisions r WHERE r.scope = $1 AND r.origin = $2 AND r.kind = $3 AND r.name = $4 \
             ORDER BY r.id DESC LIMIT 1",
            self.engine().dialect().text("r.guid")
        );
        let values = [
            Parameter::from(history_key.scope.as_str()),
            Parameter::from(history_key.origin),
            Parameter::from(kind.as_str()),
            Parameter::from(name),
        ];
        let guid = self.engine().texts(sql, &values).await?.into_iter().next();
        Ok(guid.and_then(|guid| Uuid::parse_str(&guid).ok()))
    }

    /// The name of an entity in its newest revision.
    pub async fn newest_name(&self, guid: Uuid) -> Result<Option<Name>> {
        let sql = "SELECT name FROM agent_revisions WHERE guid = $1 ORDER BY revision DESC LIMIT 1";
        let name = self.engine().text(sql, &[Parameter::Uuid(guid)]).await?;
        Ok(name.and_then(|name| Name::parse(&name).ok()))
    }

    /// The current name of an entity. `None` if it was deleted.
    pub async fn name_now(&self, guid: Uuid) -> Result<Option<Name>> {
        let sql = "SELECT CASE WHEN action = 'delete' THEN '' ELSE name END FROM agent_revisions \
                   WHERE guid = $1 ORDER BY revision DESC LIMIT 1";
        let name = self.engine().text(sql, &[Parameter::Uuid(guid)]).await?;
        Ok(name.and_then(|name| Name::parse(&name).ok()))
    }

    /// The revisions of the entity that has a name, also under its earlier names, then those of earlier
    /// entities of the name and of its tags, each newest first.
    pub async fn history(
        &self,
        history_key: HistoryKey<'_>,
        kind: Kind,
        name: &Name,
        limit: usize,
    ) -> Result<Vec<Revision>> {
        let Some(guid) = self.identity(history_key, kind, name).await? else { return Ok(Vec::new()) };
        let dialect = self.engine().dialect();
        let shadowing = "SELECT o.id FROM agent_revisions o WHERE o.guid = $5 AND o.revision = r.revision";
        let placed = "r.scope = $1 AND r.origin = $2 AND r.kind = $3";
        // A tag of another entity is hidden if this one has a tag of the same name.
        let shown = "(t.guid = $5 OR NOT EXISTS \
                     (SELECT 1 FROM agent_revision_tags m WHERE m.guid = $5 AND m.tag = t.tag))";
        let row = dialect.object(&[("about", self.about(shown)), ("shadowing", format!("({shadowing})"))]);
        let sql = format!(
            "SELECT {} FROM agent_revisions r WHERE r.id IN (\
             SELECT r.id FROM agent_revisions r WHERE r.guid = $5 AND {placed} \
             UNION SELECT r.id FROM agent_revisions r WHERE {placed} AND r.name = $4 \
             UNION SELECT r.id FROM agent_revision_tags t JOIN agent_revisions r ON {NAMED} WHERE t.guid = $5) \
             ORDER BY CASE WHEN r.guid = $5 THEN 0 ELSE 1 END, r.id DESC LIMIT {limit}",
            dialect.text(&row)
        );
        let values = [
            Parameter::from(history_key.scope.as_str()),
            Parameter::from(history_key.origin),
            Parameter::from(kind.as_str()),
            Parameter::from(name),
            Parameter::Uuid(guid),
        ];
        #[derive(Deserialize)]
        struct Row {
            about: Revision,
            shadowing: Option<i64>,
        }
        let rows = self.engine().texts(sql, &values).await?;
        let listed = |row: &String| {
            let Row { mut about, shadowing } = serde_json::from_str(row)?;
            about.shadowed = about.guid != guid && (shadowing.is_some() || about.name != *name);
            about.tags.iter_mut().for_each(|tag| tag.of_another = tag.guid != guid);
            Ok(about)
        };
        rows.iter().map(listed).collect()
    }

    /// One revision, with its definition.
    pub async fn revision(
        &self,
        history_key: HistoryKey<'_>,
        kind: Kind,
        name: &Name,
        wanted: &RevisionRef,
    ) -> Result<Option<FullRevision>> {
        let Some(guid) = self.identity(history_key, kind, name).await? else { return Ok(None) };
        let found = match wanted {
            RevisionRef::Number(number) => {
                // Another entity may have had the name before. The number means this one's first.
                match self.own_revision(guid, kind, *number).await? {
                    Some(found) => Some(found),
                    None => self.named_revision(history_key, kind, name, *number, "").await?,
                }
            }
            RevisionRef::Earlier { entity, number } => {
                match self.named_revision(history_key, kind, name, *number, entity).await? {
                    Some(found) => Some(found),
                    None => {
                        let ending = self.engine().dialect().text("r.guid");
                        let condition = format!(
                            "r.revision = $2 AND {ending} LIKE $3 AND (r.guid, r.revision) IN \
                             (SELECT t.revision_guid, t.revision FROM agent_revision_tags t WHERE t.guid = $1)"
                        );
                        let ending = Parameter::Text(format!("%{entity}"));
                        let values = [Parameter::Uuid(guid), Parameter::Int(*number), ending];
                        self.full_revision(&condition, kind, &values).await?
                    }
                }
            }
            RevisionRef::Tag(tag) => {
                let tagged = format!(
                    "EXISTS (SELECT 1 FROM agent_revision_tags t WHERE t.guid = $1 AND t.tag = $2 AND {NAMED})"
                );
                let values = [Parameter::Uuid(guid), Parameter::from(tag.as_str())];
                self.full_revision(&tagged, kind, &values).await?
            }
        };
        let Some(mut found) = found else { return Ok(None) };
        let about = &mut found.about;
        about.shadowed =
            about.guid != guid && (about.name != *name || self.has_revision(guid, about.revision).await?);
        Ok(Some(found))
    }

    async fn own_revision(&self, guid: Uuid, kind: Kind, number: i64) -> Result<Option<FullRevision>> {
        let values = [Parameter::Uuid(guid), Parameter::Int(number)];
        self.full_revision("r.guid = $1 AND r.revision = $2", kind, &values).await
    }

    async fn has_revision(&self, guid: Uuid, number: i64) -> Result<bool> {
        let sql = "SELECT count(*) FROM agent_revisions WHERE guid = $1 AND revision = $2";
        let values = [Parameter::Uuid(guid), Parameter::Int(number)];
        Ok(self.engine().number(sql.to_owned(), &values).await?.is_some_and(|count| count > 0))
    }

    /// The revision of a name for the entity whose identity ends like this. A name never reuses a number.
    async fn named_revision(
        &self,
        history_key: HistoryKey<'_>,
        kind: Kind,
        name: &Name,
        number: i64,
        entity: &str,
    ) -> Result<Option<FullRevision>> {
        let named = "r.scope = $1 AND r.origin = $2 AND r.name = $3 AND r.revision = $4";
        let values = [
            Parameter::from(history_key.scope.as_str()),
            Parameter::from(history_key.origin),
            Parameter::from(name),
            Parameter::Int(number),
        ];
        let found = self.full_revision(named, kind, &values).await?;
        Ok(found.filter(|found| ending(found.about.guid).ends_with(entity)))
    }

    /// The references of a revision.
    pub async fn refs(&self, about: &Revision) -> Result<Vec<Ref>> {
        let refs = self.engine().dialect().text("refs");
        let sql = format!("SELECT {refs} FROM agent_revisions WHERE guid = $1 AND revision = $2");
        let values = [Parameter::Uuid(about.guid), Parameter::Int(about.revision)];
        let refs = self.engine().texts(sql, &values).await?.into_iter().next();
        Ok(refs.map(|refs| serde_json::from_str(&refs)).transpose()?.unwrap_or_default())
    }

    async fn full_revision(
        &self,
        condition: &str,
        kind: Kind,
        values: &[Parameter],
    ) -> Result<Option<FullRevision>> {
        #[derive(Deserialize)]
        struct Row {
            about: Revision,
            entity: serde_json::Value,
            refs: Vec<Ref>,
        }
        let dialect = self.engine().dialect();
        let row = dialect.object(&[
            ("about", self.about("TRUE")),
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
}
