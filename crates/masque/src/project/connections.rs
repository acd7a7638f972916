//! The MCP servers and providers that a project's personas.toml names.
//!
//! Reading them is harmless. They are used only if the user trusts the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use providers::{ProviderSettings, Providers};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};
use tools::{ServerSettings, Transport};

use crate::config::{SettingError, key_offset, place};

/// The connections of a project that can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Connections {
    pub(crate) providers: BTreeMap<String, ProviderSettings>,
    pub(crate) mcp_servers: BTreeMap<String, ServerSettings>,
    /// All names, including those of invalid entries.
    pub(crate) provider_names: Vec<String>,
    pub(crate) server_names: Vec<String>,
    /// Invalid entries, each with its place. They are skipped.
    pub(crate) warnings: Vec<String>,
}

impl Connections {
    /// Reads the personas.toml of a project. A missing or broken file has no connections; reading its
    /// personas reports the error.
    pub(crate) fn read(file: &Path) -> Self {
        Self::parse(file, &read_text(file))
    }

    pub(crate) fn parse(file: &Path, text: &str) -> Self {
        let mut connections = Self::default();
        // Most files have neither, and parsing a long file takes time.
        if !text.contains("providers") && !text.contains("mcp_servers") {
            return connections;
        }
        let (Ok(table), Ok(fields)) = (DeTable::parse(text), toml::from_str(text)) else {
            return connections;
        };
        let table = table.get_ref();
        let mut reader = Reader { file, text, table, fields, warnings: Vec::new() };
        (connections.providers, connections.provider_names) =
            reader.entries("providers", |name, settings: &ProviderSettings| {
                let one = BTreeMap::from([(name.to_owned(), settings.clone())]);
                Providers::build(one, &|_| None).map(drop).map_err(|error| (error.place, error.problem))
            });
        (connections.mcp_servers, connections.server_names) =
            reader.entries("mcp_servers", |_, _: &ServerSettings| Ok(()));
        connections.warnings = reader.warnings;
        let root = file.parent().unwrap_or(Path::new(""));
        connections.mcp_servers.values_mut().for_each(|server| below(root, server));
        for settings in connections.providers.values_mut() {
            if let Some(file) = &mut settings.ca_file {
                *file = root.join(&*file);
            }
        }
        connections
    }
}

/// Reads a personas.toml. A missing or unreadable file is empty.
pub(crate) fn read_text(file: &Path) -> String {
    let bytes = files::disk::read_bytes(file).ok().flatten();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    table: &'a DeTable<'a>,
    /// The values of the table.
    fields: Map<String, Value>,
    warnings: Vec<String>,
}

impl Reader<'_> {
    /// The valid entries of a table, and the names of all entries.
    fn entries<T: DeserializeOwned>(
        &mut self,
        of: &str,
        check: impl Fn(&str, &T) -> Result<(), (String, String)>,
    ) -> (BTreeMap<String, T>, Vec<String>) {
        let (mut entries, mut names) = (BTreeMap::new(), Vec::new());
        let Some(value) = self.table.get(of) else { return (entries, names) };
        let DeValue::Table(table) = value.get_ref() else {
            self.warn(value.span().start, &format!("{of} must be a table; use [{of}.NAME]"));
            return (entries, names);
        };
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            names.push(name.to_owned());
            let entry = self.entry(of, name);
            let entry = entry.and_then(|entry| match check(name, &entry) {
                Ok(()) => Ok(entry),
                Err((at, problem)) => Err((key_offset(self.table, &at), format!("{at}: {problem}"))),
            });
            match entry {
                Ok(entry) => {
                    entries.insert(name.to_owned(), entry);
                }
                Err((offset, message)) => self.warn(offset, &message),
            }
        }
        (entries, names)
    }

    /// Reads one entry, or returns the offset and message of its error.
    fn entry<T: DeserializeOwned>(&self, of: &str, name: &str) -> Result<T, (usize, String)> {
        // Parse the entry below its names, so that the error has the whole path.
        let value = self.fields.get(of).and_then(|entries| entries.get(name)).cloned().unwrap_or_default();
        let entries = Map::from_iter([(name.to_owned(), value)]);
        let fields = Map::from_iter([(of.to_owned(), Value::Object(entries))]);
        let parsed = app::inputs::parse::<BTreeMap<String, BTreeMap<String, T>>>(&fields);
        let entry = parsed.map(|tables| tables.into_values().flat_map(BTreeMap::into_values).next());
        match entry {
            Ok(Some(entry)) => Ok(entry),
            Ok(None) => Err((key_offset(self.table, of), format!("{of}.{name} is missing"))),
            Err(error) => {
                let SettingError { message, offset, .. } = SettingError::input(&error, &fields, self.table);
                Err((offset, format!("{of}.{name}: {message}")))
            }
        }
    }

    fn warn(&mut self, offset: usize, message: &str) {
        self.warnings.push(format!("{}: {message}; skipped", place(self.file, self.text, offset)));
    }
}

/// Makes the paths of a server relative to the project's root, and its hints count for nothing.
fn below(root: &Path, server: &mut ServerSettings) {
    // Only the user's own settings say whose hints count.
    server.trust_hints = false;
    let Transport::Stdio { command, cwd, .. } = &mut server.transport else { return };
    *cwd = Some(root.join(cwd.as_deref().unwrap_or(Path::new(""))));
    let program = PathBuf::from(&*command);
    if program.components().count() > 1
        && program.is_relative()
        && let Some(inside) = root.join(program).to_str()
    {
        inside.clone_into(command);
    }
}

#[cfg(test)]
mod tests;
