//! State that is not authored: where a persona stands in its arc, and its compiled text. Changing
//! it makes no revision.

use chrono::{DateTime, SubsecRound as _, Utc};
use persona::{Compiled, CompiledText, Name, Persona, Scope};

use crate::engine::{Transaction, Value};
use crate::write::{DatabaseWrite, Held};
use crate::{Attribution, Result, Store};

/// The time in microseconds: what both engines keep.
pub(crate) fn now() -> DateTime<Utc> {
    Utc::now().trunc_subsecs(6)
}

/// Whose state it is. Personas with a row of their own keep most of it there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub(crate) scope: Scope,
    /// The file that the persona stands in; empty for all others.
    pub(crate) origin: &'a str,
    pub(crate) name: &'a Name,
}

impl Owner<'_> {
    fn values(&self) -> [Value; 3] {
        [Value::from(self.scope.as_str()), Value::from(self.origin), Value::from(self.name)]
    }
}

/// Keeps the stage of a persona that has no row, or none for this arc.
pub(crate) async fn put_stage(
    transaction: &mut Transaction,
    owner: Owner<'_>,
    arc: &Name,
    stage: &Name,
) -> Result<()> {
    let mut values = owner.values().to_vec();
    values.extend([Value::from(arc), Value::from(stage), Value::Time(now())]);
    transaction
        .run(
            "INSERT INTO persona_state (scope, origin, name, arc, stage, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (scope, origin, name) \
             DO UPDATE SET arc = excluded.arc, stage = excluded.stage, updated_at = excluded.updated_at",
            &values,
        )
        .await?;
    Ok(())
}

const GET_STAGE: &str = "SELECT stage FROM persona_state WHERE scope = $1 AND origin = $2 AND name = $3";

/// The stage that [`put_stage`] kept.
async fn get_stage(transaction: &mut Transaction, owner: Owner<'_>) -> Result<Option<Name>> {
    let stage = transaction.text(GET_STAGE, &owner.values()).await?;
    Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
}

impl DatabaseWrite {
    /// Puts a shared persona into a stage of its own arc, or of one that it inherits.
    pub async fn set_stage(&mut self, persona: &Held<Persona>, arc: &Name, stage: &Name) -> Result<()> {
        let name = &persona.stored.entity.name;
        let changed = self
            .transaction()
            .run(
                "UPDATE persona_arc SET updated_at = $4, current_stage_id = \
                 (SELECT s.id FROM arc_stages s WHERE s.arc_id = persona_arc.arc_id AND s.name = $2) \
                 WHERE persona_id = $1 AND arc_id = (SELECT c.id FROM character_arcs c WHERE c.name = $3)",
                &[Value::Int(persona.id), Value::from(stage), Value::from(arc), Value::Time(now())],
            )
            .await?;
        if changed == 0 {
            let owner = Owner { scope: Scope::Shared, origin: "", name };
            put_stage(self.transaction(), owner, arc, stage).await?;
        }
        self.state_changed(name);
        Ok(())
    }

    /// Puts a builtin persona into a stage of its arc; only the state is kept here.
    pub async fn set_builtin_stage(&mut self, persona: &Name, arc: &Name, stage: &Name) -> Result<()> {
        let owner = Owner { scope: Scope::Builtin, origin: "", name: persona };
        put_stage(self.transaction(), owner, arc, stage).await?;
        self.state_changed(persona);
        Ok(())
    }

    /// The stage in which a builtin persona stands, if it was ever moved.
    pub async fn builtin_stage(&mut self, persona: &Name) -> Result<Option<Name>> {
        get_stage(self.transaction(), Owner { scope: Scope::Builtin, origin: "", name: persona }).await
    }

    /// The stage in which a shared persona stands.
    pub async fn stage(&mut self, persona: &Held<Persona>) -> Result<Option<Name>> {
        if persona.stored.entity.arc.is_none() {
            let owner = Owner { scope: Scope::Shared, origin: "", name: &persona.stored.entity.name };
            return get_stage(self.transaction(), owner).await;
        }
        let sql = "SELECT s.name FROM persona_arc pa JOIN arc_stages s ON s.id = pa.current_stage_id WHERE pa.persona_id = $1";
        let stage = self.transaction().text(sql, &[Value::Int(persona.id)]).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// Which personas stand in a stage.
    pub async fn personas_in_stage(&mut self, arc: &Name, stage: &Name) -> Result<Vec<Name>> {
        let sql = "SELECT p.name FROM persona_arc pa JOIN agent_personas p ON p.id = pa.persona_id \
                   JOIN arc_stages s ON s.id = pa.current_stage_id JOIN character_arcs c ON c.id = s.arc_id \
                   WHERE c.name = $1 AND s.name = $2 ORDER BY p.name";
        let names = self.transaction().texts(sql, &[Value::from(arc), Value::from(stage)]).await?;
        Ok(names.iter().filter_map(|name| Name::parse(name).ok()).collect())
    }
}

impl Store {
    /// The stage that was kept for a persona that has no row, or none for its arc.
    pub(crate) async fn kept_stage(&self, owner: Owner<'_>) -> Result<Option<Name>> {
        let stage = self.engine().text(GET_STAGE, &owner.values()).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// The stage in which a shared persona stands: in its own arc, or in one that it inherits.
    pub(crate) async fn shared_stage(&self, name: &Name) -> Result<Option<Name>> {
        let sql = "SELECT coalesce((SELECT s.name FROM persona_arc pa JOIN agent_personas p ON p.id = pa.persona_id \
                   JOIN arc_stages s ON s.id = pa.current_stage_id WHERE p.name = $1), \
                   (SELECT z.stage FROM persona_state z WHERE z.scope = 'shared' AND z.origin = '' AND z.name = $1))";
        let stage = self.engine().text(sql, &[Value::from(name)]).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// Keeps a persona's compiled text.
    pub(crate) async fn keep_compiled(&self, owner: Owner<'_>, text: &CompiledText) -> Result<Compiled> {
        let at = now();
        let attribution = Attribution { who: String::new(), front: String::new(), message: None };
        let mut write = self.write(attribution).await?;
        let compiled = [
            Value::Text(text.summary.clone()),
            Value::Text(text.detail.clone()),
            Value::Time(at),
            Value::Text(text.fingerprint.clone()),
        ];
        if owner.scope == Scope::Shared {
            let values = [vec![Value::from(owner.name)], compiled.to_vec()].concat();
            let sql = "UPDATE agent_personas SET compiled_summary = $2, compiled_detail = $3, compiled_at = $4, \
                       compiled_fingerprint = $5 WHERE name = $1";
            write.transaction().run(sql, &values).await?;
        } else {
            let values = [owner.values().to_vec(), compiled.to_vec()].concat();
            let sql = "INSERT INTO persona_state (scope, origin, name, compiled_summary, compiled_detail, compiled_at, \
                       compiled_fingerprint, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $6) \
                       ON CONFLICT (scope, origin, name) DO UPDATE SET compiled_summary = excluded.compiled_summary, \
                       compiled_detail = excluded.compiled_detail, compiled_at = excluded.compiled_at, \
                       compiled_fingerprint = excluded.compiled_fingerprint, updated_at = excluded.updated_at";
            write.transaction().run(sql, &values).await?;
        }
        write.state_changed(owner.name);
        write.commit().await?;
        Ok(Compiled {
            summary: text.summary.clone(),
            detail: text.detail.clone(),
            at,
            fingerprint: text.fingerprint.clone(),
        })
    }
}
