//! A library with everything around it: a database, the user's file, the project's file.

use std::path::{Path, PathBuf};

use app::inputs::{GetEntity, RenameEntity, SaveEntity};
use app::outputs::Written;
use app::{Author, Code, Error, ErrorKind, FileScopes, Library, Location, OpenOptions, Report};
use persona::{Kind, Name, Scope};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::on_each_engine;

pub(crate) fn input<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a lawful input")
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

/// The input of a rename without conditions.
pub(crate) fn renaming(kind: Kind, old: &str, new: &str, scope: Option<Scope>) -> RenameEntity {
    let (message, if_revision) = (None, None);
    RenameEntity { kind, name: name(old), new_name: name(new), message, if_revision, scope }
}

/// The report of a refusal.
pub(crate) fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>) -> Report {
    outcome.expect_err("it is refused").report()
}

/// The code of a refusal.
pub(crate) fn code<T: std::fmt::Debug>(outcome: Result<T, Error>) -> Code {
    refused(outcome).code
}

/// The code of a refusal, and the first candidate.
pub(crate) fn suggested<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (Code, Option<String>) {
    let report = refused(outcome);
    (report.code, report.candidates.into_iter().next())
}

/// The code of an unknown name, with the name that was probably meant.
pub(crate) fn not_found(near: &str) -> (Code, Option<String>) {
    (Code::NotFound, Some(near.to_owned()))
}

/// The code of a refusal, and the field that it is about.
pub(crate) fn at_field<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (Code, Option<String>) {
    let report = refused(outcome);
    (report.code, report.subject.field)
}

/// The code of a refusal, and the current revision.
pub(crate) fn at_revision<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (Code, Option<String>) {
    let report = refused(outcome);
    (report.code, report.subject.revision)
}

/// A condition that failed because the entity is at this revision.
pub(crate) fn stale(actual: i64) -> (Code, Option<String>) {
    (Code::StaleRevision, Some(actual.to_string()))
}

/// Kinds and names, for comparing with what an answer lists.
pub(crate) fn pieces(listed: &[app::outputs::EntityRef]) -> Vec<(Kind, &str)> {
    listed.iter().map(|piece| (piece.kind, piece.name.as_str())).collect()
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) library: Library,
    pub(crate) author: Author,
    location: String,
    local: Location,
    directory: TempDir,
}

impl World {
    /// A library with two files of these texts; an empty text means no file. On SQLite the local database is the shared one too, as it is by
    /// default; on PostgreSQL it is a file of its own.
    pub(crate) async fn open(database: &testkit::Database, global: &str, project: &str) -> Self {
        let directory = TempDir::new().unwrap();
        for (place, text) in [("config", global), ("project", project)] {
            let place = directory.path().join(place);
            std::fs::create_dir(&place).unwrap();
            if !text.is_empty() {
                std::fs::write(place.join("personas.toml"), text).unwrap();
            }
        }
        let local = match database.engine {
            "sqlite" => database.location.as_str().into(),
            _ => directory.path().join("masque.db"),
        };
        let local = Location::Sqlite(local);
        let location = database.location.clone();
        let options = options(&location, &local, directory.path());
        let library = Library::open(options).await.expect("it opens");
        Self { library, author: Author::new("tester", "cli"), location, local, directory }
    }

    /// Another process, as it were, with the same library.
    pub(crate) async fn reopened(&self, change: impl FnOnce(&mut OpenOptions)) -> Library {
        let mut options = options(&self.location, &self.local, self.directory.path());
        change(&mut options);
        Library::open(options).await.expect("it opens")
    }

    /// The same library, whose creations go to another scope.
    pub(crate) async fn defaulting_to(&self, scope: Scope) -> Library {
        self.reopened(|options| options.default_scope = scope).await
    }

    /// The number of rows of every table, in the database and in the local one, and the text of the files.
    pub(crate) async fn contents(&self) -> Vec<String> {
        let Location::Sqlite(local) = &self.local else { panic!("the local database is a file") };
        let mut contents = vec![self.text(Scope::Global), self.text(Scope::Project)];
        for database in [testkit::Database::at(&self.location), testkit::Database::sqlite_at(local)] {
            let tables = match database.engine {
                "sqlite" => "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
                _ => {
                    "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'masque' ORDER BY 1"
                }
            };
            for table in database.texts(tables).await {
                let count = database.texts(&format!("SELECT CAST(count(*) AS text) FROM {table}")).await;
                contents.push(format!("{table} {}", count.join(" ")));
            }
        }
        contents
    }

    pub(crate) fn path(&self, scope: Scope) -> PathBuf {
        path(self.directory.path(), scope)
    }

    pub(crate) fn text(&self, scope: Scope) -> String {
        std::fs::read_to_string(self.path(scope)).unwrap_or_default()
    }

    /// An edit by hand.
    pub(crate) fn edit(&self, scope: Scope, old: &str, new: &str) {
        let text = self.text(scope);
        assert!(text.contains(old), "{old:?} is not in\n{text}");
        std::fs::write(self.path(scope), text.replace(old, new)).unwrap();
    }

    pub(crate) async fn create(&self, kind: Kind, scope: Scope, entity: Value) -> Written {
        self.try_create(kind, scope, entity).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) async fn try_create(&self, kind: Kind, scope: Scope, entity: Value) -> Result<Written, Error> {
        let save = json!({ "kind": kind, "name": entity["name"], "entity": entity, "scope": scope });
        self.library.save_entity(&self.author, input::<SaveEntity>(save)).await
    }

    pub(crate) async fn part(&self, scope: Scope, name: &str, part_type: &str, content: &str) -> Written {
        let part = json!({ "name": name, "part_type": part_type, "content": content });
        self.create(Kind::Part, scope, part).await
    }

    /// Creates a persona. One without a text or a piece gets a description.
    pub(crate) async fn persona(&self, scope: Scope, mut entity: Value) -> Written {
        const SAYS: [&str; 10] = [
            "system_prompt",
            "detail",
            "summary",
            "description",
            "extends",
            "parts",
            "traits",
            "skills",
            "guardrails",
            "arc",
        ];
        if SAYS.iter().all(|field| entity.get(field).is_none()) {
            entity["description"] = json!("A persona of the tests.");
        }
        self.create(Kind::Persona, scope, entity).await
    }

    /// The entity of a scope, or null.
    pub(crate) async fn entity(&self, kind: Kind, scope: Scope, name: &str) -> Value {
        let get = json!({ "kind": kind, "name": name, "scope": scope });
        match self.library.get_entity(&input::<GetEntity>(get)).await {
            Ok(document) => serde_json::to_value(document).unwrap(),
            Err(error) if error.kind() == ErrorKind::Missing => Value::Null,
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn view(&self, request: Value) -> Value {
        view(&self.library, request).await
    }
}

pub(crate) async fn view(library: &Library, request: Value) -> Value {
    match library.get_persona(&input(request)).await {
        Ok(answer) => answer.value(),
        Err(error) => panic!("{error}"),
    }
}

fn path(directory: &Path, scope: Scope) -> PathBuf {
    let place = match scope {
        Scope::Global => "config",
        Scope::Project => "project",
        Scope::Builtin | Scope::Shared => panic!("{scope} is not a file"),
    };
    directory.join(place).join("personas.toml")
}

fn options(location: &str, local: &Location, directory: &Path) -> OpenOptions {
    OpenOptions {
        files: Some(FileScopes {
            global: Some(path(directory, Scope::Global)),
            project: Some(path(directory, Scope::Project)),
            local: local.clone(),
            locks: directory.join("locks"),
            writable: true,
        }),
        ..OpenOptions::database(location)
    }
}

/// Runs a test on a library with empty files, over each engine.
pub(crate) async fn in_each_world(test: impl AsyncFn(&World)) {
    with_files("", "", test).await;
}

/// Runs a test on a library whose files say something, over each engine.
pub(crate) async fn with_files(global: &str, project: &str, test: impl AsyncFn(&World)) {
    on_each_engine(async |database| {
        let world = World::open(database, global, project).await;
        test(&world).await;
        world.library.close().await;
    })
    .await;
}
