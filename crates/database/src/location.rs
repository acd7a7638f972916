//! The location of a database: a path, or the address of a server.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

use crate::{AddressError, Result, SchemaName};

/// The name of connections, as the server's list of them shows it. Those of an open database add an id.
pub(crate) const APPLICATION: &str = "masque";

/// The place of a database. Shown without the password.
#[derive(Debug, Clone)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres(Box<PostgresLocation>),
}

/// A database on a server, and the schema of the library in it.
#[derive(Debug, Clone)]
pub struct PostgresLocation {
    /// Without the schema.
    pub(crate) options: PgConnectOptions,
    /// `None` until the database was opened, if the address names none.
    pub schema: Option<SchemaName>,
}

impl PostgresLocation {
    fn parse(text: &str) -> Result<Self> {
        let (address, schema) = split_schema(text);
        let options = PgConnectOptions::from_str(&address).map_err(AddressError::Invalid)?;
        let schema = schema.map(SchemaName::parse).transpose()?;
        Ok(Self { options: options.application_name(APPLICATION), schema })
    }

    /// The settings of a connection: all names without a schema mean those of this one.
    pub fn connect_options(&self) -> PgConnectOptions {
        let schema = self.schema.clone().unwrap_or_default();
        self.options.clone().options([("search_path", schema.quoted())])
    }
}

/// An address without its parameter `schema`, and that parameter. A valid value needs no escapes.
fn split_schema(text: &str) -> (String, Option<&str>) {
    let Some((start, parameters)) = text.split_once('?') else { return (text.to_owned(), None) };
    let (own, others): (Vec<&str>, Vec<&str>) =
        parameters.split('&').partition(|parameter| parameter.starts_with("schema="));
    let schema = own.last().and_then(|parameter| parameter.strip_prefix("schema="));
    (format!("{start}?{}", others.join("&")), schema)
}

impl Location {
    /// Reads `PATH`, `sqlite:PATH` or `postgres://…`, with `?schema=NAME` for another schema than `masque`.
    pub fn parse(text: &str) -> Result<Self> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(Box::new(PostgresLocation::parse(text)?)));
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
            Self::Postgres(postgres) => {
                let PostgresLocation { options, schema } = &**postgres;
                let host = options.get_host();
                let port = options.get_port();
                let database = options.get_database().unwrap_or_else(|| options.get_username());
                write!(f, "postgres://{host}:{port}/{database}")?;
                schema.iter().try_for_each(|schema| write!(f, "?schema={schema}"))
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
        assert_eq!(
            shown("postgres://me:secret@db.local:5433/team?sslmode=disable&schema=crew"),
            "postgres postgres://db.local:5433/team?schema=crew"
        );
    }

    #[test]
    fn a_refused_address_says_why_and_keeps_its_password() {
        assert!(
            matches!(refused("mysql://x/y"), AddressError::UnknownScheme { scheme } if scheme == "mysql")
        );
        assert!(matches!(refused(""), AddressError::Empty));
        let schema = refused("postgres://me:secret@host/x?schema=a-b");
        assert!(matches!(schema, AddressError::Schema { name } if name == "a-b"));
        let bad = refused("postgres://me:secret@host:notaport/x");
        assert!(matches!(bad, AddressError::Invalid(_)));
        assert!(!bad.to_string().contains("secret"), "{bad}");
    }
}
