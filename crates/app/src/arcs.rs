//! Arcs, their stages, and the current stage of a persona.

use async_recursion::async_recursion as boxed;
use persona::{Bundle, CharacterArc, Name, Persona, Scope, Stage};
use scopes::{Heir, Write};
use store::{Action, Held};

use crate::change::{Opened, Terms, keep};
use crate::inputs::{AddStage, AssignArc, OfPersona, RemoveStage, StagePart, UnassignArc};
use crate::outputs::{EntityRef, StageState, Written};
use crate::pieces::{set, set_text, some_text};
use crate::{ArcError, Author, Error, Library, Result, Users};

fn unknown_stage(arc: &CharacterArc, stage: &Name) -> Error {
    let known = arc.stages.iter().map(|stage| stage.name.to_string()).collect();
    ArcError::UnknownStage { arc: arc.name.clone(), stage: stage.clone(), known }.into()
}

fn stage_mut<'a>(arc: &'a mut CharacterArc, name: &Name) -> Result<&'a mut Stage> {
    match arc.stages.iter().position(|stage| stage.name == *name) {
        Some(at) => Ok(&mut arc.stages[at]),
        None => Err(unknown_stage(arc, name)),
    }
}

/// The order in which the store reads stages back, so that unchanged ones compare equal.
pub(crate) fn sort_stages(arc: &mut CharacterArc) {
    arc.stages.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.name.cmp(&b.name)));
}

fn first_stage(arc: &CharacterArc) -> Result<&Stage> {
    arc.walk().first().copied().ok_or_else(|| ArcError::NoStages { arc: arc.name.clone() }.into())
}

impl Library {
    /// Adds a stage to an arc, or changes the one of that name.
    #[boxed]
    pub async fn add_stage(&self, author: &Author, input: AddStage) -> Result<Written> {
        let AddStage { arc, name, stage_order, description, condition, if_revision, message, scope } = input;
        let edit = async |_: &mut Write, arc: &mut CharacterArc, _: &mut Vec<EntityRef>| {
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
        self.change(author, &arc, Terms { scope, if_revision, message }, Action::Update, edit).await
    }

    /// Removes a stage. Personas in that stage move to the first one.
    #[boxed]
    pub async fn remove_stage(&self, author: &Author, input: RemoveStage) -> Result<Written> {
        let RemoveStage { arc, stage, force, if_revision, message, scope } = input;
        let edit = async |write: &mut Write, arc: &mut CharacterArc, _: &mut Vec<EntityRef>| {
            let standing = write.personas_in_stage(&arc.name, &stage).await?;
            let mut names: Vec<String> = standing.iter().map(Name::to_string).collect();
            let heirs = self.scopes.heirs(write.scope(), &arc.name).await?.into_iter();
            let heirs = heirs.filter(|heir| heir.stage == stage);
            names.extend(heirs.map(|heir| located(&heir)));
            if !names.is_empty() && !force {
                return Err(Error::InUse {
                    kind: persona::Kind::Arc,
                    name: arc.name.clone(),
                    users: Users { named: names, stage: Some(stage.to_string()) },
                });
            }
            arc.stages.retain(|known| known.name != stage);
            Ok(())
        };
        self.change(author, &arc, Terms { scope, if_revision, message }, Action::Update, edit).await
    }

    /// Makes a part active in a stage.
    #[boxed]
    pub async fn add_stage_part(&self, author: &Author, input: StagePart) -> Result<Written> {
        let StagePart { arc, stage, part, if_revision, message, scope } = input;
        let edit = async |write: &mut Write, arc: &mut CharacterArc, copied: &mut Vec<EntityRef>| {
            self.ensure(write, persona::Kind::Part, &part, copied).await?;
            let stage = stage_mut(arc, &stage)?;
            if !stage.parts.contains(&part) {
                stage.parts.push(part);
            }
            Ok(())
        };
        self.change(author, &arc, Terms { scope, if_revision, message }, Action::Link, edit).await
    }

    #[boxed]

    pub async fn remove_stage_part(&self, author: &Author, input: StagePart) -> Result<Written> {
        let StagePart { arc, stage, part, if_revision, message, scope } = input;
        let edit = async |_: &mut Write, arc: &mut CharacterArc, _: &mut Vec<EntityRef>| {
            stage_mut(arc, &stage)?.parts.retain(|known| *known != part);
            Ok(())
        };
        self.change(author, &arc, Terms { scope, if_revision, message }, Action::Unlink, edit).await
    }

    /// Assigns an arc to a persona, in the named stage or the first one.
    #[boxed]
    pub async fn assign_arc(&self, author: &Author, input: AssignArc) -> Result<StageState> {
        let AssignArc { persona, arc, stage, if_revision, message, scope } = input;
        let scope = self.scope_for_change(persona::Kind::Persona, &persona, scope).await?;
        let mut write = self.scopes.write(scope, author.because(message)?).await?;
        let Opened { held, mut copied, .. } =
            self.open_for_change::<Persona>(&mut write, &persona, if_revision).await?;
        self.ensure(&mut write, persona::Kind::Arc, &arc, &mut copied).await?;
        let definition = self.held_arc(&mut write, &arc).await?;
        let target = match &stage {
            None => first_stage(&definition)?,
            Some(name) => definition.stage(name.as_str()).ok_or_else(|| unknown_stage(&definition, name))?,
        };
        let mut new = held.stored.entity.clone();
        new.arc = Some(arc.clone());
        let meta = if new == held.stored.entity {
            held.stored.meta.clone()
        } else {
            keep(&mut write, &held, &new, Action::Link).await?.meta
        };
        write.set_stage(&held, &arc, &target.name).await?;
        write.commit().await?;
        Ok(state(persona, meta.scope, meta.revision, &definition, target, copied))
    }

    #[boxed]

    pub async fn unassign_arc(&self, author: &Author, input: UnassignArc) -> Result<Written> {
        let UnassignArc { persona, if_revision, message, scope } = input;
        let edit = async |_: &mut Write, persona: &mut Persona, _: &mut Vec<EntityRef>| {
            persona.arc = None;
            Ok(())
        };
        self.change(author, &persona, Terms { scope, if_revision, message }, Action::Unlink, edit).await
    }

    /// Moves a persona to the next stage of its arc.
    #[boxed]
    pub async fn advance_stage(&self, input: &OfPersona) -> Result<StageState> {
        let persona = &input.persona;
        let next = |arc: &CharacterArc, current: &Name| {
            let (persona, stage) = (persona.clone(), current.clone());
            let last = || ArcError::LastStage { persona, stage, arc: arc.name.clone() }.into();
            arc.stage_after(current.as_str()).cloned().ok_or_else(last)
        };
        self.move_stage(input, next).await
    }

    /// Moves a persona back to the first stage of its arc.
    #[boxed]
    pub async fn reset_stage(&self, input: &OfPersona) -> Result<StageState> {
        self.move_stage(input, |arc, _| first_stage(arc).cloned()).await
    }

    async fn move_stage(
        &self,
        input: &OfPersona,
        choose: impl FnOnce(&CharacterArc, &Name) -> Result<Stage>,
    ) -> Result<StageState> {
        let persona = &input.persona;
        let Some(loaded) = self.scopes.load(persona, input.scope, &scopes::Overrides::new()).await? else {
            return Err(self.missing_in(persona::Kind::Persona, persona, input.scope).await);
        };
        let (from, arc) = assigned(&loaded.bundle)?;
        let scope = loaded.bundle.meta.scope;
        let attribution = Author::new("masque", "state").because(None)?;
        let keeper = if scope == Scope::Builtin { Scope::Shared } else { scope };
        let mut write = self.scopes.write(keeper, attribution).await?;
        let Some((_, arc)) = self.look_up::<CharacterArc>(from, None, arc).await? else {
            return Err(self.missing(persona::Kind::Arc, arc).await);
        };
        // Read again while the persona is held: two callers may move it at once.
        if scope == Scope::Builtin {
            let Some(database) = write.database() else {
                return Err(scopes::Error::NotOpen { scope: keeper }.into());
            };
            let current = match database.builtin_stage(persona).await? {
                Some(stage) => stage,
                None => first_stage(&arc)?.name.clone(),
            };
            let stage = choose(&arc, &current)?;
            database.set_builtin_stage(persona, &arc.name, &stage.name).await?;
            write.commit().await?;
            return Ok(state(persona.clone(), scope, 0, &arc, &stage, Vec::new()));
        }
        let Some(held) = write.find::<Persona>(persona).await? else {
            return Err(self.missing_in(persona::Kind::Persona, persona, Some(scope)).await);
        };
        let current = match write.stage(&held).await? {
            Some(stage) if arc.stage(stage.as_str()).is_some() => stage,
            _ => first_stage(&arc)?.name.clone(),
        };
        let stage = choose(&arc, &current)?;
        write.set_stage(&held, &arc.name, &stage.name).await?;
        write.commit().await?;
        let revision = held.stored.meta.revision;
        Ok(state(persona.clone(), scope, revision, &arc, &stage, Vec::new()))
    }

    /// The arc that a name means in the scope of a write; held if it is in that scope.
    async fn held_arc(&self, write: &mut Write, arc: &Name) -> Result<CharacterArc> {
        let held: Option<Held<CharacterArc>> = write.find(arc).await?;
        if let Some(held) = held {
            return Ok(held.stored.entity);
        }
        match self.look_up::<CharacterArc>(write.scope(), None, arc).await? {
            Some((_, arc)) => Ok(arc),
            None => Err(self.missing(persona::Kind::Arc, arc).await),
        }
    }
}

/// A persona of a file, with its scope.
fn located(Heir { scope, name, open, .. }: &Heir) -> String {
    if *open { format!("{name} of {scope}") } else { format!("{name} of another {scope} file") }
}

/// A persona's arc, its own or an inherited one, and the scope of the persona that names it.
fn assigned(bundle: &Bundle) -> Result<(Scope, &Name)> {
    let own = [(&bundle.persona, bundle.meta.scope)];
    let bases = bundle.bases.iter().rev().map(|base| (&base.persona, base.meta.scope));
    let arc = own.into_iter().chain(bases).find_map(|(persona, scope)| Some((scope, persona.arc.as_ref()?)));
    arc.ok_or_else(|| ArcError::NoArc { persona: bundle.persona.name.clone() }.into())
}

fn state(
    persona: Name,
    scope: Scope,
    revision: i64,
    arc: &CharacterArc,
    stage: &Stage,
    copied: Vec<EntityRef>,
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
