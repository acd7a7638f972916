//! What a client's configuration says about Masque, for `doctor`.

use std::path::PathBuf;

use toml_edit::DocumentMut;

use super::{Format, NAME, Target, json_file, read};

/// What stands in a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum State {
    NotConfigured,
    /// Starts this program.
    Program(PathBuf),
    /// Calls this address.
    Address(String),
    /// The file cannot be read, for this reason.
    Unreadable(String),
}

pub(in crate::commands) fn state(target: &Target) -> State {
    let text = match read(&target.file) {
        Ok(Some(text)) => text,
        Ok(None) => return State::NotConfigured,
        Err(_) => return State::Unreadable("it cannot be opened as text".to_owned()),
    };
    if text.trim().is_empty() {
        return State::NotConfigured;
    }
    let found = match target.format {
        Format::Json { servers } => from_json(&text, servers),
        Format::Toml => from_toml(&text),
    };
    match found {
        Err(reason) => State::Unreadable(reason),
        Ok((Some(command), _)) => State::Program(PathBuf::from(command)),
        Ok((None, Some(url))) => State::Address(url),
        Ok((None, None)) => State::NotConfigured,
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
