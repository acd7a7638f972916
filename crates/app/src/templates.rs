//! New personas from templates and duplicates; personas with their bases merged in.

use async_recursion::async_recursion as boxed;
use persona::explain::{Explanation, Holders, WrittenOut};
use persona::{AnyEntity, Bundle, Kind, Name, Persona, Scope, limits, with_entity};

use crate::change::check_revision;
use crate::editing::EDITOR;
use crate::inputs::{DuplicateEntity, GetPersona, List};
use crate::outputs::{Page, PersonaSettings, Written};
use crate::{Author, Library, Result, ValueError};

/// The tag of builtins. Copies drop it.
const BUILTIN_TAG: &str = "builtin";

/// A copy of a builtin, without the tag of builtins.
pub(crate) fn untagged_copy(mut builtin: AnyEntity) -> AnyEntity {
    with_entity!(&mut builtin, entity => entity.tags.retain(|tag| tag != BUILTIN_TAG));
    builtin
}

impl Library {
    /// Creates a persona from a builtin one.
    #[boxed]
    pub async fn new_from_template(
        &self,
        author: &Author,
        template: &Name,
        name: Name,
        scope: Option<Scope>,
        message: Option<String>,
    ) -> Result<Written> {
        let Some(builtin) = builtins::of::<Persona>().get(template) else {
            let known = builtins::of::<Persona>().keys().map(Name::to_string).collect();
            return Err(ValueError::Template { name: template.clone(), known }.into());
        };
        let mut persona = untagged_copy(builtin.clone().into());
        persona.set_name(name);
        let message = message.or_else(|| Some(format!("from the template {template}")));
        let scope = self.scope_for_new(scope);
        self.save(author, scope, persona, Some(0), message).await
    }

    /// Copies an entity under another name, or into another scope.
    #[boxed]
    pub async fn duplicate(&self, author: &Author, input: DuplicateEntity) -> Result<Written> {
        let DuplicateEntity { kind, name, new_name, to, message, if_revision, scope: from } = input;
        let Some(stored) = self.scopes.get_any(kind, &name, from).await? else {
            return Err(self.missing_in(kind, &name, from).await);
        };
        check_revision(kind, &name, if_revision, stored.meta.revision)?;
        let found = stored.meta.scope;
        let to = to.unwrap_or(if found == Scope::Builtin { self.default_scope } else { found });
        let mut entity = stored.entity;
        self.check_same_meaning(&entity.references(), (found, to)).await?;
        entity.set_name(new_name);
        if found == Scope::Builtin {
            entity = untagged_copy(entity);
        }
        let message = message.or_else(|| Some(format!("a copy of {found}:{name}")));
        self.save(author, to, entity, Some(0), message).await
    }

    /// A persona with everything it inherits merged in, and no base.
    #[boxed]
    pub async fn flat(&self, input: &crate::inputs::ByName) -> Result<Persona> {
        let loaded = self.load(&input.name, input.scope, &persona::AssemblyRequest::default()).await?;
        Ok(persona::explain::flat(&loaded.bundle))
    }

    /// The same, with the names that would mean something else in the persona's scope.
    #[boxed]
    pub async fn written_out(&self, input: &crate::inputs::ByName) -> Result<WrittenOut> {
        let loaded = self.load(&input.name, input.scope, &persona::AssemblyRequest::default()).await?;
        let holders = self.holders(&loaded.bundle, []).await?;
        Ok(persona::explain::written_out(&loaded.bundle, &holders))
    }

    /// The settings of a persona for runtimes, inherited or its own. No view for an agent has them.
    #[boxed]
    pub async fn settings(&self, input: &GetPersona) -> Result<PersonaSettings> {
        let whole = self.whole(input, &persona::AssemblyRequest::default()).await?;
        let flat = AnyEntity::from(persona::explain::flat(whole.bundle()));
        let set = flat.values().into_iter().filter(|(field, value)| field.is_setting && !value.is_unset());
        Ok(PersonaSettings(set.map(|(field, value)| (field.name.to_owned(), value.to_json())).collect()))
    }

    /// The layer and scope that each field and part of a persona comes from.
    #[boxed]
    pub async fn explain(&self, input: &crate::inputs::ByName) -> Result<Explanation> {
        let loaded = self.load(&input.name, input.scope, &persona::AssemblyRequest::default()).await?;
        let holders = self.holders(&loaded.bundle, []).await?;
        Ok(persona::explain::explain(&loaded.bundle, &holders))
    }

    /// The scopes of everything that a persona and its bases refer to. `drafted` is not stored, but counts.
    pub(crate) async fn holders<'d>(
        &self,
        bundle: &Bundle,
        drafted: impl IntoIterator<Item = (Scope, Kind, &'d Name)>,
    ) -> Result<Holders> {
        let names = persona::explain::named(bundle);
        let mut stored = self.scopes.scopes_of_each(&names).await?;
        for (scope, kind, name) in drafted {
            let scopes = stored.entry((kind, name.clone())).or_default();
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        let mut holders = Holders::default();
        for ((kind, name), scopes) in stored {
            holders.insert(kind, name, scopes);
        }
        Ok(holders)
    }

    /// The personas that new ones can be made from.
    #[boxed]
    pub async fn list_templates(&self) -> Result<Page> {
        let limit = u32::try_from(limits::PAGE).ok();
        let list = List { tags: None, query: None, limit, cursor: None, scope: Some(Scope::Builtin) };
        let mut page = self.list(Kind::Persona, list).await?;
        // No persona should start from the editor's own.
        page.items.retain(|item| item.name.as_str() != EDITOR);
        Ok(page)
    }
}
