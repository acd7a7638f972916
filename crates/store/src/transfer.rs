//! Copies from one engine to the other, each followed by a comparison of every row.

use std::collections::HashMap;

use futures::TryStreamExt as _;
use persona::Kind;

use crate::schema::{TABLES, Table};
use database::{Column, Dialect, Location};
use database::{Parameter, Transaction};

use crate::{Attribution, Error, Result, Store, documents};

/// Rows that are written with one statement.
const BATCH: usize = 500;
/// Bytes after which a batch is written, however few rows it has.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The progress of one step of a copy, a backup or an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub step: &'static str,
    /// The object of the step, such as a table. Empty if there is only one.
    pub what: &'static str,
    /// The name of what is counted, in the plural.
    pub unit: &'static str,
    pub done: u64,
    pub total: u64,
}

/// The result of a copy, in which every row was compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    pub tables: Vec<(&'static str, u64)>,
    pub rows: u64,
    /// Rows of the history and the state of this machine's files, which stayed where they are.
    pub left_behind: u64,
    /// Rows of sessions and tracks that stayed where they are.
    pub left_sessions: u64,
}

/// The sessions and tracks of a copy: what was said is not for everyone who shares a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedSessions {
    All,
    None,
}

impl Store {
    /// Copies everything into another database, which must be empty, and compares both. What
    /// belongs to this machine's personas.toml files stays here.
    pub async fn copy_to(
        &self,
        to: &Location,
        sessions: CopiedSessions,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<CopyReport> {
        let extent = match sessions {
            CopiedSessions::All => Extent::WithoutFiles,
            CopiedSessions::None => Extent::Library,
        };
        self.copy_all(to, extent, progress).await
    }

    pub(crate) async fn copy_all(
        &self,
        to: &Location,
        extent: Extent,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<CopyReport> {
        let target = match Self::open(to.clone(), true).await {
            Err(Error::Database(database::Error::Open { location, source })) => {
                return Err(Error::OpenTarget { location, source });
            }
            target => target?,
        };
        let copied = self.copy_into(&target, extent, progress).await;
        target.close().await;
        copied
    }

    async fn copy_into(
        &self,
        target: &Self,
        extent: Extent,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<CopyReport> {
        for table in TABLES {
            if target.count(table.name).await? > 0 {
                return Err(Error::Occupied(target.location().to_string()));
            }
        }
        let mut source = self.engine().snapshot().await?;
        let attribution = Attribution { who: "masque".to_owned(), front: "copy".to_owned(), message: None };
        let mut write = target.write(attribution).await?;
        write.transaction().without_bounds().await?;
        let mut report = CopyReport { tables: Vec::new(), rows: 0, left_behind: 0, left_sessions: 0 };
        for table in TABLES {
            let total = count(&mut source, table, extent).await?;
            let left = count(&mut source, table, Extent::Everything).await? - total;
            match is_of_sessions(table) {
                true => report.left_sessions += left,
                false => report.left_behind += left,
            }
            let rows = copy_table(&mut source, write.transaction(), (table, extent), total, progress).await?;
            report.tables.push((table.name, rows));
            report.rows += rows;
        }
        progress(Progress { step: "index", what: "library_search", unit: "tables", done: 0, total: 1 });
        for kind in Kind::ALL {
            reindex(&mut write, *kind).await?;
        }
        for table in TABLES {
            compare(&mut source, write.transaction(), (table, extent), progress).await?;
        }
        write.everything_changed();
        write.commit().await?;
        Ok(report)
    }

    async fn count(&self, table: &str) -> Result<u64> {
        let count = self.engine().number(format!("SELECT count(*) FROM {table}"), &[]).await?;
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
    }
}

/// The rows of a table that are copied.
async fn count(source: &mut Transaction, table: &Table, extent: Extent) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM {} a WHERE {}", table.name, extent.condition(table));
    let count = source.number(&sql, &[]).await?;
    Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
}

/// The rows that are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Everything,
    /// Without the history and the state of personas.toml files: they belong to one machine.
    WithoutFiles,
    /// Without those, sessions and tracks.
    Library,
}

/// True for the tables of sessions, and of tracks, whose workers are sessions.
fn is_of_sessions(table: &Table) -> bool {
    table.name == "sessions" || ["session_", "masque_track"].iter().any(|it| table.name.starts_with(it))
}

impl Extent {
    /// Which rows of a table are copied.
    fn condition(self, table: &Table) -> &'static str {
        let has = |name: &str| table.columns.iter().any(|(column, _)| *column == name);
        match self {
            Self::Everything => "TRUE",
            Self::Library if is_of_sessions(table) => "FALSE",
            Self::WithoutFiles | Self::Library if has("scope") => "a.scope NOT IN ('global', 'project')",
            Self::WithoutFiles | Self::Library if table.name == "agent_revision_tags" => {
                "a.guid IN (SELECT r.guid FROM agent_revisions r WHERE r.scope NOT IN ('global', 'project'))"
            }
            Self::WithoutFiles | Self::Library => "TRUE",
        }
    }
}

/// Every row of a table that is copied, as a JSON object, by key.
fn rows_of(dialect: Dialect, table: &Table, extent: Extent) -> String {
    let fields: Vec<(&str, String)> = table
        .columns
        .iter()
        .map(|(name, holds)| (*name, dialect.json_value(&format!("a.{name}"), *holds)))
        .collect();
    let text =
        |name: &str| table.columns.iter().any(|(column, holds)| *column == name && *holds == Column::Text);
    let key = table.key.iter().map(|name| match dialect {
        Dialect::Postgres if text(name) => format!("a.{name} COLLATE \"C\""),
        _ => format!("a.{name}"),
    });
    let key: Vec<String> = key.collect();
    format!(
        "SELECT {} FROM {} a WHERE {} ORDER BY {}",
        dialect.text(&dialect.object(&fields)),
        table.name,
        extent.condition(table),
        key.join(", ")
    )
}

/// Puts a JSON array of rows, `$1`, into a table.
fn insert_into(dialect: Dialect, table: &Table) -> String {
    let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
    let (into, names) = (table.name, names.join(", "));
    match dialect {
        Dialect::Sqlite => {
            let fields: Vec<String> =
                table.columns.iter().map(|(name, _)| format!("json_extract(value, '$.{name}')")).collect();
            format!("INSERT INTO {into} ({names}) SELECT {} FROM json_each($1)", fields.join(", "))
        }
        Dialect::Postgres => {
            format!(
                "INSERT INTO {into} ({names}) SELECT {names} FROM jsonb_populate_recordset(NULL::{into}, $1)"
            )
        }
    }
}

async fn copy_table(
    source: &mut Transaction,
    target: &mut Transaction,
    (table, extent): (&'static Table, Extent),
    total: u64,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<u64> {
    let insert = insert_into(target.dialect(), table);
    let mut done = 0;
    let mut batch: Vec<String> = Vec::new();
    let mut bytes = 0;
    let mut rows = stream(source, table, extent);
    loop {
        let row = rows.try_next().await?;
        let ended = row.is_none();
        if let Some(row) = row {
            bytes += row.len();
            batch.push(row);
        }
        if batch.len() >= BATCH || bytes >= BATCH_BYTES || (ended && !batch.is_empty()) {
            done += batch.len() as u64;
            target.run(&insert, &[Parameter::Json(format!("[{}]", batch.join(",")))]).await?;
            batch.clear();
            bytes = 0;
            progress(Progress { step: "copy", what: table.name, unit: "rows", done, total });
        }
        if ended {
            break;
        }
    }
    drop(rows);
    if table.serial && target.dialect() == Dialect::Postgres {
        let name = table.name;
        let sql = format!(
            "SELECT setval(pg_get_serial_sequence('{name}', 'id'), coalesce((SELECT max(id) FROM {name}), 0) + 1, false)"
        );
        target.run(&sql, &[]).await?;
    }
    Ok(done)
}

type RowStream<'a> = futures::stream::BoxStream<'a, database::Result<String>>;

fn stream<'a>(source: &'a mut Transaction, table: &Table, extent: Extent) -> RowStream<'a> {
    let sql = rows_of(source.dialect(), table, extent);
    source.stream(sql)
}

/// Reads both tables side by side; the first difference ends the copy, and so undoes it.
async fn compare(
    source: &mut Transaction,
    target: &mut Transaction,
    (table, extent): (&'static Table, Extent),
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<()> {
    let mut left = stream(source, table, extent);
    let mut right = stream(target, table, extent);
    let mut done = 0;
    loop {
        let parse = |row: Option<String>| -> Result<Option<HashMap<String, serde_json::Value>>> {
            Ok(row.map(|row| serde_json::from_str(&row)).transpose()?)
        };
        let pair = (parse(left.try_next().await?)?, parse(right.try_next().await?)?);
        match pair {
            (None, None) => break,
            (left, right) if left == right => done += 1,
            _ => {
                return Err(Error::CopyDiffers { table: table.name, row: done + 1 });
            }
        }
        if done % 10_000 == 0 {
            progress(Progress { step: "compare", what: table.name, unit: "rows", done, total: done });
        }
    }
    progress(Progress { step: "compare", what: table.name, unit: "rows", done, total: done });
    Ok(())
}

/// Rebuilds the search index of a kind.
async fn reindex(write: &mut crate::DatabaseWrite, kind: Kind) -> Result<()> {
    let select = documents::select(write.transaction().dialect(), kind);
    let sql = format!("{select} WHERE a.id > $1 ORDER BY a.id LIMIT {BATCH}");
    let mut last = 0;
    loop {
        let rows = write.transaction().texts(&sql, &[Parameter::Int(last)]).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            let row = documents::parse(kind, &row)?;
            write.index(row.id, &row.stored.entity).await?;
            last = row.id;
        }
    }
}
