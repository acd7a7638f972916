//! The open library, and in whose name it is written to.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use app::{Author, Library, OpenOptions};

use crate::failure::Result;
use crate::locations;

/// What opens sooner than this needs no explanation.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) library: Library,
    pub(crate) author: Author,
}

impl Session {
    /// Opens the database, and makes one where there is none yet.
    pub(crate) async fn open(database: Option<&str>) -> Result<Self> {
        let database = locations::database(database)?;
        locations::make_parent(&database)?;
        let library = patiently(Library::open(OpenOptions { database, create: true })).await?;
        Ok(Self { library, author: Author::new(user(), "cli") })
    }
}

/// Tells somebody at a terminal what takes so long, where it does: a server may be far away.
async fn patiently<T>(opening: impl Future<Output = T>) -> T {
    let mut opening = std::pin::pin!(opening);
    tokio::select! {
        opened = &mut opening => return opened,
        () = tokio::time::sleep(PATIENCE) => {}
    }
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = writeln!(stderr, "waiting for the database…");
    }
    opening.await
}

/// The user's name, for the history.
fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let mut named = named.filter(|name| !name.trim().is_empty());
    named.next().unwrap_or_else(|| "someone".to_owned())
}
