//! Carrying entities from scope to scope, and from library to library.

use std::path::PathBuf;

use clap::Args;
use persona::{Name, Scope};

use super::scope::{WRITABLE, name_to_carry, name_to_read};
use super::{CreateIn, KindWord, OnlyIn, Why, vocabulary};

#[derive(Debug, Args)]
#[command(after_help = "\
All that it refers to goes with it, where the other scope does not have it. Where that has something
different under one of these names, nothing is done; with --replace, what goes takes the place of
what is there, the pieces too. What others still use is kept where it was.

  masque promote reviewer --from project --to shared
  masque promote reviewer --from shared --to project --copy
  masque promote calm-tone --kind part --to global")]
pub(crate) struct PromoteArgs {
    /// Its name
    #[arg(value_parser = name_to_carry)]
    pub(crate) name: Name,
    /// Its kind [default: persona]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Option<KindWord>,
    /// Where it is [default: where its name resolves]
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) from: Option<Scope>,
    /// Where it goes
    #[arg(long, value_name = "SCOPE", value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) to: Scope,
    /// Leave it where it is as well
    #[arg(long)]
    pub(crate) copy: bool,
    /// Put it and its pieces in place of what the other scope has under their names
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A bundle is a personas.toml: it has what was named and all that this refers to.

  masque export reviewer mentor > bundle.toml
  masque export calm-tone --kind part --output calm.toml")]
pub(crate) struct ExportArgs {
    /// What to export
    #[arg(value_name = "NAME", required = true, num_args = 1.., value_parser = name_to_read)]
    pub(crate) names: Vec<Name>,
    /// The kind of all that is named [default: persona]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Option<KindWord>,
    /// The file to write [default: standard output]
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
