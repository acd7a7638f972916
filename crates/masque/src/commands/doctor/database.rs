//! Checks the database.

use std::fs::OpenOptions as FileOptions;
use std::path::Path;

use app::{ErrorKind, Library, OpenOptions};
use database::Location;
use serde::Serialize;
use serde_json::Value;

use super::DoctorProblem;
use crate::commands::db;
use crate::failure::Result;
use crate::locations;
use crate::output::Output;

/// The state of a missing database.
const ABSENT: &str = "does not exist yet";

/// The shared scope, as files see it.
#[derive(Debug)]
pub(super) enum Shared {
    At(String),
    /// No database exists yet.
    Nothing,
    /// The database does not answer.
    Unknown,
}

#[derive(Debug, Serialize)]
pub(super) struct DatabaseReport {
    location: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    writable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<Value>,
    #[serde(skip)]
    details: Option<app::DatabaseInfo>,
}

pub(super) async fn examine(
    named: Option<&str>,
    problems: &mut Vec<DoctorProblem>,
) -> Result<DatabaseReport> {
    let database = locations::database(named)?;
    let location = match Location::parse(&database) {
        Ok(location) => location,
        Err(error) => {
            problems.push(DoctorProblem::new(error.to_string(), "correct --db, or unset MASQUE_DB"));
            return Ok(DatabaseReport::without_info("unknown".to_owned(), "invalid"));
        }
    };
    let shown = location.to_string();
    let writable = match &location {
        Location::Sqlite(path) => Some(is_writable(path, problems)),
        Location::Postgres(_) => None,
    };
    // A check creates nothing.
    let opened = Library::open(OpenOptions { create: false, ..OpenOptions::database(database) }).await;
    let library = match opened {
        Ok(library) => library,
        Err(error) if error.kind() == ErrorKind::Missing => {
            let report = DatabaseReport::without_info(shown, ABSENT);
            return Ok(DatabaseReport { writable, ..report });
        }
        Err(error) => {
            problems.push(DoctorProblem::new(error.to_string(), advice(&location)));
            let report = DatabaseReport::without_info(shown, "does not open");
            return Ok(DatabaseReport { writable, ..report });
        }
    };
    let report = match library.database_info().await {
        Ok(info) => DatabaseReport {
            location: info.location.clone(),
            state: "answers",
            writable,
            info: Some(db::info_json(&info)),
            details: Some(info),
        },
        Err(error) => {
            problems.push(DoctorProblem::new(error.to_string(), advice(&location)));
            DatabaseReport::without_info(shown, "does not answer")
        }
    };
    library.close().await;
    Ok(report)
}

fn advice(location: &Location) -> String {
    match location {
        Location::Sqlite(path) => {
            let path = path.display();
            format!("check the permissions of {path}, the free disk space, and that it is a Masque database")
        }
        Location::Postgres(_) => {
            "check that the server runs, and the user and password in --db or MASQUE_DB".to_owned()
        }
    }
}

/// True if SQLite can write the file and files beside it.
fn is_writable(path: &Path, problems: &mut Vec<DoctorProblem>) -> bool {
    let mut fault = |path: &Path, error: &std::io::Error| {
        let what = format!("cannot write to {}: {error}", path.display());
        problems.push(DoctorProblem::new(
            what,
            "fix its owner and permissions, or choose another database with --db",
        ));
        false
    };
    if path.exists()
        && let Err(error) = FileOptions::new().append(true).open(path)
    {
        return fault(path, &error);
    }
    let parents =
        path.ancestors().skip(1).map(|parent| if parent == Path::new("") { Path::new(".") } else { parent });
    let Some(directory) = parents.into_iter().find(|parent| parent.is_dir()) else {
        return true;
    };
    match tempfile::tempfile_in(directory) {
        Ok(_) => true,
        Err(error) => fault(directory, &error),
    }
}

impl DatabaseReport {
    fn without_info(location: String, state: &'static str) -> Self {
        Self { location, state, writable: None, info: None, details: None }
    }

    /// The shared scope that files can refer to.
    pub(super) fn shared(&self, named: Option<&str>) -> Result<Shared> {
        Ok(match (&self.details, self.state) {
            (Some(_), _) => Shared::At(locations::database(named)?),
            (None, ABSENT) => Shared::Nothing,
            (None, _) => Shared::Unknown,
        })
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<()> {
        match &self.details {
            Some(details) => db::print_info(details, output)?,
            None if self.state == ABSENT => {
                output.field(
                    "database",
                    &format!("{} (does not exist yet; the first command creates it)", self.location),
                )?;
            }
            None => output.field("database", &format!("{} ({})", self.location, self.state))?,
        }
        match self.writable {
            Some(true) => output.field("writable", "yes"),
            Some(false) => output.field("writable", "no"),
            None => Ok(()),
        }
    }
}
