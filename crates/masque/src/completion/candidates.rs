//! Candidates from the builtins, the files and the database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::inputs::{ListParts, ListTracks};
use app::outputs::RevisionItem;
use app::running::{IdSuffix, Runtime, RuntimeOptions};
use app::{FileScopes, Library, Location, OpenOptions};
use persona::{Kind, Name, PartType, Scope};
use providers::Providers;

use super::Typed;
use crate::commands::{SHORT_ID, track_ids};
use crate::locations::{self, Directories};
use crate::project::{Project, read_text};

/// A slower database gives no candidates.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum number of candidates of one kind.
const MOST: usize = 200;
/// The same for parts of one type.
const MOST_PARTS: u32 = 200;

/// Names that begin with a text.
pub(super) fn names(kinds: &[Kind], prefix: &str, typed: &Typed) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for kind in kinds {
        found.extend(app::builtin_names(*kind).into_iter().map(|name| name.to_string()));
    }
    for file in files(typed) {
        let document = toml::from_str::<toml::Table>(&read_text(&file)).unwrap_or_default();
        for kind in kinds {
            let entries = document.get(kind.table()).and_then(toml::Value::as_table);
            found.extend(entries.into_iter().flatten().map(|(name, _)| name.clone()));
        }
    }
    let stored = in_library(typed, false, async |library| {
        let mut stored = Vec::new();
        for kind in kinds {
            let names = library.complete_names(*kind, prefix, MOST).await.ok()?;
            stored.extend(names.into_iter().map(|name| name.to_string()));
        }
        Some(stored)
    });
    found.extend(stored.unwrap_or_default());
    found
}

/// Part types, then the parts of the typed one: `tone=`, `tone=plain-tone`.
pub(super) fn overrides(current: &str, typed: &Typed) -> Vec<String> {
    let Some((word, _)) = current.split_once('=') else {
        return PartType::ALL.iter().map(|part_type| format!("{part_type}=")).collect();
    };
    let Ok(part_type) = word.parse::<PartType>() else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for file in files(typed) {
        let document = toml::from_str::<toml::Table>(&read_text(&file)).unwrap_or_default();
        let parts = document.get(Kind::Part.table()).and_then(toml::Value::as_table);
        let of_type = |part: &toml::Value| part.get("part_type").and_then(toml::Value::as_str) == Some(word);
        found.extend(
            parts.into_iter().flatten().filter(|(_, part)| of_type(part)).map(|(name, _)| name.clone()),
        );
    }
    let stored = in_library(typed, false, async |library| {
        let input = ListParts {
            part_type: Some(part_type),
            tags: None,
            query: None,
            limit: Some(MOST_PARTS),
            cursor: None,
            scope: None,
        };
        let page = library.list(Kind::Part, input).await.ok()?;
        Some(page.items.into_iter().map(|item| item.name.to_string()).collect::<Vec<_>>())
    });
    found.extend(stored.unwrap_or_default());
    found.into_iter().map(|name| format!("{word}={name}")).collect()
}

/// The kinds that a bare name may mean.
pub(super) fn kinds_named(name: &Name, typed: &Typed) -> Vec<Kind> {
    let documents: Vec<toml::Table> =
        files(typed).iter().filter_map(|file| toml::from_str(&read_text(file)).ok()).collect();
    let in_file = |kind: Kind| {
        documents.iter().any(|document| {
            document.get(kind.table()).and_then(|entries| entries.get(name.as_str())).is_some()
        })
    };
    let mut found: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| in_file(*kind)).collect();
    // Without a library, the builtins are known.
    let stored =
        in_library(typed, false, async |library| library.kinds_named(name, Kind::ALL, None).await.ok());
    found.extend(stored.unwrap_or_else(|| {
        Kind::ALL.iter().copied().filter(|kind| app::builtin_names(*kind).contains(name)).collect()
    }));
    if found.contains(&Kind::Persona) { vec![Kind::Persona] } else { found }
}

/// Revisions and tags of an entity.
pub(super) fn revisions(kind: Option<Kind>, name: &Name, typed: &Typed) -> Vec<String> {
    let words = |item: RevisionItem| {
        let revision = item.ask_for.unwrap_or_else(|| item.revision.to_string());
        item.tags.into_iter().chain([revision]).collect()
    };
    recorded(kind, name, typed, words)
}

/// Tags of an entity.
pub(super) fn tags(kind: Option<Kind>, name: &Name, typed: &Typed) -> Vec<String> {
    recorded(kind, name, typed, |item| item.tags)
}

/// Words of the revisions of an entity.
fn recorded(
    kind: Option<Kind>,
    name: &Name,
    typed: &Typed,
    words: impl Fn(RevisionItem) -> Vec<String>,
) -> Vec<String> {
    let found = in_library(typed, true, async |library| {
        let kind = match kind {
            Some(kind) => kind,
            None => *library.kinds_recorded(name, None).await.ok()?.first()?,
        };
        let history = library.history(kind, name, None, Some(MOST)).await.ok()?;
        Some(history.items.into_iter().flat_map(&words).collect())
    });
    found.unwrap_or_default()
}

/// Sessions: the short form of the newest, or the ids that begin with a text.
pub(super) fn sessions(current: &str, typed: &Typed) -> Vec<String> {
    let found = in_library(typed, false, async |library| {
        let providers = Providers::build(BTreeMap::new(), &|_| None).ok()?;
        let runtime = Runtime::new(library.clone(), RuntimeOptions::new(providers));
        let length = runtime.unique_end(SHORT_ID).await.ok()?;
        let ids = runtime.sessions_ending(&IdSuffix::ANY, MOST).await.ok()?;
        let words = ids.iter().map(ToString::to_string).map(|id| {
            let is_beginning = !current.is_empty() && id.starts_with(current);
            if is_beginning { id } else { id[id.len().saturating_sub(length)..].to_owned() }
        });
        Some(words.collect())
    });
    found.unwrap_or_default()
}

/// Tracks: the short form of the newest, or the ids that begin with a text.
pub(super) fn tracks(current: &str, typed: &Typed) -> Vec<String> {
    let found = in_library(typed, false, async |library| {
        let providers = Providers::build(BTreeMap::new(), &|_| None).ok()?;
        let runtime = Runtime::new(library.clone(), RuntimeOptions::new(providers));
        let input = ListTracks { everywhere: true, limit: Some(MOST), cursor: None };
        let listed = runtime.list_tracks(input).await.ok()?;
        let ids: Vec<_> = listed.items.iter().map(|item| item.id).collect();
        let length = track_ids::shown(&ids);
        let words = ids.iter().map(|id| {
            let whole = id.to_string();
            let is_beginning = !current.is_empty() && whole.starts_with(current);
            if is_beginning { whole } else { track_ids::end(*id, length) }
        });
        Some(words.collect())
    });
    found.unwrap_or_default()
}

/// The files of the user and of the project.
fn files(typed: &Typed) -> Vec<PathBuf> {
    let Ok(directories) = Directories::find() else { return Vec::new() };
    let project = project(&directories, typed);
    project.into_iter().chain([directories.personas_file()]).filter(|file| file.is_file()).collect()
}

fn project(directories: &Directories, typed: &Typed) -> Option<PathBuf> {
    let named = typed.project.as_deref().map(Path::new);
    Project::find(named, Some(&directories.home)).ok()?.map(|project| project.file())
}

/// Asks an existing library. None if there is none, or if it does not answer in time.
fn in_library<T>(typed: &Typed, with_files: bool, ask: impl AsyncFnOnce(&Library) -> Option<T>) -> Option<T> {
    let named = typed.database.clone().or_else(|| std::env::var("MASQUE_DB").ok());
    let database = locations::database(named.as_deref().filter(|named| !named.is_empty())).ok()?;
    if let Location::Sqlite(path) = Location::parse(&database).ok()?
        && !path.is_file()
    {
        return None;
    }
    let files = if with_files { file_scopes(typed) } else { None };
    let options = OpenOptions { database, create: false, files, default_scope: Scope::Shared };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let answer = runtime.block_on(async {
        let asked = async {
            let library = Library::open(options).await.ok()?;
            let answer = ask(&library).await;
            library.close().await;
            answer
        };
        tokio::time::timeout(PATIENCE, asked).await.ok().flatten()
    });
    runtime.shutdown_background();
    answer
}

/// The files with their history, if there is one.
fn file_scopes(typed: &Typed) -> Option<FileScopes> {
    let directories = Directories::find().ok()?;
    let local = directories.local_database();
    local.is_file().then(|| FileScopes {
        global: Some(directories.personas_file()),
        project: project(&directories, typed),
        local: Location::Sqlite(local),
        locks: directories.locks(),
        writable: false,
    })
}
