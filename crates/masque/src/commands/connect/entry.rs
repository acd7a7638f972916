//! The entry of a client: a program to start, or an address to call.

use std::path::Path;

use app::Remedy;
use serde::Serialize;

use super::executable;
use crate::cli::ConnectArgs;
use crate::failure::{CommandError, Failure, Result};

/// The variable that passes a database with a password. Other users can read the arguments of a
/// process.
pub(super) const DATABASE_VARIABLE: &str = "MASQUE_DB";

#[derive(Debug)]
pub(super) enum Entry {
    Program { command: String, arguments: Vec<String>, secret_database: Option<String> },
    Address(String),
}

impl Entry {
    pub(super) fn from_args(args: &ConnectArgs, database: Option<&str>) -> Result<Self> {
        match &args.http {
            Some(url) => address(url, args.tools.as_deref(), database),
            None => program(args.tools.as_deref(), database),
        }
    }

    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::Address(url) => Some(url),
            Self::Program { .. } => None,
        }
    }

    pub(super) fn secret_database(&self) -> Option<&str> {
        match self {
            Self::Program { secret_database, .. } => secret_database.as_deref(),
            Self::Address(_) => None,
        }
    }

    pub(super) fn holds_a_secret(&self) -> bool {
        self.secret_database().is_some()
    }
}

fn program(tools: Option<&str>, database: Option<&str>) -> Result<Entry> {
    let command = executable()?;
    let command = command.to_str().map(str::to_owned).ok_or_else(|| invalid_path(&command))?;
    let mut arguments = vec!["mcp".to_owned()];
    if let Some(tools) = tools {
        arguments.extend(["--tools".to_owned(), tools.to_owned()]);
    }
    let mut secret_database = None;
    match database.map(|database| (database, database::Location::parse(database))) {
        None => {}
        Some((_, Err(error))) => return Err(error.into()),
        Some((_, Ok(database::Location::Sqlite(path)))) => {
            arguments.extend(["--db".to_owned(), absolute(&path)?]);
        }
        Some((url, Ok(database::Location::Postgres(_)))) if has_password(url) => {
            secret_database = Some(url.to_owned());
        }
        Some((url, Ok(database::Location::Postgres(_)))) => {
            arguments.extend(["--db".to_owned(), url.to_owned()]);
        }
    }
    Ok(Entry::Program { command, arguments, secret_database })
}

/// Makes a path absolute, because clients start the program in another directory.
fn absolute(path: &Path) -> Result<String> {
    let path = std::path::absolute(path).map_err(|error| Failure::file("find", path, &error))?;
    path.to_str().map(str::to_owned).ok_or_else(|| invalid_path(&path))
}

fn invalid_path(path: &Path) -> Failure {
    let path = path.display().to_string();
    CommandError::InvalidPath { path, remedy: Remedy::OtherDirectory }.into()
}

fn has_password(url: &str) -> bool {
    let authority =
        url.split("://").nth(1).and_then(|rest| rest.split(['/', '?']).next()).unwrap_or_default();
    let in_authority = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    in_authority || url.contains("password=")
}

fn address(url: &str, tools: Option<&str>, database: Option<&str>) -> Result<Entry> {
    if database.is_some() {
        return Err(CommandError::Conflicting { flag: "--http", others: vec!["--db", "MASQUE_DB"] }.into());
    }
    let scheme_is_known = url.starts_with("http://") || url.starts_with("https://");
    if !scheme_is_known || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        let (flag, example) = ("--http", "http://127.0.0.1:4747/mcp");
        return Err(CommandError::InvalidValue { flag, value: url.to_owned(), example }.into());
    }
    let url = match tools {
        None => url.to_owned(),
        Some(tools) => {
            let mark = if url.contains('?') { '&' } else { '?' };
            format!("{url}{mark}tools={tools}")
        }
    };
    Ok(Entry::Address(url))
}

/// An entry in the form of JSON clients, in the usual order of members.
#[derive(Debug, Serialize)]
pub(super) struct JsonForm<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) transport: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) args: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<&'a str>,
    /// Merged separately, to keep the user's own variables.
    #[serde(skip)]
    pub(super) secret_database: Option<&'a str>,
}

impl<'a> JsonForm<'a> {
    pub(super) fn new(entry: &'a Entry, names_transport: bool) -> Self {
        match entry {
            Entry::Program { command, arguments, secret_database } => Self {
                transport: names_transport.then_some("stdio"),
                command: Some(command),
                args: Some(arguments),
                url: None,
                secret_database: secret_database.as_deref(),
            },
            Entry::Address(url) => Self {
                transport: names_transport.then_some("http"),
                command: None,
                args: None,
                url: Some(url),
                secret_database: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::has_password;

    #[test]
    fn passwords_are_detected() {
        assert!(has_password("postgres://me:secret@host/db"));
        assert!(has_password("postgres://host/db?user=me&password=x"));
        assert!(!has_password("postgres://me@host:5432/db"));
        assert!(!has_password("postgres:///db?host=/run/postgresql"));
    }
}
