//! Personas out of others: from templates, as duplicates, written out.

use async_recursion::async_recursion as boxed;
use builtins::Builtins;
use persona::explain::{Explanation, Holders, WrittenOut};
use persona::{AnyEntity, Bundle, Kind, Name, Persona, Scope, with_entity};

use crate::inputs::GetPersona;
use crate::outputs::{Settings, Written};
use crate::{Author, Library, Result, ValueError};

/// What marks those that come with Masque; what somebody makes of one is theirs.
const BUILTIN_TAG: &str = "builtin";

/// A copy of a builtin, without what marks it as one.
pub(crate) fn theirs(mut builtin: AnyEntity) -> AnyEntity {
    with_entity!(&mut builtin, entity => entity.tags.retain(|tag| tag != BUILTIN_TAG));
    builtin
}

impl Library {
    /// Clones a builtin persona as an ordinary one.
    #[boxed]
    pub async fn new_from_template(
        &self,
        author: &Author,
        template: &Name,
        name: Name,
        scope: Option<Scope>,
        message: Option<String>,
    ) -> Result<Written> {
        let Some(builtin) = Builtins::get().personas.get(template) else {
            let known = Builtins::get().personas.keys().map(Name::to_string).collect();
            return Err(ValueError::Template { name: template.clone(), known }.into());
        };
        let mut persona = theirs(builtin.clone().into());
        persona.set_name(name);
        let message = message.or_else(|| Some(format!("from the template {template}")));
        let scope = self.scope_for_new(scope);
        self.save(author, scope, persona, Some(0), message).await
    }

    /// Copies an entity under another name, or into another scope.
    #[expect(clippy::too_many_arguments, reason = "a copy has two ends")]
    #[boxed]
    pub async fn duplicate(
        &self,
        author: &Author,
        kind: Kind,
        name: &Name,
        new_name: Name,
        from: Option<Scope>,
        to: Option<Scope>,
        message: Option<String>,
    ) -> Result<Written> {
        let Some(stored) = self.scopes.get_any(kind, name, from).await? else {
            return Err(self.missing_in(kind, name, from).await);
        };
        let found = stored.meta.scope;
        let to = to.unwrap_or(if found == Scope::Builtin { self.default_scope } else { found });
        let mut entity = stored.entity;
        self.check_same_meaning(&entity.references(), (found, to)).await?;
        entity.set_name(new_name);
        if found == Scope::Builtin {
            entity = theirs(entity);
        }
        let message = message.or_else(|| Some(format!("a copy of {found}:{name}")));
        self.save(author, to, entity, Some(0), message).await
    }

    /// A persona as if it had been written out: everything that it inherits, and no base.
    #[boxed]
    pub async fn flat(&self, input: &crate::inputs::ByName) -> Result<Persona> {
        let loaded = self.load(&input.name, input.scope, &persona::Request::default()).await?;
        Ok(persona::explain::flat(&loaded.bundle))
    }

    /// The same, with what of it would mean something else where the persona is kept.
    #[boxed]
    pub async fn written_out(&self, input: &crate::inputs::ByName) -> Result<WrittenOut> {
        let loaded = self.load(&input.name, input.scope, &persona::Request::default()).await?;
        let holders = self.holders(&loaded.bundle).await?;
        Ok(persona::explain::written_out(&loaded.bundle, &holders))
    }

    /// What a persona sets for those that run it, inherited or its own; no view for an agent has it.
    #[boxed]
    pub async fn settings(&self, input: &GetPersona) -> Result<Settings> {
        let whole = self.whole(input, &persona::Request::default()).await?;
        let flat = AnyEntity::from(persona::explain::flat(whole.bundle()));
        let set = flat.values().into_iter().filter(|(field, value)| field.is_setting && !value.is_unset());
        Ok(Settings(set.map(|(field, value)| (field.name.to_owned(), value.to_json())).collect()))
    }

    /// Which layer and scope each field and part of a persona came from.
    #[boxed]
    pub async fn explain(&self, input: &crate::inputs::ByName) -> Result<Explanation> {
        let loaded = self.load(&input.name, input.scope, &persona::Request::default()).await?;
        let holders = self.holders(&loaded.bundle).await?;
        Ok(persona::explain::explain(&loaded.bundle, &holders))
    }

    /// Which scopes have what a persona and its bases name.
    async fn holders(&self, bundle: &Bundle) -> Result<Holders> {
        let mut holders = Holders::default();
        for (kind, name) in persona::explain::named(bundle) {
            let scopes = self.scopes.scopes_of(kind, &name).await?;
            holders.insert(kind, name, scopes);
        }
        Ok(holders)
    }
}
