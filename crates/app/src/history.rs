//! History: revisions and tags.

use async_recursion::async_recursion as boxed;
use persona::{Bundle, Kind, Meta, Name, Persona, Scope, limits};
use store::{Action, FullRevision, RevisionRef, TagOutcome, Tagging};

use crate::outputs::{History, RevisionItem, Tagged, ask_for};
use crate::{Author, Error, HistoryError, Library, Result, TagProblem, ValueError};

mod rollback;

/// The longest tag, in bytes.
const TAG_BYTES: usize = 64;

/// A tag for a revision, and the reason for it.
#[derive(Debug, Clone)]
pub struct NewTag<'a> {
    pub tag: &'a str,
    /// Takes the tag off another revision.
    pub moves: bool,
    pub message: Option<String>,
}

impl<'a> From<&'a str> for NewTag<'a> {
    fn from(tag: &'a str) -> Self {
        Self { tag, moves: false, message: None }
    }
}

impl Library {
    /// The first page of an entity's history, in the named scope or where its name resolves.
    #[boxed]
    pub async fn history(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        limit: Option<usize>,
    ) -> Result<History> {
        self.history_page(kind, name, scope, limit, None).await
    }

    /// One page of an entity's history, newest first.
    #[boxed]
    pub async fn history_page(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<History> {
        let scope = self.recorded_scope(kind, name, scope).await?;
        let limit = limit.unwrap_or(limits::DEFAULT_REVISIONS);
        if !(1..=limits::REVISIONS).contains(&limit) {
            let (low, high) = (1, limits::REVISIONS);
            return Err(ValueError::OutOfRange { field: "limit", low, high, value: limit }.into());
        }
        let seen = match cursor {
            None => 0,
            Some(cursor) => parse_cursor(cursor)?,
        };
        let end = seen.saturating_add(limit);
        let revisions = self.scopes.history(scope, kind, name, end.saturating_add(1)).await?;
        if revisions.is_empty() {
            return Err(self.missing_in(kind, name, Some(scope)).await);
        }
        let next_cursor = (revisions.len() > end).then(|| end.to_string());
        let items = revisions.into_iter().skip(seen).take(limit).map(RevisionItem::from).collect();
        Ok(History { kind, name: name.clone(), scope, items, next_cursor })
    }

    /// The scope whose history is meant: the named one, the one that has the name, or one that had
    /// it.
    #[boxed]
    pub async fn recorded_scope(&self, kind: Kind, name: &Name, scope: Option<Scope>) -> Result<Scope> {
        if let Some(scope) = scope.filter(|scope| *scope != Scope::Builtin) {
            return Ok(scope);
        }
        let found = self.scopes.scopes_of(kind, name).await?;
        if scope.is_some() {
            return Err(match found.contains(&Scope::Builtin) {
                true => no_history(kind, name),
                false => self.missing_in(kind, name, scope).await,
            });
        }
        if let Some(scope) = found.iter().find(|scope| **scope != Scope::Builtin) {
            return Ok(*scope);
        }
        for scope in [Scope::Project, Scope::Global, Scope::Shared] {
            let open = !scope.is_file() || self.scopes.path(scope).is_some();
            if open && !self.scopes.history(scope, kind, name, 1).await?.is_empty() {
                return Ok(scope);
            }
        }
        match found.first() {
            Some(_) => Err(no_history(kind, name)),
            None => Err(self.missing(kind, name).await),
        }
    }

    /// One revision of an entity with its definition.
    #[boxed]
    pub async fn revision(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        wanted: &RevisionRef,
    ) -> Result<(Scope, FullRevision)> {
        let scope = self.recorded_scope(kind, name, scope).await?;
        match self.scopes.revision(scope, kind, name, wanted).await? {
            Some(revision) => Ok((scope, revision)),
            None => Err(self.no_revision(kind, name, scope, wanted).await),
        }
    }

    async fn no_revision(&self, kind: Kind, name: &Name, scope: Scope, wanted: &RevisionRef) -> Error {
        let revisions = self.scopes.history(scope, kind, name, limits::REVISIONS).await.unwrap_or_default();
        if revisions.is_empty() {
            return self.missing_in(kind, name, Some(scope)).await;
        }
        let name = name.clone();
        let RevisionRef::Tag(tag) = wanted else {
            let numbers = || revisions.iter().map(|revision| revision.revision);
            let (oldest, newest) = (numbers().min().unwrap_or_default(), numbers().max().unwrap_or_default());
            let wanted = wanted.to_string();
            return HistoryError::UnknownRevision { kind, name, scope, wanted, oldest, newest }.into();
        };
        let has_tag = |revision: &&store::Revision| revision.tags.iter().any(|known| known.tag == *tag);
        let tag = tag.clone();
        // Below the revisions of the current entity are those of earlier ones of the name.
        if let Some(earlier) = revisions.iter().find(has_tag) {
            let revision = earlier.reference().to_string();
            return HistoryError::EarlierTag { kind, name, scope, tag, revision }.into();
        }
        let tags = revisions.iter().flat_map(|revision| &revision.tags);
        let known = tags.map(|tag| tag.tag.clone()).collect();
        HistoryError::UnknownTag { kind, name, scope, tag, known }.into()
    }

    /// A persona with everything it referred to at a revision.
    pub(crate) async fn frozen(
        &self,
        name: &Name,
        scope: Option<Scope>,
        wanted: &RevisionRef,
    ) -> Result<Bundle> {
        let (scope, revision) = self.revision(Kind::Persona, name, scope, wanted).await?;
        refuse_deletion(Kind::Persona, name, &revision)?;
        match self.scopes.frozen(scope, &revision).await? {
            Some(bundle) => Ok(bundle),
            None => Err(self.no_revision(Kind::Persona, name, scope, wanted).await),
        }
    }

    /// Tags a revision. Without a revision, tags the current state: if pieces changed since the last
    /// revision of a persona, a new one is recorded first. Fails if another revision has the tag, unless
    /// `moves` is set.
    pub async fn tag(
        &self,
        author: &Author,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        wanted: Option<&RevisionRef>,
        tag: impl Into<NewTag<'_>>,
    ) -> Result<Tagged> {
        self.tag_revision(author, kind, name, scope, wanted, tag.into()).await
    }

    #[boxed]
    async fn tag_revision<'a>(
        &'a self,
        author: &'a Author,
        kind: Kind,
        name: &'a Name,
        scope: Option<Scope>,
        wanted: Option<&'a RevisionRef>,
        NewTag { tag, moves, message }: NewTag<'a>,
    ) -> Result<Tagged> {
        check_tag(tag)?;
        let by = author.because(message)?;
        let scope = self.recorded_scope(kind, name, scope).await?;
        let before = self.scopes.revision(scope, kind, name, &RevisionRef::Tag(tag.to_owned())).await?;
        let before = before.map(|revision| revision.about.reference().to_string());
        let taken = |before: Option<String>| HistoryError::TagTaken {
            kind,
            name: name.clone(),
            scope,
            tag: tag.to_owned(),
            revision: before.unwrap_or_default(),
        };
        let revision = match wanted {
            Some(wanted) => {
                let (_, found) = self.revision(kind, name, Some(scope), wanted).await?;
                refuse_deletion(kind, name, &found)?;
                found
            }
            None => {
                let (revision, is_current) = self.newest_revision(kind, name, scope).await?;
                match is_current {
                    true => revision,
                    // A refused tag records no revision.
                    false if before.is_some() && !moves => return Err(taken(before).into()),
                    false => self.touch(author, scope, name).await?,
                }
            }
        };
        let outcome = self.scopes.tag(scope, kind, name, &revision.about, Tagging { tag, moves }, by).await?;
        let (changed, moved_from) = match outcome {
            TagOutcome::Taken => return Err(taken(before).into()),
            TagOutcome::Unchanged => (false, None),
            TagOutcome::Tagged => (true, before),
        };
        Ok(Tagged {
            kind,
            name: name.clone(),
            scope,
            revision: revision.about.revision,
            ask_for: ask_for(&revision.about),
            tag: tag.to_owned(),
            changed,
            moved_from,
        })
    }

    /// Removes a tag. Returns true if it existed.
    #[boxed]
    pub async fn untag(&self, kind: Kind, name: &Name, scope: Option<Scope>, tag: &str) -> Result<bool> {
        let scope = self.recorded_scope(kind, name, scope).await?;
        Ok(self.scopes.untag(scope, kind, name, tag).await?)
    }

    /// The newest revision, and true if pieces did not change since.
    async fn newest_revision(&self, kind: Kind, name: &Name, scope: Scope) -> Result<(FullRevision, bool)> {
        let Some(stored) = self.scopes.get_any(kind, name, Some(scope)).await? else {
            return Err(self.missing_in(kind, name, Some(scope)).await);
        };
        let newest = RevisionRef::Number(stored.meta.revision);
        let (_, revision) = self.revision(kind, name, Some(scope), &newest).await?;
        let is_current = kind != Kind::Persona || self.still_true(&stored.meta, name, &revision).await?;
        Ok((revision, is_current))
    }

    /// True if a persona's newest revision still matches its pieces, in every stage.
    async fn still_true(&self, meta: &Meta, name: &Name, revision: &FullRevision) -> Result<bool> {
        let scope = meta.scope;
        let then = match self.scopes.frozen(scope, revision).await {
            Err(scopes::Error::Store(store::Error::Forgotten { .. })) => return Ok(false),
            then => then?,
        };
        let now = self.scopes.load(name, Some(scope), &scopes::Overrides::new()).await?;
        let (Some(then), Some(now)) = (then, now) else { return Ok(false) };
        if persona::fingerprint(&then.assembled()) != persona::fingerprint(&now.bundle.assembled()) {
            return Ok(false);
        }
        // Pieces that were written with the persona have its time.
        let everything = self.closure(Kind::Persona, name, scope, |_| true).await?;
        Ok(everything.iter().all(|stored| stored.meta.updated_at <= meta.updated_at))
    }

    /// Records a persona with its current pieces as a new revision.
    async fn touch(&self, author: &Author, scope: Scope, name: &Name) -> Result<FullRevision> {
        let message = Some("the pieces that it refers to have changed".to_owned());
        let mut write = self.scopes.write(scope, author.because(message)?).await?;
        let Some(held) = write.find::<Persona>(name).await? else {
            return Err(self.missing_in(Kind::Persona, name, Some(scope)).await);
        };
        let touched = write.replace(&held, &held.stored.entity, Action::Link).await?;
        write.commit().await?;
        let written = RevisionRef::Number(touched.meta.revision);
        Ok(self.revision(Kind::Persona, name, Some(scope), &written).await?.1)
    }

    /// Deletes all but the newest `keep` revisions of each entity. Tagged revisions stay, with the
    /// revisions they refer to. Returns the number of deleted ones.
    #[boxed]
    pub async fn prune(&self, keep: usize) -> Result<u64> {
        Ok(self.scopes.prune(keep).await?)
    }
}

/// A cursor is the number of newer revisions on earlier pages.
fn parse_cursor(cursor: &str) -> Result<usize> {
    let seen = cursor.parse().ok().filter(|seen| *seen < limits::REVISIONS * 1_000);
    seen.ok_or_else(|| ValueError::Cursor { cursor: cursor.to_owned() }.into())
}

/// Fails if a revision records a deletion, which has no pieces.
fn refuse_deletion(kind: Kind, name: &Name, revision: &FullRevision) -> Result<()> {
    if revision.about.action != Action::Delete.as_str() {
        return Ok(());
    }
    let revision = revision.about.reference().to_string();
    Err(HistoryError::Deletion { kind, name: name.clone(), revision }.into())
}

fn no_history(kind: Kind, name: &Name) -> Error {
    HistoryError::Builtin { kind, name: name.clone() }.into()
}

fn check_tag(tag: &str) -> Result<()> {
    let problem = match RevisionRef::parse(tag) {
        _ if tag.is_empty() || tag.len() > TAG_BYTES => TagProblem::NotAWord { most: TAG_BYTES },
        _ if tag.chars().any(|c| c.is_control() || c.is_whitespace()) => {
            TagProblem::NotAWord { most: TAG_BYTES }
        }
        RevisionRef::Tag(_) => return Ok(()),
        RevisionRef::Number(_) => TagProblem::Number,
        RevisionRef::Earlier { .. } => TagProblem::Earlier,
    };
    Err(HistoryError::InvalidTag { tag: tag.to_owned(), problem }.into())
}
