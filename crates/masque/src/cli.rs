//! The command line: commands, flags and their help.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};

use crate::output::ColorChoice;

mod kind;
pub(crate) use kind::{KindWord, Target, kind_of};

mod scope;
pub(crate) use scope::{ChangeIn, CreateIn, DeleteIn, OnlyIn, RecordedIn, ScopeOption};

mod read;
pub(crate) use read::{CompileArgs, ListArgs, ManifestArgs, Paging, SearchArgs, ShowArgs};

mod author;
pub(crate) use author::{
    CreateArgs, CreateKind, DeleteArgs, LinkArgs, LinkKind, PersonaAndPiece, UnlinkArgs, UpdateArgs,
    UpdateCommand, UpdateKind, Why, named_kind, without_leading_kind,
};

mod compose;
pub(crate) use compose::{DuplicateArgs, EditArgs, NewArgs, RenameArgs};

mod arc;
pub(crate) use arc::{
    AddStageArgs, ArcCommand, AssignArgs, OfPersonaArgs, RemoveStageArgs, StagePartArgs, UnassignArgs,
};

mod history;
pub(crate) use history::{DiffArgs, HistoryArgs, RollbackArgs, TagArgs};

mod carry;
mod lint;
mod resolve;
pub(crate) use carry::{ExportArgs, ImportArgs, PromoteArgs};
pub(crate) use lint::{Deny, LintArgs, LintFormat};
pub(crate) use resolve::ConflictsArgs;

mod run;
pub(crate) use run::{
    Approve, ApproveSessionArgs, ChatArgs, DeleteSessionArgs, ExportFormat, ExportSessionArgs,
    ListSessionsArgs, ModelsArgs, PlanArgs, RunArgs, RunCommand, SessionOptions, SessionsArgs,
    SessionsCommand,
};

mod testing;
pub(crate) use testing::{CompareArgs, TestArgs, TestFormat};

mod conduct;
pub(crate) use conduct::{
    CapArgs, CleanArgs, ConductArgs, ConductCommand, ConductOrder, ListTracksArgs, MergeArgs, TicketDiffArgs,
    TrackLogArgs,
};

mod context;
pub(crate) use context::{ContextArgs, ContextOf};

mod listen;
mod rehearse;
pub(crate) use rehearse::RehearseArgs;

mod help;
pub(crate) use help::{SHORT_NAMES, command};

mod system;
pub(crate) use system::{
    Client, CompletionsArgs, ConnectArgs, CopyArgs, DEFAULT_ADDRESS, DbCommand, DisconnectArgs, DoctorArgs,
    InitArgs, ManArgs, McpArgs, PruneArgs, SchemaArgs, SchemaOf, ServeArgs, TrustArgs,
};

const AFTER_HELP: &str = "\
Start here:
  masque chat mentor                 chat with a persona
  masque init                        write a personas.toml for this project
  masque list                        list personas
  masque show mentor                 show one persona
  masque compile mentor              print it as one prompt, ready to paste or pipe
  masque connect claude-code         connect an agent over MCP

A definition lives in one of four scopes. If several define a name, the strongest wins:
  builtin < shared (the database) < global (your personas.toml) < project (its personas.toml)

Exit codes:
  0  success          3  not found          6  busy, try again
  1  failure          4  conflict           7  a run stopped before it was finished
  2  invalid input    5  denied           130  interrupted (129 by SIGHUP, 143 by SIGTERM)";

/// Personas for AI agents: compose them from reusable pieces, version them, serve them over MCP
#[derive(Debug, Parser)]
#[command(name = "masque", version, after_help = AFTER_HELP, max_term_width = 100)]
#[command(propagate_version = false)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// Database: a file or postgres://user@host/name[?schema=NAME] [default: masque.db in your data directory]
    #[arg(long, value_name = "PATH|URL", env = "MASQUE_DB", hide_env_values = true, global = true)]
    pub(crate) db: Option<String>,
    /// Project directory with a personas.toml [default: the nearest parent that has one] [env: MASQUE_PROJECT]
    //
    // `Project::find` reads the variable. clap would pass it to `connect --project` too, which must
    // write into a project only on request.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON; errors go to standard error, as JSON too
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not send long output to a pager; MASQUE_PAGER and PAGER name another one
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// When to use color; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: ColorChoice,
    /// Verbose logging (-vv for more); MASQUE_LOG sets a filter instead
    #[arg(long, short, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Run(RunCommand),
    #[command(flatten)]
    Library(LibraryCommand),
    /// Write a first personas.toml, with a persona to start from
    Init(InitArgs),
    /// Serve the library over HTTP, with MCP under /mcp
    Serve(ServeArgs),
    /// Serve the library to one MCP client over standard input and output
    Mcp(McpArgs),
    /// Add Masque to the configuration of an MCP client
    Connect(ConnectArgs),
    /// Remove Masque from the configuration of an MCP client
    Disconnect(DisconnectArgs),
    /// Trust a project: let its files start MCP servers, add providers and approve tools
    Trust(TrustArgs),
    /// Check the configuration, the database, providers and MCP servers
    Doctor(DoctorArgs),
    /// Serve a scripted model, or record and replay a real one
    Rehearse(RehearseArgs),
    /// Print the JSON Schema of a personas.toml or a track.toml, for editors
    Schema(SchemaArgs),
    /// Print a shell completion script
    Completions(CompletionsArgs),
    /// Print or write the manual pages
    Man(ManArgs),
}

/// Commands that open the library, do one thing and close it.
#[derive(Debug, Subcommand)]
pub(crate) enum LibraryCommand {
    /// List personas, or another kind
    List(ListArgs),
    /// Search the whole library
    Search(SearchArgs),
    /// Show a persona, or a piece: `show mentor`, `show part plain-tone`
    Show(ShowArgs),
    /// List the pieces of a persona, without their contents
    Manifest(ManifestArgs),
    /// Print a persona as one prompt
    Compile(CompileArgs),
    /// Create a persona from a template, or interactively
    New(NewArgs),
    /// Create a persona or a piece
    Create(CreateKindArgs),
    /// Change fields of a persona or a piece
    Update(UpdateCommand),
    /// Edit a persona or a piece as TOML in your editor
    Edit(EditArgs),
    /// Copy a persona or a piece under another name, or into another scope
    Duplicate(DuplicateArgs),
    /// Rename a persona or a piece, and update all references to it
    Rename(RenameArgs),
    /// Delete a persona or a piece
    Delete(DeleteArgs),
    /// Link a part, trait, skill or guardrail to a persona
    Link(LinkArgs),
    /// Unlink a part, trait, skill or guardrail from a persona
    Unlink(UnlinkArgs),
    /// Edit arcs, and move personas through their stages
    #[command(subcommand)]
    Arc(ArcCommand),
    /// List the revisions of a persona or a piece
    History(HistoryArgs),
    /// Compare two revisions of a persona or a piece
    Diff(DiffArgs),
    /// Roll a persona or a piece back to an earlier revision
    Rollback(RollbackArgs),
    /// Tag a revision with a name
    Tag(TagArgs),
    /// List names that several scopes define, and resolve them
    Conflicts(ConflictsArgs),
    /// Copy a persona or a piece to another scope, with everything it refers to
    Promote(PromoteArgs),
    /// Print personas or pieces, or everything, as TOML
    Export(ExportArgs),
    /// Import the definitions of a TOML file
    Import(ImportArgs),
    /// Check definitions for mistakes
    Lint(LintArgs),
    /// Back up, copy, prune or inspect the database
    #[command(subcommand)]
    Db(DbCommand),
}

const CREATE_HELP: &str = "\
Fields come from flags, from --file (TOML or JSON, with the same field names), or both; flags win. \
Without either, the definition is read from standard input.

  masque create part calm-tone --part-type tone --summary \"You speak slowly.\"
  masque create persona --file reviewer.toml
  masque create persona strict --extends global:reviewer --remove-trait patient --scope project
  curl -s https://example.com/skill.json | masque create skill";

#[derive(Debug, clap::Args)]
#[command(after_help = CREATE_HELP)]
pub(crate) struct CreateKindArgs {
    #[command(subcommand)]
    pub(crate) kind: CreateKind,
}

/// Parses one of a fixed set of words. Help and completions list them.
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

    /// Each row names an existing command. Each command is in a row or in `COMMAND_LINE_ONLY`.
    #[test]
    fn commands_and_operations_match() {
        let cli = super::Cli::command();
        let mut named: Vec<&str> =
            operations::COMMAND_LINE_ONLY.iter().map(|(command, _)| *command).collect();
        named.extend(operations::all().iter().filter_map(|operation| match operation.cli {
            operations::Cli::Command(words) => Some(words),
            operations::Cli::Absent(_) => None,
        }));
        for words in &named {
            let mut command = &cli;
            for word in words.split(' ') {
                if let Some(flag) = word.strip_prefix("--") {
                    let exists = command.get_arguments().any(|argument| argument.get_long() == Some(flag));
                    assert!(exists, "masque {words} does not exist");
                    continue;
                }
                command = match command.find_subcommand(word) {
                    Some(found) => found,
                    // `masque list part`: the kind is an argument.
                    None if command.get_subcommands().next().is_none() => break,
                    None => panic!("masque {words} does not exist"),
                };
            }
        }
        for command in cli.get_subcommands() {
            let name = command.get_name();
            let is_named = |words: &&str| words.split(' ').next() == Some(name);
            assert!(named.iter().any(is_named), "masque {name} is in no row and not in COMMAND_LINE_ONLY");
        }
    }

    #[test]
    fn every_command_and_flag_has_help() {
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
