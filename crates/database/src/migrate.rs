//! Versioned migrations, run at start under a lock; they are only ever added.
//!
//! Written by hand because several processes may open a fresh SQLite file at once, which sqlx's own
//! migrator does not guard against, and because a newer database deserves a clear error.

use crate::dialect::Dialect;
use crate::engine::{Engine, Parameter, Transaction};
use crate::{Error, Result};

mod placing;

struct Migration {
    version: i64,
    sqlite: &'static str,
    postgres: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sqlite: include_str!("../migrations/sqlite/0001_library.sql"),
        postgres: include_str!("../migrations/postgres/0001_library.sql"),
    },
    Migration {
        version: 2,
        sqlite: include_str!("../migrations/sqlite/0002_files.sql"),
        postgres: include_str!("../migrations/postgres/0002_files.sql"),
    },
    Migration {
        version: 3,
        sqlite: include_str!("../migrations/sqlite/0003_sessions.sql"),
        postgres: include_str!("../migrations/postgres/0003_sessions.sql"),
    },
    Migration {
        version: 4,
        sqlite: include_str!("../migrations/sqlite/0004_tool_rounds.sql"),
        postgres: include_str!("../migrations/postgres/0004_tool_rounds.sql"),
    },
    Migration {
        version: 5,
        sqlite: include_str!("../migrations/sqlite/0005_runs.sql"),
        postgres: include_str!("../migrations/postgres/0005_runs.sql"),
    },
    Migration {
        version: 6,
        sqlite: include_str!("../migrations/sqlite/0006_tags.sql"),
        postgres: include_str!("../migrations/postgres/0006_tags.sql"),
    },
    Migration {
        version: 7,
        sqlite: include_str!("../migrations/sqlite/0007_tags_of_earlier.sql"),
        postgres: include_str!("../migrations/postgres/0007_tags_of_earlier.sql"),
    },
    Migration {
        version: 8,
        sqlite: include_str!("../migrations/sqlite/0008_approval_policy.sql"),
        postgres: include_str!("../migrations/postgres/0008_approval_policy.sql"),
    },
    Migration {
        version: 9,
        sqlite: include_str!("../migrations/sqlite/0009_extra.sql"),
        postgres: include_str!("../migrations/postgres/0009_extra.sql"),
    },
    Migration {
        version: 10,
        sqlite: include_str!("../migrations/sqlite/0010_beats.sql"),
        postgres: include_str!("../migrations/postgres/0010_beats.sql"),
    },
    Migration {
        version: 11,
        sqlite: include_str!("../migrations/sqlite/0011_requests.sql"),
        postgres: include_str!("../migrations/postgres/0011_requests.sql"),
    },
    Migration {
        version: 12,
        sqlite: include_str!("../migrations/sqlite/0012_editing.sql"),
        postgres: include_str!("../migrations/postgres/0012_editing.sql"),
    },
    Migration {
        version: 13,
        sqlite: include_str!("../migrations/sqlite/0013_tests.sql"),
        postgres: include_str!("../migrations/postgres/0013_tests.sql"),
    },
    Migration {
        version: 14,
        sqlite: include_str!("../migrations/sqlite/0014_costs.sql"),
        postgres: include_str!("../migrations/postgres/0014_costs.sql"),
    },
    Migration {
        version: 15,
        sqlite: include_str!("../migrations/sqlite/0015_locks.sql"),
        postgres: include_str!("../migrations/postgres/0015_locks.sql"),
    },
    Migration {
        version: 16,
        sqlite: include_str!("../migrations/sqlite/0016_tracks.sql"),
        postgres: include_str!("../migrations/postgres/0016_tracks.sql"),
    },
];

/// The schema version of this Masque.
pub const NEWEST: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

const VERSION: &str = "SELECT max(version) FROM masque_migrations";

/// Migrates a database to this Masque's schema. Fails if it is newer.
pub async fn migrate(engine: &Engine) -> Result<()> {
    // Most starts find everything in place and need no lock.
    if let Ok(Some(found)) = engine.number(VERSION.to_owned(), &[]).await
        && found == NEWEST
    {
        return Ok(());
    }
    let mut transaction = engine.begin().await?;
    transaction.without_bounds().await?;
    match engine {
        Engine::Postgres(postgres) => placing::prepare(&mut transaction, &postgres.schema).await?,
        Engine::Sqlite(_) => refuse_foreign(&mut transaction).await?,
    }
    transaction
        .run(
            "CREATE TABLE IF NOT EXISTS masque_migrations (version bigint PRIMARY KEY, applied_at text NOT NULL)",
            &[],
        )
        .await?;
    let found = transaction.number(VERSION, &[]).await?.unwrap_or(0);
    if found > NEWEST {
        return Err(Error::NewerSchema { found, known: NEWEST });
    }
    if let Engine::Postgres(postgres) = engine {
        let scripts = |applied: bool| {
            let chosen = MIGRATIONS.iter().filter(move |it| (it.version <= found) == applied);
            chosen.map(|migration| migration.postgres)
        };
        placing::refuse_clash(&mut transaction, &postgres.schema, scripts(true), scripts(false)).await?;
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        apply(&mut transaction, migration).await?;
    }
    transaction.commit().await
}

/// Fails if a file has the tables of another program.
async fn refuse_foreign(transaction: &mut Transaction) -> Result<()> {
    let foreign = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
                   AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'masque_migrations')";
    match transaction.number(foreign, &[]).await? {
        Some(0) | None => Ok(()),
        Some(_) => Err(Error::Foreign),
    }
}

async fn apply(transaction: &mut Transaction, migration: &Migration) -> Result<()> {
    let script = match transaction.dialect() {
        Dialect::Sqlite => migration.sqlite,
        Dialect::Postgres => migration.postgres,
    };
    transaction.run_script(script).await?;
    let now = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true);
    transaction
        .run(
            "INSERT INTO masque_migrations (version, applied_at) VALUES ($1, $2)",
            &[Parameter::Int(migration.version), Parameter::Text(now)],
        )
        .await?;
    tracing::info!(version = migration.version, "schema migrated");
    Ok(())
}
