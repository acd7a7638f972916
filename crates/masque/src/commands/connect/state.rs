//! Reads the state of a client's configuration for `doctor`.

use std::path::PathBuf;

use toml_edit::{DocumentMut, Item};

use super::{ClientFile, Format, NAME, json_file, read};

/// The entry in a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum ClientState {
    NotConfigured,
    /// Starts this program.
    Program(PathBuf),
    /// Calls this address, with this header `Authorization`.
    Address {
        url: String,
        authorization: Option<String>,
    },
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
        Ok(Found { command: Some(command), .. }) => ClientState::Program(PathBuf::from(command)),
        Ok(Found { url: Some(url), authorization, .. }) => ClientState::Address { url, authorization },
        Ok(_) => ClientState::NotConfigured,
    }
}

/// The parts of an entry.
struct Found {
    command: Option<String>,
    url: Option<String>,
    authorization: Option<String>,
}

fn from_json(text: &str, servers: &str) -> Result<Found, String> {
    let value = json_file::parse(text)?;
    let entry = &value[servers][NAME];
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let mut headers = entry["headers"].as_object().into_iter().flatten();
    let authorization = headers.find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    Ok(Found {
        command: text(&entry["command"]),
        url: text(&entry["url"]),
        authorization: authorization.and_then(|(_, value)| text(value)),
    })
}

fn from_toml(text: &str) -> Result<Found, String> {
    let document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let entry = document.get("mcp_servers").and_then(|servers| servers.get(NAME));
    let text = |item: Option<&Item>| Some(item?.as_str()?.to_owned());
    let member = |key: &str| entry.and_then(|entry| entry.get(key));
    let header = member("http_headers").and_then(|headers| headers.get("Authorization"));
    let variable = text(member("bearer_token_env_var")).map(|name| format!("Bearer ${{{name}}}"));
    Ok(Found {
        command: text(member("command")),
        url: text(member("url")),
        authorization: text(header).or(variable),
    })
}
