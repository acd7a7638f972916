//! Remedies in the words of the command line: flags, commands and variables.

use persona::{Kind, Remedy};

/// A remedy as a person at a terminal can follow it.
pub(crate) fn remedy(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::ListKind { kind, part_type } => {
            let of_type = part_type.map(|part_type| format!(" --type {part_type}")).unwrap_or_default();
            format!("see `{}{of_type}`", list(*kind))
        }
        Remedy::ListSessions => "see `masque sessions`".to_owned(),
        Remedy::Confirm => "repeat with --yes".to_owned(),
        Remedy::AddField { field } => format!("add {field}"),
        Remedy::UseForce => "repeat with --force".to_owned(),
        Remedy::DeleteByForce => {
            "repeat with --force to delete it (its current text is in no history)".to_owned()
        }
        Remedy::UseReplace => "repeat with --replace to overwrite it".to_owned(),
        Remedy::WithPieces => "repeat with --with-pieces".to_owned(),
        Remedy::WithoutPieces => "repeat without --with-pieces to keep the pieces as they are".to_owned(),
        Remedy::DropIfRevision => "repeat without --if-revision".to_owned(),
        Remedy::RenameIt => "rename it with `masque rename`".to_owned(),
        Remedy::OpenProject => "name a project with --project".to_owned(),
        Remedy::ServeProject => "start the server with --project".to_owned(),
        Remedy::ConfigureProvider => "set a key such as ANTHROPIC_API_KEY, or see `masque doctor`".to_owned(),
        Remedy::CheckDatabase => "check --db and MASQUE_DB".to_owned(),
        Remedy::OtherDatabase => "use another --db".to_owned(),
        Remedy::OtherTarget => "choose another target with --to".to_owned(),
        other => other.to_string(),
    })
}

/// The command that lists the entities of a kind.
fn list(kind: Kind) -> String {
    match kind {
        Kind::Persona => "masque list".to_owned(),
        kind => format!("masque list {}", kind.table().replace('_', "-")),
    }
}

#[cfg(test)]
mod tests;
