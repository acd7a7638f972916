//! Inherited summaries and descriptions in lists.

use std::collections::BTreeMap;

use persona::{BaseRef, Chain, Name, Persona, Scope, shortened};
use store::Found;

use crate::{Library, Result};

/// The fields of a base that a list shows.
struct BaseFields {
    description: Option<String>,
    summary: Option<String>,
    /// The beginning of the prompt, in place of a summary.
    beginning: Option<String>,
    extends: Option<BaseRef>,
}

impl From<Persona> for BaseFields {
    fn from(persona: Persona) -> Self {
        let Persona { description, summary, system_prompt, extends, .. } = persona;
        let beginning = system_prompt.map(|text| shortened(&text)).filter(|text| !text.is_empty());
        Self { description, summary, beginning, extends }
    }
}

/// Bases that were read for one page; `None` for those that do not exist. Most personas of a page
/// share a base.
type BaseCache = BTreeMap<(Scope, Name), Option<BaseFields>>;

impl Library {
    /// Fills in the summaries and descriptions that personas of a page inherit. Reads nothing for
    /// personas without a base.
    pub(crate) async fn fill_inherited(&self, items: &mut [Found]) -> Result<()> {
        let mut bases = BaseCache::new();
        for found in items.iter_mut().filter(|found| found.extends.is_some()) {
            self.inherit(found, &mut bases).await?;
        }
        Ok(())
    }

    /// Follows the bases of one persona until both fields are known. A broken chain ends the search;
    /// loading the persona reports it.
    async fn inherit(&self, found: &mut Found, bases: &mut BaseCache) -> Result<()> {
        let mut chain = Chain::start(found.scope, found.name.clone());
        let mut next = found.extends.clone();
        let mut beginning = None;
        while let Some(base) = next.take() {
            let has_summary = found.summary.is_some() && !found.is_derived;
            if has_summary && found.description.is_some() {
                break;
            }
            let Ok(scopes) = chain.scopes_of(&base) else { break };
            let Some((scope, given)) = self.first_base(&scopes, &base.name, bases).await? else { break };
            if chain.push(scope, base.name).is_err() {
                break;
            }
            if !has_summary && given.summary.is_some() {
                found.summary.clone_from(&given.summary);
                found.is_derived = false;
            }
            if found.description.is_none() {
                found.description.clone_from(&given.description);
            }
            beginning = beginning.or_else(|| given.beginning.clone());
            next.clone_from(&given.extends);
        }
        if found.summary.is_none() && found.description.is_none() {
            found.summary = beginning;
        }
        Ok(())
    }

    /// The base of a name in the first of these scopes that has it.
    async fn first_base<'r>(
        &self,
        scopes: &[Scope],
        name: &Name,
        bases: &'r mut BaseCache,
    ) -> Result<Option<(Scope, &'r BaseFields)>> {
        for scope in scopes {
            let key = (*scope, name.clone());
            if !bases.contains_key(&key) {
                let stored = self.scopes.get::<Persona>(name, Some(*scope)).await?;
                bases.insert(key.clone(), stored.map(|stored| stored.entity.into()));
            }
            if bases.get(&key).is_some_and(Option::is_some) {
                return Ok(bases.get(&key).and_then(Option::as_ref).map(|given| (*scope, given)));
            }
        }
        Ok(None)
    }
}
