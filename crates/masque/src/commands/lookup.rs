//! The kind that a bare name means, and command lines that name an entity.

use persona::{Kind, Name, Scope};

use crate::cli::{KindWord, Target, kind_of};
use crate::failure::{CommandError, Result};
use crate::workspace::Workspace;

/// The arguments that name an entity in commands about its history. Includes the scope if the name alone
/// resolves to another one.
#[derive(Debug, Clone)]
pub(super) struct CommandSubject {
    subject: String,
    flag: String,
}

impl CommandSubject {
    pub(super) async fn new(kind: Kind, name: &Name, scope: Scope, workspace: &Workspace) -> Self {
        let subject = if kind == Kind::Persona { name.to_string() } else { format!("{kind} {name}") };
        let resolved = workspace.library.recorded_scope(kind, name, None).await.ok();
        let flag = if resolved == Some(scope) { String::new() } else { format!(" --scope {scope}") };
        Self { subject, flag }
    }

    /// A command line such as `masque rollback part calm 3 --scope shared`.
    pub(super) fn command(&self, command: &str, rest: &str) -> String {
        format!("masque {command} {} {rest}{}", self.subject, self.flag)
    }
}

/// The kind of an entity: the given one, else persona if a persona has the name, else the only kind that has
/// it. Fails if no kind has it.
pub(super) async fn kind(
    command: &str,
    target: &Target<'_>,
    scope: Option<Scope>,
    workspace: &Workspace,
) -> Result<Kind> {
    match known_kind(command, target, scope, workspace).await? {
        Some(kind) => Ok(kind),
        None => Err(workspace.library.nothing_named(&target.name, scope).await.into()),
    }
}

/// The same, but None if no kind has the name.
pub(super) async fn known_kind(
    command: &str,
    target: &Target<'_>,
    scope: Option<Scope>,
    workspace: &Workspace,
) -> Result<Option<Kind>> {
    if target.kind.is_some() {
        return Ok(target.kind);
    }
    let found = workspace.library.kinds_named(&target.name, Kind::ALL, scope).await?;
    only(command, &target.name, found)
}

/// The same for a command about the history, which also has deleted entities.
pub(super) async fn recorded_kind(
    command: &str,
    target: &Target<'_>,
    scope: Option<Scope>,
    workspace: &Workspace,
) -> Result<Kind> {
    if let Some(kind) = target.kind {
        return Ok(kind);
    }
    let found = workspace.library.kinds_recorded(&target.name, scope).await?;
    match only(command, &target.name, found)? {
        Some(kind) => Ok(kind),
        None => Err(workspace.library.nothing_named(&target.name, scope).await.into()),
    }
}

/// The kind of a piece, among some. None if none of them has the name.
pub(super) async fn piece_kind(
    command: &str,
    target: &Target<'_>,
    among: &[Kind],
    workspace: &Workspace,
) -> Result<Option<Kind>> {
    if target.kind.is_some() {
        return Ok(target.kind);
    }
    only(command, &target.name, workspace.library.kinds_named(&target.name, among, None).await?)
}

/// The only kind. None without any, unless the name is that of a kind and the name itself is missing.
fn only(command: &str, name: &Name, found: Vec<Kind>) -> Result<Option<Kind>> {
    match (found.as_slice(), kind_of(name.as_str())) {
        ([kind], _) => Ok(Some(*kind)),
        ([], Ok(kind)) => {
            let example = format!("`masque {command} {} NAME`", KindWord::from(kind).dashed());
            Err(CommandError::MissingArgument { argument: "NAME", example }.into())
        }
        ([], Err(_)) => Ok(None),
        (_, _) => Err(CommandError::AmbiguousKind { name: name.clone(), kinds: found }.into()),
    }
}
