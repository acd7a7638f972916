//! promote, export, import: moving entities between scopes and libraries.

use std::path::PathBuf;

use clap::Args;
use persona::{Kind, Scope};

use super::scope::WRITABLE;
use super::{CreateIn, KindWord, OnlyIn, ScopeOption, Target, Why, kind_of, vocabulary};
use crate::failure::{CommandError, Result};

#[derive(Debug, Args)]
#[command(override_usage = "masque promote [OPTIONS] --to <SCOPE> [KIND] <NAME>")]
#[command(after_help = "\
Everything it refers to is copied with it, unless the target scope already has it. If the target scope \
has a different definition of one of these names, nothing changes; --replace overwrites it. With --move, \
the originals are removed, except pieces that others still use.

  masque promote reviewer --from project --to shared
  masque promote reviewer --from shared --to project --move
  masque promote part calm-tone --to global")]
pub(crate) struct PromoteArgs {
    /// Name of the entity, after its kind if several kinds have the name
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Kind, as another way to write it
    #[arg(long, value_enum, ignore_case = true, value_name = "KIND", hide = true)]
    kind: Option<KindWord>,
    /// Source scope [default: where its name resolves]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) from: Option<Scope>,
    /// Target scope
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) to: Scope,
    /// Remove the originals
    #[arg(long = "move")]
    pub(crate) moves: bool,
    /// Overwrite definitions of the same names in the target scope
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl PromoteArgs {
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        Target::with_flag(&self.words, self.kind, ScopeOption::OF_COPYING)
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "\
masque export [OPTIONS] [KIND] <NAME>...
       masque export [OPTIONS] --all")]
#[command(after_help = "\
A bundle is a personas.toml with the named entities and everything they refer to. `masque import` reads it. \
A base written as builtin:NAME stays one, because every library has the builtins.

  masque export reviewer mentor > bundle.toml
  masque export --all --output library.toml          all scopes but the builtins
  masque export --all --scope shared                 one scope
  masque export part calm-tone --output calm.toml")]
pub(crate) struct ExportArgs {
    /// Names to export, after their kind if several kinds have them
    #[arg(value_name = "NAME", num_args = 1..)]
    words: Vec<String>,
    /// Export everything that a scope defines, or all of them do
    #[arg(long, conflicts_with_all = ["words", "kind"])]
    pub(crate) all: bool,
    /// Kind of all names, as another way to write it
    #[arg(long, value_enum, ignore_case = true, value_name = "KIND", hide = true)]
    kind: Option<KindWord>,
    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

impl ExportArgs {
    /// The entities. A kind before the names is the kind of all.
    pub(crate) fn targets(&self) -> Result<Vec<Target<'_>>> {
        if self.words.is_empty() && !self.all {
            let example = "`masque export reviewer`, or `masque export --all`".to_owned();
            return Err(CommandError::MissingArgument { argument: "NAME", example }.into());
        }
        let (kind, names) = match (self.kind, self.words.as_slice()) {
            (Some(kind), names) => (Some(Kind::from(kind)), names),
            (None, [first, names @ ..]) if !names.is_empty() && kind_of(first).is_ok() => {
                (kind_of(first).ok(), names)
            }
            (None, names) => (None, names),
        };
        let target = |name: &String| Target::of_kind(kind, name, ScopeOption::OF_READING);
        names.iter().map(target).collect()
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Shows what would change, or counts it if the list is long, and asks. Without a terminal it imports only with --yes. An unchanged file \
changes nothing: no revision, no tag. A file has at most 64 MiB.

  masque import bundle.toml
  masque import bundle.toml --scope project --yes
  curl -s https://example.com/bundle.toml | masque import - --dry-run")]
pub(crate) struct ImportArgs {
    /// A bundle, or any personas.toml; "-" for standard input
    pub(crate) file: PathBuf,
    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Import without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) create: CreateIn,
    #[command(flatten)]
    pub(crate) why: Why,
}
