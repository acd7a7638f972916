//! Reads the state of a client's configuration for `doctor`.

use std::path::PathBuf;

use toml_edit::DocumentMut;

use super::{ClientFile, Format, NAME, json_file, read};

/// The entry in a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum ClientState {
    NotConfigured,
    /// Starts this program.
    Program(PathBuf),
    /// Calls this address.
    Address(String),
    /// The file cannot be read. Has the reason.
    Unreadable(String),
}

pub(in crate::commands) fn read_state(target: &ClientFile) -> ClientState {
    let text = match read(&target.file) {
        Ok(Some(text)) => text,
        Ok(None) => return ClientState::NotConfigured,
        Err(_) => return ClientState::Unreadable("cannot open it as text".to_owned()),
    };
    if text.trim().is_empty() {
        return ClientState::NotConfigured;
    }
    let found = match target.format {
        Format::Json { servers } => from_json(&text, servers),
        Format::Toml => from_toml(&text),
    };
    match found {
        Err(reason) => ClientState::Unreadable(reason),
        Ok((Some(command), _)) => ClientState::Program(PathBuf::from(command)),
        Ok((None, Some(url))) => ClientState::Address(url),
        Ok((None, None)) => ClientState::NotConfigured,
    }
}

type Found = Result<(Option<String>, Option<String>), String>;

fn from_json(text: &str, servers: &str) -> Found {
    let value = json_file::parse(text)?;
    let entry = &value[servers][NAME];
    let text = |key: &str| entry[key].as_str().map(str::to_owned);
    Ok((text("command"), text("url")))
}

fn from_toml(text: &str) -> Found {
    let document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let entry = document.get("mcp_servers").and_then(|servers| servers.get(NAME));
    let text = |key: &str| Some(entry?.get(key)?.as_str()?.to_owned());
    Ok((text("command"), text("url")))
}
