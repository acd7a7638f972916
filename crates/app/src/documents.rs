//! Entities as the TOML of a personas.toml, and back.

use async_recursion::async_recursion as boxed;
use std::path::Path;

use files::{Edit, Problem, ProblemLevel, document, edit};
use persona::{AnyEntity, Code, Kind, Name, Scope};

use crate::inputs::GetEntity;
use crate::outputs::Written;
use crate::{Author, DocumentError, Error, Library, Result};

/// The name of a text without a file, for messages.
const NAMELESS: &str = "personas.toml";

/// Entities as one personas.toml.
pub fn toml_of(entities: &[AnyEntity]) -> Result<String> {
    let edits: Vec<Edit<'_>> = entities.iter().map(|entity| Edit::Put { entity }).collect();
    let empty = document::Document::empty(Path::new(NAMELESS));
    let written = edit::apply("", &edits, &empty);
    Ok(written.map_err(DocumentError::from)?.text)
}

/// The text of a personas.toml, such as an export or an edited entry.
#[derive(Debug, Clone, Copy)]
pub struct TomlText<'a> {
    /// Its name in messages.
    name: &'a Path,
    text: &'a str,
    /// True if the name is the path of a file. Only a file can include other files.
    is_file: bool,
}

impl<'a> TomlText<'a> {
    /// The text of a file; included files are read from its directory.
    pub fn of_file(path: &'a Path, text: &'a str) -> Self {
        Self { name: path, text, is_file: true }
    }

    /// A text without a file; messages use this name.
    pub fn named(name: &'a str, text: &'a str) -> Self {
        Self { name: Path::new(name), text, is_file: false }
    }

    /// The entities of the text, and its warnings. Fails on the first error.
    pub(crate) fn entities(self) -> Result<(Vec<AnyEntity>, Vec<Problem>)> {
        let document = document::read(self.name, self.text).map_err(invalid)?;
        if let (Some(included), false) = (document.included.first(), self.is_file) {
            let file = included.file_name().unwrap_or_default().display().to_string();
            return Err(DocumentError::Include { file }.into());
        }
        let (errors, mut warnings): (Vec<Problem>, Vec<Problem>) =
            document.problems.iter().cloned().partition(|found| found.level == ProblemLevel::Error);
        if let Some(first) = errors.into_iter().next() {
            return Err(invalid(first));
        }
        // Servers and providers count only in a file of their own; a library does not store them.
        warnings.extend(document.connections.iter().map(|table| {
            let message = format!("[{table}] is not an entity");
            let hint = Some("write it into the project's own personas.toml".to_owned());
            Problem {
                level: ProblemLevel::Warning,
                ..Problem::of_file(self.name, Code::UnknownField, message, hint)
            }
        }));
        let entities = document.all().map(|entry| entry.entity.clone()).collect();
        Ok((entities, warnings))
    }
}

fn invalid(problem: Problem) -> Error {
    DocumentError::Wrong(Box::new(problem)).into()
}

/// A warning as an error.
pub(crate) fn as_error(problem: Problem) -> Problem {
    Problem { level: ProblemLevel::Error, ..problem }
}

/// The error for a line that would be dropped silently. In an edited text that is a mistake.
fn dropped(problem: Problem) -> Error {
    let hint = problem.hint.clone().or_else(|| Some("remove it".to_owned()));
    invalid(as_error(Problem { hint, ..problem }))
}

impl Library {
    /// An entity as TOML, with its scope and revision.
    #[boxed]
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

    /// Fails if an edit of this entity could not be saved, so that no text is typed in vain.
    #[boxed]
    pub async fn check_can_save(&self, author: &Author, kind: Kind, name: &Name, scope: Scope) -> Result<()> {
        self.check_open(scope)?;
        let Some(path) = self.scopes.path(scope) else { return Ok(()) };
        let write = self.scopes.write(scope, author.because(None)?).await?;
        write.refuse_broken(kind, name)?;
        if path.exists() { self.check_replaceable(scope).await } else { Ok(()) }
    }

    /// Saves an entity that was edited as TOML. A line without effect is an error.
    #[expect(clippy::too_many_arguments, reason = "an edit has that many sides")]
    #[boxed]
    pub async fn save_toml<'a>(
        &'a self,
        author: &'a Author,
        kind: Kind,
        name: &'a Name,
        text: TomlText<'a>,
        scope: Scope,
        if_revision: Option<i64>,
        message: Option<String>,
    ) -> Result<Written> {
        let (entities, warnings) = text.entities()?;
        let is_dropped = |problem: &Problem| problem.cause != Code::SaysNothing;
        if let Some(first) = warnings.into_iter().find(is_dropped) {
            return Err(dropped(first));
        }
        match <[AnyEntity; 1]>::try_from(entities) {
            Ok([entity]) if entity.kind() == kind && entity.name() == name => {
                self.save(author, scope, entity, if_revision, message).await
            }
            Ok([entity]) => {
                let (found_kind, found_name) = (entity.kind(), entity.name().clone());
                Err(DocumentError::OtherEntry { kind, name: name.clone(), found_kind, found_name }.into())
            }
            Err(others) => {
                Err(DocumentError::NotOneEntry { kind, name: name.clone(), count: others.len() }.into())
            }
        }
    }
}
