//! Entities as TOML, the way they stand in a personas.toml, and back.

use std::path::Path;

use persona::{AnyEntity, Kind, Name, Scope};
use store::files::{Edit, document, edit};

use crate::inputs::GetEntity;
use crate::outputs::Written;
use crate::{Author, Error, Library, Result};

/// The name that a text without a file goes by in messages.
const NAMELESS: &str = "personas.toml";

/// Entities as one personas.toml.
pub fn toml_of(entities: &[AnyEntity]) -> Result<String> {
    let edits: Vec<Edit<'_>> = entities.iter().map(|entity| Edit::Put { entity }).collect();
    let empty = document::Document::empty(Path::new(NAMELESS));
    let written = edit::apply("", &edits, &empty);
    Ok(written.map_err(|error| Error::Invalid(error.to_string()))?.text)
}

/// The entities of a personas.toml that is not a file, such as an export or an editor's text. Any
/// mistake refuses all of it.
pub(crate) fn entities_of(name: &str, text: &str) -> Result<(Vec<AnyEntity>, Vec<String>)> {
    let problem = |problem: &store::files::Problem| Error::Invalid(problem.to_string());
    let document = document::read(Path::new(name), text).map_err(|error| problem(&error))?;
    let (errors, warnings): (Vec<_>, Vec<_>) =
        document.problems.iter().partition(|found| found.level == store::files::Level::Error);
    if let Some(first) = errors.first() {
        return Err(problem(first));
    }
    if let Some(included) = document.included.first() {
        let file = included.display();
        return Err(Error::Invalid(format!("the text takes a field from {file}; write it out instead")));
    }
    let entities = document.entries.values().flat_map(|entries| entries.values());
    let entities = entities.map(|entry| entry.entity.clone()).collect();
    Ok((entities, warnings.into_iter().map(ToString::to_string).collect()))
}

impl Library {
    /// An entity as TOML, with the scope and the revision that it is of.
    pub async fn entity_toml(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
    ) -> Result<(String, Scope, i64)> {
        let input = GetEntity { kind, name: name.clone(), revision: None, scope };
        let found = self.get_entity(&input).await?;
        Ok((toml_of(&[found.entity])?, found.meta.scope, found.meta.revision))
    }

    /// Keeps an entity that was edited as TOML.
    #[expect(clippy::too_many_arguments, reason = "an edit has that many sides")]
    pub async fn save_toml(
        &self,
        author: &Author,
        kind: Kind,
        name: &Name,
        text: &str,
        scope: Scope,
        if_revision: Option<i64>,
        message: Option<String>,
    ) -> Result<Written> {
        let (entities, _) = entities_of(NAMELESS, text)?;
        let table = format!("[{}.{name}]", kind.table());
        match <[AnyEntity; 1]>::try_from(entities) {
            Ok([entity]) if entity.kind() == kind && entity.name() == name => {
                self.save(author, scope, entity, if_revision, message).await
            }
            Ok([entity]) => Err(Error::Invalid(format!(
                "the text has [{}.{}], but {table} is edited; rename it with `masque rename`",
                entity.kind().table(),
                entity.name()
            ))),
            Err(others) => {
                let count = others.len();
                Err(Error::Invalid(format!(
                    "the text must have {table} and nothing else; it has {count} entries"
                )))
            }
        }
    }
}
