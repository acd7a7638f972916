//! history, diff, rollback, tag.

use clap::Args;
use persona::Kind;

use super::{RecordedIn, ScopeOption, Target, Why};
use crate::failure::{CommandError, Result};

#[derive(Debug, Args)]
#[command(override_usage = "masque history [OPTIONS] [KIND] <NAME>")]
#[command(
    after_help = "  masque history reviewer                  all revisions, newest first: who, when and why
  masque history part calm-tone --limit 5
  masque history reviewer --scope shared   the history in one scope"
)]
pub(crate) struct HistoryArgs {
    /// Name of the entity, after its kind if several kinds have the name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Show only the newest N revisions, at most 10000 [default: 1000]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    #[command(flatten)]
    pub(crate) recorded: RecordedIn,
}

impl HistoryArgs {
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 0), ScopeOption::OF_WRITING)
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque diff [OPTIONS] [KIND] <NAME> [REV] [REV]")]
#[command(after_help = "\
A revision is a number from `masque history`, or a tag. Pieces that have changed are shown, too. With color, changed words are highlighted; \
without, the output is a unified diff that `patch` can read.

  masque diff reviewer                     the last change
  masque diff reviewer 3                   changes since revision 3
  masque diff reviewer production 7        changes between a tag and a revision
  masque diff reviewer production --compiled   the prompt, then and now
  masque diff part calm-tone --json        {from, to, fields, unified}")]
pub(crate) struct DiffArgs {
    /// Name of the entity, after its kind if several kinds have the name; then up to two revisions
    #[arg(value_name = "NAME", required = true, num_args = 1..=4)]
    words: Vec<String>,
    /// Compare the compiled prompts of a persona
    #[arg(long)]
    pub(crate) compiled: bool,
    #[command(flatten)]
    pub(crate) recorded: RecordedIn,
}

impl DiffArgs {
    /// The entity, and its older and newer revision.
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 2), ScopeOption::OF_WRITING)
    }

    /// Fails if a flag for personas was given for a piece.
    pub(crate) fn check_kind(&self, kind: Kind) -> Result<()> {
        match self.compiled && kind != Kind::Persona {
            true => Err(CommandError::NotForKind { flags: vec!["--compiled"], kind }.into()),
            false => Ok(()),
        }
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque rollback [OPTIONS] [KIND] <NAME> <REV>")]
#[command(after_help = "\
A rollback creates a new revision, so nothing is lost. It also restores deleted entities. Pieces \
that have changed since are listed; --with-pieces rolls back those in the same scope too.

  masque rollback reviewer 3 --message \"the shorter one was better\"
  masque rollback reviewer production --with-pieces
  masque rollback part calm-tone production")]
pub(crate) struct RollbackArgs {
    /// Name of the entity, after its kind if several kinds have the name; then a revision or a tag
    #[arg(value_name = "NAME", required = true, num_args = 1..=3)]
    words: Vec<String>,
    /// Roll back the pieces it refers to as well
    #[arg(long)]
    pub(crate) with_pieces: bool,
    /// Fail unless it is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) recorded: RecordedIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl RollbackArgs {
    /// The entity, and the revision to restore.
    pub(crate) fn target(&self) -> Result<(Target<'_>, &str)> {
        let target = Target::parse(&self.words, (1, 1), ScopeOption::OF_WRITING)?;
        match target.rest {
            [revision] => Ok((target, revision)),
            _ => {
                let example = format!("`masque rollback {} REV`", target.name);
                Err(CommandError::MissingArgument { argument: "REV", example }.into())
            }
        }
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "\
masque tag [OPTIONS] [KIND] <NAME> [REV] <TAG>
       masque tag [OPTIONS] [KIND] <NAME> --delete <TAG>")]
#[command(after_help = "\
A tag names a revision, together with the revisions of all its pieces. Without REV, the newest revision \
is tagged. A tag that another revision has stays there, unless --move moves it.

  masque tag reviewer production
  masque tag reviewer 3 production --message \"the one that passed\"
  masque show reviewer --revision production
  masque tag reviewer production --move      from an older revision to the newest
  masque tag reviewer --delete production")]
pub(crate) struct TagArgs {
    /// Name of the entity, after its kind if several kinds have the name; then a revision [default: newest] and the tag
    #[arg(value_name = "NAME", required = true, num_args = 1..=4)]
    words: Vec<String>,
    /// Move the tag from the revision that has it
    #[arg(long = "move", conflicts_with = "delete")]
    pub(crate) moves: bool,
    /// Delete this tag; its revision stays
    #[arg(long, value_name = "TAG")]
    pub(crate) delete: Option<String>,
    #[command(flatten)]
    pub(crate) recorded: RecordedIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl TagArgs {
    /// The entity, the revision (`None`: the newest) and the tag.
    pub(crate) fn tagging(&self) -> Result<(Target<'_>, Option<&str>, &str)> {
        let target = Target::parse(&self.words, (1, 2), ScopeOption::OF_WRITING)?;
        match target.rest {
            [tag] => Ok((target, None, tag)),
            [revision, tag] => Ok((target, Some(revision), tag)),
            _ => {
                let example = format!("`masque tag {} TAG`", target.name);
                Err(CommandError::MissingArgument { argument: "TAG", example }.into())
            }
        }
    }

    /// The entity whose tag is deleted.
    pub(crate) fn untagged(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 0), ScopeOption::OF_WRITING)
    }
}
