//! Everything around the library: serving, connecting, the database.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Where `serve` listens, and where `doctor` and `connect --http` look for it.
pub(crate) const DEFAULT_ADDRESS: &str = "127.0.0.1:4747";

#[derive(Debug, Args)]
#[command(after_help = "  masque serve                             on 127.0.0.1:4747
  masque serve --addr 127.0.0.1:0          on any free port, which is printed
  masque --db postgres://me@db/team serve  a team's library
  masque serve --project ~/work/shop       with the personas of a project

Both personas.toml are followed: a change is in force at once. With `[history] keep = N` in
config.toml, all but the newest N revisions of everything are forgotten daily; tagged ones stay.")]
pub(crate) struct ServeArgs {
    /// Where to listen; loopback addresses only
    #[arg(long, value_name = "IP:PORT", env = "MASQUE_ADDR", default_value = DEFAULT_ADDRESS)]
    pub(crate) addr: SocketAddr,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A client starts this by itself; `masque connect CLIENT` tells it to. Standard output carries the
protocol and nothing else; --verbose writes to standard error.")]
pub(crate) struct McpArgs {
    /// The tools to offer: load (reading, fewest tokens), author, all, or names of tools, with commas
    #[arg(long, value_name = "SET|TOOL,…", default_value = "all")]
    pub(crate) tools: mcp::ToolSelection,
}

/// An MCP client whose configuration is known.
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
The client's own file is kept as it is but for the entry \"masque\"; a copy of what was there stands
beside it as FILE.bak-TIME. A second run changes nothing.

  masque connect claude-code                  for all projects of this user
  masque connect vscode --project             for the project in this directory
  masque connect cursor --tools load --print  only show what would be written
  masque connect codex --http                 use a running `masque serve`")]
pub(crate) struct ConnectArgs {
    /// The client
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// The tools to offer: load (reading, fewest tokens), author, all, or names of tools, with commas
    /// between them [default: all]
    #[arg(long, value_name = "SET|TOOL,…", value_parser = tool_set)]
    pub(crate) tools: Option<String>,
    /// Write into the project's file, in this directory [default: .], instead of the user's
    //
    // It has the name of the global option, which therefore does not reach this command.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub(crate) project: Option<PathBuf>,
    /// Connect to a running server instead of starting one [default: http://127.0.0.1:4747/mcp]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "http://127.0.0.1:4747/mcp")]
    pub(crate) http: Option<String>,
    /// Print the configuration and write nothing
    #[arg(long)]
    pub(crate) print: bool,
}

/// Checks the tool set here, so that no client is told to start what would not start.
fn tool_set(text: &str) -> Result<String, <mcp::ToolSelection as std::str::FromStr>::Err> {
    text.parse::<mcp::ToolSelection>().map(|_| text.to_owned())
}

#[derive(Debug, Args)]
#[command(after_help = "\
Until you trust a project, its personas.toml may define personas, and nothing else: it starts no MCP
server, names no provider, approves no tool and reads no file outside the project.

  masque trust                     the project around this directory
  masque trust ~/work/shop --yes   without being asked
  masque trust --list
  masque trust --revoke ~/work/shop

It holds for the directory and for what its files will say later, not for the directories inside it.
A server that is running notices when it is started again.")]
pub(crate) struct TrustArgs {
    /// The project's directory [default: the project around the working directory]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// List the projects that you trust
    #[arg(long, conflicts_with_all = ["directory", "revoke", "yes"])]
    pub(crate) list: bool,
    /// Trust the project no more
    #[arg(long, conflicts_with = "yes")]
    pub(crate) revoke: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Start the MCP servers too, to see whether they answer
    #[arg(long = "try")]
    pub(crate) try_servers: bool,
}

#[derive(Debug, Subcommand)]
#[command(after_help = "  masque db backup before-upgrade.db
  masque db copy --to postgres://me@db.example.com/team
  masque db prune --keep 100
  masque --db postgres://me@db.example.com/team db copy --to local.db")]
pub(crate) enum DbCommand {
    /// Write a copy of the database into a file, while it is in use
    Backup(BackupArgs),
    /// Copy everything into another, empty database, and compare the two
    Copy(CopyArgs),
    /// Forget old revisions; the newest and tagged ones stay
    Prune(PruneArgs),
    /// Say where the database is, and what it holds
    Info,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Revisions of each entity to keep [default: history.keep of config.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The file to write; it must not exist yet
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// The database to write: a file, or postgres://user@host/name
    #[arg(long, value_name = "PATH|URL")]
    pub(crate) to: String,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "  masque completions bash > ~/.local/share/bash-completion/completions/masque
  masque completions zsh > ~/.zfunc/_masque
  masque completions fish > ~/.config/fish/completions/masque.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
