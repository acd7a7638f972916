//! References: chains of bases, everything that a persona refers to, and the users of an entity.

use std::sync::LazyLock;

use persona::Kind;
use persona::field::{Inherit, Shape};

use super::{Place, REMOVALS, link_table, place, table};
use database::Dialect;

/// The personas that the one of a condition on `s` builds on, itself included, as far as they are
/// in shared: `chain(depth, id, extends)`.
///
/// This is the rule of `persona::catalog` again, in SQL: following a chain name by name would take
/// a round trip for each. A test in `scopes` compares both on random libraries.
pub(super) fn chain(dialect: Dialect, start: &str) -> String {
    let extends = "chain.extends";
    let colon = dialect.position(extends, ":");
    let most = persona::limits::CHAIN;
    format!(
        "WITH RECURSIVE chain(depth, id, extends) AS (\
         SELECT 0, s.id, s.extends FROM agent_personas s WHERE {start} UNION ALL \
         SELECT chain.depth + 1, n.id, n.extends FROM chain JOIN agent_personas n ON n.name = \
         CASE WHEN {colon} = 0 THEN {extends} WHEN substr({extends}, 1, 7) = 'shared:' THEN substr({extends}, 8) END \
         WHERE chain.depth < {most})"
    )
}

/// The revisions of everything that the shared persona or arc of a condition on `s` refers to;
/// other kinds refer to nothing.
pub(crate) fn references(dialect: Dialect, kind: Kind, start: &str) -> Option<String> {
    let reference = |kind: Kind| {
        dialect.text(&dialect.object(&[
            ("kind", format!("'{kind}'")),
            ("name", "x.name".to_owned()),
            ("scope", "'shared'".to_owned()),
            ("revision", "x.revision".to_owned()),
            ("guid", "x.guid".to_owned()),
        ]))
    };
    let stage_parts =
        "arc_stage_parts k JOIN arc_stages g ON g.id = k.stage_id JOIN agent_parts x ON x.id = k.part_id";
    match kind {
        Kind::Persona => {
            let in_chain = "IN (SELECT chain.id FROM chain)";
            let mut queries: Vec<String> = Kind::ALL
                .iter()
                .filter_map(|kind| {
                    let (links, column) = link_table(*kind)?;
                    let (reference, table) = (reference(*kind), table(*kind));
                    Some(format!(
                        "SELECT {reference} FROM {links} l JOIN {table} x ON x.id = l.{column} WHERE l.persona_id {in_chain}"
                    ))
                })
                .collect();
            let part = reference(Kind::Part);
            queries.push(format!(
                "SELECT {part} FROM {stage_parts} JOIN persona_arc pa ON pa.arc_id = g.arc_id WHERE pa.persona_id {in_chain}"
            ));
            let base = reference(Kind::Persona);
            queries.push(format!(
                "SELECT {base} FROM agent_personas x JOIN chain ON chain.id = x.id WHERE chain.depth > 0"
            ));
            for kind in Kind::ALL {
                let columns = naming_columns(dialect, *kind, "q");
                if !columns.is_empty() {
                    let (reference, table, columns) = (reference(*kind), table(*kind), columns.join(", "));
                    queries.push(format!(
                        "SELECT {reference} FROM {table} x JOIN agent_personas q ON x.name IN ({columns}) WHERE q.id {in_chain}"
                    ));
                }
            }
            Some(format!("{} {} ORDER BY 1", chain(dialect, start), queries.join(" UNION ")))
        }
        Kind::Arc => Some(format!(
            "SELECT {} FROM {stage_parts} JOIN character_arcs s ON s.id = g.arc_id WHERE {start} ORDER BY 1",
            reference(Kind::Part)
        )),
        _ => None,
    }
}

/// The same for the row `$1`. Every write needs it, so its long text is made once.
pub(crate) fn references_by_id(dialect: Dialect, kind: Kind) -> Option<&'static str> {
    type Texts = LazyLock<Vec<Option<String>>>;
    fn all(dialect: Dialect) -> Vec<Option<String>> {
        Kind::ALL.iter().map(|kind| references(dialect, *kind, "s.id = $1")).collect()
    }
    static SQLITE: Texts = LazyLock::new(|| all(Dialect::Sqlite));
    static POSTGRES: Texts = LazyLock::new(|| all(Dialect::Postgres));
    let texts: &'static Texts = match dialect {
        Dialect::Sqlite => &SQLITE,
        Dialect::Postgres => &POSTGRES,
    };
    texts.get(kind as usize)?.as_deref()
}

/// The expressions in which the persona `alias` has the name of something of a kind, if no link
/// table has it.
fn naming_columns(dialect: Dialect, kind: Kind, alias: &str) -> Vec<String> {
    let mut columns = Vec::new();
    for field in Kind::Persona.fields() {
        match (field.shape, place(Kind::Persona, field)) {
            (Shape::Name(named), Place::Column(_)) if named == kind => {
                columns.push(format!("{alias}.{}", field.name));
            }
            (Shape::Name(named), Place::Within(object)) if named == kind => {
                columns.push(dialect.text_in(&format!("{alias}.{object}"), field.name));
            }
            (Shape::Table(fields), Place::Column(_)) => {
                let inner = fields.iter().filter(|inner| inner.shape.names() == Some(kind));
                columns.extend(
                    inner.map(|inner| dialect.text_in(&format!("{alias}.{}", field.name), inner.name)),
                );
            }
            _ => {}
        }
    }
    columns
}

/// True if the persona `p` has the name in its own columns: as its base, as a preset, or as a piece that it
/// removes from its base. `None` for arcs, which only links name.
pub(crate) fn naming_condition(dialect: Dialect, kind: Kind, name: &str) -> Option<String> {
    if kind == Kind::Persona {
        return Some(format!("p.extends IN ({name}, 'shared:' || {name})"));
    }
    let columns = naming_columns(dialect, kind, "p");
    if !columns.is_empty() {
        return Some(format!("{name} IN ({})", columns.join(", ")));
    }
    let fields = Kind::Persona.fields().iter();
    let removal = fields
        .clone()
        .find(|field| field.inherit == Inherit::Removes && field.shape.names() == Some(kind))?;
    Some(dialect.in_list(name, &dialect.list_in(&format!("p.{REMOVALS}"), removal.name)))
}

/// The users of the row `$1` of a kind, named `$2`.
pub(crate) fn user_queries(dialect: Dialect, kind: Kind) -> Vec<String> {
    let user = |kind: Kind, name: &str| {
        dialect.text(&dialect.object(&[("kind", format!("'{kind}'")), ("name", name.to_owned())]))
    };
    let personas = |condition: &str| {
        let user = user(Kind::Persona, "p.name");
        // Both parameters are used, since both are bound.
        format!(
            "SELECT {user} FROM agent_personas p WHERE ({condition}) AND $1 = $1 AND $2 = $2 ORDER BY p.name"
        )
    };
    match link_table(kind) {
        None => naming_condition(dialect, kind, "$2").iter().map(|condition| personas(condition)).collect(),
        Some((links, column)) => {
            let linked = format!("p.id IN (SELECT l.persona_id FROM {links} l WHERE l.{column} = $1)");
            let mut queries = vec![personas(&linked)];
            if kind == Kind::Part {
                queries.push(format!(
                    "SELECT {} FROM character_arcs c WHERE c.id IN (SELECT s.arc_id FROM arc_stage_parts k \
                     JOIN arc_stages s ON s.id = k.stage_id WHERE k.part_id = $1) AND $2 = $2 ORDER BY c.name",
                    user(Kind::Arc, "c.name")
                ));
            }
            queries
        }
    }
}
