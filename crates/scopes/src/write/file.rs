//! Writes to a personas.toml: entries change, every other byte stays.
//!
//! An open write locks its file against other tasks and other Masque processes. The history commits only
//! after the file was replaced, so that a reader of the new file finds the change recorded. If the commit
//! fails, the file is restored.

use std::collections::BTreeMap;
use std::sync::Arc;

use persona::{AnyEntity, Kind, Meta, Name, Persona, Scope, Stored};
use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

use crate::scopes::{Recorded, ScopeFile, Scopes, Snapshot};
use crate::{Error, Result};
use database::{BUSY_TIMEOUT, Parameter, now};
use files::{Edit, FileEntry, Lock, Problem};
use store::{Action, Attribution, Held, Owner};

mod grants;
mod keeping;

/// An open write to a file. Dropped without [`FileWrite::commit`], it leaves no trace.
#[derive(Debug)]
pub(crate) struct FileWrite {
    scopes: Scopes,
    file: Arc<ScopeFile>,
    attribution: Attribution,
    /// The text of the file as read. `None` if the file is missing.
    text: Option<String>,
    snapshot: Arc<Snapshot>,
    /// The entries that this write has changed so far. `None` for a deleted one.
    changed: BTreeMap<(Kind, Name), Option<Arc<FileEntry>>>,
    /// The future metadata of the entries that this write has touched.
    metas: BTreeMap<(Kind, Name), Meta>,
    steps: Vec<Step>,
    records: Vec<Recorded>,
    stages: Vec<(Name, Name, Name)>,
    editing_sessions: Vec<(Name, Uuid)>,
    locks: Vec<(Kind, Name, String)>,
    /// Set once a step has failed. The steps before it must not be committed without it.
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
        let busy = busy.map_err(|_| files::Error::FileBusy { path: file.path.display().to_string() })?;
        let (locks, origin) = (scopes.locks().to_owned(), file.origin.clone());
        let lock = tokio::task::spawn_blocking(move || Lock::acquire(&locks, &origin, BUSY_TIMEOUT)).await;
        let lock = lock.map_err(|source| Error::Interrupted { doing: "waiting for the file", source })??;
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
            editing_sessions: Vec::new(),
            locks: Vec::new(),
            failed: false,
            _busy: busy,
            _lock: lock,
        })
    }

    pub(super) fn scope(&self) -> Scope {
        self.file.scope
    }

    fn entry(&self, kind: Kind, name: &Name) -> Option<Arc<FileEntry>> {
        match self.changed.get(&(kind, name.clone())) {
            Some(changed) => changed.clone(),
            None => self.snapshot.find(kind, name),
        }
    }

    pub(super) fn has(&self, kind: Kind, name: &Name) -> bool {
        self.entry(kind, name).is_some()
    }

    pub(super) async fn find(&self, kind: Kind, name: &Name) -> Result<Option<Held<AnyEntity>>> {
        let Some(entry) = self.entry(kind, name) else { return Ok(None) };
        let entity = entry.entity.clone();
        let meta = self.meta(kind, name).await?;
        Ok(Some(Held { id: 0, stored: Stored { entity, meta } }))
    }

    /// The entry's metadata, with the changes of this write so far.
    async fn meta(&self, kind: Kind, name: &Name) -> Result<Meta> {
        match self.metas.get(&(kind, name.clone())) {
            Some(meta) => Ok(meta.clone()),
            None => self.scopes.file_meta(&self.file, kind, name).await,
        }
    }

    /// The next metadata of an entry; `held` is the one before.
    async fn next(&mut self, kind: Kind, name: &Name, held: Option<&Meta>) -> Result<Meta> {
        let newest = self.scopes.newest(&self.file, kind, name).await?;
        let made = self.metas.get(&(kind, name.clone())).map_or(0, |meta| meta.revision);
        let now = Some(now());
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

    pub(super) async fn insert(&mut self, entity: AnyEntity, action: Action) -> Result<Meta> {
        let inserted = self.insert_entry(entity, action).await;
        self.failed |= inserted.is_err();
        inserted
    }

    async fn insert_entry(&mut self, entity: AnyEntity, action: Action) -> Result<Meta> {
        self.scopes.check_writable(&self.file)?;
        let kind = entity.kind();
        if self.has(kind, entity.name()) {
            return Err(exists(&entity));
        }
        self.refuse_broken(kind, entity.name())?;
        let meta = self.next(kind, entity.name(), None).await?;
        self.put(entity, action, None);
        Ok(meta)
    }

    pub(super) async fn replace(
        &mut self,
        held: &Stored<AnyEntity>,
        entity: AnyEntity,
        action: Action,
    ) -> Result<Meta> {
        let replaced = self.replace_entry(held, entity, action).await;
        self.failed |= replaced.is_err();
        replaced
    }

    async fn replace_entry(
        &mut self,
        held: &Stored<AnyEntity>,
        entity: AnyEntity,
        action: Action,
    ) -> Result<Meta> {
        self.scopes.check_writable(&self.file)?;
        let (kind, old) = (entity.kind(), held.entity.name());
        let renamed = old != entity.name();
        if renamed && self.has(kind, entity.name()) {
            return Err(exists(&entity));
        }
        self.refuse_broken(kind, old)?;
        self.refuse_broken(kind, entity.name())?;
        let meta = self.next(kind, entity.name(), Some(&held.meta)).await?;
        if renamed {
            self.steps.push(Step::Rename(kind, old.clone(), entity.name().clone()));
            self.changed.insert((kind, old.clone()), None);
        }
        self.put(entity, action, renamed.then(|| old.clone()));
        Ok(meta)
    }

    fn put(&mut self, entity: AnyEntity, action: Action, renamed_from: Option<Name>) {
        let entry = FileEntry::new(entity.clone());
        let hash = entry.hash.clone();
        self.changed.insert((entity.kind(), entity.name().clone()), Some(Arc::new(entry)));
        self.steps.push(Step::Put(Box::new(entity.clone())));
        self.records.push(Recorded { action, entity, hash, renamed_from });
    }

    /// Removes an entry with an error from the file. False if there is no such entry.
    pub(super) fn discard(&mut self, kind: Kind, name: &Name) -> Result<bool> {
        if self.mistake(kind, name).is_none() {
            return Ok(false);
        }
        self.check_writable()?;
        self.changed.insert((kind, name.clone()), None);
        self.steps.push(Step::Remove(kind, name.clone()));
        Ok(true)
    }

    fn check_writable(&mut self) -> Result<()> {
        let checked = self.scopes.check_writable(&self.file);
        self.failed |= checked.is_err();
        checked
    }

    pub(super) fn remove(&mut self, held: Stored<AnyEntity>) -> Result<()> {
        self.check_writable()?;
        let Stored { entity, meta } = held;
        let (kind, name) = (entity.kind(), entity.name().clone());
        if let Err(refused) = self.refuse_broken(kind, &name) {
            self.failed = true;
            return Err(refused);
        }
        let hash = FileEntry::new(entity.clone()).hash;
        self.metas.insert((kind, name.clone()), Meta { revision: meta.revision + 1, ..meta });
        self.changed.insert((kind, name.clone()), None);
        self.steps.push(Step::Remove(kind, name));
        self.records.push(Recorded { action: Action::Delete, entity, hash, renamed_from: None });
        Ok(())
    }

    /// Entries of this file whose reference to this name would dangle. If a weaker scope has the name too,
    /// they would refer to that entity instead.
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

    /// All entries after this write.
    fn entries(&self) -> Vec<Arc<FileEntry>> {
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
        Ok(self.scopes.local().kept_stage_in(self.owner(persona), &arc).await?)
    }

    /// The arc of a persona: its own after this write, or an inherited one.
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

    pub(super) fn set_editing_session(&mut self, persona: &Name, session: Uuid) {
        self.editing_sessions.push((persona.clone(), session));
    }

    pub(super) fn put_lock(&mut self, kind: Kind, name: &Name, field: &str) {
        self.locks.push((kind, name.clone(), field.to_owned()));
    }

    pub(super) async fn personas_in_stage(&self, arc: &Name, stage: &Name) -> Result<Vec<Name>> {
        let sql = "SELECT name FROM persona_state WHERE scope = $1 AND origin = $2 AND arc = $3 AND stage = $4 ORDER BY name";
        let values = [
            Parameter::from(self.file.scope.as_str()),
            Parameter::from(self.file.origin.as_str()),
            Parameter::from(arc),
            Parameter::from(stage),
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

    /// The text of an entry with an error is in no history, so only its author can fix it.
    fn refuse_broken(&self, kind: Kind, name: &Name) -> Result<()> {
        self.mistake(kind, name).map_or(Ok(()), |problem| Err(Error::Problem(Box::new(problem))))
    }

    /// The problem of an entry that cannot be read, if this write has left it in the file.
    pub(super) fn mistake(&self, kind: Kind, name: &Name) -> Option<Problem> {
        let is_touched = self.changed.contains_key(&(kind, name.clone()));
        self.snapshot.document.mistake(kind, name.as_str()).filter(|_| !is_touched)
    }
}

fn exists(entity: &AnyEntity) -> Error {
    store::Error::Exists { kind: entity.kind(), name: entity.name().clone() }.into()
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
