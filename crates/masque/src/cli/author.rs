//! Authoring: create, update, delete, link, unlink. A flag has the name of its field in a file.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Args, Subcommand, ValueEnum};
use persona::{Kind, Name};
use serde::Serialize;

use super::scope::name_to_change;
use super::{ChangeIn, CreateIn, DeleteIn, KindWord};

mod fields;
pub(crate) use fields::Fields;
use fields::{
    AboutFields, ArcFields, BiasProfileFields, ContextPresetFields, GuardrailFields, NewArcFields,
    NewPersonaFields, PartFields, PersonaFields, SkillFields, TestInputFields, TraitFields,
};

/// Why something is written; kept in its history.
#[derive(Debug, Args, Serialize)]
pub(crate) struct Why {
    /// Why, for the history
    #[arg(long, short, value_name = "WHY")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Create<F: Args> {
    /// Its key: letters, digits, "_" and "-"; it may stand in the file instead
    pub(crate) name: Option<Name>,
    /// A TOML or JSON file with its fields; "-" for standard input
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: CreateIn,
    #[command(flatten)]
    pub(crate) why: Why,
    #[command(flatten, next_help_heading = "Fields")]
    pub(crate) fields: F,
}

#[expect(clippy::large_enum_variant, reason = "it is parsed once, and a persona has most fields")]
#[derive(Debug, Subcommand)]
pub(crate) enum CreateKind {
    /// A named configuration that an agent loads, made of the other kinds
    Persona(Create<NewPersonaFields>),
    /// A reusable building block of behaviour, of one of 16 types
    Part(Create<PartFields>),
    /// An atomic unit of personality
    Trait(Create<TraitFields>),
    /// Something that a persona knows how to do, loaded on demand
    Skill(Create<SkillFields>),
    /// What a persona must not do; never left out to save room
    Guardrail(Create<GuardrailFields>),
    /// Stages that a persona goes through
    Arc(Create<NewArcFields>),
    /// The tools that a persona may use, by category; they stand in the file
    #[command(alias = "tool_preset")]
    ToolPreset(Create<AboutFields>),
    /// How much a persona leans to each category of tools
    #[command(alias = "bias_profile")]
    BiasProfile(Create<BiasProfileFields>),
    /// The files that a persona sees; they stand in the file
    #[command(alias = "context_preset")]
    ContextPreset(Create<ContextPresetFields>),
    /// Something to try a persona with
    #[command(alias = "test_input")]
    TestInput(Create<TestInputFields>),
}

#[derive(Debug, Args)]
#[command(mut_args(in_place))]
pub(crate) struct Amend<F: Args> {
    /// Its name
    #[arg(value_parser = name_to_change)]
    pub(crate) name: Name,
    /// Refuse if it is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    /// A TOML or JSON file with the fields that change, each in full; "-" for standard input
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
    #[command(flatten, next_help_heading = "Fields")]
    pub(crate) fields: F,
}

/// Says of a field that can be given several times what becomes of those that there are.
fn in_place(argument: Arg) -> Arg {
    match argument.get_help() {
        Some(help) if matches!(argument.get_action(), ArgAction::Append) => {
            let help = format!("{help}; in place of those that it has");
            argument.help(help)
        }
        _ => argument,
    }
}

/// A change that may give it another name as well; of a kind that is kept whole, `masque rename` does.
#[derive(Debug, Args)]
pub(crate) struct Update<F: Args> {
    /// Give it another name; what uses it follows
    #[arg(long, value_name = "NEW")]
    pub(crate) rename: Option<Name>,
    #[command(flatten)]
    pub(crate) amend: Amend<F>,
}

#[expect(clippy::large_enum_variant, reason = "it is parsed once, and a persona has most fields")]
#[derive(Debug, Subcommand)]
pub(crate) enum UpdateKind {
    /// A persona's own fields; `link` and `arc` change what it is made of
    Persona(Update<PersonaFields>),
    /// A part
    Part(Update<PartFields>),
    /// A trait
    Trait(Update<TraitFields>),
    /// A skill
    Skill(Update<SkillFields>),
    /// A guardrail
    Guardrail(Update<GuardrailFields>),
    /// An arc's own fields; `arc add-stage` and its like change the stages
    Arc(Update<ArcFields>),
    /// A tool preset
    #[command(alias = "tool_preset")]
    ToolPreset(Amend<AboutFields>),
    /// A bias profile
    #[command(alias = "bias_profile")]
    BiasProfile(Amend<BiasProfileFields>),
    /// A context preset
    #[command(alias = "context_preset")]
    ContextPreset(Amend<ContextPresetFields>),
    /// A test input
    #[command(alias = "test_input")]
    TestInput(Amend<TestInputFields>),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Deleting what is not there succeeds and says so. A piece that personas use is kept unless --force
is given, and so is an entry of a file that has a mistake: what it says is in no history.
`masque rollback` brings back whatever else was deleted.

  masque delete part calm-tone
  masque delete persona reviewer --if-revision 4 --message \"replaced by code_reviewer\"")]
pub(crate) struct DeleteArgs {
    /// Its kind
    #[arg(value_enum)]
    pub(crate) kind: KindWord,
    /// Its name
    #[arg(value_parser = name_to_change)]
    pub(crate) name: Name,
    /// Also where personas use it, who lose it, or where its entry has a mistake
    #[arg(long)]
    pub(crate) force: bool,
    /// Refuse if it is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: DeleteIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

/// What can be linked to a persona.
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
    /// The persona
    #[arg(value_parser = name_to_change)]
    pub(crate) persona: Name,
    /// The piece's kind
    #[arg(value_enum)]
    pub(crate) kind: LinkKind,
    /// The piece's name
    pub(crate) name: Name,
    /// A part's place: lower comes first [default: last]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) order: Option<i32>,
    /// A part's weight: higher survives trimming [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i32>,
    /// Refuse if the persona is not at this revision any more
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
    /// The persona
    #[arg(value_parser = name_to_change)]
    pub(crate) persona: Name,
    /// The piece's kind
    #[arg(value_enum)]
    pub(crate) kind: LinkKind,
    /// The piece's name
    pub(crate) name: Name,
    /// Refuse if the persona is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}
