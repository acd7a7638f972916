//! The tables of a database, from the engine's own catalog.

use testkit::Database;

use super::Facts;

const POSTGRES: [&str; 4] = [
    "SELECT concat('column ', c.relname, '.', a.attname, ' ', \
       CASE WHEN pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%' THEN 'bigserial' \
       WHEN a.atttypid = 'timestamptz'::regtype THEN 'timestamptz' ELSE format_type(a.atttypid, NULL) END, \
       CASE WHEN a.attnotnull THEN ' not null' END, \
       CASE WHEN pg_get_expr(d.adbin, d.adrelid) NOT LIKE 'nextval(%' \
       THEN ' default ' || regexp_replace(pg_get_expr(d.adbin, d.adrelid), '::[a-z]+(\\[\\])?$', '') END) \
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
     LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum \
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped",
    "SELECT concat(CASE contype WHEN 'p' THEN 'key ' ELSE 'unique ' END, conrelid::regclass, ' (', \
       (SELECT string_agg(a.attname, ', ' ORDER BY k.place) FROM unnest(conkey) WITH ORDINALITY k (number, place) \
        JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.number), ')') \
     FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND contype IN ('p', 'u')",
    "SELECT concat('ref ', conrelid::regclass, '.', a.attname, ' > ', confrelid::regclass, '.', b.attname, ' ', \
       CASE confdeltype WHEN 'c' THEN 'cascade' WHEN 'r' THEN 'restrict' WHEN 'n' THEN 'set null' ELSE '?' END) \
     FROM pg_constraint \
     JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = conkey[1] \
     JOIN pg_attribute b ON b.attrelid = confrelid AND b.attnum = confkey[1] \
     WHERE connamespace = current_schema()::regnamespace AND contype = 'f'",
    "SELECT concat('index ', x.relname, ' on ', i.indrelid::regclass, ' ', m.amname, ' (', \
       (SELECT string_agg(a.attname, ', ' ORDER BY k.place) FROM unnest(i.indkey) WITH ORDINALITY k (number, place) \
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number), ')') \
     FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam \
     WHERE x.relnamespace = current_schema()::regnamespace AND NOT i.indisunique",
];

pub(super) async fn of_postgres(database: &Database) -> Facts {
    let mut facts = Facts::new();
    for sql in POSTGRES {
        facts.extend(database.texts(sql).await);
    }
    facts
}

/// `m` is every table of the library's own.
const SQLITE_TABLES: &str = "(SELECT name, sql FROM sqlite_master WHERE type = 'table' \
                             AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'library_search%') m";

pub(super) async fn of_sqlite(database: &Database) -> Facts {
    let list =
        |of: &str| format!("(SELECT group_concat(name, ', ' ORDER BY seqno) FROM pragma_index_info({of}))");
    let queries = [
        format!(
            "SELECT 'column ' || m.name || '.' || i.name || ' ' || \
               iif(upper(i.type) = 'BIGINT', 'INTEGER', upper(i.type)) || \
               iif(i.pk > 0 AND m.sql LIKE '%AUTOINCREMENT%', ' autoincrement', '') || \
               iif(i.\"notnull\" OR i.pk > 0, ' not null', '') || coalesce(' default ' || i.dflt_value, '') \
             FROM {SQLITE_TABLES} JOIN pragma_table_info(m.name) i"
        ),
        format!(
            "SELECT 'key ' || m.name || ' (' || \
               (SELECT group_concat(name, ', ' ORDER BY pk) FROM pragma_table_info(m.name) WHERE pk > 0) || ')' \
             FROM {SQLITE_TABLES}"
        ),
        format!(
            "SELECT 'unique ' || m.name || ' (' || {} || ')' \
             FROM {SQLITE_TABLES} JOIN pragma_index_list(m.name) x WHERE x.origin = 'u'",
            list("x.name")
        ),
        format!(
            "SELECT 'ref ' || m.name || '.' || f.\"from\" || ' > ' || f.\"table\" || '.' || f.\"to\" || ' ' || lower(f.on_delete) \
             FROM {SQLITE_TABLES} JOIN pragma_foreign_key_list(m.name) f"
        ),
        format!(
            "SELECT 'index ' || x.name || ' on ' || m.name || ' btree (' || {} || ')' \
             FROM {SQLITE_TABLES} JOIN pragma_index_list(m.name) x WHERE x.origin = 'c'",
            list("x.name")
        ),
    ];
    let mut facts = Facts::new();
    for sql in queries {
        facts.extend(database.texts(&sql).await);
    }
    facts
}
