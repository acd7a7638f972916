//! create, update, delete, link, unlink. Each flag is named like the field in a file.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use persona::field::Input;
use persona::{Kind, Name};
use serde::Serialize;

use super::{ChangeIn, CreateIn, DeleteIn, KindWord, ScopeOption, Target, kind_of};
use crate::failure::{CommandError, Failure, Result};

mod fields;
pub(crate) use fields::{GivenFields, named_kind};

mod update;
pub(crate) use update::{UpdateArgs, UpdateCommand, UpdateKind};

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

/// The subcommand of a kind. The plural and the spellings of files, with underscores, are aliases.
fn command_for(kind: Kind) -> Command {
    let word = KindWord::from(kind);
    Command::new(word.dashed()).aliases(word.others())
}

fn every_input(_: Input) -> bool {
    true
}

/// The kind of the chosen subcommand, and its arguments.
fn chosen(matches: &ArgMatches) -> std::result::Result<(Kind, &ArgMatches), clap::Error> {
    let missing = || clap::Error::raw(clap::error::ErrorKind::MissingSubcommand, "a kind is required");
    let (word, matches) = matches.subcommand().ok_or_else(missing)?;
    let kind = Kind::ALL.iter().copied().find(|kind| KindWord::from(*kind).dashed() == word);
    Ok((kind.ok_or_else(missing)?, matches))
}

impl FromArgMatches for CreateKind {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let (kind, matches) = chosen(matches)?;
        let fields = fields::collect(matches, kind, every_input);
        Ok(Self { kind, args: CreateArgs::from_arg_matches(matches)?, fields })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
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

#[derive(Debug, Args)]
#[command(override_usage = "masque delete [OPTIONS] [KIND] <NAME>")]
#[command(after_help = "\
On a terminal, it says who uses the entity and asks. Elsewhere, deleting an entity that others use needs \
--force, even if they would use a weaker scope's definition of the name instead. So does an entry with an \
error in a file: its current text is not in the history. `masque rollback` restores everything else. \
Deleting a missing entity succeeds.

  masque delete reviewer
  masque delete part calm-tone
  masque delete persona reviewer --if-revision 4 --message \"replaced by code_reviewer\"")]
pub(crate) struct DeleteArgs {
    /// Name of the entity, after its kind if several kinds have the name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Delete it even if personas use it or its entry has an error
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Fail unless it is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: DeleteIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl DeleteArgs {
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 0), ScopeOption::OF_WRITING)
    }
}

/// The kinds that can be linked to a persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Part,
    Trait,
    Skill,
    Guardrail,
}

impl LinkKind {
    pub(crate) const ALL: &[Kind] = &[Kind::Part, Kind::Trait, Kind::Skill, Kind::Guardrail];

    pub(crate) fn of(command: &'static str, kind: Kind) -> Result<Self> {
        match kind {
            Kind::Part => Ok(Self::Part),
            Kind::Trait => Ok(Self::Trait),
            Kind::Skill => Ok(Self::Skill),
            Kind::Guardrail => Ok(Self::Guardrail),
            kind => Err(CommandError::OtherKind { command, kind, kinds: Self::ALL.to_vec() }.into()),
        }
    }
}

/// A persona and a piece: `[persona] PERSONA [KIND] NAME`.
#[derive(Debug, Args)]
pub(crate) struct PersonaAndPiece {
    /// Persona, then the name of the piece, after its kind if several kinds have the name
    #[arg(value_name = "NAME", required = true, num_args = 1..=4)]
    words: Vec<String>,
}

/// The words of [`PersonaAndPiece`] without a `persona` before the first name. `persona part calm` means
/// the persona named `persona`, because the piece may have its kind.
pub(crate) fn without_leading_kind<T: AsRef<str>>(words: &[T]) -> &[T] {
    let is = |word: &T, expected: Option<Kind>| {
        kind_of(word.as_ref()).is_ok_and(|kind| expected.is_none_or(|expected| kind == expected))
    };
    match words {
        [first, second, _, rest @ ..]
            if is(first, Some(Kind::Persona)) && (!rest.is_empty() || !is(second, None)) =>
        {
            &words[1..]
        }
        words => words,
    }
}

impl PersonaAndPiece {
    pub(crate) fn parse(&self) -> Result<(Name, Target<'_>)> {
        let [persona, piece @ ..] = without_leading_kind(&self.words) else {
            return Err(missing_piece());
        };
        if piece.is_empty() {
            return Err(missing_piece());
        }
        let persona = Target::of_kind(Some(Kind::Persona), persona, ScopeOption::OF_WRITING)?.name;
        Ok((persona, Target::parse(piece, (0, 0), ScopeOption::OF_READING)?))
    }
}

fn missing_piece() -> Failure {
    let example = "`masque link reviewer part calm-tone`".to_owned();
    CommandError::MissingArgument { argument: "NAME", example }.into()
}

#[derive(Debug, Args)]
#[command(override_usage = "masque link [OPTIONS] [persona] <PERSONA> [KIND] <NAME>")]
#[command(after_help = "  masque link reviewer part calm-tone --order 70 --priority 40
  masque link reviewer guardrail no-fabrication")]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    pub(crate) names: PersonaAndPiece,
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
#[command(override_usage = "masque unlink [OPTIONS] [persona] <PERSONA> [KIND] <NAME>")]
#[command(after_help = "  masque unlink reviewer part calm-tone")]
pub(crate) struct UnlinkArgs {
    #[command(flatten)]
    pub(crate) names: PersonaAndPiece,
    /// Fail unless the persona is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}
