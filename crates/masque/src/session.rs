//! The open library, and in whose name it is written to.

use app::{Author, Library, OpenOptions};

use crate::failure::Result;
use crate::locations;

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
        let library = Library::open(OpenOptions { database, create: true }).await?;
        Ok(Self { library, author: Author::new(user(), "cli") })
    }
}

/// The user's name, for the history.
fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let mut named = named.filter(|name| !name.trim().is_empty());
    named.next().unwrap_or_else(|| "someone".to_owned())
}
