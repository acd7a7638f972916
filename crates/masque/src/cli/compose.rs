//! edit, new, duplicate, rename.

use clap::Args;
use persona::{Kind, Name, Scope};

use super::scope::WRITABLE;
use super::{ChangeIn, CreateIn, ScopeOption, Target, Why, vocabulary};
use crate::failure::{CommandError, Result};

#[derive(Debug, Args)]
#[command(override_usage = "masque edit [OPTIONS] [KIND] <NAME>")]
#[command(after_help = "\
Opens it as TOML in $VISUAL or $EDITOR and checks it before saving. After an error the editor opens
again. An unchanged or empty file changes nothing. Editing a builtin creates a copy. Comments that
you add are not kept.

  masque edit reviewer
  masque edit part calm-tone --scope project
  EDITOR=\"code --wait\" masque edit reviewer")]
pub(crate) struct EditArgs {
    /// Name of a persona, or kind and name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl EditArgs {
    /// The entity to edit. The kind defaults to persona.
    pub(crate) fn target(&self) -> Result<(Kind, Name)> {
        let Target { kind, name, .. } = Target::parse(&self.words, (0, 0), ScopeOption::OF_WRITING)?;
        Ok((kind, name))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
A template is a builtin persona (masque list --scope builtin). The copy is an ordinary persona. On a
terminal, masque asks for everything that is not given.

  masque new                                        interactive
  masque new reviewer --template code_reviewer
  masque new reviewer --template code_reviewer --scope project")]
pub(crate) struct NewArgs {
    /// Name of the new persona
    pub(crate) name: Option<Name>,
    /// Builtin persona to copy
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
    /// [KIND] NAME NEW: the entity, and the name of the copy; KIND defaults to persona
    #[arg(value_name = "NAME", required = true, num_args = 2..=3)]
    words: Vec<String>,
    /// Source scope [default: where its name resolves]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) from: Option<Scope>,
    /// Scope of the copy [default: the same; for a builtin, where `create` writes]
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
References in every writable scope are updated. References that cannot be updated are listed.

  masque rename reviewer strict-reviewer
  masque rename part calm-tone quiet-tone")]
pub(crate) struct RenameArgs {
    /// [KIND] NAME NEW: the entity, and its new name; KIND defaults to persona
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
        [new] => Ok((kind, name, new.parse::<Name>()?)),
        _ => {
            Err(CommandError::MissingArgument { argument: "NEW", example: "`[KIND] NAME NEW`".to_owned() }
                .into())
        }
    }
}
