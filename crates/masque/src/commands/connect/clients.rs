//! MCP clients: the paths and formats of their configuration files.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;

use super::entry::{Entry, JsonForm};
use super::{json_file, toml_file};
use crate::cli::Client;
use crate::failure::{CommandError, Failure, Result};
use crate::locations::Directories;

/// The format of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Format {
    /// JSON, with the servers in the object of this name.
    Json { servers: &'static str },
    /// TOML, with the servers in the table `mcp_servers`.
    Toml,
}

/// A client and its configuration file.
#[derive(Debug, Clone)]
pub(in crate::commands) struct ClientFile {
    client: Client,
    pub(in crate::commands) file: PathBuf,
    pub(in crate::commands) format: Format,
    /// True for the file of a project, which a team shares.
    pub(super) is_shared: bool,
}

impl ClientFile {
    pub(super) fn of(client: Client, project: Option<&Path>, directories: &Directories) -> Result<Self> {
        let Some(project) = project else {
            return Ok(Self::of_user(client, directories));
        };
        let file = match client {
            Client::ClaudeCode => ".mcp.json",
            Client::Cursor => ".cursor/mcp.json",
            Client::Vscode => ".vscode/mcp.json",
            Client::Codex => ".codex/config.toml",
            Client::ClaudeDesktop => {
                return Err(CommandError::NotSupported {
                    client: "Claude Desktop",
                    what: "projects",
                    flag: "--project",
                }
                .into());
            }
        };
        if !project.is_dir() {
            let path = project.display().to_string();
            return Err(CommandError::NotADirectory { path, how: None, exists: project.exists() }.into());
        }
        let project = std::path::absolute(project).map_err(|error| Failure::file("find", project, &error))?;
        Ok(Self { client, file: project.join(file), format: format(client), is_shared: true })
    }

    /// The file for all projects of the user.
    pub(in crate::commands) fn of_user(client: Client, directories: &Directories) -> Self {
        let moved =
            |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        let Directories { home, config, .. } = directories;
        let file = match client {
            Client::ClaudeCode => {
                moved("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.clone()).join(".claude.json")
            }
            Client::ClaudeDesktop => config.join("Claude").join("claude_desktop_config.json"),
            Client::Cursor => home.join(".cursor").join("mcp.json"),
            Client::Vscode => config.join("Code").join("User").join("mcp.json"),
            Client::Codex => moved("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("config.toml"),
        };
        Self { client, file, format: format(client), is_shared: false }
    }

    pub(in crate::commands) fn every(directories: &Directories) -> Vec<Self> {
        Client::value_variants().iter().map(|client| Self::of_user(*client, directories)).collect()
    }

    /// True if the client has been started on this machine before.
    pub(in crate::commands) fn is_installed(&self, directories: &Directories) -> bool {
        let own_directory =
            self.file.parent().is_some_and(|parent| parent != directories.home && parent.is_dir());
        self.file.exists() || own_directory
    }

    /// The client's name on the command line.
    pub(in crate::commands) fn word(&self) -> &'static str {
        match self.client {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Codex => "codex",
        }
    }

    pub(in crate::commands) fn label(&self) -> &'static str {
        match self.client {
            Client::ClaudeCode => "Claude Code",
            Client::ClaudeDesktop => "Claude Desktop",
            Client::Cursor => "Cursor",
            Client::Vscode => "VS Code",
            Client::Codex => "Codex",
        }
    }

    pub(super) fn next_step(&self) -> &'static str {
        match self.client {
            Client::ClaudeCode => "next: start `claude` and type /mcp to see it",
            Client::ClaudeDesktop => "next: restart Claude Desktop",
            Client::Cursor => "next: restart Cursor, and enable masque in its MCP settings",
            Client::Vscode => {
                "next: run \"MCP: List Servers\" from VS Code's command palette, and start masque"
            }
            Client::Codex => "next: start `codex` and type /mcp to see it",
        }
    }

    /// Returns the text of the file with our entry.
    pub(super) fn merged(&self, old: &str, entry: &Entry) -> Result<String> {
        let merged = match self.format {
            Format::Json { servers } => {
                let form = self.json_form(entry)?;
                json_file::merge(old, servers, &form)
            }
            Format::Toml => toml_file::merge(old, entry),
        };
        let file = self.file.display().to_string();
        Ok(merged.map_err(|problem| CommandError::NotEditable { file, problem })?)
    }

    /// Returns the text of the file without our entry. None if it has none.
    pub(super) fn cut(&self, old: &str) -> Result<Option<String>> {
        let cut = match self.format {
            Format::Json { servers } => json_file::remove(old, servers),
            Format::Toml => toml_file::remove(old),
        };
        let file = self.file.display().to_string();
        Ok(cut.map_err(|problem| CommandError::NotEditable { file, problem })?)
    }

    /// True if the file of a project has nothing but what `connect` writes around its entry.
    pub(super) fn is_ours_alone(&self, text: &str) -> bool {
        let without_blanks: String = text.split_whitespace().collect();
        let is_empty = match self.format {
            Format::Json { servers } => without_blanks == format!("{{\"{servers}\":{{}}}}"),
            Format::Toml => without_blanks.is_empty(),
        };
        self.is_shared && is_empty && !self.file.is_symlink()
    }

    /// The client's own directory in a project.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.file.parent().filter(|_| self.is_shared && self.client != Client::ClaudeCode)
    }

    /// The entry in this client's form: some name the transport, one has no HTTP.
    fn json_form<'a>(&self, entry: &'a Entry) -> Result<JsonForm<'a>> {
        let names_transport = matches!(self.client, Client::ClaudeCode | Client::Vscode);
        if entry.url().is_some() && self.client == Client::ClaudeDesktop {
            return Err(CommandError::NotSupported {
                client: "Claude Desktop",
                what: "servers over HTTP",
                flag: "--http",
            }
            .into());
        }
        let variable: fn(&str) -> String = match self.client {
            Client::ClaudeCode => |name| format!("${{{name}}}"),
            _ => |name| format!("${{env:{name}}}"),
        };
        Ok(JsonForm::new(entry, names_transport, variable))
    }
}

fn format(client: Client) -> Format {
    match client {
        Client::ClaudeCode | Client::ClaudeDesktop | Client::Cursor => Format::Json { servers: "mcpServers" },
        Client::Vscode => Format::Json { servers: "servers" },
        Client::Codex => Format::Toml,
    }
}
