//! What refers to what: chains of bases, everything that a persona means, and who means something.

use persona::Kind;

use super::{link_table, table};
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
            for (kind, column) in [
                (Kind::ToolPreset, "x.name IN (q.tool_preset, {planning})"),
                (Kind::BiasProfile, "x.name = q.bias_profile"),
                (Kind::ContextPreset, "x.name = q.context_preset"),
            ] {
                let condition =
                    column.replace("{planning}", &dialect.text_in("q.plan_persona", "tool_preset"));
                let (reference, table) = (reference(kind), table(kind));
                queries.push(format!(
                    "SELECT {reference} FROM {table} x JOIN agent_personas q ON {condition} WHERE q.id {in_chain}"
                ));
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

/// Whether the persona `p` has a parameter among its own columns: as the name of its base or of a
/// preset, or of a piece that it takes away from its base. None for arcs, which only links name.
pub(crate) fn naming_condition(dialect: Dialect, kind: Kind, name: &str) -> Option<String> {
    let removes = |list: &str| {
        let list = dialect.list_in("p.removals", list);
        Some(dialect.in_list(name, &list))
    };
    match kind {
        Kind::Persona => Some(format!("p.extends IN ({name}, 'shared:' || {name})")),
        Kind::ToolPreset => {
            let planning = dialect.text_in("p.plan_persona", "tool_preset");
            Some(format!("{name} IN (p.tool_preset, {planning})"))
        }
        Kind::BiasProfile => Some(format!("p.bias_profile = {name}")),
        Kind::ContextPreset => Some(format!("p.context_preset = {name}")),
        Kind::Part => removes("remove_parts"),
        Kind::Trait => removes("remove_traits"),
        Kind::Skill => removes("remove_skills"),
        Kind::Guardrail => removes("remove_guardrails"),
        Kind::TestInput => removes("remove_test_inputs"),
        Kind::Arc => None,
    }
}

/// Who refers to the row `$1` of a kind, named `$2`.
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
    match kind {
        Kind::Persona | Kind::ToolPreset | Kind::BiasProfile | Kind::ContextPreset => {
            naming_condition(dialect, kind, "$2").iter().map(|condition| personas(condition)).collect()
        }
        Kind::Part | Kind::Trait | Kind::Skill | Kind::Guardrail | Kind::Arc | Kind::TestInput => {
            let Some((links, column)) = link_table(kind) else { return Vec::new() };
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
