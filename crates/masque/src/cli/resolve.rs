//! Names that several scopes define: see them, and settle them.

use clap::Args;
use persona::{Name, Scope};

use super::scope::WRITABLE;
use super::{KindWord, Why, vocabulary};

#[derive(Debug, Args)]
#[command(after_help = "\
A name resolves to its definition in the strongest scope that has it: project, then global, then
shared. Resolving keeps one definition and deletes the others; each can be rolled back.

  masque conflicts                                  every name that several scopes define
  masque conflicts --check                          the same; exit code 1 if there are any
  masque conflicts reviewer --use project           keep the project's
  masque conflicts reviewer --merge                 choose field by field
  masque conflicts reviewer --merge --take summary=global --take parts=project")]
pub(crate) struct ConflictsArgs {
    /// Only this name
    pub(crate) name: Option<Name>,
    /// Only this kind
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Option<KindWord>,
    /// End with exit code 1 if there are any
    #[arg(long, conflicts_with_all = ["use_scope", "merge"])]
    pub(crate) check: bool,
    /// Keep the definition of this scope, and delete the others'
    #[arg(long = "use", value_name = "SCOPE", requires = "name", conflicts_with = "merge")]
    #[arg(value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) use_scope: Option<Scope>,
    /// Keep one definition made of several: choose a scope for each field that differs
    #[arg(long, requires = "name")]
    pub(crate) merge: bool,
    /// Where a field comes from; repeat it for more fields
    #[arg(long = "take", value_name = "FIELD=SCOPE", requires = "merge", value_parser = field_and_scope)]
    pub(crate) takes: Vec<(String, Scope)>,
    /// Delete from the shared database without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) why: Why,
}

fn field_and_scope(text: &str) -> Result<(String, Scope), String> {
    let (field, scope) =
        text.split_once('=').ok_or_else(|| "write a field and a scope, as in summary=global".to_owned())?;
    let scope = scope.trim().parse::<Scope>().map_err(|error| error.to_string())?;
    Ok((field.trim().replace('-', "_"), scope))
}
