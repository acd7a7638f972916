//! Links and stages: updates the tables to match a definition.

use persona::field::{Described as _, ValueView};
use persona::{AnyEntity, CharacterArc, Kind, Name, Persona, Stage};

use super::database::DatabaseWrite;
use crate::documents::{self, Place, link_table, place, table};
use crate::{Error, Result};
use database::{Dialect, now};
use database::{Parameter, Transaction};

fn missing(kind: Kind, name: &Name) -> Error {
    Error::Deleted { kind, name: name.clone() }
}

/// The row of a definition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) id: i64,
    /// True if this write has just made it, so that nothing is linked yet.
    pub(super) is_new: bool,
}

/// Brings the link tables in line with a definition.
pub(super) async fn of(write: &mut DatabaseWrite, row: Row, entity: &AnyEntity) -> Result<()> {
    match entity {
        AnyEntity::Persona(persona) => of_persona(write, row, persona).await,
        AnyEntity::Arc(arc) => of_arc(write, row, arc).await,
        _ => Ok(()),
    }
}

/// Rewrites a persona's links. They are few, and rewriting all of them cannot leave a stale one.
async fn of_persona(write: &mut DatabaseWrite, row: Row, persona: &Persona) -> Result<()> {
    let (transaction, id) = (write.transaction(), row.id);
    if !row.is_new {
        let delete = "DELETE FROM agent_persona_parts WHERE persona_id = $1";
        transaction.run(delete, &[Parameter::Int(id)]).await?;
    }
    for link in &persona.parts {
        let values = [
            Parameter::Int(id),
            Parameter::from(&link.name),
            Parameter::Int(link.order.into()),
            Parameter::Int(link.priority.into()),
        ];
        let linked = transaction
            .run(
                "INSERT INTO agent_persona_parts (persona_id, part_id, part_order, priority) \
                 SELECT $1, x.id, CAST($3 AS integer), CAST($4 AS integer) FROM agent_parts x WHERE x.name = $2",
                &values,
            )
            .await?;
        if linked != 1 {
            return Err(missing(Kind::Part, &link.name));
        }
    }
    for (kind, names) in linked(persona) {
        of_kind(transaction, row, kind, &names).await?;
    }
    of_persona_arc(transaction, row, persona.arc.as_ref()).await
}

/// The lists of names that are stored as links.
fn linked(persona: &Persona) -> Vec<(Kind, Vec<Name>)> {
    let mut linked = Vec::new();
    for (field, value) in persona.values() {
        if let (Place::Links(kind), ValueView::List(names)) = (place(Kind::Persona, field), value.view()) {
            let name = |name: ValueView<'_>| {
                if let ValueView::Name(name) = name { Some(name.clone()) } else { None }
            };
            linked.push((kind, names.into_iter().filter_map(name).collect()));
        }
    }
    linked
}

async fn of_kind(transaction: &mut Transaction, row: Row, kind: Kind, names: &[Name]) -> Result<()> {
    let Some((links, column)) = link_table(kind) else { return Ok(()) };
    if row.is_new && names.is_empty() {
        return Ok(());
    }
    let (table, id) = (table(kind), row.id);
    if !row.is_new {
        transaction.run(&format!("DELETE FROM {links} WHERE persona_id = $1"), &[Parameter::Int(id)]).await?;
    }
    let sql = format!(
        "INSERT INTO {links} (persona_id, {column}, link_order) \
         SELECT $1, x.id, CAST($3 AS integer) FROM {table} x WHERE x.name = $2"
    );
    for (order, name) in names.iter().enumerate() {
        if transaction
            .run(&sql, &[Parameter::Int(id), Parameter::from(name), Parameter::Int(order as i64)])
            .await?
            != 1
        {
            return Err(missing(kind, name));
        }
    }
    Ok(())
}

/// Another arc starts at its first stage; the same arc stays where it is.
async fn of_persona_arc(transaction: &mut Transaction, row: Row, arc: Option<&Name>) -> Result<()> {
    let id = row.id;
    let Some(arc) = arc else {
        if !row.is_new {
            transaction.run("DELETE FROM persona_arc WHERE persona_id = $1", &[Parameter::Int(id)]).await?;
        }
        return Ok(());
    };
    let same = "SELECT c.id FROM persona_arc pa JOIN character_arcs c ON c.id = pa.arc_id WHERE pa.persona_id = $1 AND c.name = $2";
    if transaction.number(same, &[Parameter::Int(id), Parameter::from(arc)]).await?.is_some() {
        return Ok(());
    }
    let assigned = transaction
        .run(
            "INSERT INTO persona_arc (persona_id, arc_id, current_stage_id, updated_at) \
             SELECT $1, c.id, (SELECT s.id FROM arc_stages s WHERE s.arc_id = c.id ORDER BY s.stage_order, s.name LIMIT 1), $3 \
             FROM character_arcs c WHERE c.name = $2 \
             ON CONFLICT (persona_id) DO UPDATE SET arc_id = excluded.arc_id, \
             current_stage_id = excluded.current_stage_id, updated_at = excluded.updated_at",
            &[Parameter::Int(id), Parameter::from(arc), Parameter::Time(now())],
        )
        .await?;
    if assigned != 1 {
        return Err(missing(Kind::Arc, arc));
    }
    Ok(())
}

/// Updates the stages of an arc. Stages keep their rows by name, because personas refer to them.
async fn of_arc(write: &mut DatabaseWrite, row: Row, arc: &CharacterArc) -> Result<()> {
    let (transaction, id) = (write.transaction(), row.id);
    for stage in &arc.stages {
        let values = [
            Parameter::Int(id),
            Parameter::from(&stage.name),
            Parameter::Int(stage.order.into()),
            Parameter::MaybeText(stage.description.clone()),
            Parameter::MaybeText(stage.condition.clone()),
            Parameter::Time(now()),
        ];
        let stage_id = transaction
            .number(
                "INSERT INTO arc_stages (arc_id, name, stage_order, description, condition, created_at) \
                 VALUES ($1, $2, CAST($3 AS integer), $4, $5, $6) \
                 ON CONFLICT (arc_id, name) DO UPDATE SET stage_order = excluded.stage_order, \
                 description = excluded.description, condition = excluded.condition RETURNING id",
                &values,
            )
            .await?
            .unwrap_or_default();
        of_stage(transaction, Row { id: stage_id, ..row }, stage).await?;
    }
    if row.is_new {
        return Ok(());
    }
    let names: Vec<&Name> = arc.stages.iter().map(|stage| &stage.name).collect();
    let gone = transaction.dialect().in_list("s.name", "$2");
    let values = [Parameter::Int(id), Parameter::Json(serde_json::to_string(&names)?)];
    // Personas at a removed stage, or at none, move to the first one.
    transaction
        .run(
            &format!(
                "UPDATE persona_arc SET current_stage_id = \
                 (SELECT s.id FROM arc_stages s WHERE s.arc_id = $1 AND {gone} ORDER BY s.stage_order, s.name LIMIT 1) \
                 WHERE arc_id = $1 AND (current_stage_id IS NULL OR current_stage_id IN \
                 (SELECT s.id FROM arc_stages s WHERE s.arc_id = $1 AND NOT ({gone})))"
            ),
            &values,
        )
        .await?;
    let delete = match transaction.dialect() {
        Dialect::Sqlite => {
            format!("DELETE FROM arc_stages AS s WHERE s.arc_id = $1 AND NOT ({gone})")
        }
        Dialect::Postgres => {
            format!("DELETE FROM arc_stages s WHERE s.arc_id = $1 AND NOT ({gone})")
        }
    };
    transaction.run(&delete, &values).await?;
    Ok(())
}

async fn of_stage(transaction: &mut Transaction, row: Row, stage: &Stage) -> Result<()> {
    if !row.is_new {
        transaction.run("DELETE FROM arc_stage_parts WHERE stage_id = $1", &[Parameter::Int(row.id)]).await?;
    }
    for (order, name) in stage.parts.iter().enumerate() {
        let values = [Parameter::Int(row.id), Parameter::from(name), Parameter::Int(order as i64)];
        let linked = transaction
            .run(
                "INSERT INTO arc_stage_parts (stage_id, part_id, part_order) \
                 SELECT $1, x.id, CAST($3 AS integer) FROM agent_parts x WHERE x.name = $2",
                &values,
            )
            .await?;
        if linked != 1 {
            return Err(missing(Kind::Part, name));
        }
    }
    Ok(())
}

impl DatabaseWrite {
    /// The revisions of everything that an entity refers to, so that its own revision freezes
    /// all of it: bases, linked pieces, arcs, and the parts of the arcs' stages.
    pub(super) async fn references(&mut self, entity: &AnyEntity, id: i64) -> Result<String> {
        let sql = documents::references_by_id(self.transaction().dialect(), entity.kind());
        let Some(sql) = sql.filter(|_| !entity.references().is_empty()) else {
            return Ok("[]".to_owned());
        };
        let rows = self.transaction().texts(sql, &[Parameter::Int(id)]).await?;
        Ok(format!("[{}]", rows.join(",")))
    }
}
