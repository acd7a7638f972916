//! Arcs: their stages, and where a persona stands in one.

use persona::{CharacterArc, Name, Persona, Scope, Stage};
use store::{Action, Builtins, Held, Write};

use crate::change::{Opened, Terms, keep};
use crate::inputs::{AddStage, AssignArc, RemoveStage, StagePart, UnassignArc};
use crate::library::near_hint;
use crate::outputs::{Piece, StageState, Written};
use crate::pieces::{set, set_text, some_text};
use crate::{Author, Error, Library, Result};

fn unknown_stage(arc: &CharacterArc, stage: &Name) -> Error {
    let hint =
        near_hint(stage.as_str(), arc.stages.iter().map(|stage| stage.name.as_str()).collect::<Vec<_>>());
    Error::Invalid(format!("arc {:?} has no stage {:?}; {hint}", arc.name.as_str(), stage.as_str()))
}

fn stage_mut<'a>(arc: &'a mut CharacterArc, name: &Name) -> Result<&'a mut Stage> {
    match arc.stages.iter().position(|stage| stage.name == *name) {
        Some(at) => Ok(&mut arc.stages[at]),
        None => Err(unknown_stage(arc, name)),
    }
}

/// The order in which the store reads stages back, so that unchanged ones compare equal.
fn sort_stages(arc: &mut CharacterArc) {
    arc.stages.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.name.cmp(&b.name)));
}

fn first_stage(arc: &CharacterArc) -> Result<&Stage> {
    arc.walk().first().copied().ok_or_else(|| {
        Error::Invalid(format!("arc {:?} has no stages yet; add one first", arc.name.as_str()))
    })
}

impl Library {
    /// Adds a stage to an arc, or changes the one of that name.
    pub async fn add_stage(&self, author: &Author, input: AddStage) -> Result<Written> {
        let AddStage { arc, name, stage_order, description, condition, if_revision, message } = input;
        let edit = async |_: &mut Write, arc: &mut CharacterArc, _: &mut Vec<Piece>| {
            if let Ok(stage) = stage_mut(arc, &name) {
                set(&mut stage.order, stage_order);
                set_text(&mut stage.description, description);
                set_text(&mut stage.condition, condition);
            } else {
                let last = arc.stages.iter().map(|stage| stage.order).max();
                arc.stages.push(Stage {
                    name,
                    order: stage_order.unwrap_or_else(|| last.map_or(1, |last| last.saturating_add(1))),
                    description: some_text(description),
                    condition: some_text(condition),
                    parts: Vec::new(),
                });
            }
            sort_stages(arc);
            Ok(())
        };
        self.change(author, &arc, Terms { if_revision, message }, Action::Update, edit).await
    }

    /// Removes a stage; personas that stand in it go to the first one.
    pub async fn remove_stage(&self, author: &Author, input: RemoveStage) -> Result<Written> {
        let RemoveStage { arc, stage, force, if_revision, message } = input;
        let edit = async |write: &mut Write, arc: &mut CharacterArc, _: &mut Vec<Piece>| {
            let standing = write.personas_in_stage(&arc.name, &stage).await?;
            if !standing.is_empty() && !force {
                let names: Vec<&str> = standing.iter().take(10).map(Name::as_str).collect();
                return Err(Error::InUse {
                    kind: persona::Kind::Arc,
                    name: arc.name.clone(),
                    users: format!("{} in stage {stage}", names.join(", ")),
                });
            }
            arc.stages.retain(|known| known.name != stage);
            Ok(())
        };
        self.change(author, &arc, Terms { if_revision, message }, Action::Update, edit).await
    }

    /// Makes a part active in a stage.
    pub async fn add_stage_part(&self, author: &Author, input: StagePart) -> Result<Written> {
        let StagePart { arc, stage, part, if_revision, message } = input;
        let edit = async |write: &mut Write, arc: &mut CharacterArc, copied: &mut Vec<Piece>| {
            self.ensure_shared::<persona::Part>(write, &part, copied).await?;
            let stage = stage_mut(arc, &stage)?;
            if !stage.parts.contains(&part) {
                stage.parts.push(part);
            }
            Ok(())
        };
        self.change(author, &arc, Terms { if_revision, message }, Action::Link, edit).await
    }

    pub async fn remove_stage_part(&self, author: &Author, input: StagePart) -> Result<Written> {
        let StagePart { arc, stage, part, if_revision, message } = input;
        let edit = async |_: &mut Write, arc: &mut CharacterArc, _: &mut Vec<Piece>| {
            stage_mut(arc, &stage)?.parts.retain(|known| *known != part);
            Ok(())
        };
        self.change(author, &arc, Terms { if_revision, message }, Action::Link, edit).await
    }

    /// Gives a persona an arc and puts it into the named stage, or the first.
    pub async fn assign_arc(&self, author: &Author, input: AssignArc) -> Result<StageState> {
        let AssignArc { persona, arc, stage, if_revision, message } = input;
        let mut write = self.store.write(author.because(message)?).await?;
        let Opened { held, mut copied } =
            self.open_for_change::<Persona>(&mut write, &persona, if_revision).await?;
        self.ensure_shared::<CharacterArc>(&mut write, &arc, &mut copied).await?;
        let definition = self.held_arc(&mut write, &arc).await?;
        let target = match &stage {
            None => first_stage(&definition)?,
            Some(name) => definition.stage(name.as_str()).ok_or_else(|| unknown_stage(&definition, name))?,
        };
        let mut new = held.stored.entity.clone();
        new.arc = Some(arc);
        let meta = if new == held.stored.entity {
            held.stored.meta.clone()
        } else {
            keep(&mut write, &held, &new, Action::Link).await?.meta
        };
        write.set_stage(&held, &target.name).await?;
        write.commit().await?;
        Ok(state(persona, meta.scope, meta.revision, &definition, target, copied))
    }

    pub async fn unassign_arc(&self, author: &Author, input: UnassignArc) -> Result<Written> {
        let UnassignArc { persona, if_revision, message } = input;
        let edit = async |_: &mut Write, persona: &mut Persona, _: &mut Vec<Piece>| {
            persona.arc = None;
            Ok(())
        };
        self.change(author, &persona, Terms { if_revision, message }, Action::Link, edit).await
    }

    /// Moves a persona to the next stage of its arc.
    pub async fn advance_stage(&self, persona: &Name) -> Result<StageState> {
        let next = |arc: &CharacterArc, current: Option<&Name>| {
            let Some(current) = current else { return first_stage(arc).cloned() };
            arc.stage_after(current.as_str()).cloned().ok_or_else(|| {
                Error::Invalid(format!(
                    "persona {:?} is in {:?}, the last stage of arc {:?}; reset its stage to start over",
                    persona.as_str(),
                    current.as_str(),
                    arc.name.as_str()
                ))
            })
        };
        self.move_stage(persona, next).await
    }

    /// Moves a persona back to the first stage of its arc.
    pub async fn reset_stage(&self, persona: &Name) -> Result<StageState> {
        self.move_stage(persona, |arc, _| first_stage(arc).cloned()).await
    }

    async fn move_stage(
        &self,
        persona: &Name,
        choose: impl FnOnce(&CharacterArc, Option<&Name>) -> Result<Stage>,
    ) -> Result<StageState> {
        let attribution = Author::new("masque", "state").because(None)?;
        let mut write = self.store.write(attribution).await?;
        if let Some(held) = write.find::<Persona>(persona).await? {
            let arc = assigned(&held.stored.entity)?;
            let arc = self.held_arc(&mut write, arc).await?;
            let stage = choose(&arc, write.stage(&held).await?.as_ref())?;
            write.set_stage(&held, &stage.name).await?;
            write.commit().await?;
            let meta = &held.stored.meta;
            return Ok(state(persona.clone(), meta.scope, meta.revision, &arc, &stage, Vec::new()));
        }
        let Some(entity) = Builtins::get().personas.get(persona) else {
            return Err(self.missing(persona::Kind::Persona, persona).await);
        };
        let Some(arc) = Builtins::get().arcs.get(assigned(entity)?) else {
            return Err(Error::Invalid(format!("the arc of {:?} is not there", persona.as_str())));
        };
        let current = match write.builtin_stage(persona).await? {
            Some(stage) => stage,
            None => first_stage(arc)?.name.clone(),
        };
        let stage = choose(arc, Some(&current))?;
        write.set_builtin_stage(persona, &arc.name, &stage.name).await?;
        write.commit().await?;
        Ok(state(persona.clone(), Scope::Builtin, 0, arc, &stage, Vec::new()))
    }

    async fn held_arc(&self, write: &mut Write, arc: &Name) -> Result<CharacterArc> {
        let held: Option<Held<CharacterArc>> = write.find(arc).await?;
        match held {
            Some(held) => Ok(held.stored.entity),
            None => Err(self.missing(persona::Kind::Arc, arc).await),
        }
    }
}

fn assigned(persona: &Persona) -> Result<&Name> {
    persona.arc.as_ref().ok_or_else(|| {
        Error::Invalid(format!("persona {:?} has no arc; assign it one first", persona.name.as_str()))
    })
}

fn state(
    persona: Name,
    scope: Scope,
    revision: i64,
    arc: &CharacterArc,
    stage: &Stage,
    copied: Vec<Piece>,
) -> StageState {
    let walk = arc.walk();
    let at = walk.iter().position(|known| known.name == stage.name).unwrap_or(0);
    StageState {
        persona,
        scope,
        revision,
        arc: arc.name.clone(),
        stage: stage.name.clone(),
        position: at as i64 + 1,
        of: walk.len() as i64,
        description: stage.description.clone(),
        condition: stage.condition.clone(),
        copied,
    }
}
