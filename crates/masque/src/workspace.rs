//! The open library with its configuration, project and author.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Duration;

use app::{Author, Code, FileScopes, Library, Location, OpenOptions, Remedy, Report, Subject};
use persona::Scope;

use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::locations::{self, Directories};
use crate::output::{Warning, WarningCode};
use crate::project::{Project, read_text};
use crate::trust::{TrustList, TrustState};

mod stand_in;
use stand_in::StandIn;

/// Opening the database may take this long without a notice.
const PATIENCE: Duration = Duration::from_secs(1);

/// The open library, and the surroundings that a command uses.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) library: Library,
    pub(crate) author: Author,
    pub(crate) config: Config,
    pub(crate) project: Option<Project>,
    /// None if a database was named and there is no home directory.
    pub(crate) directories: Option<Directories>,
    pub(crate) audience: Audience,
    /// True if warnings are printed as JSON.
    pub(crate) json: bool,
    /// Removed when the workspace is dropped.
    stand_in: Option<StandIn>,
}

/// The global options that select a workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkspaceOptions<'a> {
    pub(crate) database: Option<&'a str>,
    pub(crate) project: Option<&'a Path>,
    /// True if output is JSON.
    pub(crate) json: bool,
}

/// The clients of an open library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The user, on the command line.
    User,
    /// Programs on this machine.
    Machine,
    /// Other machines. They read the files of a named project, and write none.
    Network,
}

impl Workspace {
    /// Opens the library for one command. Creates a missing database.
    pub(crate) async fn open(options: WorkspaceOptions<'_>) -> Result<Self> {
        Self::open_for(options, Audience::User).await
    }

    pub(crate) async fn open_for(options: WorkspaceOptions<'_>, audience: Audience) -> Result<Self> {
        let directories = match Directories::find() {
            Ok(directories) => Some(directories),
            // A named database needs no other directory.
            Err(_) if options.database.is_some() && options.project.is_none() => None,
            Err(error) => return Err(error),
        };
        let mut config = match &directories {
            Some(directories) => Config::read(&directories.config_file())?,
            None => Config::default(),
        };
        let home = directories.as_ref().map(|directories| directories.home.as_path());
        let mut project = Project::find(options.project, home)?;
        if !project.as_ref().is_some_and(Project::is_open) {
            let foreign = |text| Warning::new(WarningCode::ForeignProject, text);
            config.warnings.extend(Project::passed_over(home).map(foreign));
        }
        if let Some(foreign) = project.take_if(|found| is_foreign(found, directories.as_ref())) {
            let text = format!(
                "{} is a link out of the project; it is not read until you run `masque trust` there",
                foreign.file().display()
            );
            config.warnings.push(Warning::new(WarningCode::LinkedProject, text));
        }
        let mut database = locations::database(options.database)?;
        // This also creates the user's own data directory.
        let private = |text| Warning::new(WarningCode::MadePrivate, text);
        let made_private = locations::keep_private(directories.as_ref(), &database);
        config.warnings.extend(made_private.into_iter().map(private));
        if options.database.is_some() {
            locations::check_parent(&database)?;
        }
        let mut files = match &directories {
            Some(directories) => file_scopes(directories, project.as_ref(), audience, options),
            None => None,
        };
        let stand_in = match &directories {
            Some(directories) => StandIn::for_missing(directories, &mut database, files.as_mut()).await?,
            None => None,
        };
        let opened = project.as_ref().is_some_and(Project::is_open);
        let default_scope = if audience == Audience::User && opened && files.is_some() {
            Scope::Project
        } else {
            Scope::Shared
        };
        let open_options = OpenOptions { database, create: true, files, default_scope };
        let library = with_wait_notice(Library::open(open_options)).await?;
        let read_only = |text| Warning::new(WarningCode::ReadOnlyLibrary, text);
        config.warnings.extend(StandIn::warning(stand_in.as_ref(), &library).map(read_only));
        let author = Author::new(user(), "cli");
        let json = options.json;
        Ok(Self { library, author, config, project, directories, audience, json, stand_in })
    }
}

impl Workspace {
    /// The directory of the user's own database, if it is missing and cannot be created. An empty database
    /// then takes its place.
    pub(crate) fn unwritable_directory(&self) -> Option<&Path> {
        self.stand_in.as_ref().map(StandIn::directory)
    }

    /// Names the place that cannot be written in a failure for that reason. A change of a file needs a lock
    /// and a history, which are in the user's data directory.
    pub(crate) fn with_place(&self, failure: Failure) -> Failure {
        let Failure::Reported(report) = failure else { return failure };
        let own = self.directories.as_ref().map(Directories::masque_data);
        let is_below = report.code == Code::FileDenied
            && report
                .subject
                .place
                .as_ref()
                .zip(own.as_ref())
                .is_some_and(|(denied, own)| Path::new(&denied.path).starts_with(own));
        let is_of_database =
            report.code == Code::DatabaseReadOnly && report.remedies.contains(&Remedy::CheckRights);
        if !is_below && !is_of_database {
            return Failure::Reported(report);
        }
        let missing = self.unwritable_directory().map(|directory| directory.display().to_string());
        let place = missing.or_else(|| self.library.read_only().map(ToString::to_string));
        let own = own.filter(|_| is_below).map(|own| own.display().to_string());
        let Some(place) = place.or(own) else { return Failure::Reported(report) };
        let code = Code::DatabaseReadOnly;
        let message = format!("{place} cannot be written");
        let remedies = vec![Remedy::CheckRights, Remedy::OtherDatabase];
        Report { code, kind: code.kind(), message, subject: Subject::file(place), remedies, ..*report }.into()
    }
}

/// True if an untrusted project's personas.toml is a link out of the project.
fn is_foreign(project: &Project, directories: Option<&Directories>) -> bool {
    let is_trusted = |directories| {
        let text = read_text(&project.file());
        TrustList::read(directories).is_ok_and(|list| list.state(&project.root, &text) == TrustState::Trusted)
    };
    project.file_leads_out() && !directories.is_some_and(is_trusted)
}

/// The files of the library. A missing file reads as empty.
fn file_scopes(
    directories: &Directories,
    project: Option<&Project>,
    audience: Audience,
    options: WorkspaceOptions<'_>,
) -> Option<FileScopes> {
    let named = project.is_some_and(|project| project.origin.is_named());
    if audience == Audience::Network && !named {
        return None;
    }
    let local = directories.local_database();
    let (global, project) = (directories.personas_file(), project.map(Project::file));
    let needed = named || global.exists() || project.as_ref().is_some_and(|file| file.exists());
    // A server may run without a writable data directory, with a database only.
    if options.database.is_some() && !needed && !locations::can_write(&local) {
        return None;
    }
    Some(FileScopes {
        global: Some(global),
        project,
        local: Location::Sqlite(local),
        locks: directories.locks(),
        writable: audience != Audience::Network,
    })
}

/// Prints a notice on a terminal if opening takes long.
async fn with_wait_notice<T>(opening: impl Future<Output = T>) -> T {
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

/// The user's name for the history: from the environment, else from the system.
fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let mut named = named.filter(|name| !name.trim().is_empty());
    named.next().unwrap_or_else(process_user)
}

#[cfg(unix)]
fn process_user() -> String {
    let id = rustix::process::geteuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_of(id, &users).map_or_else(|| format!("user {id}"), str::to_owned)
}

#[cfg(not(unix))]
fn process_user() -> String {
    "unknown".to_owned()
}

/// The name of a user id in a passwd file.
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
    fn a_user_id_has_a_name_in_passwd() {
        let users = "root:x:0:0::/root:/bin/sh\n# a note\n::7\nada:x:1000:1000:Ada:/home/ada:/bin/sh\nbad:x";
        let check = |id: u32, name: Option<&str>| assert_eq!(name_of(id, users), name, "{id}");
        check(0, Some("root"));
        check(1000, Some("ada"));
        check(7, None);
        check(1001, None);
    }
}
