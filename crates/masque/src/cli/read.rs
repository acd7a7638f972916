//! Reading: list, search, show, manifest, compile.

use clap::Args;
use persona::{Kind, Name, PartType};

use super::scope::name_to_read;
use super::{KindWord, OnlyIn, ScopeOption, Target, vocabulary};
use crate::failure::{Failure, Result};

/// How much of a list to print.
#[derive(Debug, Args)]
pub(crate) struct Paging {
    /// At most this many [default: 50]
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Everything, page by page
    #[arg(long)]
    pub(crate) all: bool,
    /// Go on where an earlier answer's next_cursor points
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque list                              personas
  masque list parts --type tone            parts of one type
  masque list --tag code --tag review      personas that have both tags
  masque list tool-presets --scope project what the project's personas.toml has
  masque list skills --all --json | jq -r '.items[].name'")]
pub(crate) struct ListArgs {
    /// What to list
    #[arg(value_enum, default_value = "persona", hide_default_value = true)]
    pub(crate) kind: KindWord,
    /// Only with this tag; repeat it for more, all of which must be there
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Only of this type: a part type for parts, a trait type for traits
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) type_word: Option<String>,
    /// Only what contains these words
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
    /// Words to find, in any order
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    pub(crate) text: Vec<String>,
    /// Only in this kind; repeat it for more
    #[arg(long = "kind", value_enum, value_name = "KIND")]
    pub(crate) kinds: Vec<KindWord>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
    #[command(flatten)]
    pub(crate) paging: Paging,
}

#[derive(Debug, Args)]
#[command(override_usage = "masque show [OPTIONS] [KIND] <NAME>")]
#[command(after_help = "\
KIND is persona (if it is left out), part, trait, skill, guardrail, arc, tool-preset, bias-profile,
context-preset or test-input.

  masque show mentor                          a persona, in short
  masque show mentor --detail                 with full contents
  masque show mentor --override tone=plain-tone
  masque show mentor --types identity,tone --limit 3 --max-tokens 800
  masque show mentor --explain                which layer and scope everything came from
  masque show mentor --flat                   as TOML, with all that it inherits written out
  masque show reviewer --revision production  as it was, with its pieces as they were
  masque show part plain-tone                 a piece, in full")]
pub(crate) struct ShowArgs {
    /// A persona's name, or a kind and a name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Full contents instead of summaries
    #[arg(long, short)]
    pub(crate) detail: bool,
    /// Another part for a type, this once; repeat it for more types
    #[arg(long = "override", value_name = "TYPE=PART", value_parser = override_pair)]
    pub(crate) overrides: Vec<(PartType, Name)>,
    /// Only parts of these types
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = vocabulary(PartType::ALL, PartType::as_str))]
    pub(crate) types: Option<Vec<PartType>>,
    /// Only the N parts of highest priority
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Leave out what matters least until the answer fits into N tokens
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u32>,
    /// Only the compiled prompt, brought up to date first
    #[arg(long, conflicts_with_all = ["overrides", "types", "limit", "max_tokens"])]
    pub(crate) compiled: bool,
    /// Say of each field and piece which layer and scope it came from
    #[arg(long, conflicts_with_all = ["flat", "detail", "overrides", "types", "limit", "max_tokens", "compiled", "revision"])]
    pub(crate) explain: bool,
    /// Print it as TOML, as if all that it inherits had been written out
    #[arg(long, conflicts_with_all = ["detail", "overrides", "types", "limit", "max_tokens", "compiled", "revision"])]
    pub(crate) flat: bool,
    /// As it was at this revision or tag
    #[arg(long, value_name = "REV|TAG")]
    pub(crate) revision: Option<String>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

impl ShowArgs {
    /// What is to be shown; without a kind, a persona.
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        let target = Target::parse(&self.words, (0, 0), ScopeOption::OF_READING)?;
        self.refuse_what_a_piece_has_not(target.kind)?;
        Ok(target)
    }

    fn refuse_what_a_piece_has_not(&self, kind: Kind) -> Result<()> {
        let given = [
            ("--override", !self.overrides.is_empty()),
            ("--types", self.types.is_some()),
            ("--limit", self.limit.is_some()),
            ("--max-tokens", self.max_tokens.is_some()),
            ("--compiled", self.compiled),
            ("--explain", self.explain),
            ("--flat", self.flat),
        ];
        match given.iter().find(|(_, given)| *given && kind != Kind::Persona) {
            Some((flag, _)) => {
                let kind = kind.spoken();
                Err(Failure::invalid(format!("{flag} is for personas; a {kind} is always shown whole")))
            }
            None => Ok(()),
        }
    }
}

fn override_pair(text: &str) -> std::result::Result<(PartType, Name), String> {
    let (part_type, name) = text
        .split_once('=')
        .ok_or_else(|| "write a part type and a part's name, as in tone=plain-tone".to_owned())?;
    let part_type = part_type.trim().parse::<PartType>().map_err(|error| error.to_string())?;
    let name = name.trim().parse::<Name>().map_err(|error| error.to_string())?;
    Ok((part_type, name))
}

#[derive(Debug, Args)]
pub(crate) struct ManifestArgs {
    /// The persona
    #[arg(value_parser = name_to_read)]
    pub(crate) name: Name,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque compile code_reviewer --detail | pbcopy
  masque compile reviewer --revision production
  claude --append-system-prompt \"$(masque compile mentor --detail)\"")]
pub(crate) struct CompileArgs {
    /// The persona
    #[arg(value_parser = name_to_read)]
    pub(crate) name: Name,
    /// The full contents; without it, the prompt is made of summaries
    #[arg(long, short)]
    pub(crate) detail: bool,
    /// As it was at this revision or tag
    #[arg(long, value_name = "REV|TAG")]
    pub(crate) revision: Option<String>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}
