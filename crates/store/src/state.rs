//! State that is not authored: the stage of a persona in its arc, its compiled text, and the session in
//! which it is edited. Changing it makes no revision.

use persona::{CharacterArc, Compiled, CompiledText, Name, Persona, Scope};
use uuid::Uuid;

use crate::write::{DatabaseWrite, Held};
use database::{Parameter, Transaction, now};

use crate::{Attribution, Result, Store};

/// The owner of state. Personas with a row of their own have most of it there.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    pub scope: Scope,
    /// The file that defines the persona. Empty for all others.
    pub origin: &'a str,
    pub name: &'a Name,
}

impl Owner<'_> {
    fn values(&self) -> [Parameter; 3] {
        [Parameter::from(self.scope.as_str()), Parameter::from(self.origin), Parameter::from(self.name)]
    }

    fn values_in(&self, arc: &Name) -> [Parameter; 4] {
        let [scope, origin, name] = self.values();
        [scope, origin, name, Parameter::from(arc)]
    }
}

/// Stores the stage of a persona that has no row, or none for this arc.
pub async fn put_stage(
    transaction: &mut Transaction,
    owner: Owner<'_>,
    arc: &Name,
    stage: &Name,
) -> Result<()> {
    let mut values = owner.values().to_vec();
    values.extend([Parameter::from(arc), Parameter::from(stage), Parameter::Time(now())]);
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

/// Stores the editing session of a persona, whatever it was before.
pub async fn put_editing_session(
    transaction: &mut Transaction,
    owner: Owner<'_>,
    session: Uuid,
) -> Result<()> {
    let mut values = owner.values().to_vec();
    values.extend([Parameter::Uuid(session), Parameter::Time(now())]);
    let sql = format!("{LINK} updated_at = excluded.updated_at");
    transaction.run(&sql, &values).await?;
    Ok(())
}

/// Links the editing session `$4` at the time `$5`.
const LINK: &str = "INSERT INTO persona_state (scope, origin, name, editing_session, updated_at) \
                    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (scope, origin, name) \
                    DO UPDATE SET editing_session = excluded.editing_session,";

const GET_STAGE: &str = "SELECT stage FROM persona_state WHERE scope = $1 AND origin = $2 AND name = $3";
const GET_STAGE_IN: &str =
    "SELECT stage FROM persona_state WHERE scope = $1 AND origin = $2 AND name = $3 AND arc = $4";

/// The stage that [`put_stage`] stored for this arc.
async fn get_stage_in(transaction: &mut Transaction, owner: Owner<'_>, arc: &Name) -> Result<Option<Name>> {
    let stage = transaction.text(GET_STAGE_IN, &owner.values_in(arc)).await?;
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
                &[
                    Parameter::Int(persona.id),
                    Parameter::from(stage),
                    Parameter::from(arc),
                    Parameter::Time(now()),
                ],
            )
            .await?;
        if changed == 0 {
            let owner = Owner { scope: Scope::Shared, origin: "", name };
            put_stage(self.transaction(), owner, arc, stage).await?;
        }
        self.state_changed(name);
        Ok(())
    }

    /// Links a shared persona to its editing session.
    pub async fn set_editing_session(&mut self, persona: &Name, session: Uuid) -> Result<()> {
        let owner = Owner { scope: Scope::Shared, origin: "", name: persona };
        put_editing_session(self.transaction(), owner, session).await
    }

    /// Puts a builtin persona into a stage of its arc. Only the state is stored here.
    pub async fn set_builtin_stage(&mut self, persona: &Name, arc: &Name, stage: &Name) -> Result<()> {
        let owner = Owner { scope: Scope::Builtin, origin: "", name: persona };
        put_stage(self.transaction(), owner, arc, stage).await?;
        self.state_changed(persona);
        Ok(())
    }

    /// The stage of a builtin persona, if it was ever moved and its arc still has the stage.
    pub async fn builtin_stage(&mut self, persona: &Name) -> Result<Option<Name>> {
        let stage = self.stored_stage(Scope::Builtin, persona).await?;
        Ok(stage.and_then(|(arc, stage)| {
            let arc = builtins::of::<CharacterArc>().get(&arc)?;
            arc.stage(stage.as_str()).map(|stage| stage.name.clone())
        }))
    }

    /// The stage that is stored beside a persona, with its arc.
    async fn stored_stage(&mut self, scope: Scope, name: &Name) -> Result<Option<(Name, Name)>> {
        let Some(arc) = self.store().walked_arc(name, scope).await? else { return Ok(None) };
        let stage = get_stage_in(self.transaction(), Owner { scope, origin: "", name }, &arc).await?;
        Ok(stage.map(|stage| (arc, stage)))
    }

    /// The stage of a shared persona.
    pub async fn stage(&mut self, persona: &Held<Persona>) -> Result<Option<Name>> {
        if persona.stored.entity.arc.is_none() {
            let kept = self.stored_stage(Scope::Shared, &persona.stored.entity.name).await?;
            return Ok(kept.map(|(_, stage)| stage));
        }
        let sql = "SELECT s.name FROM persona_arc pa JOIN arc_stages s ON s.id = pa.current_stage_id WHERE pa.persona_id = $1";
        let stage = self.transaction().text(sql, &[Parameter::Int(persona.id)]).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// The personas in a stage of their own arc, or of an inherited one.
    pub async fn personas_in_stage(&mut self, arc: &Name, stage: &Name) -> Result<Vec<Name>> {
        let sql = "SELECT p.name FROM persona_arc pa JOIN agent_personas p ON p.id = pa.persona_id \
                   JOIN arc_stages s ON s.id = pa.current_stage_id JOIN character_arcs c ON c.id = s.arc_id \
                   WHERE c.name = $1 AND s.name = $2 ORDER BY p.name";
        let heirs = "SELECT p.name FROM persona_state z JOIN agent_personas p ON p.name = z.name \
                     WHERE z.scope = 'shared' AND z.origin = '' AND z.arc = $1 AND z.stage = $2 \
                     AND NOT EXISTS (SELECT 1 FROM persona_arc pa WHERE pa.persona_id = p.id) ORDER BY p.name";
        let values = [Parameter::from(arc), Parameter::from(stage)];
        let names = self.transaction().texts(sql, &values).await?;
        let mut standing: Vec<Name> = names.iter().filter_map(|name| Name::parse(name).ok()).collect();
        let names = self.transaction().texts(heirs, &values).await?;
        for name in names.iter().filter_map(|name| Name::parse(name).ok()) {
            // Its base may have another arc now.
            if self.store().walked_arc(&name, Scope::Shared).await?.as_ref() == Some(arc) {
                standing.push(name);
            }
        }
        Ok(standing)
    }
}

impl Store {
    /// The stage that is stored for a persona that has no row, or none for its arc.
    pub async fn stored_stage(&self, owner: Owner<'_>) -> Result<Option<Name>> {
        let stage = self.engine().text(GET_STAGE, &owner.values()).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// The same, if it is stored for this arc.
    pub async fn kept_stage_in(&self, owner: Owner<'_>, arc: &Name) -> Result<Option<Name>> {
        let stage = self.engine().text(GET_STAGE_IN, &owner.values_in(arc)).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// The stage of a shared persona, in its own arc or in an inherited one.
    pub async fn shared_stage(&self, name: &Name) -> Result<Option<Name>> {
        let sql = "SELECT coalesce((SELECT s.name FROM persona_arc pa JOIN agent_personas p ON p.id = pa.persona_id \
                   JOIN arc_stages s ON s.id = pa.current_stage_id WHERE p.name = $1), \
                   (SELECT z.stage FROM persona_state z WHERE z.scope = 'shared' AND z.origin = '' AND z.name = $1))";
        let stage = self.engine().text(sql, &[Parameter::from(name)]).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// The stage of a shared persona in an arc, its own or one that it may inherit.
    pub async fn shared_stage_in(&self, name: &Name, arc: &Name) -> Result<Option<Name>> {
        let sql = "SELECT coalesce((SELECT s.name FROM persona_arc pa JOIN agent_personas p ON p.id = pa.persona_id \
                   JOIN arc_stages s ON s.id = pa.current_stage_id JOIN character_arcs c ON c.id = s.arc_id \
                   WHERE p.name = $1 AND c.name = $2), (SELECT z.stage FROM persona_state z \
                   WHERE z.scope = 'shared' AND z.origin = '' AND z.name = $1 AND z.arc = $2))";
        let stage = self.engine().text(sql, &[Parameter::from(name), Parameter::from(arc)]).await?;
        Ok(stage.and_then(|stage| Name::parse(&stage).ok()))
    }

    /// The editing session of a persona. It may be gone.
    pub async fn editing_session(&self, owner: Owner<'_>) -> Result<Option<Uuid>> {
        let sql = "SELECT CAST(editing_session AS text) FROM persona_state \
                   WHERE scope = $1 AND origin = $2 AND name = $3 AND editing_session IS NOT NULL";
        let session = self.engine().text(sql, &owner.values()).await?;
        Ok(session.and_then(|session| Uuid::parse_str(&session).ok()))
    }

    /// Links a persona to another editing session than `known`. False if it has yet another one by now.
    pub async fn link_editing_session(
        &self,
        owner: Owner<'_>,
        known: Option<Uuid>,
        session: Uuid,
    ) -> Result<bool> {
        let mut values = owner.values().to_vec();
        values.extend([Parameter::Uuid(session), Parameter::Time(now()), Parameter::MaybeUuid(known)]);
        let sql = format!(
            "{LINK} updated_at = excluded.updated_at WHERE persona_state.editing_session IS NOT DISTINCT FROM $6"
        );
        let mut transaction = self.engine().begin().await?;
        let linked = transaction.run(&sql, &values).await?;
        transaction.commit().await?;
        Ok(linked == 1)
    }

    /// Stores a persona's compiled text.
    pub async fn store_compiled(&self, owner: Owner<'_>, text: &CompiledText) -> Result<Compiled> {
        let at = now();
        let attribution = Attribution { who: String::new(), front: String::new(), message: None };
        let mut write = self.write(attribution).await?;
        let compiled = [
            Parameter::Text(text.summary.clone()),
            Parameter::Text(text.detail.clone()),
            Parameter::Time(at),
            Parameter::Text(text.fingerprint.clone()),
        ];
        if owner.scope == Scope::Shared {
            let values = [vec![Parameter::from(owner.name)], compiled.to_vec()].concat();
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
