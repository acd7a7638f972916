//! A home with a project, read by a process that no fault touches.

use std::path::{Path, PathBuf};

use app::inputs::ByName;
use app::{FileScopes, Library, Location, OpenOptions, RevisionRef};
use persona::{AnyEntity, Kind, Name, Part, Persona, Scope};
use tempfile::TempDir;
use testkit::Database;

use super::steps::{Held, State, named};
use crate::home::Home;

/// The top of the project's personas.toml, written by hand. Masque must not touch a byte of it.
pub(crate) const BY_HAND: &str = "\
# Written by hand,   with its own spaces.
[parts.p-kept]
part_type   =   'tone'   # kept
content = '''Kept.'''

[parts.p-included]
part_type = \"tone\"
content_file = \"prompts/included.md\"
";

/// Writes the project's files.
pub(crate) fn write_project(home: &Home) {
    home.write("project/personas.toml", BY_HAND);
    home.write("project/prompts/included.md", "Included.");
}

/// Copies of directories of a home, to begin again with.
pub(crate) struct Kept {
    copies: TempDir,
    directories: &'static [&'static str],
}

impl Kept {
    pub(crate) fn of(home: &Home, directories: &'static [&'static str]) -> Self {
        let copies = tempfile::tempdir().unwrap();
        directories.iter().for_each(|below| copy(&home.path(below), &copies.path().join(below)));
        Self { copies, directories }
    }

    /// Puts the directories back as they were.
    pub(crate) fn restore(&self, home: &Home) {
        for below in self.directories {
            std::fs::remove_dir_all(home.path(below)).unwrap();
            copy(&self.copies.path().join(below), &home.path(below));
        }
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

pub(crate) fn database(home: &Path) -> PathBuf {
    home.join(".local/share/masque/masque.db")
}

/// Reads everything, and asserts that it is sound: the database, each history, and the bytes by hand.
pub(crate) fn read(home: &Path) -> State {
    block_on(async {
        let path = database(home);
        let files = FileScopes {
            global: None,
            project: Some(home.join("project/personas.toml")),
            local: Location::Sqlite(path.clone()),
            locks: path.with_file_name("locks"),
            writable: true,
        };
        let database = path.display().to_string();
        let options =
            OpenOptions { database, create: true, files: Some(files), default_scope: Scope::Shared };
        let library = Library::open(options).await.expect("the library opens");
        assert!(library.problems().is_empty(), "{:?}", library.problems());
        let mut state = State::new();
        for scope in [Scope::Shared, Scope::Project] {
            for kind in [Kind::Part, Kind::Persona] {
                for name in library.complete_names(kind, &named(scope, ""), 10_000).await.unwrap() {
                    let held = read_entity(&library, kind, &name, scope).await;
                    state.insert((kind, name.to_string()), held);
                }
            }
        }
        library.close().await;
        let database = Database::sqlite_at(&path);
        assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"]);
        assert!(database.texts("PRAGMA foreign_key_check").await.is_empty());
        let text = std::fs::read_to_string(home.join("project/personas.toml")).unwrap();
        assert!(text.starts_with(BY_HAND), "{text}");
        state
    })
}

/// Asserts that the history has each revision once, and that the newest is the definition.
async fn read_entity(library: &Library, kind: Kind, name: &Name, scope: Scope) -> Held {
    let input = ByName { name: name.clone(), scope: Some(scope) };
    let (entity, revision): (AnyEntity, i64) = match kind {
        Kind::Persona => {
            let found = library.get::<Persona>(&input).await.unwrap();
            (found.entity.into(), found.meta.revision)
        }
        _ => {
            let found = library.get::<Part>(&input).await.unwrap();
            (found.entity.into(), found.meta.revision)
        }
    };
    let history = library.history(kind, name, Some(scope), Some(100)).await.unwrap();
    let numbers: Vec<i64> = history.items.iter().map(|item| item.revision).collect();
    assert_eq!(numbers, (1..=revision).rev().collect::<Vec<_>>(), "{kind} {name}");
    let newest = RevisionRef::Number(revision);
    let (_, newest) = library.revision(kind, name, Some(scope), &newest).await.unwrap();
    assert_eq!(newest.entity, entity, "{kind} {name}");
    Held { text: text_of(&entity), revision }
}

fn text_of(entity: &AnyEntity) -> String {
    match entity {
        AnyEntity::Part(part) => part.content.clone().unwrap_or_default(),
        AnyEntity::Persona(persona) => {
            persona.parts.iter().map(|link| link.name.as_str()).collect::<Vec<_>>().join(" ")
        }
        other => panic!("{other:?} was not written"),
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
