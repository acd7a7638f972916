//! `docs/schema.dbml` says what both engines have after migration, and nothing else.

use std::collections::BTreeSet;

use testkit::on_each_engine;

use crate::samples::open;

mod catalog;
mod document;

/// The facts of a schema, one per line: columns, keys, references and indexes.
type Facts = BTreeSet<String>;

#[tokio::test(flavor = "multi_thread")]
async fn the_document_describes_both_engines() {
    let document = document::read();
    on_each_engine(async |database| {
        open(database).await.close().await;
        let (described, found) = match database.engine {
            "sqlite" => (document.on_sqlite(), catalog::of_sqlite(database).await),
            _ => (document.on_postgres(), catalog::of_postgres(database).await),
        };
        assert!(found.len() > 200);
        let missing: Vec<&String> = found.difference(&described).collect();
        let wrong: Vec<&String> = described.difference(&found).collect();
        assert!(
            missing.is_empty() && wrong.is_empty(),
            "docs/schema.dbml does not describe {}\nnot described: {missing:#?}\nnot there: {wrong:#?}",
            database.engine
        );
    })
    .await;
}

/// Both engines have what the document says that only one of them has.
#[tokio::test(flavor = "multi_thread")]
async fn tags_and_words_are_indexed_on_sqlite_too() {
    let document = document::read();
    let database = testkit::Database::sqlite();
    open(&database).await.close().await;
    let sql = "SELECT sql FROM sqlite_master WHERE name = 'library_search'";
    assert!(database.texts(sql).await[0].contains("USING fts5 (name, words, content = ''"));
    let mut triggers = database.texts("SELECT name FROM sqlite_master WHERE type = 'trigger'").await;
    let mut expected: Vec<String> = document
        .tables
        .iter()
        .filter(|table| table.columns.iter().any(|column| column.name == "tags"))
        .flat_map(|table| ["insert", "update", "delete"].map(|event| format!("{}_tags_{event}", table.name)))
        .collect();
    triggers.sort();
    expected.sort();
    assert_eq!(triggers, expected);
}
