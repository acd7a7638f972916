//! serve, mcp, connect, trust, doctor, db, completions.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use persona::Name;

/// The default address of `serve`, also used by `doctor` and `connect --http`.
pub(crate) const DEFAULT_ADDRESS: &str = "127.0.0.1:4747";

#[derive(Debug, Args)]
#[command(after_help = "  masque serve                             on 127.0.0.1:4747
  masque serve --addr 127.0.0.1:0          on any free port; prints it
  masque --db postgres://me@db/team serve  a team's library
  masque serve --project ~/work/shop       with the personas of a project

Changes to personas.toml files take effect at once. With `[history] keep = N` in config.toml, old
revisions are deleted daily: the newest N of each entity and tagged ones stay.")]
pub(crate) struct ServeArgs {
    /// Address to listen on; loopback only
    #[arg(long, value_name = "IP:PORT", env = "MASQUE_ADDR", default_value = DEFAULT_ADDRESS)]
    pub(crate) addr: SocketAddr,
}

#[derive(Debug, Args)]
#[command(after_help = "\
MCP clients start this command; `masque connect CLIENT` configures them. Standard output carries
only the protocol; logs go to standard error.")]
pub(crate) struct McpArgs {
    /// Tools to offer: load (read-only, fewest tokens), author, all, or tool names separated by commas
    #[arg(long, value_name = "SET|TOOL,…", default_value = "all")]
    pub(crate) tools: mcp::ToolSelection,
}

/// An MCP client that `connect` can configure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Only the entry \"masque\" of the client's file changes. The old file is kept as FILE.bak-TIME. Running
the command again changes nothing.

  masque connect claude-code                  for all projects of this user
  masque connect vscode --project             for the project in this directory
  masque connect cursor --tools load --print  print the configuration, write nothing
  masque connect codex --http                 use a running `masque serve`")]
pub(crate) struct ConnectArgs {
    /// Client to configure
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// Tools to offer: load (read-only, fewest tokens), author, all, or tool names separated by commas
    /// [default: all]
    #[arg(long, value_name = "SET|TOOL,…", value_parser = tool_set)]
    pub(crate) tools: Option<String>,
    /// Write the file of the project in this directory [default: .] instead of the user's
    //
    // This shadows the global option of the same name.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub(crate) project: Option<PathBuf>,
    /// Connect to a running server instead of starting one [default: http://127.0.0.1:4747/mcp]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "http://127.0.0.1:4747/mcp")]
    pub(crate) http: Option<String>,
    /// Print the configuration and write nothing
    #[arg(long)]
    pub(crate) print: bool,
}

/// Checks the tool set before it is written into a client's file.
fn tool_set(text: &str) -> Result<String, <mcp::ToolSelection as std::str::FromStr>::Err> {
    text.parse::<mcp::ToolSelection>().map(|_| text.to_owned())
}

#[derive(Debug, Args)]
#[command(after_help = "\
Until you trust a project, its personas.toml may only define personas: it starts no MCP server, adds
no provider, approves no tool and reads no file outside the project.

  masque trust                     the project around this directory
  masque trust ~/work/shop --yes   without asking
  masque trust --list
  masque trust --revoke ~/work/shop

Trust covers this directory only, and its MCP servers, providers and tool presets as they are now.
If they change, masque asks again. A running server checks when it starts.")]
pub(crate) struct TrustArgs {
    /// Project directory [default: the project of the working directory]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// List trusted projects and confirmed presets
    #[arg(long, conflicts_with_all = ["directory", "revoke", "yes", "preset"])]
    pub(crate) list: bool,
    /// Let a tool preset of the shared library approve tools, as it is now
    #[arg(long, value_name = "NAME", conflicts_with = "directory")]
    pub(crate) preset: Option<Name>,
    /// Stop trusting the project or the preset
    #[arg(long, conflicts_with = "yes")]
    pub(crate) revoke: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Start the MCP servers too, to check that they answer
    #[arg(long = "try")]
    pub(crate) try_servers: bool,
}

#[derive(Debug, Subcommand)]
#[command(after_help = "  masque db backup before-upgrade.db
  masque db copy --to postgres://me@db.example.com/team
  masque db prune --keep 100
  masque --db postgres://me@db.example.com/team db copy --to local.db")]
pub(crate) enum DbCommand {
    /// Write a copy of the database to a file; works while it is in use
    Backup(BackupArgs),
    /// Copy the library to an empty database, and compare the two
    Copy(CopyArgs),
    /// Delete old revisions; the newest and tagged ones stay
    Prune(PruneArgs),
    /// Show the location and contents of the database
    Info,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Revisions to keep of each entity [default: history.keep of config.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// File to write; must not exist
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// Target database: a file or postgres://user@host/name
    #[arg(long, value_name = "PATH|URL")]
    pub(crate) to: String,
    /// Copy the sessions too
    #[arg(long)]
    pub(crate) with_sessions: bool,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "  masque completions bash > ~/.local/share/bash-completion/completions/masque
  masque completions zsh > ~/.zfunc/_masque
  masque completions fish > ~/.config/fish/completions/masque.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
