//! What one definition names of others, and how it follows when those are renamed.

use crate::{BaseRef, CharacterArc, Kind, Name, Persona, Scope};

/// One thing that a definition names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub kind: Kind,
    pub name: Name,
    /// Where it is, if the definition says; otherwise it is looked up from the definition's own
    /// scope downwards.
    pub scope: Option<Scope>,
    /// The field that names it.
    pub field: &'static str,
}

impl Reference {
    /// The key of the definition under which it stands.
    pub fn key(&self) -> &'static str {
        self.field.split('.').next().unwrap_or(self.field)
    }
}

/// A rename of an entity, as those who name it see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    pub kind: Kind,
    pub old: Name,
    pub new: Name,
    /// The scope in which it happened: `scope:name` of another scope means something else.
    pub scope: Scope,
}

impl Rename {
    fn name(&self, kind: Kind, name: &mut Name) -> bool {
        let hit = self.kind == kind && *name == self.old;
        if hit {
            *name = self.new.clone();
        }
        hit
    }

    fn maybe(&self, kind: Kind, name: &mut Option<Name>) -> bool {
        name.as_mut().is_some_and(|name| self.name(kind, name))
    }

    fn all(&self, kind: Kind, names: &mut [Name]) -> bool {
        names.iter_mut().fold(false, |changed, name| self.name(kind, name) | changed)
    }

    fn base(&self, base: &mut Option<BaseRef>) -> bool {
        let Some(base) = base else { return false };
        base.scope.is_none_or(|scope| scope == self.scope) && self.name(Kind::Persona, &mut base.name)
    }
}

impl Persona {
    pub(crate) fn references(&self) -> Vec<Reference> {
        let one = |kind, field, name: &Option<Name>| {
            let name = name.clone()?;
            Some(Reference { kind, name, scope: None, field })
        };
        let all = |kind, field, names: &[Name]| -> Vec<Reference> {
            let names = names.iter().cloned();
            names.map(|name| Reference { kind, name, scope: None, field }).collect()
        };
        let base = self.extends.iter().map(|base| Reference {
            kind: Kind::Persona,
            name: base.name.clone(),
            scope: base.scope,
            field: "extends",
        });
        let parts: Vec<Name> = self.parts.iter().map(|link| link.name.clone()).collect();
        let planning = self.plan_persona.as_ref().and_then(|plan| plan.tool_preset.clone());
        base.chain(all(Kind::Part, "parts", &parts))
            .chain(all(Kind::Trait, "traits", &self.traits))
            .chain(all(Kind::Skill, "skills", &self.skills))
            .chain(all(Kind::Guardrail, "guardrails", &self.guardrails))
            .chain(one(Kind::Arc, "arc", &self.arc))
            .chain(one(Kind::ToolPreset, "tool_preset", &self.tool_preset))
            .chain(one(Kind::BiasProfile, "bias_profile", &self.bias_profile))
            .chain(one(Kind::ContextPreset, "context_preset", &self.context_preset))
            .chain(one(Kind::ToolPreset, "plan_persona.tool_preset", &planning))
            .chain(all(Kind::TestInput, "test_inputs", &self.test_inputs))
            .collect()
    }

    /// Takes something out that the persona names.
    pub fn unlink(&mut self, kind: Kind, name: &Name) {
        let clear = |field: &mut Option<Name>| {
            field.take_if(|known| known == name);
        };
        match kind {
            Kind::Persona => drop(self.extends.take_if(|base| base.name == *name)),
            Kind::Part => self.parts.retain(|link| link.name != *name),
            Kind::Trait => self.traits.retain(|known| known != name),
            Kind::Skill => self.skills.retain(|known| known != name),
            Kind::Guardrail => self.guardrails.retain(|known| known != name),
            Kind::Arc => clear(&mut self.arc),
            Kind::BiasProfile => clear(&mut self.bias_profile),
            Kind::ContextPreset => clear(&mut self.context_preset),
            Kind::TestInput => self.test_inputs.retain(|known| known != name),
            Kind::ToolPreset => {
                clear(&mut self.tool_preset);
                if let Some(plan) = &mut self.plan_persona {
                    clear(&mut plan.tool_preset);
                }
            }
        }
    }

    pub(crate) fn follow_rename(&mut self, rename: &Rename) -> bool {
        let mut changed = rename.base(&mut self.extends);
        for link in &mut self.parts {
            changed |= rename.name(Kind::Part, &mut link.name);
        }
        for (kind, names) in [
            (Kind::Trait, &mut self.traits),
            (Kind::Skill, &mut self.skills),
            (Kind::Guardrail, &mut self.guardrails),
            (Kind::TestInput, &mut self.test_inputs),
            (Kind::Part, &mut self.remove_parts),
            (Kind::Trait, &mut self.remove_traits),
            (Kind::Skill, &mut self.remove_skills),
            (Kind::Guardrail, &mut self.remove_guardrails),
            (Kind::TestInput, &mut self.remove_test_inputs),
        ] {
            changed |= rename.all(kind, names);
        }
        changed |= rename.maybe(Kind::Arc, &mut self.arc);
        changed |= rename.maybe(Kind::ToolPreset, &mut self.tool_preset);
        changed |= rename.maybe(Kind::BiasProfile, &mut self.bias_profile);
        changed |= rename.maybe(Kind::ContextPreset, &mut self.context_preset);
        if let Some(plan) = &mut self.plan_persona {
            changed |= rename.maybe(Kind::ToolPreset, &mut plan.tool_preset);
        }
        changed
    }
}

impl CharacterArc {
    pub(crate) fn references(&self) -> Vec<Reference> {
        let parts = self.stages.iter().flat_map(|stage| &stage.parts);
        let part = |name: &Name| Reference {
            kind: Kind::Part,
            name: name.clone(),
            scope: None,
            field: "stages.parts",
        };
        parts.map(part).collect()
    }

    pub(crate) fn follow_rename(&mut self, rename: &Rename) -> bool {
        let stages = self.stages.iter_mut();
        stages.fold(false, |changed, stage| rename.all(Kind::Part, &mut stage.parts) | changed)
    }
}
