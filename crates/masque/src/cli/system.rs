//! serve, mcp, connect, disconnect, trust, doctor, db, completions.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use persona::Name;

use super::listen::{self, ListenAddress};
use crate::failure::Result;

/// The default address of `serve`, also used by `doctor` and `connect --http`.
pub(crate) const DEFAULT_ADDRESS: &str = "127.0.0.1:4747";

#[derive(Debug, Args)]
#[command(after_help = "  masque serve                             on 127.0.0.1:4747
  masque serve --port 8080                 on another port
  masque serve --addr localhost:0          on any free port; prints it
  masque --db postgres://me@db/team serve  a team's library
  masque serve --project ~/work/shop       with the personas of a project

Clients need the token of the server: it is in the printed address of the page, and in the file `token` \
of your data directory, which only you can read. Other clients send it as \"Authorization: Bearer TOKEN\".

Changes to personas.toml files take effect at once. With `[history] keep = N` in config.toml, old \
revisions are deleted daily: the newest N of each entity and tagged ones stay.")]
pub(crate) struct ServeArgs {
    /// Address to listen on; loopback only
    #[arg(long, value_name = "HOST:PORT", env = "MASQUE_ADDR", default_value = DEFAULT_ADDRESS)]
    #[arg(value_parser = listen::address)]
    addr: ListenAddress,
    /// Port to listen on, instead of that of the address
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// File with the token [default: token in your data directory, made at the first start]
    #[arg(long, value_name = "FILE", env = "MASQUE_TOKEN_FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let every program in without a token. Every user of this machine can then read and change the
    /// library, and run commands as you: a message with `approve: all` runs them without asking
    #[arg(long)]
    pub(crate) no_auth: bool,
}

impl ServeArgs {
    pub(crate) fn address(&self) -> Result<SocketAddr> {
        self.addr.with_port(self.port)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
The file has comments that explain it, and one persona that extends a builtin with a rule of the house. \
An existing personas.toml is left alone.

  masque init
  masque init ~/work/shop")]
pub(crate) struct InitArgs {
    /// Directory to write to [default: --project, or the working directory]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque man | man -l -                       read the page of masque
  masque man --out ~/.local/share/man/man1    write the page of each command")]
pub(crate) struct ManArgs {
    /// Directory for the page of each command; without it, the page of masque is printed
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
MCP clients start this command; `masque connect CLIENT` configures them. Standard output carries \
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
Only the entry \"masque\" of the client's file changes. The user's old file is kept as FILE.bak-TIME. \
Running the command again changes nothing; `masque disconnect` removes the entry. A project's file starts \
the `masque` on the PATH and names no path of this machine. The password of a database is never written. \
With --http, your own file gets the server's token, and only you can read it then; a project's file names \
the variable MASQUE_TOKEN instead.

  masque connect claude-code                   for all projects of this user
  masque connect vscode --project              for the project in this directory
  masque connect claude-code --tools author    let the agent write personas, too
  masque connect cursor --print                print the configuration, write nothing
  masque connect codex --http                  use a running `masque serve`")]
pub(crate) struct ConnectArgs {
    /// Client to configure
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// Tools to offer: load (read-only, fewest tokens), author, all, or tool names separated by commas
    /// [default: load]
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
    /// File with the token of the running server [default: token in your data directory]
    #[arg(long, value_name = "FILE", env = "MASQUE_TOKEN_FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print the configuration and write nothing
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Removes the entry \"masque\" from the client's file. Everything else stays as it is. The user's old file \
is kept as FILE.bak-TIME.

  masque disconnect claude-code
  masque disconnect vscode --project           from the project in this directory")]
pub(crate) struct DisconnectArgs {
    /// Client
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// Change the file of the project in this directory [default: .] instead of the user's
    //
    // This shadows the global option of the same name.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub(crate) project: Option<PathBuf>,
}

/// Checks the tool set before it is written into a client's file.
fn tool_set(text: &str) -> std::result::Result<String, <mcp::ToolSelection as std::str::FromStr>::Err> {
    text.parse::<mcp::ToolSelection>().map(|_| text.to_owned())
}

#[derive(Debug, Args)]
#[command(after_help = "\
Until you trust a project, its personas.toml may only define personas: it starts no MCP server, adds \
no provider, approves no tool and reads no file outside the project.

  masque trust                     the project around this directory
  masque trust ~/work/shop --yes   without asking
  masque trust --list
  masque trust --revoke ~/work/shop

Trust covers this directory only, and as they are now: its MCP servers, providers and tool presets, and \
the presets and guardrails of its personas. If one of them changes, masque asks again. A running server \
starts the MCP servers and providers that you trusted when it started, and checks approvals with every \
message.")]
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
    /// Write a checked copy of the database to a new file; works while it is in use
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
#[command(after_help = "\
Completion knows commands, flags, kinds, names, revisions, tags and sessions. The script asks masque \
itself, so load it anew with each shell:

  eval \"$(masque completions bash)\"                           in ~/.bashrc
  eval \"$(masque completions zsh)\"                            in ~/.zshrc, after compinit
  masque completions fish | source                              in ~/.config/fish/config.fish
  eval (masque completions elvish | slurp)                      in ~/.config/elvish/rc.elv
  masque completions powershell | Out-String | Invoke-Expression   in $PROFILE")]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque schema > personas.schema.json
  masque schema track > track.schema.json")]
pub(crate) struct SchemaArgs {
    /// File that the schema describes
    #[arg(value_enum, value_name = "FILE", default_value_t)]
    pub(crate) of: SchemaOf,
}

/// A file with a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// A personas.toml
    #[default]
    Personas,
    /// A track.toml
    Track,
}
