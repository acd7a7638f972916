//! The place of a library's tables in a PostgreSQL database: a schema that may have to be made, beside the
//! tables of other programs.

use std::collections::BTreeSet;

use crate::engine::{Parameter, Transaction};
use crate::postgres::has_migrations;
use crate::{Error, Result, SchemaName};

/// An arbitrary number: the task that nodes lock while they migrate.
const MIGRATING: i64 = 0x6d61_7371_7565;

/// Keeps other nodes out of the schema until the transaction ends, and makes the schema if it is missing.
/// Fails before anything is made if the role has no right to it, or if another program has a table with
/// the name of our record of migrations.
pub(super) async fn prepare(transaction: &mut Transaction, schema: &SchemaName) -> Result<()> {
    let key = Parameter::Int(schema.lock_key(MIGRATING));
    transaction.run("SELECT pg_advisory_xact_lock($1)", &[key]).await?;
    let named = [Parameter::from(schema.as_str())];
    // The owner of a library's tables may change them, even without the right to make more.
    let may_create = format!(
        "SELECT CAST((has_schema_privilege(n.oid, 'CREATE') AND has_schema_privilege(n.oid, 'USAGE')) OR {} AS int)::bigint \
         FROM pg_namespace n WHERE n.nspname = $1",
        has_migrations("n.oid")
    );
    let exists = match transaction.number(&may_create, &named).await? {
        Some(0) => return denied(transaction, schema, true).await,
        Some(_) => true,
        None => false,
    };
    if !exists {
        let may_create = "SELECT CAST(has_database_privilege(current_database(), 'CREATE') AS int)::bigint";
        if transaction.number(may_create, &[]).await? != Some(1) {
            return denied(transaction, schema, false).await;
        }
        let sql = format!("CREATE SCHEMA IF NOT EXISTS {}", schema.quoted());
        transaction.run(&sql, &[]).await?;
        return Ok(());
    }
    let record = format!(
        "SELECT count(*) FROM pg_class t WHERE t.relname = 'masque_migrations' \
         AND t.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = $1) AND NOT {}",
        has_migrations("t.relnamespace")
    );
    match transaction.number(&record, &named).await? {
        Some(0) | None => Ok(()),
        Some(_) => foreign(schema, vec!["masque_migrations".to_owned()]),
    }
}

/// Fails if another program has tables or indexes with the names of those that the pending scripts make.
pub(super) async fn refuse_clash(
    transaction: &mut Transaction,
    schema: &SchemaName,
    applied: impl Iterator<Item = &str> + Send,
    pending: impl Iterator<Item = &str> + Send,
) -> Result<()> {
    let ours: BTreeSet<&str> = applied.flat_map(made_by).collect();
    let names: Vec<&str> = pending.flat_map(made_by).filter(|name| !ours.contains(name)).collect();
    let sql = "SELECT CAST(t.relname AS text) FROM pg_class t \
               JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = $1 \
               WHERE t.relname IN (SELECT jsonb_array_elements_text($2)) ORDER BY t.relname";
    let values = [Parameter::from(schema.as_str()), Parameter::Json(serde_json::to_string(&names)?)];
    let tables = transaction.texts(sql, &values).await?;
    if tables.is_empty() { Ok(()) } else { foreign(schema, tables) }
}

/// The tables and indexes that a script of ours makes.
fn made_by(script: &str) -> impl Iterator<Item = &str> {
    let starts = ["CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX "];
    script.lines().filter_map(move |line| {
        let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
        rest.split([' ', '(']).next()
    })
}

fn foreign(schema: &SchemaName, tables: Vec<String>) -> Result<()> {
    Err(Error::ForeignTables { schema: schema.clone(), tables })
}

async fn denied(transaction: &mut Transaction, schema: &SchemaName, exists: bool) -> Result<()> {
    let role = transaction.text("SELECT CAST(current_user AS text)", &[]).await?.unwrap_or_default();
    Err(Error::SchemaDenied { schema: schema.clone(), role, exists })
}

#[cfg(test)]
mod tests {
    use super::made_by;

    #[test]
    fn scripts_name_their_tables_and_indexes() {
        let script = "-- CREATE TABLE not_this\nCREATE TABLE a (\n    b text\n);\nCREATE INDEX c ON a (b);\n\
                      ALTER TABLE a ADD COLUMN d text;\nCREATE UNIQUE INDEX e ON a (d);";
        assert_eq!(made_by(script).collect::<Vec<_>>(), ["a", "c", "e"]);
    }
}
