//! The library's side of editing one persona: reading it, copying a builtin, its test inputs.

use async_recursion::async_recursion as boxed;
use persona::{AnyEntity, Kind, Name, Persona, Scope, Stored, catalog};
use scopes::Write;
use serde_json::Map;
use store::Action;

use crate::change::Terms;
use crate::entities;
use crate::inputs::Delete;
use crate::library::checked;
use crate::outputs::{Deleted, EntityRef, ScopedEntityRef, Written};
use crate::{Author, Library, Result};

/// Characters of a test input's content that its id is made of.
const ID_CHARS: usize = 40;
/// The id of a test input whose content has no letters that a name may have.
const PLAIN_ID: &str = "test-input";

impl Library {
    /// A persona as it was written, from the strongest scope that has it.
    pub(super) async fn edited_persona(&self, name: &Name) -> Result<Stored<Persona>> {
        match self.scopes.get::<Persona>(name, None).await? {
            Some(stored) => Ok(stored),
            None => Err(self.missing(Kind::Persona, name).await),
        }
    }

    /// A piece as a definition of `from` means it.
    #[boxed]
    pub(super) async fn meant_piece(
        &self,
        from: Scope,
        kind: Kind,
        name: &Name,
    ) -> Result<Stored<AnyEntity>> {
        for scope in catalog::reach(from, None) {
            if let Some(stored) = self.scopes.get_any(kind, name, Some(scope)).await? {
                return Ok(stored);
            }
        }
        Err(self.missing(kind, name).await)
    }

    /// Copies a builtin persona with the pieces that its copy needs. Returns everything that was copied.
    #[boxed]
    pub(super) async fn copy_for_editing(
        &self,
        author: &Author,
        persona: &Name,
        scope: Scope,
        message: Option<String>,
    ) -> Result<Vec<EntityRef>> {
        let mut write = self.scopes.write(scope, author.because(message)?).await?;
        let mut copied = Vec::new();
        self.hold(&mut write, Kind::Persona, persona, &mut copied).await?;
        write.commit().await?;
        Ok(copied)
    }

    /// Creates a test input beside a persona and links it, in one write. Returns its id.
    #[boxed]
    pub(super) async fn create_test_input(
        &self,
        author: &Author,
        persona: &Name,
        content: &str,
        terms: Terms,
    ) -> Result<(Name, Written)> {
        let id = self.new_test_input_id(content).await?;
        let fields = Map::from_iter([("content".to_owned(), content.into())]);
        let input = entities::parse(Kind::TestInput, id.as_str(), fields)?;
        checked(&input)?;
        let edit = async |write: &mut Write, persona: &mut Persona, _: &mut Vec<EntityRef>| {
            write.insert(&input, Action::Create).await?;
            persona.test_inputs.push(id.clone());
            Ok(())
        };
        let written = self.change(author, persona, terms, Action::Link, edit).await?;
        let created = vec![EntityRef { kind: Kind::TestInput, name: id.clone() }];
        Ok((id, Written { created, ..written }))
    }

    /// A name for a test input that no scope has, made of its first words.
    async fn new_test_input_id(&self, content: &str) -> Result<Name> {
        let stem = id_stem(content);
        let mut number = 1;
        loop {
            let text = if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
            number += 1;
            let Ok(name) = Name::parse(&text) else { continue };
            if self.scopes.scopes_of(Kind::TestInput, &name).await?.is_empty() {
                return Ok(name);
            }
        }
    }

    /// Unlinks a test input from every persona and deletes it. A builtin one is only unlinked. Returns the
    /// writes and the deletion.
    #[boxed]
    pub(super) async fn delete_test_input(
        &self,
        author: &Author,
        persona: &Stored<Persona>,
        input: &Stored<AnyEntity>,
        terms: Terms,
    ) -> Result<(Vec<Written>, Option<Deleted>)> {
        let Terms { if_revision, message, .. } = terms;
        let (id, scope) = (input.entity.name().clone(), input.meta.scope);
        let mut unlinked = Vec::new();
        if scope != persona.meta.scope {
            let place = ScopedEntityRef {
                scope: persona.meta.scope,
                kind: Kind::Persona,
                name: persona.entity.name.clone(),
            };
            unlinked.push(self.unlink_test_input(author, place, &id, message.clone()).await?);
        }
        if scope == Scope::Builtin {
            return Ok((unlinked, None));
        }
        let delete = Delete {
            name: id.clone(),
            force: true,
            if_revision,
            message: message.clone(),
            scope: Some(scope),
        };
        let deleted = self.delete(author, Kind::TestInput, delete).await?;
        for place in deleted.left_without.iter().filter(|place| place.kind == Kind::Persona) {
            unlinked.push(self.unlink_test_input(author, place.clone(), &id, message.clone()).await?);
        }
        Ok((unlinked, Some(deleted)))
    }

    async fn unlink_test_input(
        &self,
        author: &Author,
        place: ScopedEntityRef,
        id: &Name,
        message: Option<String>,
    ) -> Result<Written> {
        let ScopedEntityRef { scope, kind, name } = place;
        let terms = Terms { scope: Some(scope), if_revision: None, message };
        let id = id.clone();
        let edit = move |entity: &mut AnyEntity| {
            if let AnyEntity::Persona(persona) = entity {
                persona.unlink(Kind::TestInput, &id);
            }
            Ok(())
        };
        self.change_any(author, kind, &name, terms, Action::Unlink, Box::new(edit)).await
    }
}

/// The first words of a text as a name.
fn id_stem(content: &str) -> String {
    let mut stem = String::new();
    for c in content.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => stem.push(c.to_ascii_lowercase()),
            _ if stem.is_empty() || stem.ends_with('-') => {}
            _ => stem.push('-'),
        }
        if stem.len() >= ID_CHARS {
            break;
        }
    }
    let stem = stem.trim_end_matches('-');
    if stem.is_empty() { PLAIN_ID.to_owned() } else { stem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_first_words() {
        for (content, id) in [
            ("What is 2+2?", "what-is-2-2"),
            ("  Hello,   World!  ", "hello-world"),
            ("Write a function that reverses a string, in Rust", "write-a-function-that-reverses-a-string"),
            ("東京", PLAIN_ID),
            ("", PLAIN_ID),
            ("--x", "x"),
        ] {
            assert_eq!(id_stem(content), id, "{content:?}");
            assert!(Name::parse(id).is_ok(), "{id}");
        }
    }
}
