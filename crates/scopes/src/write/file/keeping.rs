//! Commits a write to a file: its history and its text, both or neither.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use persona::{Kind, Scope};

use super::{FileWrite, Step};
use crate::scopes::{Snapshot, is_current, put_origin};
use files::disk::{Replaced, Replacement};
use files::{Document, Edit, Edited, ReplaceError, canonical, disk, document, edit};
use store::{Change, LockOwner, put_editing_session, put_lock, put_stage};

use crate::{Error, Result};

impl FileWrite {
    /// Fails if a commit would be refused.
    pub(crate) async fn check_commit(&self) -> Result<()> {
        if self.failed {
            return Err(store::Error::StepFailed.into());
        }
        self.check_grants().await?;
        self.edited().map(drop)
    }

    pub(crate) async fn commit(self) -> Result<()> {
        if self.failed {
            return Err(store::Error::StepFailed.into());
        }
        self.check_grants().await?;
        let edited = self.edited()?;
        // If the editor does not know the document of the new text, it is read below.
        let known = edited.as_ref().and_then(|edited| edited.document.clone());
        let document = known.clone().unwrap_or_else(|| self.after());
        let mut transaction = self.scopes.local().engine().begin().await?;
        let mut changes: Vec<Change> = Vec::new();
        if edited.is_some() {
            let record =
                self.scopes.record(&mut transaction, &self.file, &self.records, &document, &self.attribution);
            record.await?;
            put_origin(&mut transaction, &self.file, &document.hash).await?;
        }
        for (persona, arc, stage) in &self.stages {
            put_stage(&mut transaction, self.owner(persona), arc, stage).await?;
            changes.push(Change::Entity { kind: Kind::Persona, name: persona.clone(), listed: false });
        }
        for (persona, session) in &self.editing_sessions {
            put_editing_session(&mut transaction, self.owner(persona), *session).await?;
        }
        for (kind, name, field) in &self.locks {
            let (scope, origin) = (self.file.scope, self.file.origin.as_str());
            let owner = LockOwner { scope, origin, kind: *kind, name };
            put_lock(&mut transaction, owner, field).await?;
        }
        let replaced = match edited {
            Some(edited) => Some(self.replace_files(edited).await?),
            None => None,
        };
        if let Err(error) = transaction.commit().await {
            return Err(match replaced {
                Some(replaced) => undone(&self.file.path, replaced, error.into()).await,
                None => error.into(),
            });
        }
        if replaced.is_some() {
            changes.extend(self.file.publish(Snapshot::new(document, None)));
        }
        self.scopes.announce(changes);
        if replaced.is_some() && known.is_none() {
            self.scopes.reload_written(&self.file).await?;
        }
        Ok(())
    }

    /// The new text, if the file changes.
    fn edited(&self) -> Result<Option<Edited>> {
        if self.steps.is_empty() {
            return Ok(None);
        }
        let steps: Vec<Edit<'_>> = self.steps.iter().map(Step::edit).collect();
        let text = self.text.as_deref().unwrap_or_default();
        let edited = edit::apply(text, &steps, &self.as_written());
        edited
            .map(Some)
            .map_err(|source| Error::Unwritable { path: self.file.path.display().to_string(), source })
    }

    /// The document of the text alone, without the earlier versions in force for entries with errors.
    fn as_written(&self) -> Cow<'_, Document> {
        let mut document = Cow::Borrowed(&self.snapshot.document);
        for (kind, name) in &self.snapshot.document.broken {
            if let Some(entries) = document.to_mut().entries.get_mut(kind) {
                entries.remove(name);
            }
        }
        document
    }

    /// The file's entries after this change.
    pub(super) fn after(&self) -> Document {
        let mut document = self.snapshot.document.clone();
        document.hash = String::new();
        for ((kind, name), entry) in &self.changed {
            let entries = document.entries.entry(*kind).or_default();
            match entry {
                Some(entry) => entries.insert(name.clone(), entry.clone()),
                None => entries.remove(name),
            };
            document.problems.retain(|problem| {
                problem.entry.as_ref().is_none_or(|(of, entry)| of != kind || entry != name.as_str())
            });
        }
        document
    }

    /// Replaces the file and those that it includes, or none of them.
    async fn replace_files(&self, edited: Edited) -> Result<Replaced> {
        let (path, expected) = (self.file.path.clone(), self.text.clone().map(String::into_bytes));
        let Edited { text, files, document: _ } = edited;
        let whole = Replacement { path: path.clone(), expected, new: text.into_bytes() };
        if files.is_empty() {
            return in_place(vec![whole]).await;
        }
        let scopes: Vec<(Scope, PathBuf)> =
            self.scopes.files().map(|file| (file.scope, file.path.clone())).collect();
        let (directory, file) = (document::directory_of(&path).to_owned(), path.clone());
        let read = tokio::task::spawn_blocking(move || included(&file, &directory, files, &scopes)).await;
        let mut replacements = read.map_err(interrupted)??;
        // The expected content of an included file was read just now, not when the write began.
        if !is_current(&path, &self.snapshot.document).await? {
            return Err(failed(&path, ReplaceError::Changed));
        }
        replacements.push(whole);
        in_place(replacements).await
    }
}

/// The included texts that change. None may replace the file of a scope, whatever its name.
fn included(
    file: &Path,
    directory: &Path,
    texts: Vec<(PathBuf, String)>,
    scopes: &[(Scope, PathBuf)],
) -> Result<Vec<Replacement>> {
    let mut replacements = Vec::new();
    for (relative, text) in texts {
        let path = directory.join(relative);
        let real = canonical(&path);
        if let Some((scope, _)) = scopes.iter().find(|(_, scope)| canonical(scope) == real) {
            return Err(Error::IncludesScope {
                file: file.display().to_string(),
                path: path.display().to_string(),
                scope: *scope,
            });
        }
        let expected = disk::read_bytes(&path)?;
        replacements.push(Replacement { path, expected, new: text.into_bytes() });
    }
    Ok(replacements)
}

async fn in_place(replacements: Vec<Replacement>) -> Result<Replaced> {
    let replaced = tokio::task::spawn_blocking(|| disk::replace_all(replacements)).await;
    let replaced = replaced.map_err(interrupted)?;
    replaced.map_err(|(path, error)| failed(&path, error))
}

/// The error of a change that could not be recorded, after its files are restored.
async fn undone(path: &Path, replaced: Replaced, error: Error) -> Error {
    match tokio::task::spawn_blocking(|| replaced.undo()).await {
        Ok(Ok(())) => error,
        Ok(Err(left)) => half_done(path, format!("{error}; {left}")),
        Err(left) => half_done(path, format!("{error}; {}", interrupted(left))),
    }
}

fn half_done(path: &Path, message: String) -> Error {
    files::Error::Unsettled { path: path.display().to_string(), source: io::Error::other(message) }.into()
}

fn interrupted(source: tokio::task::JoinError) -> Error {
    Error::Interrupted { doing: "writing the file", source }
}

fn failed(path: &Path, error: ReplaceError) -> Error {
    let path = path.display().to_string();
    match error {
        ReplaceError::Changed => Error::FileChanged { path },
        ReplaceError::Io(source) => files::Error::File { path, source }.into(),
        ReplaceError::Unsettled(source) => files::Error::Unsettled { path, source }.into(),
    }
}
