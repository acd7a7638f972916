//! Making personas out of others, and changing any entity as text.

use clap::Args;
use persona::{Kind, Name, Scope};

use super::scope::WRITABLE;
use super::{ChangeIn, CreateIn, ScopeOption, Target, Why, vocabulary};
use crate::failure::{Failure, Result};

#[derive(Debug, Args)]
#[command(override_usage = "masque edit [OPTIONS] [KIND] <NAME>")]
#[command(after_help = "\
Opens it as TOML in $VISUAL or $EDITOR and checks it before it is saved; a mistake opens the editor
again. An unchanged or emptied file saves nothing. A builtin is edited as a copy. Comments that you
write there are not kept.

  masque edit reviewer
  masque edit part calm-tone --scope project
  EDITOR=\"code --wait\" masque edit reviewer")]
pub(crate) struct EditArgs {
    /// A persona's name, or a kind and a name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl EditArgs {
    /// What is to be edited; without a kind, a persona.
    pub(crate) fn target(&self) -> Result<(Kind, Name)> {
        let Target { kind, name, .. } = Target::parse(&self.words, (0, 0), ScopeOption::OF_WRITING)?;
        Ok((kind, name))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
A template is a builtin persona (masque list --scope builtin); the copy is an ordinary persona,
yours to change. What is not said is asked, on a terminal.

  masque new                                        asks
  masque new reviewer --template code_reviewer
  masque new reviewer --template code_reviewer --scope project")]
pub(crate) struct NewArgs {
    /// The new persona's name
    pub(crate) name: Option<Name>,
    /// The builtin persona to begin with
    #[arg(long, short, value_name = "NAME")]
    pub(crate) template: Option<Name>,
    #[command(flatten)]
    pub(crate) create: CreateIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
#[command(override_usage = "masque duplicate [OPTIONS] [KIND] <NAME> <NEW>")]
#[command(after_help = "  masque duplicate reviewer strict-reviewer
  masque duplicate part calm-tone calmer-tone
  masque duplicate reviewer reviewer --from shared --scope project")]
pub(crate) struct DuplicateArgs {
    /// Its name and the copy's, with its kind before them unless it is a persona
    #[arg(value_name = "NAME", required = true, num_args = 2..=3)]
    words: Vec<String>,
    /// Where it is [default: where its name resolves]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) from: Option<Scope>,
    /// Where the copy goes [default: beside it; of a builtin, where `create` writes]
    #[arg(long = "scope", alias = "to", value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) to: Option<Scope>,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl DuplicateArgs {
    pub(crate) fn target(&self) -> Result<(Kind, Name, Name)> {
        two_names(&self.words, ScopeOption::OF_COPYING)
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque rename [OPTIONS] [KIND] <NAME> <NEW>")]
#[command(after_help = "\
What refers to it follows, in every scope that can be written; the rest is listed.

  masque rename reviewer strict-reviewer
  masque rename part calm-tone quiet-tone")]
pub(crate) struct RenameArgs {
    /// Its name and the new one, with its kind before them unless it is a persona
    #[arg(value_name = "NAME", required = true, num_args = 2..=3)]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl RenameArgs {
    pub(crate) fn target(&self) -> Result<(Kind, Name, Name)> {
        two_names(&self.words, ScopeOption::OF_WRITING)
    }
}

fn two_names(words: &[String], option: ScopeOption) -> Result<(Kind, Name, Name)> {
    let Target { kind, name, rest, .. } = Target::parse(words, (1, 1), option)?;
    match rest {
        [new] => {
            let new = new.parse::<Name>().map_err(|error| Failure::invalid(error.to_string()))?;
            Ok((kind, name, new))
        }
        _ => Err(Failure::invalid("give its name and the new one: [KIND] NAME NEW")),
    }
}
