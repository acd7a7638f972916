//! create, update, delete, link, unlink. Each flag is named like the field in a file.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueEnum};
use persona::field::Input;
use persona::{Kind, Name};
use serde::Serialize;

use super::scope::name_to_change;
use super::{ChangeIn, CreateIn, DeleteIn, KindWord};

mod fields;
pub(crate) use fields::GivenFields;

/// The message of a change, kept in the history.
#[derive(Debug, Args, Serialize)]
pub(crate) struct Why {
    /// Reason for the change, kept in the history
    #[arg(long, short, value_name = "WHY")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Name: letters, digits, "_" and "-"; --file can set it instead
    pub(crate) name: Option<Name>,
    /// TOML or JSON file with the fields; "-" for standard input
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: CreateIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

/// `masque create KIND`: one command for each kind, with its fields as flags.
#[derive(Debug)]
pub(crate) struct CreateKind {
    pub(crate) kind: Kind,
    pub(crate) args: CreateArgs,
    pub(crate) fields: GivenFields,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Name of the entity
    #[arg(value_parser = name_to_change)]
    pub(crate) name: Name,
    /// Fail unless it is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    /// TOML or JSON file with the new values of fields; "-" for standard input
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

/// `masque update KIND`, built the same way.
#[derive(Debug)]
pub(crate) struct UpdateKind {
    pub(crate) kind: Kind,
    pub(crate) rename: Option<Name>,
    pub(crate) args: UpdateArgs,
    pub(crate) fields: GivenFields,
}

/// True for a kind that `update` can rename too. `masque rename` renames every kind.
pub(crate) fn is_renamed_by_update(kind: Kind) -> bool {
    matches!(kind, Kind::Persona | Kind::Part | Kind::Trait | Kind::Skill | Kind::Guardrail | Kind::Arc)
}

const RENAME: &str = "rename";

fn rename_argument() -> Arg {
    Arg::new(RENAME)
        .long(RENAME)
        .value_name("NEW")
        .value_parser(clap::value_parser!(Name))
        .help("Rename it, and update all references to it")
}

/// Adds the fate of the current value to a flag's help.
fn in_place(kind: Kind, argument: Arg) -> Arg {
    let Some(note) = fields::update_note(kind, argument.get_id().as_str()) else { return argument };
    match argument.get_help().map(|help| format!("{help}; {note}")) {
        Some(help) => argument.help(help),
        None => argument,
    }
}

/// The subcommand of a kind. The spelling of files, with underscores, is an alias.
fn command_for(kind: Kind) -> Command {
    let word = KindWord::from(kind);
    let command = Command::new(word.dashed());
    if word.dashed() == kind.as_str() { command } else { command.alias(kind.as_str()) }
}

fn every_input(_: Input) -> bool {
    true
}

fn own_input(input: Input) -> bool {
    input == Input::Own
}

/// The kind of the chosen subcommand, and its arguments.
fn chosen(matches: &ArgMatches) -> Result<(Kind, &ArgMatches), clap::Error> {
    let missing = || clap::Error::raw(clap::error::ErrorKind::MissingSubcommand, "a kind is required");
    let (word, matches) = matches.subcommand().ok_or_else(missing)?;
    let kind = Kind::ALL.iter().copied().find(|kind| KindWord::from(*kind).dashed() == word);
    Ok((kind.ok_or_else(missing)?, matches))
}

impl FromArgMatches for CreateKind {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (kind, matches) = chosen(matches)?;
        let fields = fields::collect(matches, kind, every_input);
        Ok(Self { kind, args: CreateArgs::from_arg_matches(matches)?, fields })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for CreateKind {
    fn augment_subcommands(command: Command) -> Command {
        let kinds = Kind::ALL.iter().map(|kind| {
            let command = CreateArgs::augment_args(command_for(*kind)).about(kind.about());
            fields::augment(command, *kind, every_input)
        });
        command.subcommands(kinds).subcommand_required(true).arg_required_else_help(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Kind::ALL.iter().any(|kind| KindWord::from(*kind).dashed() == name)
    }
}

impl FromArgMatches for UpdateKind {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (kind, matches) = chosen(matches)?;
        let rename = if is_renamed_by_update(kind) { matches.get_one::<Name>(RENAME).cloned() } else { None };
        let fields = fields::collect(matches, kind, own_input);
        Ok(Self { kind, rename, args: UpdateArgs::from_arg_matches(matches)?, fields })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for UpdateKind {
    fn augment_subcommands(command: Command) -> Command {
        let kinds = Kind::ALL.iter().map(|kind| {
            let command = UpdateArgs::augment_args(command_for(*kind)).about(update_about(*kind));
            let command = if is_renamed_by_update(*kind) { command.arg(rename_argument()) } else { command };
            fields::augment(command, *kind, own_input).mut_args(|argument| in_place(*kind, argument))
        });
        command.subcommands(kinds).subcommand_required(true).arg_required_else_help(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        CreateKind::has_subcommand(name)
    }
}

fn update_about(kind: Kind) -> String {
    match kind {
        Kind::Persona => "Update a persona's own fields; `link` and `arc` change its pieces".to_owned(),
        Kind::Arc => "Update an arc's own fields; `masque arc` changes its stages".to_owned(),
        kind => format!("Update a {}", kind.spoken()),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Deleting a missing entity succeeds. Deleting a piece that personas use needs --force, and so does
an entry with an error in a file: its current text is not in the history. `masque rollback` restores
everything else.

  masque delete part calm-tone
  masque delete persona reviewer --if-revision 4 --message \"replaced by code_reviewer\"")]
pub(crate) struct DeleteArgs {
    /// Kind
    #[arg(value_enum)]
    pub(crate) kind: KindWord,
    /// Name of the entity
    #[arg(value_parser = name_to_change)]
    pub(crate) name: Name,
    /// Delete it even if personas use it or its entry has an error
    #[arg(long)]
    pub(crate) force: bool,
    /// Fail unless it is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: DeleteIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

/// The kinds that can be linked to a persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkKind {
    Part,
    Trait,
    Skill,
    Guardrail,
}

impl From<LinkKind> for Kind {
    fn from(kind: LinkKind) -> Self {
        match kind {
            LinkKind::Part => Self::Part,
            LinkKind::Trait => Self::Trait,
            LinkKind::Skill => Self::Skill,
            LinkKind::Guardrail => Self::Guardrail,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "  masque link reviewer part calm-tone --order 70 --priority 40
  masque link reviewer guardrail no-fabrication")]
pub(crate) struct LinkArgs {
    /// Persona
    #[arg(value_parser = name_to_change)]
    pub(crate) persona: Name,
    /// Kind of the piece
    #[arg(value_enum)]
    pub(crate) kind: LinkKind,
    /// Name of the piece
    pub(crate) name: Name,
    /// Position of a part; lower comes first [default: last]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) order: Option<i32>,
    /// Priority of a part; a budget drops low priorities first [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i32>,
    /// Fail unless the persona is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque unlink reviewer part calm-tone")]
pub(crate) struct UnlinkArgs {
    /// Persona
    #[arg(value_parser = name_to_change)]
    pub(crate) persona: Name,
    /// Kind of the piece
    #[arg(value_enum)]
    pub(crate) kind: LinkKind,
    /// Name of the piece
    pub(crate) name: Name,
    /// Fail unless the persona is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}
