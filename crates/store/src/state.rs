//! State that is not authored: where a persona stands in its arc, and its compiled text. Changing
//! it makes no revision.

use chrono::{DateTime, SubsecRound as _, Utc};
use persona::{Compiled, CompiledText, Name, Persona, Scope};

use crate::engine::Value;
use crate::write::{Held, Write};
use crate::{Attribution, Result, Store};

/// The time in microseconds: what both engines keep.
pub(crate) fn now() -> DateTime<Utc> {
    Utc::now().trunc_subsecs(6)
}

impl Write {
    /// Puts a shared persona into a stage of its arc.
    pub async fn set_stage(&mut self, persona: &Held<Persona>, stage: &Name) -> Result<()> {
        let changed = self
            .transaction()
            .run(
                "UPDATE persona_arc SET updated_at = $3, current_stage_id = \
                 (SELECT s.id FROM arc_stages s WHERE s.arc_id = persona_arc.arc_id AND s.name = $2) WHERE persona_id = $1",
                &[Value::Int(persona.id), Value::from(stage), Value::Time(now())],
            )
            .await?;
        debug_assert_eq!(changed, 1, "only a persona with an arc is put into a stage");
        self.state_changed(&persona.stored.entity.name);
        Ok(())
    }

    /// Puts a builtin persona into a stage of its arc; only the state is kept here.
    pub async fn set_builtin_stage(&mut self, persona: &Name, arc: &Name, stage: &Name) -> Result<()> {
        let values = [Value::from(persona), Value::from(arc), Value::from(stage), Value::Time(now())];
        self.transaction()
            .run(
                "INSERT INTO persona_state (scope, origin, name, arc, stage, updated_at) \
                 VALUES ('builtin', '', $1, $2, $3, $4) ON CONFLICT (scope, origin, name) \
                 DO UPDATE SET arc = excluded.arc, stage = excluded.stage, updated_at = excluded.updated_at",
                &values,
            )
            .await?;
        self.state_changed(persona);
        Ok(())
    }

    /// The stage in which a builtin persona stands, if it was ever moved.
    pub async fn builtin_stage(&mut self, persona: &Name) -> Result<Option<Name>> {
        let sql = "SELECT stage FROM persona_state WHERE scope = 'builtin' AND origin = '' AND name = $1";
        let stage = self.transaction().text(sql, &[Value::from(persona)]).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// The stage in which a shared persona stands.
    pub async fn stage(&mut self, persona: &Held<Persona>) -> Result<Option<Name>> {
        let sql = "SELECT s.name FROM persona_arc pa JOIN arc_stages s ON s.id = pa.current_stage_id WHERE pa.persona_id = $1";
        let stage = self.transaction().text(sql, &[Value::Int(persona.id)]).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// How many personas stand in a stage.
    pub async fn personas_in_stage(&mut self, arc: &Name, stage: &Name) -> Result<Vec<Name>> {
        let sql = "SELECT p.name FROM persona_arc pa JOIN agent_personas p ON p.id = pa.persona_id \
                   JOIN arc_stages s ON s.id = pa.current_stage_id JOIN character_arcs c ON c.id = s.arc_id \
                   WHERE c.name = $1 AND s.name = $2 ORDER BY p.name";
        let names = self.transaction().texts(sql, &[Value::from(arc), Value::from(stage)]).await?;
        Ok(names.iter().filter_map(|name| Name::parse(name).ok()).collect())
    }
}

impl Store {
    /// Keeps a persona's compiled text.
    pub async fn keep_compiled(&self, scope: Scope, name: &Name, text: &CompiledText) -> Result<Compiled> {
        let at = now();
        let attribution = Attribution { who: String::new(), front: String::new(), message: None };
        let mut write = self.write(attribution).await?;
        let values = [
            Value::from(name),
            Value::Text(text.summary.clone()),
            Value::Text(text.detail.clone()),
            Value::Time(at),
            Value::Text(text.fingerprint.clone()),
        ];
        let sql = match scope {
            Scope::Builtin => {
                "INSERT INTO persona_state (scope, origin, name, compiled_summary, compiled_detail, compiled_at, compiled_fingerprint, updated_at) \
                 VALUES ('builtin', '', $1, $2, $3, $4, $5, $4) ON CONFLICT (scope, origin, name) \
                 DO UPDATE SET compiled_summary = excluded.compiled_summary, compiled_detail = excluded.compiled_detail, \
                 compiled_at = excluded.compiled_at, compiled_fingerprint = excluded.compiled_fingerprint, updated_at = excluded.updated_at"
            }
            Scope::Shared | Scope::Global | Scope::Project => {
                "UPDATE agent_personas SET compiled_summary = $2, compiled_detail = $3, compiled_at = $4, compiled_fingerprint = $5 WHERE name = $1"
            }
        };
        write.transaction().run(sql, &values).await?;
        write.state_changed(name);
        write.commit().await?;
        Ok(Compiled {
            summary: text.summary.clone(),
            detail: text.detail.clone(),
            at,
            fingerprint: text.fingerprint.clone(),
        })
    }
}
