//! The entry of a client: a program to start, or an address to call.

use std::path::Path;

use app::Remedy;
use serde::Serialize;

use super::ClientFile;
use super::bearer::Bearer;
use super::program::start_by;
use crate::cli::ConnectArgs;
use crate::failure::{CommandError, Failure, Result};
use crate::locations::Directories;

/// The tools of a new entry: they read, and take the fewest tokens.
const DEFAULT_TOOLS: &str = "load";

/// A part of the database's location that a client's file must not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOut {
    Password,
    /// The path of a SQLite file, in a file that a team shares.
    Path,
}

impl LeftOut {
    /// How a client's program gets it instead.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Password => {
                "the password is not written: set PGPASSWORD where the client starts, or add it to ~/.pgpass"
            }
            Self::Path => {
                "the path of the database is not written, because a team shares this file: set MASQUE_DB \
                 where the client starts, or leave out --project"
            }
        }
    }
}

#[derive(Debug)]
pub(super) enum Entry {
    Program {
        command: String,
        arguments: Vec<String>,
        /// A part of the database's location that is not written.
        left_out: Option<LeftOut>,
    },
    Address {
        url: String,
        bearer: Option<Bearer>,
    },
}

impl Entry {
    pub(super) fn from_args(
        args: &ConnectArgs,
        target: &ClientFile,
        database: Option<&str>,
        directories: &Directories,
    ) -> Result<Self> {
        match &args.http {
            Some(url) => {
                let url = address(url, args.tools.as_deref(), database)?;
                let bearer = Bearer::for_url(&url, args, target.is_shared, directories)?;
                Ok(Self::Address { url, bearer })
            }
            None => program(args.tools.as_deref(), target, database),
        }
    }

    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::Address { url, .. } => Some(url),
            Self::Program { .. } => None,
        }
    }

    pub(super) fn left_out(&self) -> Option<LeftOut> {
        match self {
            Self::Program { left_out, .. } => *left_out,
            Self::Address { .. } => None,
        }
    }

    pub(super) fn bearer(&self) -> Option<&Bearer> {
        match self {
            Self::Address { bearer, .. } => bearer.as_ref(),
            Self::Program { .. } => None,
        }
    }

    /// True if the entry has a secret.
    pub(super) fn is_secret(&self) -> bool {
        matches!(self.bearer(), Some(Bearer::Literal(_)))
    }

    /// The same entry for a message: it names the variable of the token.
    pub(super) fn without_secret(&self) -> Self {
        match self {
            Self::Program { command, arguments, left_out } => {
                Self::Program { command: command.clone(), arguments: arguments.clone(), left_out: *left_out }
            }
            Self::Address { url, bearer } => {
                Self::Address { url: url.clone(), bearer: bearer.as_ref().map(|_| Bearer::Variable) }
            }
        }
    }
}

fn program(tools: Option<&str>, target: &ClientFile, database: Option<&str>) -> Result<Entry> {
    let command = start_by(target)?;
    let command = command.to_str().map(str::to_owned).ok_or_else(|| invalid_path(&command))?;
    let mut arguments =
        vec!["mcp".to_owned(), "--tools".to_owned(), tools.unwrap_or(DEFAULT_TOOLS).to_owned()];
    let (shown, left_out) = match database {
        Some(database) => shown_database(database, target)?,
        None => (None, None),
    };
    arguments.extend(shown.into_iter().flat_map(|shown| ["--db".to_owned(), shown]));
    Ok(Entry::Program { command, arguments, left_out })
}

/// The database as a client's file names it, and what is left out. A path of this machine means nothing
/// in a file that a team shares.
fn shown_database(database: &str, target: &ClientFile) -> Result<(Option<String>, Option<LeftOut>)> {
    match database::Location::parse(database)? {
        database::Location::Sqlite(_) if target.is_shared => Ok((None, Some(LeftOut::Path))),
        database::Location::Sqlite(path) => Ok((Some(absolute(&path)?), None)),
        database::Location::Postgres(_) => {
            let stripped = without_the_password(database);
            let left_out = (stripped != database).then_some(LeftOut::Password);
            Ok((Some(stripped), left_out))
        }
    }
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

/// The address of a server, without a password before the host or in the query.
fn without_the_password(url: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => authority.to_owned(),
    };
    // An encoded key may be any word.
    let is_secret = |key: &str| key.eq_ignore_ascii_case("password") || key.contains(['%', '+']);
    let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let pairs: Vec<&str> =
        pairs.filter(|pair| !is_secret(pair.split('=').next().unwrap_or_default())).collect();
    let mark = if pairs.is_empty() { "" } else { "?" };
    format!("{scheme}://{authority}{path}{mark}{}", pairs.join("&"))
}

/// True for an address with a password, as older versions wrote it into the variables of an entry.
pub(super) fn has_password(url: &str) -> bool {
    database::Location::parse(url).is_ok_and(|location| matches!(location, database::Location::Postgres(_)))
        && without_the_password(url) != url
}

fn address(url: &str, tools: Option<&str>, database: Option<&str>) -> Result<String> {
    if database.is_some() {
        return Err(CommandError::Conflicting { flag: "--http", others: vec!["--db", "MASQUE_DB"] }.into());
    }
    let scheme_is_known = url.starts_with("http://") || url.starts_with("https://");
    if !scheme_is_known || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        let (flag, example) = ("--http", "http://127.0.0.1:4747/mcp");
        return Err(CommandError::InvalidValue { flag, value: url.to_owned(), example }.into());
    }
    let query = url.split_once('?').map(|(_, query)| query);
    if url.split(['?', '#']).next().is_some_and(|address| address.contains('@')) {
        return Err(CommandError::PasswordInAddress { flag: "--http" }.into());
    }
    let names_tools = query.is_some_and(|query| query.split('&').any(|pair| pair.starts_with("tools=")));
    if names_tools && tools.is_none() {
        return Ok(url.to_owned());
    }
    let mark = if query.is_some() { '&' } else { '?' };
    Ok(format!("{url}{mark}tools={}", tools.unwrap_or(DEFAULT_TOOLS)))
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
    /// The header `Authorization`.
    #[serde(skip)]
    pub(super) authorization: Option<String>,
}

impl<'a> JsonForm<'a> {
    /// `variable` is how the client writes a variable of the environment.
    pub(super) fn new(entry: &'a Entry, names_transport: bool, variable: fn(&str) -> String) -> Self {
        match entry {
            Entry::Program { command, arguments, .. } => Self {
                transport: names_transport.then_some("stdio"),
                command: Some(command),
                args: Some(arguments),
                url: None,
                authorization: None,
            },
            Entry::Address { url, bearer } => Self {
                transport: names_transport.then_some("http"),
                command: None,
                args: None,
                url: Some(url),
                authorization: bearer.as_ref().map(|bearer| bearer.header(variable)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{has_password, without_the_password};

    #[test]
    fn passwords_are_left_out() {
        let check = |url: &str, expected: &str| assert_eq!(without_the_password(url), expected);
        check("postgres://me:secret@host/db", "postgres://me@host/db");
        check(
            "postgres://me:a%40b:c@host:5432/db?sslmode=require",
            "postgres://me@host:5432/db?sslmode=require",
        );
        check("postgres://host/db?user=me&password=x", "postgres://host/db?user=me");
        check("postgres://host/db?password=x", "postgres://host/db");
        check("postgresql://host/db?passw%6Frd=x&Password=y&user=me", "postgresql://host/db?user=me");
        for url in ["postgres://me@host:5432/db", "postgres:///db?host=/run/postgresql", "postgres://h"] {
            check(url, url);
        }
        assert!(has_password("postgres://me:secret@host/db") && !has_password("postgres://me@host/db"));
        assert!(!has_password("team.db?password=x"), "a file has no password");
    }
}
