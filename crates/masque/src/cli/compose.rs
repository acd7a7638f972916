//! edit, new, duplicate, rename.

use clap::Args;
use persona::{Name, Scope};

use super::kind::only_persona;
use super::scope::WRITABLE;
use super::{ChangeIn, CreateIn, ScopeOption, Target, Why, vocabulary};
use crate::failure::{CommandError, Result};

#[derive(Debug, Args)]
#[command(override_usage = "\
masque edit [OPTIONS] [KIND] <NAME>
       masque edit <NAME> --chat <MESSAGE> [--plan] [--clear]
       masque edit <NAME> --apply
       masque edit <NAME> --dismiss
       masque edit <NAME> --undo
       masque edit [KIND] <NAME> --lock[=FIELD] | --unlock[=FIELD] | --locks")]
#[command(after_help = "\
Opens it as TOML in $VISUAL, $EDITOR or vi and checks it before saving. After an error the editor opens \
again. An unchanged or empty file changes nothing. Editing a builtin creates a copy. Comments that \
you add are not kept.

With --chat, an agent makes the change to a persona and its pieces. It remembers the conversation until \
--clear. With --plan it only proposes one, which --apply makes, if nothing was changed since. --undo takes \
back everything that its last message or --apply changed; edits by hand since then stay. A change that would \
halve a text is not made before --apply agrees; --dismiss keeps the text. What is locked stays as it is, \
whatever the agent is told; everyone else may change it.

  masque edit reviewer
  masque edit part calm-tone --scope project
  EDITOR=\"code --wait\" masque edit reviewer
  masque edit reviewer --chat \"make the tone drier\"
  masque edit reviewer --chat \"what would you cut?\" --plan
  masque edit reviewer --apply
  masque edit reviewer --undo
  masque edit reviewer --lock=system_prompt")]
pub(crate) struct EditArgs {
    /// Name of the entity, after its kind if several kinds have the name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Tell the editing agent what to change about a persona
    #[arg(long, value_name = "MESSAGE", conflicts_with_all = ["scope", "message"])]
    pub(crate) chat: Option<String>,
    /// Let the agent propose changes only
    #[arg(long, requires = "chat")]
    pub(crate) plan: bool,
    /// Begin a new conversation with the agent
    #[arg(long, requires = "chat")]
    pub(crate) clear: bool,
    /// Apply what the agent proposes, and what it asks about
    #[arg(long, conflicts_with_all = ["chat", "undo", "scope", "message"])]
    pub(crate) apply: bool,
    /// Drop what the agent proposes, and keep what it asks about as it is
    #[arg(long, conflicts_with_all = ["chat", "apply", "undo", "scope", "message"])]
    pub(crate) dismiss: bool,
    /// Take back what the agent's last message changed
    #[arg(long, conflicts_with_all = ["chat", "scope", "message"])]
    pub(crate) undo: bool,
    /// Lock a field, or everything, against the editing agent
    #[arg(long, value_name = "FIELD", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["chat", "apply", "dismiss", "undo", "message"])]
    pub(crate) lock: Vec<String>,
    /// Unlock a field, or everything, for the editing agent
    #[arg(long, value_name = "FIELD", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["chat", "apply", "dismiss", "undo", "message"])]
    pub(crate) unlock: Vec<String>,
    /// List what is locked against the editing agent
    #[arg(long, conflicts_with_all = ["chat", "apply", "dismiss", "undo", "message"])]
    pub(crate) locks: bool,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl EditArgs {
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 0), ScopeOption::OF_WRITING)
    }

    /// The persona that the agent edits.
    pub(crate) fn persona(&self) -> Result<Name> {
        only_persona("edit --chat", &self.words)
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque new [OPTIONS] [[persona] NAME]")]
#[command(after_help = "\
A template is a builtin persona (masque list --scope builtin). The copy is an ordinary persona. On a \
terminal, masque asks for everything that is not given.

  masque new                                        interactive
  masque new reviewer --template code_reviewer
  masque new reviewer --template code_reviewer --scope project")]
pub(crate) struct NewArgs {
    /// Name of the new persona
    #[arg(value_name = "NAME", num_args = 1..=2)]
    words: Vec<String>,
    /// Builtin persona to copy
    #[arg(long, short, value_name = "NAME")]
    pub(crate) template: Option<Name>,
    #[command(flatten)]
    pub(crate) create: CreateIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl NewArgs {
    pub(crate) fn name(&self) -> Result<Option<Name>> {
        match self.words.as_slice() {
            [] => Ok(None),
            words => Ok(Some(only_persona("new", words)?)),
        }
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque duplicate [OPTIONS] [KIND] <NAME> <NEW>")]
#[command(after_help = "  masque duplicate reviewer strict-reviewer
  masque duplicate part calm-tone calmer-tone
  masque duplicate reviewer reviewer --from shared --scope project")]
pub(crate) struct DuplicateArgs {
    /// [KIND] NAME NEW: the entity, and the name of the copy
    #[arg(value_name = "NAME", required = true, num_args = 1..=3)]
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
    /// The entity, and the other name.
    pub(crate) fn target(&self) -> Result<(Target<'_>, Name)> {
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
    /// [KIND] NAME NEW: the entity, and its new name
    #[arg(value_name = "NAME", required = true, num_args = 1..=3)]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl RenameArgs {
    /// The entity, and the other name.
    pub(crate) fn target(&self) -> Result<(Target<'_>, Name)> {
        two_names(&self.words, ScopeOption::OF_WRITING)
    }
}

fn two_names(words: &[String], option: ScopeOption) -> Result<(Target<'_>, Name)> {
    let target = Target::parse(words, (1, 1), option)?;
    match target.rest {
        [new] => {
            let new = new.parse::<Name>()?;
            Ok((target, new))
        }
        _ => {
            Err(CommandError::MissingArgument { argument: "NEW", example: "`[KIND] NAME NEW`".to_owned() }
                .into())
        }
    }
}
