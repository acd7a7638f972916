//! The location of a database: a path, or the address of a server.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

use crate::{AddressError, Result};

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
            let options = PgConnectOptions::from_str(text).map_err(AddressError::Invalid)?;
            return Ok(Self::Postgres(Box::new(options.application_name("masque"))));
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or(text);
        if path.is_empty() {
            return Err(AddressError::Empty.into());
        }
        if let Some((scheme, _)) = path.split_once("://") {
            return Err(AddressError::UnknownScheme { scheme: scheme.to_owned() }.into());
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
    use super::*;
    use crate::Error;

    fn shown(text: &str) -> String {
        let location = Location::parse(text).expect("it is an address");
        format!("{} {location}", location.engine())
    }

    fn refused(text: &str) -> AddressError {
        match Location::parse(text) {
            Err(Error::Address(error)) => error,
            other => panic!("{text}: {other:?}"),
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
    }

    #[test]
    fn a_refused_address_says_why_and_keeps_its_password() {
        assert!(
            matches!(refused("mysql://x/y"), AddressError::UnknownScheme { scheme } if scheme == "mysql")
        );
        assert!(matches!(refused(""), AddressError::Empty));
        let bad = refused("postgres://me:secret@host:notaport/x");
        assert!(matches!(bad, AddressError::Invalid(_)));
        assert!(!bad.to_string().contains("secret"), "{bad}");
    }
}
