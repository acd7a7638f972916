//! Reads the DBML document: as much of the language as it uses.

use super::Facts;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.dbml");
/// Elements that only one engine has, or has in another form.
const SQLITE_ONLY: &str = "agent_tags";
const SHAPED_BY_ENGINE: &str = "library_search";

#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) tables: Vec<Table>,
    references: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// Key columns, where they are named by an entry of `indexes`.
    key: Vec<String>,
    unique: Vec<Vec<String>>,
    indexes: Vec<Index>,
    described: bool,
}

#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    kind: String,
    settings: Vec<String>,
}

#[derive(Debug)]
struct Index {
    name: String,
    columns: Vec<String>,
    method: String,
}

impl Column {
    fn has(&self, setting: &str) -> bool {
        self.settings.iter().any(|known| known == setting)
    }

    fn default(&self) -> Option<&str> {
        let value = self.settings.iter().find_map(|setting| setting.strip_prefix("default: "))?;
        Some(value.trim_matches('`'))
    }
}

pub(super) fn read() -> Document {
    let text = std::fs::read_to_string(PATH).expect("docs/schema.dbml is there");
    let mut document = Document::default();
    let mut in_indexes = false;
    let mut in_table = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Table", name, "{"] => {
                in_table = true;
                document.tables.push(Table::new(name));
            }
            ["Ref:", from, ">", to, "[delete:", action @ ..] => {
                let action = action.join(" ");
                document.references.push(format!("ref {from} > {to} {}", action.trim_end_matches(']')));
            }
            ["indexes", "{"] => in_indexes = true,
            ["}"] if in_indexes => in_indexes = false,
            ["}"] => in_table = false,
            _ if !in_table => {}
            _ => {
                let table = document.tables.last_mut().expect("a table begins before its lines");
                if in_indexes {
                    table.add_index(line);
                } else if words[0] == "Note:" {
                    table.described = true;
                } else {
                    table.columns.push(column(line));
                }
            }
        }
    }
    assert!(document.tables.len() > 20 && document.tables.iter().all(|table| table.described));
    document
}

/// The text before the brackets at the end of a line, and the settings in them.
fn settings(line: &str) -> (&str, Vec<String>) {
    let Some((before, within)) = line.split_once(" [") else { return (line, Vec::new()) };
    let within = within.strip_suffix(']').unwrap_or_else(|| panic!("{line}: no closing bracket"));
    // A note comes last and may hold commas.
    let within = within.split_once("note: '").map_or(within, |(settings, _)| settings);
    let parts = within.split(", ").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty());
    (before, parts.collect())
}

fn column(line: &str) -> Column {
    let (before, settings) = settings(line);
    let (name, kind) = before.split_once(' ').unwrap_or_else(|| panic!("{line}: a column needs a type"));
    for setting in &settings {
        let known =
            ["pk", "not null", "unique"].contains(&setting.as_str()) || setting.starts_with("default: ");
        assert!(known, "{line}: {setting}");
    }
    Column { name: name.to_owned(), kind: kind.to_owned(), settings }
}

impl Table {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            columns: Vec::new(),
            key: Vec::new(),
            unique: Vec::new(),
            indexes: Vec::new(),
            described: false,
        }
    }

    fn add_index(&mut self, line: &str) {
        let (columns, settings) = settings(line);
        let columns: Vec<String> = columns.trim_matches(['(', ')']).split(", ").map(str::to_owned).collect();
        let setting = |name: &str| settings.iter().find_map(|setting| setting.strip_prefix(name));
        if settings == ["pk"] {
            self.key = columns;
        } else if settings == ["unique"] {
            self.unique.push(columns);
        } else {
            let name = setting("name: ").unwrap_or_else(|| panic!("{line}: an index needs a name"));
            let method = setting("type: ").unwrap_or("btree").to_owned();
            self.indexes.push(Index { name: name.trim_matches('\'').to_owned(), columns, method });
        }
    }

    fn key(&self) -> Vec<String> {
        let of_columns =
            self.columns.iter().filter(|column| column.has("pk")).map(|column| column.name.clone());
        self.key.iter().cloned().chain(of_columns).collect()
    }

    /// Everything but the columns' types and defaults, which the engines spell differently.
    fn facts(&self, facts: &mut Facts) {
        let name = &self.name;
        facts.insert(format!("key {name} ({})", self.key().join(", ")));
        for column in self.columns.iter().filter(|column| column.has("unique")) {
            facts.insert(format!("unique {name} ({})", column.name));
        }
        for columns in &self.unique {
            facts.insert(format!("unique {name} ({})", columns.join(", ")));
        }
        for Index { name: index, columns, method } in &self.indexes {
            facts.insert(format!("index {index} on {name} {method} ({})", columns.join(", ")));
        }
    }

    fn column_facts(&self, facts: &mut Facts, spell: impl Fn(&Column) -> (String, Option<String>)) {
        let key = self.key();
        for column in &self.columns {
            let (kind, default) = spell(column);
            let required =
                if column.has("not null") || key.contains(&column.name) { " not null" } else { "" };
            let default = default.map(|default| format!(" default {default}")).unwrap_or_default();
            facts.insert(format!("column {}.{} {kind}{required}{default}", self.name, column.name));
        }
    }
}

impl Document {
    pub(super) fn on_postgres(&self) -> Facts {
        let mut facts: Facts = self.references.iter().cloned().collect();
        for table in self.tables.iter().filter(|table| table.name != SQLITE_ONLY) {
            table.facts(&mut facts);
            table.column_facts(&mut facts, |column| {
                (column.kind.clone(), column.default().map(str::to_owned))
            });
        }
        facts
    }

    pub(super) fn on_sqlite(&self) -> Facts {
        let mut facts: Facts = self.references.iter().cloned().collect();
        for table in self.tables.iter().filter(|table| table.name != SHAPED_BY_ENGINE) {
            table.facts(&mut facts);
            table.column_facts(&mut facts, |column| {
                let kind = match column.kind.as_str() {
                    "bigserial" => "INTEGER autoincrement",
                    "bigint" | "integer" | "smallint" => "INTEGER",
                    _ => "TEXT",
                };
                let default = match (column.name.as_str(), column.default()) {
                    ("guid", _) => None,
                    ("tags", Some(_)) => Some("'[]'".to_owned()),
                    (_, default) => default.map(str::to_owned),
                };
                (kind.to_owned(), default)
            });
        }
        // SQLite cannot index what is in a column.
        facts.retain(|fact| !fact.contains(" gin ("));
        facts
    }
}
