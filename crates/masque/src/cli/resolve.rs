//! `masque conflicts`: names that several scopes define.

use clap::Args;
use persona::{Kind, Name, Scope};

use super::scope::WRITABLE;
use super::{KindWord, ScopeOption, Target, Why, vocabulary};
use crate::failure::Result;

#[derive(Debug, Args)]
#[command(override_usage = "masque conflicts [OPTIONS] [[KIND] NAME]")]
#[command(after_help = "\
A name resolves to its definition in the strongest scope that has it: project, then global, then \
shared. Resolving keeps one definition and deletes the others; `masque rollback` restores them.

  masque conflicts                                  list all conflicts
  masque conflicts --check                          exit with 1 if there are any
  masque conflicts reviewer --use project           keep the project's definition
  masque conflicts reviewer --merge                 choose field by field
  masque conflicts reviewer --merge --take summary=global --take parts=project")]
pub(crate) struct ConflictsArgs {
    /// Only this name, after its kind if several kinds have it
    #[arg(id = "name", value_name = "NAME", num_args = 1..=2)]
    words: Vec<String>,
    /// Only this kind
    #[arg(long, value_enum, ignore_case = true, value_name = "KIND")]
    kind: Option<KindWord>,
    /// Exit with 1 if there are conflicts
    #[arg(long, conflicts_with_all = ["use_scope", "merge"])]
    pub(crate) check: bool,
    /// Keep the definition in this scope, and delete the others
    #[arg(long = "use", value_name = "SCOPE", requires = "name", conflicts_with = "merge")]
    #[arg(value_parser = vocabulary(WRITABLE, Scope::as_str))]
    pub(crate) use_scope: Option<Scope>,
    /// Merge the definitions: choose a scope for each field that differs
    #[arg(long, requires = "name")]
    pub(crate) merge: bool,
    /// Take a field from a scope; repeatable
    #[arg(long = "take", value_name = "FIELD=SCOPE", requires = "merge", value_parser = field_and_scope)]
    pub(crate) takes: Vec<(String, Scope)>,
    /// Delete from the shared database without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl ConflictsArgs {
    /// True if a conflict is to be resolved, not listed.
    pub(crate) fn resolves(&self) -> bool {
        self.use_scope.is_some() || self.merge
    }

    /// The kind and the name to look for, each if given.
    pub(crate) fn filter(&self) -> Result<(Option<Kind>, Option<Name>)> {
        if self.words.is_empty() {
            return Ok((self.kind.map(Kind::from), None));
        }
        let Target { kind, name, .. } = Target::with_flag(&self.words, self.kind, ScopeOption::OF_WRITING)?;
        Ok((kind, Some(name)))
    }
}

fn field_and_scope(text: &str) -> std::result::Result<(String, Scope), String> {
    let (field, scope) =
        text.split_once('=').ok_or_else(|| "expected FIELD=SCOPE, for example summary=global".to_owned())?;
    let scope = scope.trim().parse::<Scope>().map_err(|error| error.to_string())?;
    Ok((field.trim().replace('-', "_"), scope))
}
