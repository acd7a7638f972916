//! An open library, as fronts hold it.

use std::path::Path;

use persona::{Entity, Kind, Name, nearest};
use store::{Attribution, Change, CopyReport, DatabaseInfo, Keep, Location, Progress, Store};
use tokio::sync::broadcast;

use crate::inputs::{List, ListParts, ListTraits};
use crate::outputs::{Document, Item, Page};
use crate::{Error, Result, Tokenizer};

/// Which library to open.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// A path, or `postgres://…`.
    pub database: String,
    /// Whether a SQLite file that is not there is made.
    pub create: bool,
}

/// Who calls, and through which front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub who: String,
    pub front: &'static str,
}

impl Author {
    pub fn new(who: impl Into<String>, front: &'static str) -> Self {
        Self { who: who.into(), front }
    }

    pub(crate) fn because(&self, message: Option<String>) -> Result<Attribution> {
        let most = persona::limits::MESSAGE_BYTES;
        if let Some(message) = &message
            && (message.len() > most || message.contains('\0'))
        {
            return Err(Error::Invalid(format!("message: at most {most} bytes of text, without NUL")));
        }
        Ok(Attribution { who: self.who.clone(), front: self.front.to_owned(), message })
    }
}

/// What a list keeps.
#[derive(Debug, Clone, Default)]
pub struct ListQuery(pub(crate) store::Filter);

fn filter(
    tags: Option<Vec<String>>,
    query: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
) -> store::Filter {
    store::Filter {
        tags: tags.unwrap_or_default(),
        query,
        limit: limit.map(|limit| limit as usize),
        cursor,
        ..store::Filter::default()
    }
}

impl From<List> for ListQuery {
    fn from(List { tags, query, limit, cursor }: List) -> Self {
        Self(filter(tags, query, limit, cursor))
    }
}

impl From<ListParts> for ListQuery {
    fn from(ListParts { part_type, tags, query, limit, cursor }: ListParts) -> Self {
        Self(store::Filter { part_type, ..filter(tags, query, limit, cursor) })
    }
}

impl From<ListTraits> for ListQuery {
    fn from(ListTraits { trait_type, tags, query, limit, cursor }: ListTraits) -> Self {
        Self(store::Filter { trait_type, ..filter(tags, query, limit, cursor) })
    }
}

/// An open library; clones share it.
#[derive(Debug, Clone)]
pub struct Library {
    pub(crate) store: Store,
    pub(crate) tokenizer: Tokenizer,
}

impl Library {
    pub async fn open(options: OpenOptions) -> Result<Self> {
        let location = Location::parse(&options.database)?;
        let store = Store::open(location, options.create).await?;
        Ok(Self { store, tokenizer: Tokenizer })
    }

    /// Writes what is pending and closes all connections.
    pub async fn close(&self) {
        self.store.close().await;
    }

    /// A definition as it was authored.
    pub async fn get<T: Keep>(&self, name: &Name) -> Result<Document<T>> {
        match self.store.get::<T>(name).await? {
            Some(stored) => Ok(Document { entity: stored.entity, meta: stored.meta }),
            None => Err(self.missing(T::KIND, name).await),
        }
    }

    /// One page of a kind, by name.
    pub async fn list(&self, kind: Kind, query: impl Into<ListQuery>) -> Result<Page> {
        let ListQuery(filter) = query.into();
        Ok(self.store.list(kind, &filter).await?.into())
    }

    /// Personas for a menu: most recently used first, then most recently changed, then builtins.
    pub async fn recent_personas(&self, limit: usize) -> Result<Vec<Item>> {
        Ok(self.store.recent_personas(limit).await?.into_iter().map(Item::from).collect())
    }

    /// Names of a kind that begin with a text.
    pub async fn complete_names(&self, kind: Kind, prefix: &str, limit: usize) -> Result<Vec<Name>> {
        Ok(self.store.names_with_prefix(kind, prefix, limit).await?)
    }

    /// Changes by whomever: this node, other processes, other nodes.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.store.changes()
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        Ok(self.store.ping().await?)
    }

    pub async fn database_info(&self) -> Result<DatabaseInfo> {
        Ok(self.store.info().await?)
    }

    /// Copies everything into a new SQLite file, and compares.
    pub async fn backup(&self, to: &Path, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<CopyReport> {
        Ok(self.store.backup(to, progress).await?)
    }

    /// Copies everything into an empty database, and compares.
    pub async fn copy_to(
        &self,
        database: &str,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<CopyReport> {
        Ok(self.store.copy_to(&Location::parse(database)?, progress).await?)
    }

    /// The error for a name that no scope has, with what may have been meant.
    pub(crate) async fn missing(&self, kind: Kind, name: &Name) -> Error {
        let near = self.store.near_names(kind, name.as_str()).await.unwrap_or_default();
        Error::Missing { kind, name: name.clone(), hint: hint(&near, kind) }
    }
}

/// What to do about a name that is not there.
fn hint(near: &[String], kind: Kind) -> String {
    match near.split_last() {
        None => format!("list the {kind}s to see what there is"),
        Some((only, [])) => format!("did you mean {only:?}?"),
        Some((last, rest)) => {
            let rest: Vec<String> = rest.iter().map(|name| format!("{name:?}")).collect();
            format!("did you mean {} or {last:?}?", rest.join(", "))
        }
    }
}

/// The near names among a few known ones, for what lives inside another entity.
pub(crate) fn near_hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(word, known.clone()).first() {
        Some(near) => format!("did you mean {near:?}?"),
        None => {
            let known: Vec<&str> = known.into_iter().collect();
            if known.is_empty() {
                "there is none yet".to_owned()
            } else {
                format!("there is {}", known.join(", "))
            }
        }
    }
}

impl From<store::Found> for Item {
    fn from(found: store::Found) -> Self {
        let store::Found {
            kind,
            name,
            scope,
            display_name,
            part_type,
            trait_type,
            severity,
            description,
            summary,
            tags,
            updated_at,
            ..
        } = found;
        Self {
            kind,
            name,
            scope,
            display_name,
            part_type,
            trait_type,
            severity,
            description,
            summary,
            tags,
            updated_at,
        }
    }
}

impl From<store::Page> for Page {
    fn from(page: store::Page) -> Self {
        Self { items: page.items.into_iter().map(Item::from).collect(), next_cursor: page.next }
    }
}

/// A definition may be kept, or the error names the field.
pub(crate) fn checked<T: Entity>(entity: &T) -> Result<()> {
    entity
        .check()
        .map_err(|invalid| Error::Invalid(format!("{} {:?}: {invalid}", T::KIND, entity.name().as_str())))
}
