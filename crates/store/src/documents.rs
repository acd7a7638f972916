//! How rows become documents: the SQL expressions that build an entity's JSON, for each kind.
//!
//! A document has exactly the fields of its type in `persona`, so that one `serde` derive reads
//! it, whichever engine wrote it.

use std::sync::LazyLock;

use persona::field::Inherit;
use persona::{AnyEntity, Field, Kind, Meta, Stored, with_kind};
use serde::Deserialize;

use database::{Column, Dialect};

use crate::write::Held;
use crate::{Result, schema};

mod references;
pub(crate) use references::{naming_condition, references, references_by_id, user_queries};
mod search;
pub(crate) use search::{ENTITY_OF_ROW, KIND_OF_ROW, row_of, search_number};
mod whole;
pub use whole::file_state;
pub(crate) use whole::{gather, load};

/// The table of a kind: `agent_parts` for parts. A test compares the names with the schema.
pub(crate) fn table(kind: Kind) -> &'static str {
    static NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| Kind::ALL.iter().map(|kind| format!("agent_{}", kind.table())).collect());
    match kind {
        Kind::Arc => "character_arcs",
        kind => &NAMES[kind as usize],
    }
}

/// A link table between personas and pieces of one kind: its name and the piece's column. Bases
/// and presets have none: a persona has their names.
pub(crate) const fn link_table(kind: Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::Part => Some(("agent_persona_parts", "part_id")),
        Kind::Trait => Some(("agent_persona_traits", "trait_id")),
        Kind::Skill => Some(("agent_persona_skills", "skill_id")),
        Kind::Guardrail => Some(("agent_persona_guardrails", "guardrail_id")),
        Kind::Arc => Some(("persona_arc", "arc_id")),
        Kind::TestInput => Some(("agent_persona_test_inputs", "test_input_id")),
        _ => None,
    }
}

/// The columns that are never null: an empty text there is not set.
const EMPTY_IS_UNSET: [&str; 2] = ["summary", "aggregation_strategy"];

/// The columns of JSON objects that hold the fields without a column of their own: what a persona
/// takes away from its base, and everything else.
pub(crate) const REMOVALS: &str = "removals";
pub(crate) const EXTRA: &str = "extra";

/// The place of a field of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Column(Column),
    /// A text column in which the empty text means none.
    EmptyIsUnset,
    /// Under its name in a column of JSON objects.
    Within(&'static str),
    PartLinks,
    Links(Kind),
    Arc,
    Stages,
}

/// A field has the column of its name if its table has one; links have tables of their own. A new
/// field needs neither.
pub(crate) fn place(kind: Kind, field: &Field) -> Place {
    let column = schema::table(table(kind)).and_then(|table| {
        table.columns.iter().find(|(column, _)| *column == field.name).map(|(_, holds)| *holds)
    });
    let linked = field.shape.names().filter(|named| kind == Kind::Persona && link_table(*named).is_some());
    match (column, linked) {
        (Some(_), _) if EMPTY_IS_UNSET.contains(&field.name) => Place::EmptyIsUnset,
        (Some(holds), _) => Place::Column(holds),
        (None, _) if field.inherit == Inherit::Removes => Place::Within(REMOVALS),
        (None, Some(Kind::Part)) => Place::PartLinks,
        (None, Some(Kind::Arc)) => Place::Arc,
        (None, Some(piece)) => Place::Links(piece),
        (None, None) if kind == Kind::Arc && field.name == "stages" => Place::Stages,
        (None, None) => Place::Within(EXTRA),
    }
}

/// The authored definition of the row `alias`.
pub(crate) fn definition(dialect: Dialect, kind: Kind, alias: &str) -> String {
    let value = |field: &Field| {
        let column = format!("{alias}.{}", field.name);
        match place(kind, field) {
            Place::Column(holds) => dialect.json_value(&column, holds),
            Place::EmptyIsUnset => format!("nullif({column}, '')"),
            Place::Within(object) => {
                dialect.json_in(&format!("{alias}.{object}"), field.name, &field.unset_json().to_string())
            }
            Place::PartLinks => part_links(dialect, alias),
            Place::Links(piece) => linked_names(dialect, piece, alias),
            Place::Arc => format!(
                "(SELECT c.name FROM persona_arc pa JOIN character_arcs c ON c.id = pa.arc_id WHERE pa.persona_id = {alias}.id)"
            ),
            Place::Stages => stages(dialect, alias),
        }
    };
    let fields: Vec<(&str, String)> = kind.fields().iter().map(|field| (field.name, value(field))).collect();
    dialect.object(&fields)
}

fn part_links(dialect: Dialect, persona: &str) -> String {
    let link = dialect.object(&[
        ("name", "x.name".to_owned()),
        ("order", "l.part_order".to_owned()),
        ("priority", "l.priority".to_owned()),
    ]);
    let from = format!(
        "agent_persona_parts l JOIN agent_parts x ON x.id = l.part_id WHERE l.persona_id = {persona}.id"
    );
    dialect.nested(&dialect.array(&link, &from, "l.part_order, x.name"))
}

fn linked_names(dialect: Dialect, piece: Kind, persona: &str) -> String {
    dialect.nested(&dialect.array("x.name", &linked_rows(piece, persona), "l.link_order, x.name"))
}

/// The rows `x` of a kind that the persona `alias` links, by the links `l`.
fn linked_rows(piece: Kind, persona: &str) -> String {
    let Some((links, column)) = link_table(piece) else {
        unreachable!("only kinds that have links are asked for");
    };
    let table = table(piece);
    format!("{links} l JOIN {table} x ON x.id = l.{column} WHERE l.persona_id = {persona}.id")
}

fn stages(dialect: Dialect, arc: &str) -> String {
    let names = dialect.array(
        "y.name",
        "arc_stage_parts k JOIN agent_parts y ON y.id = k.part_id WHERE k.stage_id = s.id",
        "k.part_order, y.name",
    );
    let stage = dialect.object(&[
        ("name", "s.name".to_owned()),
        ("order", "s.stage_order".to_owned()),
        ("description", "s.description".to_owned()),
        ("condition", "s.condition".to_owned()),
        ("parts", dialect.nested(&names)),
    ]);
    dialect.nested(&dialect.array(
        &stage,
        &format!("arc_stages s WHERE s.arc_id = {arc}.id"),
        "s.stage_order, s.name",
    ))
}

/// Place, revision and times of the row `alias`.
pub(crate) fn meta(dialect: Dialect, alias: &str) -> String {
    dialect.object(&[
        ("scope", "'shared'".to_owned()),
        ("revision", format!("{alias}.revision")),
        ("guid", format!("{alias}.guid")),
        ("created_at", dialect.time_text(&format!("{alias}.created_at"))),
        ("updated_at", dialect.time_text(&format!("{alias}.updated_at"))),
    ])
}

/// The statement that reads definitions of a kind for [`parse`]. Conditions on `a` follow.
pub(crate) fn select(dialect: Dialect, kind: Kind) -> String {
    let row = dialect.object(&[
        ("id", "a.id".to_owned()),
        ("entity", definition(dialect, kind, "a")),
        ("meta", meta(dialect, "a")),
    ]);
    format!("SELECT {} FROM {} a", dialect.text(&row), table(kind))
}

/// The same for one name, `$1`.
pub(crate) fn select_by_name(dialect: Dialect, kind: Kind) -> String {
    select(dialect, kind) + " WHERE a.name = $1"
}

/// Parses a row of [`select`].
pub(crate) fn parse(kind: Kind, row: &str) -> Result<Held<AnyEntity>> {
    #[derive(Deserialize)]
    struct Row<T> {
        id: i64,
        entity: T,
        meta: Meta,
    }
    with_kind!(kind, T => {
        let Row { id, entity, meta } = serde_json::from_str::<Row<T>>(row)?;
        Ok(Held { id, stored: Stored { entity: entity.into(), meta } })
    })
}

/// The fields of the row `alias` that a list shows. A summary can be derived from `lead`.
pub(crate) fn listed(dialect: Dialect, kind: Kind, alias: &str) -> String {
    let column = |name: &str| format!("{alias}.{name}");
    let lead = |name: &str| ("lead", format!("substr({alias}.{name}, 1, 500)"));
    let mut fields = vec![
        ("kind", format!("'{kind}'")),
        ("name", column("name")),
        ("scope", "'shared'".to_owned()),
        ("description", column("description")),
        ("tags", dialect.json_value(&column("tags"), Column::Tags)),
        ("updated_at", dialect.time_text(&column("updated_at"))),
    ];
    if kind.fields().iter().any(|field| field.name == "summary") {
        fields.push(("summary", format!("nullif({alias}.summary, '')")));
    }
    match kind {
        Kind::Persona => {
            fields.push(("display_name", column("display_name")));
            fields.push(("extends", column("extends")));
            fields.push(lead("system_prompt"));
        }
        Kind::Part => {
            fields.push(("part_type", column("part_type")));
            fields.push(lead("content"));
        }
        Kind::Trait => {
            fields.push(("trait_type", column("trait_type")));
            fields.push(lead("instruction"));
        }
        Kind::Guardrail => {
            fields.push(("severity", column("severity")));
            fields.push(lead("content"));
        }
        Kind::Skill => fields.push(lead("content")),
        Kind::TestInput => fields.push(lead("content")),
        _ => {}
    }
    dialect.object(&fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_table() {
        for kind in Kind::ALL {
            assert!(schema::table(table(*kind)).is_some(), "{} is not in schema.rs", table(*kind));
        }
    }
}
