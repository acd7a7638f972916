//! A server over a library of its own, and what a client needs to talk to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::{FileScopes, Library, Location, OpenOptions, Runtime, RuntimeOptions};
use providers::Providers;
use server::{Access, ServerOptions};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Nothing that a test waits for takes as long as this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) library: Library,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) task: JoinHandle<std::io::Result<()>>,
    directory: TempDir,
}

impl Running {
    /// The database, past the library.
    pub(crate) fn database(&self) -> testkit::Database {
        testkit::Database::sqlite_at(&self.directory.path().join("masque.db"))
    }

    pub(crate) fn project_file(&self) -> PathBuf {
        project_file(self.directory.path())
    }
}

fn project_file(directory: &Path) -> PathBuf {
    directory.join("personas.toml")
}

/// A server without files.
pub(crate) async fn start() -> Running {
    start_for(Access::open()).await
}

/// A server without files that lets some callers in.
pub(crate) async fn start_for(access: Access) -> Running {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = directory.path().join("masque.db").display().to_string();
    run(directory, OpenOptions::database(database), access).await
}

/// A server whose project has a file with this text, which it follows.
pub(crate) async fn start_with_project(text: &str) -> Running {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = directory.path().join("masque.db");
    let files = FileScopes {
        global: None,
        project: Some(project_file(directory.path())),
        local: Location::Sqlite(database.clone()),
        locks: directory.path().join("locks"),
        writable: true,
    };
    std::fs::write(project_file(directory.path()), text).expect("a file");
    let database = OpenOptions::database(database.display().to_string());
    let running = run(directory, OpenOptions { files: Some(files), ..database }, Access::open()).await;
    running.library.watch();
    running
}

async fn run(directory: TempDir, options: OpenOptions, access: Access) -> Running {
    let library = Library::open(options).await.expect("a library");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let options = ServerOptions { user: Some("tester".to_owned()), access, ..ServerOptions::default() };
    let router = server::router(idle_runtime(library.clone()), options);
    let (stop, stopped) = oneshot::channel();
    let shutdown = async {
        let _ = stopped.await;
    };
    let task = tokio::spawn(server::serve(listener, router, shutdown));
    Running { port, library, stop, task, directory }
}

/// A runtime for tests without messages.
pub(crate) fn idle_runtime(library: Library) -> Runtime {
    let providers = Providers::build(BTreeMap::new(), &|_| None).expect("no providers");
    Runtime::new(library, RuntimeOptions::new(providers))
}

pub(crate) async fn send(port: u16, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("a request is written");
    stream
}

pub(crate) async fn get(port: u16, path: &str, host: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    let mut stream = send(port, &request).await;
    let mut answer = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut answer)).await.expect("in time").expect("an answer");
    answer
}
