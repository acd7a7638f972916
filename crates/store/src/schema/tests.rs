//! The tables as they are listed here are the tables that the engines have: a column that were
//! missing here would be missing from every copy and backup.

use std::collections::BTreeSet;

use testkit::{Database, on_each_engine};

use super::{TABLES, Table};
use database::{Column, Dialect, Location};

use crate::Store;

/// Tables that no copy includes: the target builds them itself, or they belong to a running server.
const MADE_ANEW: [&str; 5] =
    ["masque_migrations", "masque_requests", "masque_tests", "library_search", "agent_tags"];

/// A table with its columns and their types, or with its key, in one line each.
async fn catalog(store: &Store, sqlite: &str, postgres: &str) -> BTreeSet<String> {
    let sql = match store.engine().dialect() {
        Dialect::Sqlite => sqlite,
        Dialect::Postgres => postgres,
    };
    let rows = store.engine().texts(sql.to_owned(), &[]).await.expect("the catalog answers");
    let made_anew = |row: &String| MADE_ANEW.iter().any(|table| row.starts_with(table));
    rows.into_iter().filter(|row| !made_anew(row) && !row.starts_with("sqlite_")).collect()
}

fn kind(column: Column, dialect: Dialect) -> &'static [&'static str] {
    match (dialect, column) {
        (Dialect::Sqlite, Column::Int) => &["INTEGER"],
        (Dialect::Sqlite, _) => &["TEXT"],
        (Dialect::Postgres, Column::Int) => &["bigint", "integer"],
        (Dialect::Postgres, Column::Text) => &["text"],
        (Dialect::Postgres, Column::Json) => &["jsonb"],
        (Dialect::Postgres, Column::Tags) => &["ARRAY"],
        (Dialect::Postgres, Column::Time) => &["timestamp with time zone"],
        (Dialect::Postgres, Column::Uuid) => &["uuid"],
    }
}

async fn check_columns(store: &Store) {
    let found = catalog(
        store,
        "SELECT m.name || '.' || i.name || ' ' || i.type FROM sqlite_master m JOIN pragma_table_info(m.name) i WHERE m.type = 'table'",
        "SELECT concat(table_name, '.', column_name, ' ', data_type) FROM information_schema.columns WHERE table_schema = current_schema()",
    )
    .await;
    let dialect = store.engine().dialect();
    let mut left = found.clone();
    for Table { name, columns, .. } in TABLES {
        for (column, holds) in *columns {
            let lines = kind(*holds, dialect).iter().map(|kind| format!("{name}.{column} {kind}"));
            let known = lines.into_iter().any(|line| left.remove(&line));
            assert!(known, "{name}.{column} is not as it is listed: {holds:?}");
        }
    }
    assert!(left.is_empty(), "not listed in schema.rs: {left:?}");
}

async fn check_keys(store: &Store) {
    let found = catalog(
        store,
        "SELECT m.name || ' (' || (SELECT group_concat(name, ', ' ORDER BY pk) FROM pragma_table_info(m.name) WHERE pk > 0) || ')' \
         || iif(m.sql LIKE '%AUTOINCREMENT%', ' serial', '') FROM sqlite_master m WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' \
         AND m.name NOT LIKE 'library_search%'",
        "SELECT concat(conrelid::regclass, ' (', (SELECT string_agg(a.attname, ', ' ORDER BY k.place) \
         FROM unnest(conkey) WITH ORDINALITY k (number, place) JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.number), ')', \
         CASE WHEN EXISTS (SELECT 1 FROM pg_attrdef d WHERE d.adrelid = conrelid \
         AND pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%') THEN ' serial' END) \
         FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND contype = 'p'",
    )
    .await;
    let listed: BTreeSet<String> = TABLES
        .iter()
        .map(|table| {
            let serial = if table.serial { " serial" } else { "" };
            format!("{} ({}){serial}", table.name, table.key.join(", "))
        })
        .collect();
    assert_eq!(listed, found);
}

/// A copy goes through the tables in this order, so what is referred to must come first.
async fn check_order(store: &Store) {
    let references = catalog(
        store,
        "SELECT m.name || ' ' || f.\"table\" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'",
        "SELECT concat(conrelid::regclass, ' ', confrelid::regclass) FROM pg_constraint WHERE contype = 'f'",
    )
    .await;
    let place = |name: &str| TABLES.iter().position(|table| table.name == name).expect("a listed table");
    assert!(references.len() > 10);
    for reference in references {
        let (from, to) = reference.split_once(' ').expect("two tables");
        // Rows of one table may refer to each other: that is checked when the copy ends.
        assert!(from == to || place(to) < place(from), "{from} refers to {to}, which comes later");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_what_the_engines_have() {
    on_each_engine(async |database: &Database| {
        let location = Location::parse(&database.location).expect("a location");
        let store = Store::open(location, true).await.expect("it opens");
        check_columns(&store).await;
        check_keys(&store).await;
        check_order(&store).await;
        store.close().await;
    })
    .await;
}
