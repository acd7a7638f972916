//! Entities as they were: history, diff, rollback, tag.

use clap::Args;

use super::{RecordedIn, ScopeOption, Target, Why};
use crate::failure::{Failure, Result};

#[derive(Debug, Args)]
#[command(override_usage = "masque history [OPTIONS] [KIND] <NAME>")]
#[command(
    after_help = "  masque history reviewer                  every change, the newest first: who, when and why
  masque history part calm-tone --limit 5
  masque history reviewer --scope shared   of one scope"
)]
pub(crate) struct HistoryArgs {
    /// A persona's name, or a kind and a name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Only the newest N, of up to 10000 [default: 1000]
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
A revision is a number of `masque history`, or a tag. Where there is colour, changed words stand out
within their lines; elsewhere it is a unified diff, as `patch` reads it.

  masque diff reviewer                     the last change
  masque diff reviewer 3                   what changed since revision 3
  masque diff reviewer production 7        between a tag and a revision
  masque diff part calm-tone --json        {from, to, fields, unified}")]
pub(crate) struct DiffArgs {
    /// A persona's name, or a kind and a name; then up to two revisions
    #[arg(value_name = "NAME", required = true, num_args = 1..=4)]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) recorded: RecordedIn,
}

impl DiffArgs {
    /// What is compared, and its older and newer revision.
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 2), ScopeOption::OF_WRITING)
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque rollback [OPTIONS] [KIND] <NAME> <REV>")]
#[command(after_help = "\
A rollback is a new revision, so nothing is lost by it. What was deleted comes back the same way.
Pieces that have changed since are told; those of the same scope go back too with --with-pieces.

  masque rollback reviewer 3 --message \"the shorter one was better\"
  masque rollback reviewer production --with-pieces
  masque rollback part calm-tone production")]
pub(crate) struct RollbackArgs {
    /// A persona's name, or a kind and a name; then a revision or a tag
    #[arg(value_name = "NAME", required = true, num_args = 2..=3)]
    words: Vec<String>,
    /// Put the pieces that it refers to back to what they were then, too
    #[arg(long)]
    pub(crate) with_pieces: bool,
    /// Refuse if it is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) recorded: RecordedIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl RollbackArgs {
    /// What goes back, and to which revision.
    pub(crate) fn target(&self) -> Result<(Target<'_>, &str)> {
        let target = Target::parse(&self.words, (1, 1), ScopeOption::OF_WRITING)?;
        match target.rest {
            [revision] => Ok((target, revision)),
            _ => Err(Failure::invalid(format!("name a revision: masque rollback {} REV", target.name))),
        }
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "\
masque tag [OPTIONS] [KIND] <NAME> [REV] <TAG>
       masque tag [OPTIONS] [KIND] <NAME> --delete <TAG>")]
#[command(after_help = "\
A tag names a revision, with all the pieces as they were then, so that callers can ask for it. A tag
that is given again moves. Without REV, the persona is tagged as it is now.

  masque tag reviewer production
  masque tag reviewer 3 production --message \"the one that passed\"
  masque show reviewer --revision production
  masque tag reviewer --delete production")]
pub(crate) struct TagArgs {
    /// A persona's name, or a kind and a name; then a revision, if not the newest, and the tag
    #[arg(value_name = "NAME", required = true, num_args = 1..=4)]
    words: Vec<String>,
    /// Take this tag away; its revision stays
    #[arg(long, value_name = "TAG")]
    pub(crate) delete: Option<String>,
    #[command(flatten)]
    pub(crate) recorded: RecordedIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl TagArgs {
    /// What is tagged, the revision if it is not the newest, and the tag.
    pub(crate) fn tagging(&self) -> Result<(Target<'_>, Option<&str>, &str)> {
        let target = Target::parse(&self.words, (1, 2), ScopeOption::OF_WRITING)?;
        match target.rest {
            [tag] => Ok((target, None, tag)),
            [revision, tag] => Ok((target, Some(revision), tag)),
            _ => Err(Failure::invalid(format!("name the tag: masque tag {} TAG", target.name))),
        }
    }

    /// What a tag is taken off.
    pub(crate) fn untagged(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 0), ScopeOption::OF_WRITING)
    }
}
