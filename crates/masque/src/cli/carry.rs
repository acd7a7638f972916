//! promote, export, import: moving entities between scopes and libraries.

use std::path::PathBuf;

use clap::Args;
use persona::{Name, Scope};

use super::scope::{WRITABLE, name_to_carry, name_to_read};
use super::{CreateIn, KindWord, OnlyIn, Why, vocabulary};

#[derive(Debug, Args)]
#[command(after_help = "\
Everything it refers to moves with it, unless the target scope already has it. If the target scope
has a different definition of one of these names, nothing changes; --replace overwrites it. Pieces
that others still use stay in the source scope too.

  masque promote reviewer --from project --to shared
  masque promote reviewer --from shared --to project --copy
  masque promote calm-tone --kind part --to global")]
pub(crate) struct PromoteArgs {
    /// Name of the entity
    #[arg(value_parser = name_to_carry)]
    pub(crate) name: Name,
    /// Kind [default: persona]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Option<KindWord>,
    /// Source scope [default: where its name resolves]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) from: Option<Scope>,
    /// Target scope
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) to: Scope,
    /// Copy instead of moving
    #[arg(long)]
    pub(crate) copy: bool,
    /// Overwrite definitions of the same names in the target scope
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A bundle is a personas.toml with the named entities and everything they refer to.

  masque export reviewer mentor > bundle.toml
  masque export calm-tone --kind part --output calm.toml")]
pub(crate) struct ExportArgs {
    /// Names to export
    #[arg(value_name = "NAME", required = true, num_args = 1.., value_parser = name_to_read)]
    pub(crate) names: Vec<Name>,
    /// Kind of all names [default: persona]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Option<KindWord>,
    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Shows what would change and asks. Without a terminal it imports only with --yes.

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
