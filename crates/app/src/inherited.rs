//! What lists show of personas that leave it to their bases.

use std::collections::BTreeMap;

use persona::{BaseRef, Chain, Name, Persona, Scope, first_sentence};
use store::Found;

use crate::{Library, Result};

/// What a list needs to know of a base.
struct Given {
    description: Option<String>,
    summary: Option<String>,
    /// What a summary is derived from where nobody sets one.
    sentence: Option<String>,
    extends: Option<BaseRef>,
}

impl From<Persona> for Given {
    fn from(persona: Persona) -> Self {
        let Persona { description, summary, system_prompt, extends, .. } = persona;
        let sentence = system_prompt.map(|text| first_sentence(&text).to_owned());
        Self { description, summary, sentence: sentence.filter(|text| !text.is_empty()), extends }
    }
}

/// Bases that were read for one page, none where there is none: most personas of a page that have
/// a base have the same one.
type Read = BTreeMap<(Scope, Name), Option<Given>>;

impl Library {
    /// Fills in the summaries and descriptions that personas of a page inherit. Those that set their
    /// own or have no base cost nothing.
    pub(crate) async fn fill_inherited(&self, items: &mut [Found]) -> Result<()> {
        let mut read = Read::new();
        for found in items.iter_mut().filter(|found| found.extends.is_some()) {
            self.inherit(found, &mut read).await?;
        }
        Ok(())
    }

    /// Follows the bases of one persona as far as something is missing. A chain that breaks off gives
    /// what it gives; whoever loads the persona is told.
    async fn inherit(&self, found: &mut Found, read: &mut Read) -> Result<()> {
        let mut chain = Chain::start(found.scope, found.name.clone());
        let mut next = found.extends.clone();
        let mut sentence = None;
        while let Some(base) = next.take() {
            let has_summary = found.summary.is_some() && !found.is_derived;
            if has_summary && found.description.is_some() {
                break;
            }
            let Ok(scopes) = chain.scopes_of(&base) else { break };
            let Some((scope, given)) = self.first_given(&scopes, &base.name, read).await? else { break };
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
            sentence = sentence.or_else(|| given.sentence.clone());
            next.clone_from(&given.extends);
        }
        if found.summary.is_none() && found.description.is_none() {
            found.summary = sentence;
        }
        Ok(())
    }

    /// The base that a name means: the first of these scopes that has it.
    async fn first_given<'r>(
        &self,
        scopes: &[Scope],
        name: &Name,
        read: &'r mut Read,
    ) -> Result<Option<(Scope, &'r Given)>> {
        for scope in scopes {
            let key = (*scope, name.clone());
            if !read.contains_key(&key) {
                let stored = self.scopes.get::<Persona>(name, Some(*scope)).await?;
                read.insert(key.clone(), stored.map(|stored| stored.entity.into()));
            }
            if read.get(&key).is_some_and(Option::is_some) {
                return Ok(read.get(&key).and_then(Option::as_ref).map(|given| (*scope, given)));
            }
        }
        Ok(None)
    }
}
