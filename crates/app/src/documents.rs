//! Entities as TOML, the way they stand in a personas.toml, and back.

use async_recursion::async_recursion as boxed;
use std::path::Path;

use files::{Edit, Level, Problem, document, edit};
use persona::{AnyEntity, Kind, Name, Scope};

use crate::inputs::GetEntity;
use crate::outputs::Written;
use crate::{Author, DocumentError, Error, Library, Result};

/// The name that a text without a file goes by in messages.
const NAMELESS: &str = "personas.toml";

/// Entities as one personas.toml.
pub fn toml_of(entities: &[AnyEntity]) -> Result<String> {
    let edits: Vec<Edit<'_>> = entities.iter().map(|entity| Edit::Put { entity }).collect();
    let empty = document::Document::empty(Path::new(NAMELESS));
    let written = edit::apply("", &edits, &empty);
    Ok(written.map_err(DocumentError::from)?.text)
}

/// The text of a personas.toml, such as an export or what an editor left.
#[derive(Debug, Clone, Copy)]
pub struct TomlText<'a> {
    /// What messages call it.
    name: &'a Path,
    text: &'a str,
    /// Whether the name is the path of a file, beside which other texts may lie.
    is_file: bool,
}

impl<'a> TomlText<'a> {
    /// The text of a file; what it includes is read from beside it.
    pub fn of_file(path: &'a Path, text: &'a str) -> Self {
        Self { name: path, text, is_file: true }
    }

    /// A text that is no file; messages call it by this name.
    pub fn named(name: &'a str, text: &'a str) -> Self {
        Self { name: Path::new(name), text, is_file: false }
    }

    /// What it defines, with what is doubtful about it. Any mistake refuses all of it.
    pub(crate) fn entities(self) -> Result<(Vec<AnyEntity>, Vec<Problem>)> {
        let document = document::read(self.name, self.text).map_err(wrong)?;
        if let (Some(included), false) = (document.included.first(), self.is_file) {
            let file = included.file_name().unwrap_or_default().display().to_string();
            return Err(DocumentError::Include { file }.into());
        }
        let (errors, mut warnings): (Vec<Problem>, Vec<Problem>) =
            document.problems.iter().cloned().partition(|found| found.level == Level::Error);
        if let Some(first) = errors.into_iter().next() {
            return Err(wrong(first));
        }
        // What names servers and providers counts in a file that stays where it is; no library keeps it.
        warnings.extend(document.connections.iter().map(|table| {
            let message = format!("[{table}] is no entity, and is left out");
            let hint = Some("write it into the personas.toml of the project itself".to_owned());
            Problem { level: Level::Warning, ..Problem::of_file(self.name, message, hint) }
        }));
        let entities = document.all().map(|entry| entry.entity.clone()).collect();
        Ok((entities, warnings))
    }
}

fn wrong(problem: Problem) -> Error {
    DocumentError::Wrong(Box::new(problem)).into()
}

/// A doubt in words that do not call it a warning.
pub(crate) fn as_error(problem: Problem) -> Problem {
    Problem { level: Level::Error, ..problem }
}

/// What would be dropped in silence from a text that somebody typed is a mistake of it.
fn dropped(problem: Problem) -> Error {
    let message = problem.message.replace(", which has no effect", "").replace(", and is left out", "");
    let hint = problem.hint.clone().or_else(|| Some("take it out".to_owned()));
    wrong(as_error(Problem { message, hint, ..problem }))
}

impl Library {
    /// An entity as TOML, with the scope and the revision that it is of.
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

    /// Refuses where what is edited could not be saved: before somebody has written it.
    #[boxed]
    pub async fn check_can_save(&self, author: &Author, kind: Kind, name: &Name, scope: Scope) -> Result<()> {
        self.check_open(scope)?;
        let Some(path) = self.scopes.path(scope) else { return Ok(()) };
        let write = self.scopes.write(scope, author.because(None)?).await?;
        write.refuse_broken(kind, name)?;
        if path.exists() { self.check_replaceable(scope).await } else { Ok(()) }
    }

    /// Keeps an entity that was edited as TOML. What would be lost of the text is a mistake.
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
        let (entities, doubts) = text.entities()?;
        if let Some(first) = doubts.into_iter().next() {
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
