//! Resolves a conflict: keeps one definition and deletes the others.

use std::collections::BTreeMap;

use app::outputs::{Conflict, FieldConflict, Resolved, ScopedEntityRef};
use app::{Code, Remedy, Report, Resolution, Subject};
use persona::{Kind, Name, Scope};
use serde::Serialize;

use crate::ask::{self, Choice};
use crate::cli::ConflictsArgs;
use crate::commands::fields::{excerpts, shown};
use crate::failure::{CommandError, Result};
use crate::output::Output;
use crate::workspace::Workspace;

/// Revisions to search for the last one before a deletion.
const RECENT: usize = 4;

/// Columns of a value without a terminal, and of the mark and scope beside it.
const VALUE_COLUMNS: usize = 100;
const BESIDE_VALUE: usize = 14;

/// The JSON output: the resolution, and the commands that undo it.
#[derive(Serialize)]
struct ResolveOutput<'a> {
    #[serde(flatten)]
    resolved: &'a Resolved,
    undo: Vec<String>,
}

/// The only conflict of a name. Fails if there are none or several.
pub(super) fn only_one(
    mut found: Vec<Conflict>,
    name: &Name,
    overrides: &[ScopedEntityRef],
) -> Result<Conflict> {
    match (found.pop(), found.as_slice()) {
        (Some(conflict), []) => Ok(conflict),
        (Some(last), rest) => {
            let kinds = rest.iter().chain([&last]).map(|conflict| conflict.kind).collect();
            Err(CommandError::AmbiguousKind { name: name.clone(), kinds }.into())
        }
        (None, _) => {
            let why = match overrides.first() {
                Some(over) => super::no_conflict(over),
                None => format!("no conflict is named {name}"),
            };
            let list = Remedy::Run { command: "masque conflicts".to_owned() };
            let subject = Subject { name: Some(name.to_string()), ..Subject::default() };
            Err(Report::new(Code::NotFound, why).about(subject).with_remedy(list).into())
        }
    }
}

pub(super) async fn run(
    conflict: &Conflict,
    args: ConflictsArgs,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    let Conflict { kind, name, .. } = conflict;
    let (resolution, kept) = match args.use_scope {
        Some(scope) => (Resolution::Use(check_scope(conflict, scope)?), scope),
        None => (Resolution::Merge(merge(conflict, args.takes, output).await?), conflict.in_force),
    };
    let loses_shared = kept != Scope::Shared && conflict.scopes.contains(&Scope::Shared);
    if loses_shared && !args.yes && !confirm_delete(*kind, name, output).await? {
        return output.line("nothing changed");
    }
    let library = &workspace.library;
    let resolved =
        library.resolve_conflict(&workspace.author, *kind, name, resolution, args.why.message).await?;
    let mut undo = Vec::new();
    for scope in &resolved.deleted {
        undo.extend(undo_command(*kind, name, *scope, workspace).await);
    }
    if output.is_json() {
        return output.json(&ResolveOutput { resolved: &resolved, undo });
    }
    print_result(&resolved, &undo, output)
}

/// Asks before deleting from the shared database.
async fn confirm_delete(kind: Kind, name: &Name, output: &mut Output) -> Result<bool> {
    let what = format!("{} {name}", kind.spoken());
    if !ask::can_ask(output) {
        let action = format!("deleting {what} from the shared database, for all users,");
        return Err(CommandError::NeedsConsent { action }.into());
    }
    ask::confirm(&format!("Delete {what} from the shared database for all its users?"), output).await
}

/// Fails if a scope is not part of the conflict.
fn check_scope(conflict: &Conflict, scope: Scope) -> Result<Scope> {
    if conflict.scopes.contains(&scope) {
        return Ok(scope);
    }
    let Conflict { kind, name, scopes, .. } = conflict.clone();
    Err(CommandError::NotDefinedThere { scope, kind, name, scopes }.into())
}

/// Chooses a scope for every field that differs: from the flags, else interactively.
async fn merge(
    conflict: &Conflict,
    takes: Vec<(String, Scope)>,
    output: &mut Output,
) -> Result<BTreeMap<String, Scope>> {
    let mut chosen = BTreeMap::new();
    for (field, scope) in takes {
        known_field(conflict, &field)?;
        if chosen.insert(field.clone(), check_scope(conflict, scope)?).is_some() {
            return Err(CommandError::NamedTwice { flag: "--take", value: field }.into());
        }
    }
    let open: Vec<&FieldConflict> =
        conflict.fields.iter().filter(|field| !chosen.contains_key(&field.field)).collect();
    if !open.is_empty() && !ask::can_ask(output) {
        let fields = open.iter().map(|field| field.field.clone()).collect();
        return Err(CommandError::UndecidedFields { fields }.into());
    }
    for field in open {
        chosen.insert(field.field.clone(), choose(conflict, field, output).await?);
    }
    Ok(chosen)
}

fn known_field(conflict: &Conflict, field: &str) -> Result<()> {
    let differing: Vec<String> = conflict.fields.iter().map(|field| field.field.clone()).collect();
    match differing.iter().any(|known| known == field) {
        true => Ok(()),
        false => Err(CommandError::FieldNotInConflict { field: field.to_owned(), differing }.into()),
    }
}

async fn choose(conflict: &Conflict, field: &FieldConflict, output: &mut Output) -> Result<Scope> {
    let texts: Vec<Option<String>> =
        conflict.scopes.iter().map(|scope| field.values.get(scope).map(shown)).collect();
    let width = output.width().map_or(VALUE_COLUMNS, |width| width.saturating_sub(BESIDE_VALUE).max(20));
    let excerpts = excerpts(&texts, width);
    let choice = |((scope, text), excerpt): ((&Scope, &Option<String>), &String)| {
        let value = if text.is_some() { excerpt } else { "(not set)" };
        Choice::new(scope, value, *scope)
    };
    let choices = conflict.scopes.iter().zip(&texts).zip(&excerpts).map(choice).collect();
    ask::choose(&format!("Which {}?", field.field), choices, 0, output).await
}

/// The command that restores a deleted definition.
async fn undo_command(kind: Kind, name: &Name, scope: Scope, workspace: &Workspace) -> Option<String> {
    let history = workspace.library.history(kind, name, Some(scope), Some(RECENT)).await.ok()?;
    let last = history.items.iter().find(|revision| revision.action != "delete")?.revision;
    let kind = if kind == Kind::Persona { String::new() } else { format!("{kind} ") };
    Some(format!("masque rollback {kind}{name} {last} --scope {scope}"))
}

fn print_result(resolved: &Resolved, undo: &[String], output: &mut Output) -> Result<()> {
    let Resolved { kind, name, kept, written, deleted } = resolved;
    let what = format!("{} {name}", kind.spoken());
    match written {
        Some(written) => output.line(format!("merged {what} into {kept} (revision {})", written.revision))?,
        None => output.line(format!("kept {what} in {kept}"))?,
    }
    if !deleted.is_empty() {
        let scopes: Vec<&str> = deleted.iter().map(|scope| scope.as_str()).collect();
        output.line(format!("deleted it from {}", scopes.join(" and ")))?;
    }
    for command in undo {
        output.line(format!("to undo: {command}"))?;
    }
    Ok(())
}
