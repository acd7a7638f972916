//! The command line: what can be asked, and the help for it.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use persona::Kind;

use crate::output::ColorChoice;

mod read;
pub(crate) use read::{CompileArgs, ListArgs, ManifestArgs, Paging, SearchArgs, ShowArgs};

mod author;
pub(crate) use author::{
    Create, CreateKind, DeleteArgs, Fields, LinkArgs, LinkKind, UnlinkArgs, Update, UpdateKind, Why,
};

mod arc;
pub(crate) use arc::{AddStageArgs, ArcCommand, AssignArgs, RemoveStageArgs, StagePartArgs, UnassignArgs};

mod system;
pub(crate) use system::{
    Client, CompletionsArgs, ConnectArgs, DEFAULT_ADDRESS, DbCommand, McpArgs, ServeArgs,
};

const AFTER_HELP: &str = "\
Start here:
  masque list                        what is in the library
  masque show mentor                 one persona, readable
  masque compile mentor              the same as one prompt, ready to paste or pipe
  masque connect claude-code         hand the library to an agent, over MCP

Exit codes:
  0  done             3  not found          6  busy, try again
  1  broken           4  conflict
  2  invalid input    5  denied";

/// Personas for AI agents: composed from reusable pieces, versioned, served over MCP
#[derive(Debug, Parser)]
#[command(name = "masque", version, after_help = AFTER_HELP, max_term_width = 100)]
#[command(disable_help_subcommand = true, propagate_version = false)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// The database: a file, or postgres://user@host/name [default: masque.db in your data directory]
    #[arg(long, value_name = "PATH|URL", env = "MASQUE_DB", hide_env_values = true, global = true)]
    pub(crate) db: Option<String>,
    /// Answer with one JSON value; errors too, on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: ColorChoice,
    /// Say on standard error what happens; twice for more. MASQUE_LOG takes a filter instead
    #[arg(long, short, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
}

#[expect(clippy::large_enum_variant, reason = "it is parsed once, and never moved about")]
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Library(LibraryCommand),
    /// Serve the library over HTTP, with MCP under /mcp
    Serve(ServeArgs),
    /// Serve the library to one MCP client, over standard input and output
    Mcp(McpArgs),
    /// Write the MCP configuration of a client
    Connect(ConnectArgs),
    /// Check what is configured, what answers and what is wrong
    Doctor,
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Commands that open the library, do one thing and close it.
#[derive(Debug, Subcommand)]
pub(crate) enum LibraryCommand {
    /// List personas, or another kind
    List(ListArgs),
    /// Search the whole library for words
    Search(SearchArgs),
    /// Show a persona, or a piece: `show mentor`, `show part plain-tone`
    Show(ShowArgs),
    /// Show what a persona is made of, without the contents
    Manifest(ManifestArgs),
    /// Print a persona as one prompt
    Compile(CompileArgs),
    /// Create a persona, part, trait, skill, guardrail or arc
    Create(CreateKindArgs),
    /// Change fields of a persona or a piece, or rename it
    Update(UpdateKindArgs),
    /// Delete a persona or a piece
    Delete(DeleteArgs),
    /// Link a part, trait, skill or guardrail to a persona
    Link(LinkArgs),
    /// Take a part, trait, skill or guardrail off a persona
    Unlink(UnlinkArgs),
    /// Build arcs, and move personas through their stages
    #[command(subcommand)]
    Arc(ArcCommand),
    /// Back up, copy or describe the database
    #[command(subcommand)]
    Db(DbCommand),
}

const CREATE_HELP: &str = "\
Fields come from flags, from --file (TOML or JSON, the same field names), or both: flags win.
Without either, a definition is read from standard input.

  masque create part calm-tone --part-type tone --summary \"You speak slowly.\"
  masque create persona --file reviewer.toml
  curl -s https://example.com/skill.json | masque create skill";

#[derive(Debug, clap::Args)]
#[command(after_help = CREATE_HELP)]
pub(crate) struct CreateKindArgs {
    #[command(subcommand)]
    pub(crate) kind: CreateKind,
}

const UPDATE_HELP: &str = "\
Only what is given changes; an empty value (--summary \"\") clears a field. With --if-revision the
change is refused if somebody else was faster.

  masque update persona mentor --summary \"You teach by asking.\" --message \"shorter\"
  masque update part calm-tone --content-file calm.md
  masque show part calm-tone --json > calm.json   # edit it, then
  masque update part calm-tone --file calm.json   # refused if it changed meanwhile";

#[derive(Debug, clap::Args)]
#[command(after_help = UPDATE_HELP)]
pub(crate) struct UpdateKindArgs {
    #[command(subcommand)]
    pub(crate) kind: UpdateKind,
}

/// A kind on the command line; the plural reads better in places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindWord {
    #[value(alias = "personas")]
    Persona,
    #[value(alias = "parts")]
    Part,
    #[value(alias = "traits")]
    Trait,
    #[value(alias = "skills")]
    Skill,
    #[value(alias = "guardrails")]
    Guardrail,
    #[value(alias = "arcs")]
    Arc,
}

impl From<KindWord> for Kind {
    fn from(word: KindWord) -> Self {
        match word {
            KindWord::Persona => Self::Persona,
            KindWord::Part => Self::Part,
            KindWord::Trait => Self::Trait,
            KindWord::Skill => Self::Skill,
            KindWord::Guardrail => Self::Guardrail,
            KindWord::Arc => Self::Arc,
        }
    }
}

/// Parses a word of a closed vocabulary; help and completions list the words.
fn vocabulary<T>(all: &[T], as_str: fn(T) -> &'static str) -> impl TypedValueParser<Value = T> + use<T>
where
    T: Copy + std::str::FromStr + Send + Sync + 'static,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let words: Vec<&'static str> = all.iter().map(|word| as_str(*word)).collect();
    PossibleValuesParser::new(words).try_map(|word| word.parse::<T>())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent_and_every_flag_has_a_help() {
        super::Cli::command().debug_assert();
        let mut pending = vec![super::Cli::command()];
        while let Some(command) = pending.pop() {
            assert!(command.get_about().is_some(), "{} has no help", command.get_name());
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let name = (command.get_name(), argument.get_id());
                assert!(argument.get_help().is_some(), "{name:?} has no help");
            }
            pending.extend(command.get_subcommands().cloned());
        }
    }
}
