//! An open library.

use async_recursion::async_recursion as boxed;
use std::path::Path;

use database::Location;
use files::Problem;
use persona::{AnyEntity, Entity, Kind, Name, Scope, Stored};
use scopes::{FileScopes, Scopes};
use store::{Attribution, CopiedSessions, CopyReport, DatabaseInfo, Keep, Progress, Store};

use crate::inputs::{ByName, List, ListLibrary, ListParts, ListTraits};
use crate::outputs::{FullEntity, ListItem, Page};
use crate::tokens::RememberedCounts;
use crate::{Error, Result, Tokenizer, ValueError};

/// Options for opening a library.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// A path, or `postgres://…`.
    pub database: String,
    /// Creates a missing SQLite file.
    pub create: bool,
    /// The user's and the project's personas.toml; `None` for the database alone.
    pub files: Option<FileScopes>,
    /// The scope of new entities, unless another one is named.
    pub default_scope: Scope,
}

impl OpenOptions {
    /// A database without files.
    pub fn database(database: impl Into<String>) -> Self {
        Self { database: database.into(), create: true, files: None, default_scope: Scope::Shared }
    }
}

/// The longest name of an author, in characters.
const AUTHOR_CHARS: usize = 200;

/// The author of changes, and the front they use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub who: String,
    pub front: &'static str,
}

impl Author {
    /// Makes the name one short line, because it comes from the environment or a client.
    pub fn new(who: impl AsRef<str>, front: &'static str) -> Self {
        let line = who.as_ref().chars().filter(|c| !c.is_control()).take(AUTHOR_CHARS);
        Self { who: line.collect(), front }
    }

    pub(crate) fn because(&self, message: Option<String>) -> Result<Attribution> {
        let most = persona::limits::MESSAGE_BYTES;
        match &message {
            Some(text) if text.len() > most => {
                return Err(ValueError::TooLong { field: "message", most, length: text.len() }.into());
            }
            Some(text) if text.contains('\0') => return Err(ValueError::Nul { field: "message" }.into()),
            _ => {}
        }
        Ok(Attribution { who: self.who.clone(), front: self.front.to_owned(), message })
    }
}

/// The filter of a list.
#[derive(Debug, Clone, Default)]
pub struct ListQuery(pub(crate) store::Filter);

fn filter(
    scope: Option<Scope>,
    tags: Option<Vec<String>>,
    query: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
) -> store::Filter {
    store::Filter {
        scope,
        tags: tags.unwrap_or_default(),
        query,
        limit: limit.map(|limit| limit as usize),
        cursor,
        ..store::Filter::default()
    }
}

impl From<List> for ListQuery {
    fn from(List { tags, query, limit, cursor, scope }: List) -> Self {
        Self(filter(scope, tags, query, limit, cursor))
    }
}

impl From<ListParts> for ListQuery {
    fn from(ListParts { part_type, tags, query, limit, cursor, scope }: ListParts) -> Self {
        Self(store::Filter { part_type, ..filter(scope, tags, query, limit, cursor) })
    }
}

impl From<ListTraits> for ListQuery {
    fn from(ListTraits { trait_type, tags, query, limit, cursor, scope }: ListTraits) -> Self {
        Self(store::Filter { trait_type, ..filter(scope, tags, query, limit, cursor) })
    }
}

impl From<ListLibrary> for ListQuery {
    fn from(ListLibrary { kind: _, tags, query, limit, cursor, scope }: ListLibrary) -> Self {
        Self(filter(scope, tags, query, limit, cursor))
    }
}

/// An open library. Clones share it.
#[derive(Debug, Clone)]
pub struct Library {
    pub(crate) scopes: Scopes,
    pub(crate) default_scope: Scope,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) counts: RememberedCounts,
}

impl Library {
    #[boxed]
    pub async fn open(options: OpenOptions) -> Result<Self> {
        let location = Location::parse(&options.database)?;
        let database = Store::open(location, options.create).await?;
        let scopes = match options.files {
            Some(files) => Scopes::open(database, files).await?,
            None => Scopes::of_database(database),
        };
        let counts = RememberedCounts::default();
        Ok(Self { scopes, default_scope: options.default_scope, tokenizer: Tokenizer, counts })
    }

    /// The database file that cannot be written, if there is one. Reads work; writes fail.
    pub fn read_only(&self) -> Option<&Location> {
        self.scopes.read_only()
    }

    /// Watches the files, for fronts that keep running.
    pub fn watch(&self) {
        self.scopes.watch();
    }

    /// The way the files are watched; `None` if they are not.
    pub fn watching(&self) -> Option<files::WatchMode> {
        self.scopes.watching()
    }

    /// The path of a scope's file, if it has one.
    pub fn path(&self, scope: Scope) -> Option<&Path> {
        self.scopes.path(scope)
    }

    /// The scope of new entities, unless another one is named.
    pub fn default_scope(&self) -> Scope {
        self.default_scope
    }

    /// The problems of the files: errors, then warnings.
    pub fn problems(&self) -> Vec<Problem> {
        self.scopes.problems()
    }

    /// The number of entries in all files.
    pub fn file_entries(&self) -> usize {
        self.scopes.file_entries()
    }

    /// True if an error in a file keeps a part of it from taking effect.
    pub fn has_errors(&self) -> bool {
        self.scopes.has_errors()
    }

    /// Writes pending data and closes all connections.
    #[boxed]
    pub async fn close(&self) {
        self.scopes.close().await;
    }

    /// A definition as authored.
    pub async fn get<T: Keep + Entity>(&self, input: &ByName) -> Result<FullEntity<T>> {
        let Stored { entity, meta } = self.get_stored(T::KIND, &input.name, input.scope).await?;
        match T::try_from(entity) {
            Ok(entity) => Ok(FullEntity { entity, meta }),
            Err(_) => Err(self.missing_in(T::KIND, &input.name, input.scope).await),
        }
    }

    #[boxed]
    async fn get_stored(&self, kind: Kind, name: &Name, scope: Option<Scope>) -> Result<Stored<AnyEntity>> {
        match self.scopes.get_any(kind, name, scope).await? {
            Some(stored) => Ok(stored),
            None => Err(self.missing_in(kind, name, scope).await),
        }
    }

    /// One page of a kind, by name.
    pub async fn list(&self, kind: Kind, query: impl Into<ListQuery>) -> Result<Page> {
        self.list_page(kind, query.into()).await
    }

    #[boxed]
    async fn list_page(&self, kind: Kind, ListQuery(filter): ListQuery) -> Result<Page> {
        if let Some(scope) = filter.scope {
            self.check_open(scope)?;
        }
        let mut page = self.scopes.list(kind, &filter).await?;
        self.fill_inherited(&mut page.items).await?;
        Ok(page.into())
    }

    /// Personas for a menu: most recently used first, then most recently changed, then builtins.
    #[boxed]
    pub async fn recent_personas(&self, limit: usize) -> Result<Vec<ListItem>> {
        let mut recent = self.scopes.recent_personas(limit).await?;
        self.fill_inherited(&mut recent).await?;
        Ok(recent.into_iter().map(ListItem::from).collect())
    }

    /// Names of a kind that begin with a text.
    #[boxed]
    pub async fn complete_names(&self, kind: Kind, prefix: &str, limit: usize) -> Result<Vec<Name>> {
        Ok(self.scopes.names_with_prefix(kind, prefix, limit).await?)
    }

    /// The generation under which answers may be kept that were read from now on, or kept answers may be
    /// given. Each change of a definition or of a persona's state begins a new one, whoever makes it. `None`
    /// while changes of others might go unnoticed.
    pub fn generation(&self) -> Result<Option<u64>> {
        Ok(self.scopes.generation()?)
    }

    /// Records the use of a persona whose kept answer is given.
    pub fn note_use(&self, persona: &Name) {
        self.scopes.database().usage().note(persona);
    }

    /// How many personas were loaded since the library was opened.
    pub fn persona_loads(&self) -> u64 {
        self.scopes.database().usage().count()
    }

    /// Fails if the database does not answer.
    #[boxed]
    pub async fn ping(&self) -> Result<()> {
        Ok(self.scopes.database().ping().await?)
    }

    #[boxed]

    pub async fn database_info(&self) -> Result<DatabaseInfo> {
        Ok(self.scopes.database().info().await?)
    }

    /// Copies everything into a new SQLite file, and checks it.
    #[boxed]
    pub async fn backup(&self, to: &Path, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<()> {
        Ok(self.scopes.database().backup(to, progress).await?)
    }

    /// Copies everything into an empty database, and compares the two.
    #[boxed]
    pub async fn copy_to(
        &self,
        database: &str,
        sessions: CopiedSessions,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<CopyReport> {
        Ok(self.scopes.database().copy_to(&Location::parse(database)?, sessions, progress).await?)
    }

    /// The error for a name that the given scope does not have.
    pub(crate) async fn missing_in(&self, kind: Kind, name: &Name, scope: Option<Scope>) -> Error {
        if let Some(Err(not_open)) = scope.map(|scope| self.check_open(scope)) {
            return not_open;
        }
        let found = self.scopes.scopes_of(kind, name).await.unwrap_or_default();
        match (scope, found.first()) {
            (Some(wanted), Some(found)) => {
                Error::Elsewhere { kind, name: name.clone(), wanted, found: *found }
            }
            _ => self.missing(kind, name).await,
        }
    }

    /// The error for a name that no scope has, with near names.
    pub(crate) async fn missing(&self, kind: Kind, name: &Name) -> Error {
        let near = self.scopes.near_names(kind, name.as_str()).await.unwrap_or_default();
        Error::NotFound { kind, name: name.clone(), near }
    }
}

impl From<store::Found> for ListItem {
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

impl From<store::FoundPage> for Page {
    fn from(page: store::FoundPage) -> Self {
        Self {
            items: page.items.into_iter().map(ListItem::from).collect(),
            next_cursor: page.next,
            ranked: page.ranked,
        }
    }
}

/// Checks a definition, and that a test can read its expectations. The error names the field.
pub(crate) fn checked(entity: &AnyEntity) -> Result<()> {
    let read = match entity {
        AnyEntity::TestInput(input) => entity.check().and_then(|()| fidelity::expectations(input).map(drop)),
        _ => entity.check(),
    };
    read.map_err(|source| Error::Invalid { kind: entity.kind(), name: entity.name().clone(), source })
}
