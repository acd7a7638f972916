//! Builtins are read-only: what is to be changed or linked in shared is copied there first.

use std::collections::BTreeMap;

use persona::{CharacterArc, Guardrail, Kind, Name, Part, Persona, Skill, Trait};
use store::{Action, Builtins, Keep, Write};

use crate::outputs::Piece;
use crate::{Library, Result};

/// A kind that can be copied out of the builtins.
pub(crate) trait Copy: Keep + Clone + PartialEq + 'static {
    fn builtins() -> &'static BTreeMap<Name, Self>;

    /// What must be in shared before this can be.
    fn pieces(&self) -> Vec<(Kind, Name)> {
        Vec::new()
    }
}

macro_rules! copy {
    ($($type:ident => $field:ident),+) => {
        $(impl Copy for $type {
            fn builtins() -> &'static BTreeMap<Name, Self> {
                &Builtins::get().$field
            }
        })+
    };
}

copy!(Part => parts, Trait => traits, Skill => skills, Guardrail => guardrails);

impl Copy for Persona {
    fn builtins() -> &'static BTreeMap<Name, Self> {
        &Builtins::get().personas
    }

    fn pieces(&self) -> Vec<(Kind, Name)> {
        let parts = self.parts.iter().map(|link| (Kind::Part, link.name.clone()));
        let of =
            |kind: Kind, names: &[Name]| names.iter().map(|name| (kind, name.clone())).collect::<Vec<_>>();
        parts
            .chain(of(Kind::Trait, &self.traits))
            .chain(of(Kind::Skill, &self.skills))
            .chain(of(Kind::Guardrail, &self.guardrails))
            .chain(self.arc.iter().map(|arc| (Kind::Arc, arc.clone())))
            .collect()
    }
}

impl Copy for CharacterArc {
    fn builtins() -> &'static BTreeMap<Name, Self> {
        &Builtins::get().arcs
    }

    fn pieces(&self) -> Vec<(Kind, Name)> {
        self.stages.iter().flat_map(|stage| &stage.parts).map(|part| (Kind::Part, part.clone())).collect()
    }
}

impl Library {
    /// Sees to it that shared has this entity: it is there, or it is copied from the builtins with
    /// everything that it refers to. What was copied is added to `copied`.
    pub(crate) async fn ensure_shared<T: Copy>(
        &self,
        write: &mut Write,
        name: &Name,
        copied: &mut Vec<Piece>,
    ) -> Result<()> {
        if write.has(T::KIND, name).await? {
            return Ok(());
        }
        let Some(entity) = T::builtins().get(name) else {
            return Err(self.missing(T::KIND, name).await);
        };
        for (kind, piece) in entity.pieces() {
            // The only kinds with pieces are personas and arcs, so this goes two levels deep.
            Box::pin(self.ensure_shared_kind(write, kind, &piece, copied)).await?;
        }
        write.insert(entity, Action::Create).await.map_err(|error| match error {
            // Somebody copied it between our look and our insert.
            store::Error::Exists { kind, name } => store::Error::Raced { kind, name },
            other => other,
        })?;
        copied.push(Piece { kind: T::KIND, name: name.clone() });
        if T::KIND == Kind::Persona {
            self.carry_stage(write, name).await?;
        }
        Ok(())
    }

    pub(crate) async fn ensure_shared_kind(
        &self,
        write: &mut Write,
        kind: Kind,
        name: &Name,
        copied: &mut Vec<Piece>,
    ) -> Result<()> {
        match kind {
            Kind::Persona => self.ensure_shared::<Persona>(write, name, copied).await,
            Kind::Part => self.ensure_shared::<Part>(write, name, copied).await,
            Kind::Trait => self.ensure_shared::<Trait>(write, name, copied).await,
            Kind::Skill => self.ensure_shared::<Skill>(write, name, copied).await,
            Kind::Guardrail => self.ensure_shared::<Guardrail>(write, name, copied).await,
            Kind::Arc => self.ensure_shared::<CharacterArc>(write, name, copied).await,
        }
    }

    /// A copied persona stands where the builtin stood.
    async fn carry_stage(&self, write: &mut Write, name: &Name) -> Result<()> {
        let Some(stage) = write.builtin_stage(name).await? else { return Ok(()) };
        if let Some(held) = write.find::<Persona>(name).await? {
            write.set_stage(&held, &stage).await?;
        }
        Ok(())
    }
}
