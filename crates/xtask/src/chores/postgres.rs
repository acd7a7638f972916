//! A PostgreSQL for the tests: the one that the environment names, or a temporary cluster of our own.

mod binaries;
mod cluster;

use std::io::BufRead;
use std::process::{Command, ExitCode};

use anyhow::{Result, anyhow};

use crate::chores::process;
use cluster::Cluster;

/// The variable in which tests look for the database; they create databases of their own under it.
pub(crate) const URL_VARIABLE: &str = "MASQUE_TEST_POSTGRES_URL";

pub(crate) enum Postgres {
    /// An existing server, named by the environment.
    Given(String),
    /// Our own; stopped and removed when this value is dropped.
    Started(Cluster),
}

impl Postgres {
    /// Finds or starts a server. Each installation gets its chance: a wrapper on PATH may be unusable where
    /// the distribution's own binaries work.
    pub(crate) fn provide() -> Result<Self> {
        if let Ok(url) = std::env::var(URL_VARIABLE)
            && !url.is_empty()
        {
            return Ok(Self::Given(url));
        }
        let mut failure = None;
        for installation in binaries::find_or_install()? {
            match Cluster::start(&installation) {
                Ok(cluster) => return Ok(Self::Started(cluster)),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(|| {
            anyhow!(
                "neither initdb and postgres on PATH nor anything in /usr/lib/postgresql; \
                 install PostgreSQL or set {URL_VARIABLE}"
            )
        }))
    }

    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Given(url) => url,
            Self::Started(cluster) => cluster.url(),
        }
    }

    /// The line in the summary.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Given(_) => format!("given by {URL_VARIABLE}"),
            Self::Started(cluster) => cluster.describe(),
        }
    }
}

/// `cargo xtask postgres`: a cluster for whatever a developer wants to try.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments = match arguments {
        [first, rest @ ..] if first == "--" => rest,
        all => all,
    };
    let postgres = Postgres::provide()?;
    eprintln!("postgres: {}", postgres.describe());
    let Some((program, rest)) = arguments.split_first() else {
        println!("{URL_VARIABLE}={}", postgres.url());
        eprintln!("postgres: Enter or the end of input stops it");
        std::io::stdin().lock().read_line(&mut String::new())?;
        return Ok(ExitCode::SUCCESS);
    };
    let status = process::status(Command::new(program).args(rest).env(URL_VARIABLE, postgres.url()))?;
    Ok(process::exit_code(status))
}
