//! An import of 2,000 entities into SQLite: CPU time beside bare inserts of the same rows.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use app::{Author, Library, OpenOptions, TomlText};
use persona::{AnyEntity, Scope};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use tempfile::TempDir;

use crate::process::cpu_seconds;
use crate::report::{Figure, directory, median, report};

const SEED: u64 = 20_260_728;
/// With their pieces, these are 2,000 entities.
const PERSONAS: u64 = 1_764;
const ENTITIES: usize = 2_000;
/// Imports into fresh databases. The figures are medians.
const ROUNDS: usize = 5;
/// Bare inserts are much quicker than the clock's tick of 10 ms: so many are measured together.
const BARE_ROUNDS: usize = 10;
/// The most CPU time of an entity.
const BAR_MICROS: f64 = 300.0;

/// The rows of one table.
struct Table {
    name: String,
    rows: Vec<Vec<Value>>,
}

/// The statements that make an empty database, and its rows.
struct Rows {
    schema: Vec<String>,
    tables: Vec<Table>,
    /// The search index does not give its rows back: the texts that it is made from.
    words: Vec<(String, String)>,
}

pub(crate) async fn measure() -> Result<()> {
    let entities = entities();
    ensure!(entities.len() == ENTITIES, "{} entities were generated", entities.len());
    let text = app::toml_of(&entities)?;
    println!("importing {} entities, {} KB, {ROUNDS} times", entities.len(), text.len() / 1024);
    let (mut first, mut second, mut rows) = (Vec::new(), Vec::new(), None);
    for _ in 0..ROUNDS {
        let place = TempDir::with_prefix_in("import-", directory()?)?;
        let file = place.path().join("masque.db");
        let library = Library::open(OpenOptions::database(file.to_string_lossy())).await?;
        first.push(import(&library, &text, ENTITIES).await?);
        second.push(import(&library, &text, 0).await?);
        library.close().await;
        if rows.is_none() {
            rows = Some(Rows::read(&file, &entities)?);
        }
    }
    let rows = rows.context("a round was measured")?;
    let bare = rows.insert_all()?;
    report(
        "import",
        &[
            Figure::at_most("first import, CPU of an entity", "µs", median(&first), BAR_MICROS),
            Figure::at_most("second import, CPU of an entity", "µs", median(&second), BAR_MICROS),
            Figure::new("first import beside bare inserts of its rows", "µs", median(&first), bare, None),
            Figure::new("second import beside the same", "µs", median(&second), bare, None),
        ],
    )
}

fn entities() -> Vec<AnyEntity> {
    let library = testkit::generate(SEED, PERSONAS);
    let mut entities: Vec<AnyEntity> = library.parts().map(Into::into).collect();
    entities.extend(library.traits().map(AnyEntity::from));
    entities.extend(library.skills().map(AnyEntity::from));
    entities.extend(library.guardrails().map(AnyEntity::from));
    entities.extend(library.personas().map(AnyEntity::from));
    entities
}

/// Imports the text. Returns the CPU time of an entity in microseconds.
async fn import(library: &Library, text: &str, changes: usize) -> Result<f64> {
    let author = Author::new("bench", "bench");
    let started = cpu_seconds("self")?;
    let plan = library.import(&author, TomlText::named("import", text), Some(Scope::Shared), None).await?;
    let used = cpu_seconds("self")? - started;
    ensure!(plan.changes() == changes, "{} entities changed instead of {changes}", plan.changes());
    Ok(used * 1e6 / ENTITIES as f64)
}

impl Rows {
    fn read(file: &Path, entities: &[AnyEntity]) -> Result<Self> {
        let database = Connection::open(file)?;
        // The tables of the search index and of SQLite itself make themselves.
        let own = "name NOT LIKE 'sqlite_%' AND name NOT LIKE 'library_search_%' AND sql IS NOT NULL";
        let select = |what: &str| -> Result<Vec<String>> {
            let mut statement = database.prepare(&format!("SELECT {what} AND {own}"))?;
            let found = statement.query_map([], |row| row.get(0))?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        };
        // Tables before their indexes. Triggers would insert rows twice.
        let mut schema = select("sql FROM sqlite_master WHERE type = 'table'")?;
        schema.extend(select("sql FROM sqlite_master WHERE type = 'index'")?);
        let mut tables = Vec::new();
        for name in select("name FROM sqlite_master WHERE type = 'table' AND name <> 'library_search'")? {
            let mut statement = database.prepare(&format!("SELECT * FROM {name}"))?;
            let columns = statement.column_count();
            let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
            let rows = statement.query_map([], row)?.collect::<rusqlite::Result<_>>()?;
            tables.push(Table { name, rows });
        }
        let words = entities.iter().map(|entity| (entity.name().to_string(), entity.to_json().to_string()));
        Ok(Self { schema, tables, words: words.collect() })
    }

    /// Inserts all rows in one transaction, in several fresh databases. Returns the CPU time of an entity in
    /// microseconds.
    fn insert_all(&self) -> Result<f64> {
        let place = TempDir::with_prefix_in("import-", directory()?)?;
        let mut used = 0.0;
        for round in 0..BARE_ROUNDS {
            let mut database = Connection::open(place.path().join(format!("{round}.db")))?;
            database.pragma_update(None, "journal_mode", "WAL")?;
            database.pragma_update(None, "synchronous", "NORMAL")?;
            self.schema.iter().try_for_each(|sql| database.execute_batch(sql))?;
            let started = cpu_seconds("self")?;
            self.insert(&mut database)?;
            used += cpu_seconds("self")? - started;
        }
        Ok(used * 1e6 / (BARE_ROUNDS * ENTITIES) as f64)
    }

    fn insert(&self, database: &mut Connection) -> Result<()> {
        let transaction = database.transaction()?;
        for Table { name, rows } in &self.tables {
            let Some(first) = rows.first() else { continue };
            let places = vec!["?"; first.len()].join(", ");
            let mut statement = transaction.prepare(&format!("INSERT INTO {name} VALUES ({places})"))?;
            for row in rows {
                statement.execute(params_from_iter(row))?;
            }
        }
        let mut statement =
            transaction.prepare("INSERT INTO library_search (rowid, name, words) VALUES (?, ?, ?)")?;
        for (at, (name, words)) in (1_i64..).zip(&self.words) {
            statement.execute((at, name, words))?;
        }
        drop(statement);
        transaction.commit()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_imported_file_has_as_many_entities_as_the_bar_is_for() {
        assert_eq!(entities().len(), ENTITIES);
    }
}
