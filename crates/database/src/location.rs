//! Where a database is: a path, or the address of a server.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

use crate::{Error, Result};

/// The place of a database. Shown without the password.
#[derive(Debug, Clone)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
}

impl Location {
    /// Reads `PATH`, `sqlite:PATH` or `postgres://…`.
    pub fn parse(text: &str) -> Result<Self> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            let options = PgConnectOptions::from_str(text).map_err(|error| {
                // The text may hold a password, so it is not repeated.
                Error::Invalid(format!("the database address is not valid ({error}); write postgres://user:password@host:port/database"))
            })?;
            return Ok(Self::Postgres(Box::new(options.application_name("masque"))));
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or(text);
        if path.is_empty() {
            return Err(Error::Invalid(
                "the database path is empty; give a file, or postgres://…".to_owned(),
            ));
        }
        if path.contains("://") {
            let scheme = path.split("://").next().unwrap_or_default();
            return Err(Error::Invalid(format!(
                "{scheme:?} is no database that Masque knows; give a file, or postgres://…"
            )));
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }

    pub fn engine(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "{}", path.display()),
            Self::Postgres(options) => {
                let host = options.get_host();
                let port = options.get_port();
                let database = options.get_database().unwrap_or_else(|| options.get_username());
                write!(f, "postgres://{host}:{port}/{database}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Location;

    fn shown(text: &str) -> String {
        match Location::parse(text) {
            Ok(location) => format!("{} {location}", location.engine()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn locations_are_read_and_shown_without_secrets() {
        assert_eq!(shown("/tmp/a.db"), "sqlite /tmp/a.db");
        assert_eq!(shown("sqlite:a.db"), "sqlite a.db");
        assert_eq!(
            shown("postgres://me:secret@db.local:5433/team"),
            "postgres postgres://db.local:5433/team"
        );
        assert!(shown("mysql://x/y").contains("\"mysql\" is no database"));
        assert!(shown("").contains("path is empty"));
        let bad = shown("postgres://me:secret@host:notaport/x");
        assert!(bad.contains("not valid") && !bad.contains("secret"), "{bad}");
    }
}
