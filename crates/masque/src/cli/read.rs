//! list, search, show, manifest, compile.

use std::collections::BTreeMap;

use app::inputs::GetPersona;
use clap::Args;
use persona::{Kind, Name, PartType};

use super::kind::only_persona;
use super::{KindWord, OnlyIn, ScopeOption, Target, vocabulary};
use crate::failure::{CommandError, Result};

/// Paging of a list.
#[derive(Debug, Args)]
pub(crate) struct Paging {
    /// Print at most N [default: 50]
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Print everything
    #[arg(long)]
    pub(crate) all: bool,
    /// Continue at the next_cursor of an earlier page
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque list                              personas
  masque list parts --type tone            parts of one type
  masque list --tag code --tag review      personas with both tags
  masque list tool-presets --scope project tool presets of the project's personas.toml
  masque list skills --all --json | jq -r '.items[].name'")]
pub(crate) struct ListArgs {
    /// Kind to list [default: persona]
    #[arg(value_enum, ignore_case = true, default_value = "persona", hide_default_value = true)]
    pub(crate) kind: KindWord,
    /// Only entities with this tag; repeatable, all tags must match
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Only parts or traits of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) type_word: Option<String>,
    /// Only entities that contain these words
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
    #[command(flatten)]
    pub(crate) paging: Paging,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque search review
  masque search \"failing test\" --kind skill --kind part")]
pub(crate) struct SearchArgs {
    /// Words to search for, in any order
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    pub(crate) text: Vec<String>,
    /// Only this kind; repeatable
    #[arg(long = "kind", value_enum, ignore_case = true, value_name = "KIND")]
    pub(crate) kinds: Vec<KindWord>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
    #[command(flatten)]
    pub(crate) paging: Paging,
}

/// The changes of one call: other parts, filters and budgets.
#[derive(Debug, Args)]
pub(crate) struct CutArgs {
    /// Use another part for a type; repeatable
    #[arg(long = "override", value_name = "TYPE=PART", value_parser = override_pair)]
    overrides: Vec<(PartType, Name)>,
    /// Only parts of these types
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = vocabulary(PartType::ALL, PartType::as_str))]
    types: Option<Vec<PartType>>,
    /// Only the N parts with the highest priority
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Keep what fits into N tokens, by priority
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,
}

impl CutArgs {
    /// True if nothing is changed or left out.
    pub(crate) fn is_plain(&self) -> bool {
        let Self { overrides, types, limit, max_tokens } = self;
        overrides.is_empty() && types.is_none() && limit.is_none() && max_tokens.is_none()
    }

    /// Puts the changes into a request.
    pub(crate) fn apply(self, input: GetPersona) -> Result<GetPersona> {
        let Self { overrides: pairs, types, limit, max_tokens } = self;
        let overrides = by_type(&pairs)?;
        let overrides = (!overrides.is_empty()).then_some(overrides);
        Ok(GetPersona { overrides, types, limit, max_tokens, ..input })
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque show [OPTIONS] [KIND] <NAME>")]
#[command(after_help = "\
KIND is persona, part, trait, skill, guardrail, arc, tool-preset, bias-profile, context-preset or \
test-input, in the singular or plural. Without it, a persona of this name is meant, or the only kind \
that has it.

  masque show mentor                          summaries
  masque show mentor --detail                 full contents
  masque show mentor --override tone=plain-tone
  masque show mentor --types identity,tone --limit 3 --max-tokens 800
  masque show mentor --explain                the layer and scope of each field and piece
  masque show mentor --flat                   as TOML, with inherited fields written out
  masque show reviewer --revision production  an earlier revision, with its pieces
  masque show part plain-tone                 a piece")]
pub(crate) struct ShowArgs {
    /// Name of the entity, after its kind if several kinds have the name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Show full contents instead of summaries
    #[arg(long, short)]
    pub(crate) detail: bool,
    /// Show summaries where pieces have them, in the compiled prompt too
    #[arg(long, conflicts_with = "detail")]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) cut: CutArgs,
    /// Show only the compiled prompt, complete unless --summary is given
    #[arg(long)]
    pub(crate) compiled: bool,
    /// Show the layer and scope that each field and piece came from
    #[arg(long, conflicts_with_all = ["flat", "detail", "summary", "overrides", "types", "limit", "max_tokens", "compiled", "revision"])]
    pub(crate) explain: bool,
    /// Print TOML with inherited fields written out
    #[arg(long, conflicts_with_all = ["detail", "summary", "overrides", "types", "limit", "max_tokens", "compiled", "revision"])]
    pub(crate) flat: bool,
    /// Use this revision or tag
    #[arg(long, value_name = "REV|TAG")]
    pub(crate) revision: Option<String>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

impl ShowArgs {
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 0), ScopeOption::OF_READING)
    }

    /// Fails if a flag for personas was given for a piece.
    pub(crate) fn check_kind(&self, kind: Kind) -> Result<()> {
        let given = [
            ("--override", !self.cut.overrides.is_empty()),
            ("--types", self.cut.types.is_some()),
            ("--limit", self.cut.limit.is_some()),
            ("--max-tokens", self.cut.max_tokens.is_some()),
            ("--compiled", self.compiled),
            ("--explain", self.explain),
            ("--flat", self.flat),
        ];
        match given.iter().find(|(_, given)| *given && kind != Kind::Persona) {
            Some((flag, _)) => Err(CommandError::NotForKind { flags: vec![*flag], kind }.into()),
            None => Ok(()),
        }
    }
}

/// The overrides of `--override`. Fails if one type has two parts.
pub(super) fn by_type(pairs: &[(PartType, Name)]) -> Result<BTreeMap<PartType, Name>> {
    let mut overrides = BTreeMap::new();
    for (part_type, part) in pairs {
        if overrides.insert(*part_type, part.clone()).is_some() {
            let value = part_type.to_string();
            return Err(CommandError::NamedTwice { flag: "--override", value }.into());
        }
    }
    Ok(overrides)
}

pub(super) fn override_pair(text: &str) -> std::result::Result<(PartType, Name), String> {
    let (part_type, name) =
        text.split_once('=').ok_or_else(|| "expected TYPE=PART, for example tone=plain-tone".to_owned())?;
    let part_type = part_type.trim().parse::<PartType>().map_err(|error| error.to_string())?;
    let name = name.trim().parse::<Name>().map_err(|error| error.to_string())?;
    Ok((part_type, name))
}

#[derive(Debug, Args)]
#[command(override_usage = "masque manifest [OPTIONS] [persona] <NAME>")]
#[command(after_help = "  masque manifest mentor
  masque manifest mentor --json | jq .tokens")]
pub(crate) struct ManifestArgs {
    /// Persona
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

impl ManifestArgs {
    pub(crate) fn persona(&self) -> Result<Name> {
        only_persona("manifest", &self.words)
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque compile [OPTIONS] [persona] <NAME>")]
#[command(after_help = "  masque compile code_reviewer | pbcopy
  masque compile mentor --origins                 the layer and piece of each line
  masque compile reviewer --revision production
  masque compile mentor --override tone=plain-tone --max-tokens 500
  claude --append-system-prompt \"$(masque compile mentor)\"")]
pub(crate) struct CompileArgs {
    /// Persona
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Use summaries where pieces have them
    #[arg(long)]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) cut: CutArgs,
    /// Show the layer, the piece and the scope in front of each line
    #[arg(long)]
    pub(crate) origins: bool,
    /// Use this revision or tag
    #[arg(long, value_name = "REV|TAG")]
    pub(crate) revision: Option<String>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

impl CompileArgs {
    pub(crate) fn persona(&self) -> Result<Name> {
        only_persona("compile", &self.words)
    }
}
