//! The open library, and in whose name it is written to.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Duration;

use app::{Author, FileScopes, Library, Location, OpenOptions};
use persona::Scope;

use crate::config::Config;
use crate::failure::Result;
use crate::locations::{self, Directories};
use crate::project::Project;
use crate::trust::Trust;

/// What opens sooner than this needs no explanation.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) library: Library,
    pub(crate) author: Author,
    pub(crate) config: Config,
    /// The project, unless what is open has none.
    pub(crate) project: Option<Project>,
    /// None where a database was named and there is no home.
    pub(crate) directories: Option<Directories>,
    pub(crate) audience: Audience,
    /// Whether warnings are for a program.
    pub(crate) json: bool,
}

/// What somebody wants to open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) database: Option<&'a str>,
    pub(crate) project: Option<&'a Path>,
    /// Whether the answer is for a program.
    pub(crate) json: bool,
}

/// Who reaches what is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The user, with a command.
    User,
    /// Programs on this machine.
    Machine,
    /// Other machines: they see the files of a project that was named, and write to none.
    Network,
}

impl Session {
    /// Opens the library for one command; makes a database where there is none yet.
    pub(crate) async fn open(wanted: Wanted<'_>) -> Result<Self> {
        Self::open_for(wanted, Audience::User).await
    }

    pub(crate) async fn open_for(wanted: Wanted<'_>, audience: Audience) -> Result<Self> {
        let directories = match Directories::find() {
            Ok(directories) => Some(directories),
            // Whoever names a database can do without the rest.
            Err(_) if wanted.database.is_some() && wanted.project.is_none() => None,
            Err(error) => return Err(error),
        };
        let mut config = match &directories {
            Some(directories) => Config::read(&directories.config_file())?,
            None => Config::default(),
        };
        let home = directories.as_ref().map(|directories| directories.home.as_path());
        let mut project = Project::find(wanted.project, home)?;
        if !project.as_ref().is_some_and(Project::is_open) {
            config.warnings.extend(Project::passed_over(home));
        }
        if let Some(foreign) = project.take_if(|found| is_foreign(found, directories.as_ref())) {
            config.warnings.push(format!(
                "{} is a link that leads out of the project; it is not read until you run `masque trust` there",
                foreign.file().display()
            ));
        }
        let database = locations::database(wanted.database)?;
        locations::make_parent(&database)?;
        let files = match &directories {
            Some(directories) => files(directories, project.as_ref(), audience, wanted)?,
            None => None,
        };
        let opened = project.as_ref().is_some_and(Project::is_open);
        let default_scope = if audience == Audience::User && opened && files.is_some() {
            Scope::Project
        } else {
            Scope::Shared
        };
        let options = OpenOptions { database, create: true, files, default_scope };
        let library = patiently(Library::open(options)).await?;
        let author = Author::new(user(), "cli");
        Ok(Self { library, author, config, project, directories, audience, json: wanted.json })
    }
}

/// Whether a project would have files read that are not its own. Only a project that the user
/// trusts may do that.
fn is_foreign(project: &Project, directories: Option<&Directories>) -> bool {
    let is_trusted = |directories| Trust::read(directories).is_ok_and(|trust| trust.holds(&project.root));
    project.file_leads_out() && !directories.is_some_and(is_trusted)
}

/// The files that belong to the library. A file that is not there yet reads as an empty one.
fn files(
    directories: &Directories,
    project: Option<&Project>,
    audience: Audience,
    wanted: Wanted<'_>,
) -> Result<Option<FileScopes>> {
    let named = project.is_some_and(|project| project.found.is_named());
    if audience == Audience::Network && !named {
        return Ok(None);
    }
    let local = directories.local_database();
    let (global, project) = (directories.personas_file(), project.map(Project::file));
    let needed = named || global.exists() || project.as_ref().is_some_and(|file| file.exists());
    // A server may run where nothing can be kept but in the database that it was given.
    if wanted.database.is_some() && !needed && !locations::can_write(&local) {
        return Ok(None);
    }
    locations::make_parent_of(&local)?;
    Ok(Some(FileScopes {
        global: Some(global),
        project,
        local: Location::Sqlite(local),
        locks: directories.locks(),
        writable: audience != Audience::Network,
    }))
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

/// The user's name, for the history: as the environment says, else as the system knows the user.
fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let mut named = named.filter(|name| !name.trim().is_empty());
    named.next().unwrap_or_else(user_of_the_process)
}

#[cfg(unix)]
fn user_of_the_process() -> String {
    let id = rustix::process::geteuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_of(id, &users).map_or_else(|| format!("user {id}"), str::to_owned)
}

#[cfg(not(unix))]
fn user_of_the_process() -> String {
    "someone".to_owned()
}

/// The name that a passwd file gives to an id.
#[cfg(unix)]
fn name_of(id: u32, users: &str) -> Option<&str> {
    let mut entries = users.lines().map(|line| line.split(':'));
    entries.find_map(|mut fields| {
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(id)).then_some(name)
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::name_of;

    #[test]
    fn a_user_without_a_name_in_the_environment_has_one() {
        let users = "root:x:0:0::/root:/bin/sh\n# a note\n::7\nada:x:1000:1000:Ada:/home/ada:/bin/sh\nbad:x";
        let check = |id: u32, name: Option<&str>| assert_eq!(name_of(id, users), name, "{id}");
        check(0, Some("root"));
        check(1000, Some("ada"));
        check(7, None);
        check(1001, None);
    }
}
