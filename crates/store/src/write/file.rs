//! Writing to a personas.toml: entries change, every other byte stays.
//!
//! While a change is open, its file is held against other tasks and other Masque processes. The
//! history is written in a transaction that commits only after the file was replaced, so that
//! whoever sees the new file finds the change recorded already.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use persona::{AnyEntity, Kind, Meta, Name, Persona, Scope, Stored};
use tokio::sync::OwnedMutexGuard;

use super::{Action, Attribution, Held, Keep};
use crate::engine::{BUSY_TIMEOUT, Value};
use crate::files::{Document, Edit, Edited, Entry, Level, Lock, Problem, ReplaceError, disk, document, edit};
use crate::scopes::{Recorded, ScopeFile, Scopes, Snapshot, put_origin};
use crate::state::{self, Owner};
use crate::{Change, Error, Result};

/// An open change of a file. Dropped without [`FileWrite::commit`], it leaves no trace.
#[derive(Debug)]
pub(crate) struct FileWrite {
    scopes: Scopes,
    file: Arc<ScopeFile>,
    attribution: Attribution,
    /// The file as it was read; none where there is none yet.
    text: Option<String>,
    snapshot: Arc<Snapshot>,
    /// What this change made of entries so far; none where it deleted one.
    changed: BTreeMap<(Kind, Name), Option<Arc<Entry>>>,
    /// Where entries that this change touched stand in the history once it is recorded.
    metas: BTreeMap<(Kind, Name), Meta>,
    steps: Vec<Step>,
    records: Vec<Recorded>,
    stages: Vec<(Name, Name, Name)>,
    /// Set once a step has failed: what went before it must not be kept without it.
    failed: bool,
    _busy: OwnedMutexGuard<()>,
    _lock: Lock,
}

#[derive(Debug)]
enum Step {
    Put(Box<AnyEntity>),
    Remove(Kind, Name),
    Rename(Kind, Name, Name),
}

impl FileWrite {
    pub(crate) async fn begin(
        scopes: Scopes,
        file: Arc<ScopeFile>,
        attribution: Attribution,
    ) -> Result<Self> {
        let busy = tokio::time::timeout(BUSY_TIMEOUT, file.busy.clone().lock_owned()).await;
        let busy = busy.map_err(|_| Error::FileBusy { path: file.path.display().to_string() })?;
        let (locks, origin) = (scopes.locks().to_owned(), file.origin.clone());
        let lock = tokio::task::spawn_blocking(move || Lock::acquire(&locks, &origin, BUSY_TIMEOUT)).await;
        let lock = lock.map_err(|error| Error::Invalid(format!("waiting was interrupted: {error}")))??;
        let text = scopes.reload_held(&file).await?;
        let snapshot = file.current();
        if let Some(problem) = &snapshot.broken {
            return Err(Error::Problem(Box::new(problem.clone())));
        }
        Ok(Self {
            scopes,
            file,
            attribution,
            text,
            snapshot,
            changed: BTreeMap::new(),
            metas: BTreeMap::new(),
            steps: Vec::new(),
            records: Vec::new(),
            stages: Vec::new(),
            failed: false,
            _busy: busy,
            _lock: lock,
        })
    }

    pub(super) fn scope(&self) -> Scope {
        self.file.scope
    }

    fn entry(&self, kind: Kind, name: &Name) -> Option<Arc<Entry>> {
        match self.changed.get(&(kind, name.clone())) {
            Some(changed) => changed.clone(),
            None => self.snapshot.find(kind, name),
        }
    }

    pub(super) fn has(&self, kind: Kind, name: &Name) -> bool {
        self.entry(kind, name).is_some()
    }

    pub(super) async fn find<T: Keep>(&self, name: &Name) -> Result<Option<Held<T>>> {
        let entry = self.entry(T::KIND, name);
        let Some(entity) = entry.and_then(|entry| T::try_from(entry.entity.clone()).ok()) else {
            return Ok(None);
        };
        let meta = self.meta(T::KIND, name).await?;
        Ok(Some(Held { id: 0, stored: Stored { entity, meta } }))
    }

    /// The entry's place in the history, with what this change has made of it so far.
    async fn meta(&self, kind: Kind, name: &Name) -> Result<Meta> {
        match self.metas.get(&(kind, name.clone())) {
            Some(meta) => Ok(meta.clone()),
            None => self.scopes.file_meta(&self.file, kind, name).await,
        }
    }

    /// The place in the history that an entry gets next; `held` is what it goes on from.
    async fn next(&mut self, kind: Kind, name: &Name, held: Option<&Meta>) -> Result<Meta> {
        let newest = self.scopes.newest(&self.file, kind, name).await?;
        let made = self.metas.get(&(kind, name.clone())).map_or(0, |meta| meta.revision);
        let now = Some(state::now());
        let meta = Meta {
            scope: self.file.scope,
            revision: newest.max(made).max(held.map_or(0, |meta| meta.revision)) + 1,
            guid: None,
            created_at: held.and_then(|meta| meta.created_at).or(now),
            updated_at: now,
        };
        self.metas.insert((kind, name.clone()), meta.clone());
        Ok(meta)
    }

    pub(super) async fn insert<T: Keep>(&mut self, entity: &T, action: Action) -> Result<Stored<T>> {
        let inserted = self.insert_entry(entity, action).await;
        self.failed |= inserted.is_err();
        inserted
    }

    async fn insert_entry<T: Keep>(&mut self, entity: &T, action: Action) -> Result<Stored<T>> {
        self.scopes.check_writable(&self.file)?;
        if self.has(T::KIND, entity.name()) {
            return Err(Error::Exists { kind: T::KIND, name: entity.name().clone() });
        }
        self.refuse_broken(T::KIND, entity.name())?;
        let meta = self.next(T::KIND, entity.name(), None).await?;
        self.put(entity.clone().into(), action, None);
        Ok(Stored { entity: entity.clone(), meta })
    }

    pub(super) async fn replace<T: Keep>(
        &mut self,
        held: &Held<T>,
        entity: &T,
        action: Action,
    ) -> Result<Stored<T>> {
        let replaced = self.replace_entry(held, entity, action).await;
        self.failed |= replaced.is_err();
        replaced
    }

    async fn replace_entry<T: Keep>(
        &mut self,
        held: &Held<T>,
        entity: &T,
        action: Action,
    ) -> Result<Stored<T>> {
        self.scopes.check_writable(&self.file)?;
        let old = held.stored.entity.name();
        let renamed = old != entity.name();
        if renamed && self.has(T::KIND, entity.name()) {
            return Err(Error::Exists { kind: T::KIND, name: entity.name().clone() });
        }
        self.refuse_broken(T::KIND, old)?;
        self.refuse_broken(T::KIND, entity.name())?;
        let meta = self.next(T::KIND, entity.name(), Some(&held.stored.meta)).await?;
        if renamed {
            self.steps.push(Step::Rename(T::KIND, old.clone(), entity.name().clone()));
            self.changed.insert((T::KIND, old.clone()), None);
        }
        self.put(entity.clone().into(), action, renamed.then(|| old.clone()));
        Ok(Stored { entity: entity.clone(), meta })
    }

    fn put(&mut self, entity: AnyEntity, action: Action, renamed_from: Option<Name>) {
        let entry = Entry::new(entity.clone());
        let hash = entry.hash.clone();
        self.changed.insert((entity.kind(), entity.name().clone()), Some(Arc::new(entry)));
        self.steps.push(Step::Put(Box::new(entity.clone())));
        self.records.push(Recorded { action, entity, hash, renamed_from });
    }

    pub(super) fn remove<T: Keep>(&mut self, held: &Held<T>) -> Result<()> {
        if let Err(refused) = self.scopes.check_writable(&self.file) {
            self.failed = true;
            return Err(refused);
        }
        let name = held.stored.entity.name();
        let entity: AnyEntity = held.stored.entity.clone().into();
        let hash = Entry::new(entity.clone()).hash;
        let meta = &held.stored.meta;
        self.metas.insert((T::KIND, name.clone()), Meta { revision: meta.revision + 1, ..meta.clone() });
        self.changed.insert((T::KIND, name.clone()), None);
        self.steps.push(Step::Remove(T::KIND, name.clone()));
        self.records.push(Recorded { action: Action::Delete, entity, hash, renamed_from: None });
        Ok(())
    }

    /// Entries of this file that would mean nothing by this name any more; where a weaker scope
    /// has it too, they mean that one from then on.
    pub(super) async fn users(&self, kind: Kind, name: &Name) -> Result<Vec<(Kind, Name)>> {
        let below = self.scopes.scopes_of(kind, name).await?;
        let falls_back = below.iter().any(|scope| *scope < self.file.scope);
        let entries = self.entries();
        let uses = |entity: &AnyEntity| {
            entity.references().iter().any(|reference| {
                let means = match reference.scope {
                    Some(scope) => scope == self.file.scope,
                    None => !falls_back,
                };
                reference.kind == kind && reference.name == *name && means
            })
        };
        let users = entries.iter().filter(|entry| uses(&entry.entity));
        Ok(users.map(|entry| (entry.entity.kind(), entry.entity.name().clone())).collect())
    }

    /// All entries as this change leaves them.
    fn entries(&self) -> Vec<Arc<Entry>> {
        let kept = self.snapshot.document.entries.iter().flat_map(|(kind, entries)| {
            entries.iter().filter(move |(name, _)| !self.changed.contains_key(&(*kind, (*name).clone())))
        });
        let kept = kept.map(|(_, entry)| entry.clone());
        kept.chain(self.changed.values().flatten().cloned()).collect()
    }

    pub(super) async fn stage(&self, persona: &Name) -> Result<Option<Name>> {
        let Some(arc) = self.walked_arc(persona).await? else { return Ok(None) };
        if let Some((_, known, stage)) = self.stages.iter().rev().find(|(name, _, _)| name == persona) {
            return Ok(Some(stage.clone()).filter(|_| *known == arc));
        }
        self.scopes.local().kept_stage_in(self.owner(persona), &arc).await
    }

    /// The arc that a persona walks: its own as this change leaves it, or an inherited one.
    async fn walked_arc(&self, persona: &Name) -> Result<Option<Name>> {
        let Some(entry) = self.entry(Kind::Persona, persona) else { return Ok(None) };
        match &entry.entity {
            AnyEntity::Persona(Persona { arc: Some(arc), .. }) => Ok(Some(arc.clone())),
            _ => self.scopes.walked_arc(persona, self.file.scope).await,
        }
    }

    fn owner<'a>(&'a self, name: &'a Name) -> Owner<'a> {
        Owner { scope: self.file.scope, origin: &self.file.origin, name }
    }

    pub(super) fn set_stage(&mut self, persona: &Name, arc: &Name, stage: &Name) {
        self.stages.push((persona.clone(), arc.clone(), stage.clone()));
    }

    pub(super) async fn personas_in_stage(&self, arc: &Name, stage: &Name) -> Result<Vec<Name>> {
        let sql = "SELECT name FROM persona_state WHERE scope = $1 AND origin = $2 AND arc = $3 AND stage = $4 ORDER BY name";
        let values = [
            Value::from(self.file.scope.as_str()),
            Value::from(self.file.origin.as_str()),
            Value::from(arc),
            Value::from(stage),
        ];
        let names = self.scopes.local().engine().texts(sql.to_owned(), &values).await?;
        let mut standing = Vec::new();
        for name in names.iter().filter_map(|name| Name::parse(name).ok()) {
            if self.walked_arc(&name).await?.as_ref() == Some(arc) {
                standing.push(name);
            }
        }
        Ok(standing)
    }

    pub(super) async fn commit(self) -> Result<()> {
        if self.failed {
            return Err(Error::Invalid(super::STEP_FAILED.to_owned()));
        }
        let edited = self.edited()?;
        // Where the editor cannot say what reading the new text gives, it is read below.
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
            state::put_stage(&mut transaction, self.owner(persona), arc, stage).await?;
            changes.push(Change::Entity { kind: Kind::Persona, name: persona.clone(), listed: false });
        }
        let replaced = edited.is_some();
        if let Some(edited) = edited {
            self.replace_file(edited).await?;
        }
        let committed = transaction.commit().await;
        if replaced {
            changes.extend(self.file.publish(Snapshot::new(document, None)));
        }
        self.scopes.announce(changes);
        if replaced && known.is_none() {
            self.scopes.reload_written(&self.file).await?;
        }
        committed
    }

    /// The new text, where the file changes at all.
    fn edited(&self) -> Result<Option<Edited>> {
        if self.steps.is_empty() {
            return Ok(None);
        }
        let steps: Vec<Edit<'_>> = self.steps.iter().map(Step::edit).collect();
        let text = self.text.as_deref().unwrap_or_default();
        let path = self.file.path.display();
        let edited = edit::apply(text, &steps, &self.as_written());
        edited.map(Some).map_err(|error| Error::Invalid(format!("{path}: {error}")))
    }

    /// What the text itself says: without the earlier states that are in force for bad entries.
    fn as_written(&self) -> Cow<'_, Document> {
        let mut document = Cow::Borrowed(&self.snapshot.document);
        for (kind, name) in &self.snapshot.document.broken {
            if let Some(entries) = document.to_mut().entries.get_mut(kind) {
                entries.remove(name);
            }
        }
        document
    }

    /// A bad entry is somebody's work, which nothing has recorded: only they can mend it.
    fn refuse_broken(&self, kind: Kind, name: &Name) -> Result<()> {
        let document = &self.snapshot.document;
        if !document.is_broken(kind, name.as_str()) || self.changed.contains_key(&(kind, name.clone())) {
            return Ok(());
        }
        let is_of = |problem: &&Problem| {
            problem.level == Level::Error
                && problem.entry.as_ref().is_some_and(|(of, entry)| *of == kind && entry == name.as_str())
        };
        Err(match document.problems.iter().find(is_of) {
            Some(problem) => Error::Problem(Box::new(problem.clone())),
            None => {
                Error::Invalid(format!("{} {name:?} has a mistake in the file; mend it first", kind.spoken()))
            }
        })
    }

    /// The file's entries after this change.
    fn after(&self) -> Document {
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

    async fn replace_file(&self, edited: Edited) -> Result<()> {
        let (path, old) = (self.file.path.clone(), self.text.clone());
        let Edited { text, files, document: _ } = edited;
        let replaced = tokio::task::spawn_blocking(move || {
            let directory = document::directory_of(&path).to_owned();
            for (relative, content) in files {
                let target = directory.join(relative);
                let before = disk::read_bytes(&target)?;
                let replaced = disk::replace(&target, before.as_deref(), content.as_bytes());
                replaced.map_err(|error| failed(&target, error))?;
            }
            if old.as_deref() == Some(text.as_str()) {
                return Ok(());
            }
            let replaced = disk::replace(&path, old.as_deref().map(str::as_bytes), text.as_bytes());
            replaced.map_err(|error| failed(&path, error))
        });
        replaced.await.map_err(|error| Error::Invalid(format!("writing was interrupted: {error}")))?
    }
}

fn failed(path: &std::path::Path, error: ReplaceError) -> Error {
    let path = path.display().to_string();
    match error {
        ReplaceError::Changed => Error::FileChanged { path },
        ReplaceError::Io(source) => Error::File { path, source },
    }
}

impl Step {
    fn edit(&self) -> Edit<'_> {
        match self {
            Self::Put(entity) => Edit::Put { entity },
            Self::Remove(kind, name) => Edit::Remove { kind: *kind, name },
            Self::Rename(kind, old, new) => Edit::Rename { kind: *kind, old, new },
        }
    }
}
