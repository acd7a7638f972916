//! Generated entities as rows of all the tables that they touch.

use std::collections::BTreeSet;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use persona::{Entity, Kind, Name, Persona};
use serde_json::{Map, Value, json};
use uuid::Builder;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Sqlite,
    Postgres,
}

#[derive(Debug)]
pub(super) enum Field {
    Null,
    Int(i64),
    Text(String),
    Tags(Vec<String>),
}

impl From<i64> for Field {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Field {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

/// Rows of one table, their fields one after the other.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) table: &'static str,
    pub(super) columns: Vec<&'static str>,
    pub(super) fields: Vec<Field>,
}

/// The layout of a kind: its table, its number in the search index, its own columns that generated
/// entities fill, and the searched ones among them.
struct Layout {
    table: &'static str,
    number: i64,
    columns: &'static [&'static str],
    named: &'static [&'static str],
    searched: &'static [&'static str],
}

fn layout(kind: Kind) -> Layout {
    let (table, number, columns, named, searched): (_, _, &[_], &[_], &[_]) = match kind {
        Kind::Persona => (
            "agent_personas",
            0,
            &["display_name", "description", "summary", "system_prompt", "aggregation_strategy"],
            &["name", "display_name"],
            &["description", "summary", "system_prompt"],
        ),
        Kind::Part => (
            "agent_parts",
            1,
            &["part_type", "description", "summary", "content"],
            &["name"],
            &["part_type", "description", "summary", "content"],
        ),
        Kind::Trait => (
            "agent_traits",
            2,
            &["trait_type", "description", "instruction"],
            &["name"],
            &["trait_type", "description", "instruction"],
        ),
        Kind::Skill => {
            ("agent_skills", 3, &["description", "content"], &["name"], &["description", "content"])
        }
        Kind::Guardrail => (
            "agent_guardrails",
            4,
            &["severity", "description", "content", "deny_tools"],
            &["name"],
            &["severity", "description", "content"],
        ),
        other => unreachable!("no {other} is generated"),
    };
    Layout { table, number, columns, named, searched }
}

/// The rows of some entities, table by table.
pub(super) struct Batch {
    engine: Engine,
    /// How many revisions were made before this batch.
    revisions: u64,
    tables: Vec<Rows>,
}

impl Batch {
    pub(super) fn new(engine: Engine, revisions: u64) -> Self {
        Self { engine, revisions, tables: Vec::new() }
    }

    pub(super) fn into_rows(self) -> Vec<Rows> {
        self.tables
    }

    /// The entity itself, its revision and its words.
    pub(super) fn add<T: Entity + serde::Serialize>(&mut self, index: u64, entity: &T) {
        let layout = layout(T::KIND);
        let document = serde_json::to_value(entity).expect("entities are JSON");
        let Value::Object(document) = document else { unreachable!("entities are objects") };
        let at = self.revisions;
        self.revisions += 1;
        let time = time(at);
        let guid = guid(at);
        let mut row = vec![
            ("id", Field::Int(index as i64 + 1)),
            ("guid", Field::from(guid.as_str())),
            ("name", Field::from(entity.name().as_str())),
        ];
        row.extend(layout.columns.iter().map(|column| (*column, field(column, document.get(*column)))));
        row.extend([
            ("tags", Field::Tags(entity.tags().clone())),
            ("revision", Field::Int(1)),
            ("created_at", Field::from(time.as_str())),
            ("updated_at", Field::from(time.as_str())),
        ]);
        self.push(layout.table, row);
        self.index(index, &layout, &document, entity.tags());
        let refs = references(&document);
        let revision = vec![
            ("id", Field::Int(at as i64 + 1)),
            ("kind", Field::from(T::KIND.as_str())),
            ("guid", Field::Text(guid)),
            ("name", Field::from(entity.name().as_str())),
            ("revision", Field::Int(1)),
            ("action", Field::from("create")),
            ("author", Field::from("testkit")),
            ("front", Field::from("generate")),
            ("entity", Field::Text(Value::Object(document).to_string())),
            ("refs", Field::Text(refs)),
            ("created_at", Field::Text(time)),
        ];
        self.push("agent_revisions", revision);
    }

    pub(super) fn add_links(&mut self, index: u64, persona: &Persona) {
        let id = index as i64 + 1;
        for link in &persona.parts {
            let row = vec![
                ("persona_id", Field::Int(id)),
                ("part_id", Field::Int(id_of(&link.name))),
                ("part_order", Field::Int(link.order.into())),
                ("priority", Field::Int(link.priority.into())),
            ];
            self.push("agent_persona_parts", row);
        }
        for (table, column, names) in [
            ("agent_persona_traits", "trait_id", &persona.traits),
            ("agent_persona_skills", "skill_id", &persona.skills),
            ("agent_persona_guardrails", "guardrail_id", &persona.guardrails),
        ] {
            for (order, name) in names.iter().enumerate() {
                let row = vec![
                    ("persona_id", Field::Int(id)),
                    (column, Field::Int(id_of(name))),
                    ("link_order", Field::Int(order as i64)),
                ];
                self.push(table, row);
            }
        }
    }

    /// The same words that the store finds in an entity.
    fn index(&mut self, index: u64, layout: &Layout, document: &Map<String, Value>, tags: &[String]) {
        let id = index as i64 + 1;
        let of = |columns: &[&str]| -> BTreeSet<String> {
            columns.iter().filter_map(|column| document.get(*column)?.as_str()).flat_map(words).collect()
        };
        let name = of(layout.named);
        let mut text = of(layout.searched);
        text.extend(tags.iter().flat_map(|tag| words(tag)));
        let text = text.difference(&name);
        match self.engine {
            Engine::Sqlite => {
                let row = vec![
                    ("rowid", Field::Int(id * 16 + layout.number)),
                    ("name", Field::Text(joined(name.iter().cloned()))),
                    ("words", Field::Text(joined(text.cloned()))),
                ];
                self.push("library_search", row);
            }
            Engine::Postgres => {
                let name = name.iter().map(|word| format!("'{word}':1A"));
                let vector = joined(name.chain(text.map(|word| format!("'{word}':2D"))));
                let row = vec![
                    ("kind", Field::Int(layout.number)),
                    ("entity_id", Field::Int(id)),
                    ("words", Field::Text(vector)),
                ];
                self.push("library_search", row);
            }
        }
    }

    fn push(&mut self, table: &'static str, row: Vec<(&'static str, Field)>) {
        let at = match self.tables.iter().position(|rows| rows.table == table) {
            Some(at) => at,
            None => {
                let columns = row.iter().map(|(column, _)| *column).collect();
                self.tables.push(Rows { table, columns, fields: Vec::new() });
                self.tables.len() - 1
            }
        };
        self.tables[at].fields.extend(row.into_iter().map(|(_, field)| field));
    }
}

fn field(column: &str, value: Option<&Value>) -> Field {
    match value {
        // These columns are never null: an empty text is not set.
        None | Some(Value::Null) if matches!(column, "summary" | "aggregation_strategy") => Field::from(""),
        None | Some(Value::Null) => Field::Null,
        Some(Value::String(text)) => Field::from(text.as_str()),
        Some(other) => Field::Text(other.to_string()),
    }
}

/// Generated pieces end in their number, and their ids count from one.
fn id_of(name: &Name) -> i64 {
    let number = name.as_str().rsplit('-').next().and_then(|digits| digits.parse::<i64>().ok());
    number.expect("a generated name ends in a number") + 1
}

/// A persona's references, all at their first revision.
fn references(document: &Map<String, Value>) -> String {
    let names = |field: &str| document.get(field).and_then(Value::as_array).into_iter().flatten();
    let mut references = Vec::new();
    for (field, kind) in
        [("guardrails", "guardrail"), ("parts", "part"), ("skills", "skill"), ("traits", "trait")]
    {
        for link in names(field) {
            let name = link.get("name").unwrap_or(link);
            references.push(json!({ "kind": kind, "name": name, "scope": "shared", "revision": 1 }));
        }
    }
    references.sort_by_key(Value::to_string);
    Value::Array(references).to_string()
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    runs.map(|word| word.chars().flat_map(char::to_lowercase).collect())
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// The beginning of 2026; each entity is a millisecond younger than the one before.
fn instant(at: u64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::milliseconds(1_767_225_600_000 + at as i64)
}

fn time(at: u64) -> String {
    instant(at).to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Ordered by time, as the store's own are.
fn guid(at: u64) -> String {
    let mut tail = [0; 10];
    tail[2..].copy_from_slice(&at.to_be_bytes());
    let milliseconds = instant(at).timestamp_millis().unsigned_abs();
    Builder::from_unix_timestamp_millis(milliseconds, &tail).into_uuid().hyphenated().to_string()
}
