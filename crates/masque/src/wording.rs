//! Remedies and notices in the words of the command line: flags, commands and variables.

use agent::{Notice, UnfilledPlaceholder};
use persona::{Kind, Remedy};

/// A remedy as a person at a terminal can follow it.
pub(crate) fn remedy(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::ListKind { kind, part_type } => {
            let of_type = part_type.map(|part_type| format!(" --type {part_type}")).unwrap_or_default();
            format!("see `{}{of_type}`", list(*kind))
        }
        Remedy::ListSessions => "see `masque sessions`".to_owned(),
        Remedy::ReadPlan { session } => format!("read it again with `masque plan {session}`"),
        Remedy::TellEditor { persona } => format!("use `masque edit {persona} --chat MESSAGE`"),
        Remedy::Confirm => "repeat with --yes".to_owned(),
        Remedy::AddField { field } => format!("add {field}"),
        Remedy::UseForce => "repeat with --force".to_owned(),
        Remedy::DeleteByForce => {
            "repeat with --force to delete it (its current text is in no history)".to_owned()
        }
        Remedy::UseReplace => "repeat with --replace to overwrite it".to_owned(),
        Remedy::MoveTag => "repeat with --move to move it".to_owned(),
        Remedy::WithPieces => "repeat with --with-pieces".to_owned(),
        Remedy::WithoutPieces => "repeat without --with-pieces to keep the pieces as they are".to_owned(),
        Remedy::DropIfRevision => "repeat without --if-revision".to_owned(),
        Remedy::RenameIt => "rename it with `masque rename`".to_owned(),
        Remedy::OpenProject => "name a project with --project".to_owned(),
        Remedy::ServeProject => "start the server with --project".to_owned(),
        Remedy::ConfigureProvider => "set a key such as ANTHROPIC_API_KEY, or see `masque doctor`".to_owned(),
        Remedy::CheckDatabase => "check --db and MASQUE_DB".to_owned(),
        Remedy::OtherDatabase => "use another database with --db FILE".to_owned(),
        other => other.to_string(),
    })
}

/// A notice of a run, as a warning.
pub(crate) fn notice(notice: &Notice) -> String {
    match notice {
        Notice::SaysNothing => {
            "this persona says nothing: give it a system_prompt, a summary or parts".to_owned()
        }
        Notice::UnusedSettings { fields } => {
            format!("no project is open, so nothing comes of {}", fields.join(" and "))
        }
        Notice::FilesShown { files, tokens, budget, left_out } => {
            let files = if *files == 1 { "1 file".to_owned() } else { format!("{files} files") };
            let rest = if *left_out == 0 { String::new() } else { format!("; {left_out} left out") };
            format!("the prompt has {files} of the project, {tokens} of {budget} tokens{rest}")
        }
        Notice::UnfilledPlaceholders { placeholders } => {
            let places: Vec<String> = placeholders.iter().map(place).collect();
            format!(
                "{}: this stays as it is, because ${{env.NAME}} is filled in only from a personas.toml",
                places.join(", ")
            )
        }
        Notice::UnconfirmedPresets { presets, tools } => {
            let (names, commands): (Vec<String>, Vec<String>) = presets
                .iter()
                .map(|preset| (preset.to_string(), format!("`masque trust --preset {preset}`")))
                .unzip();
            format!(
                "{} would approve {} without asking; they ask until you confirm it with {}",
                names.join(" and "),
                tools.join(", "),
                commands.join(" and ")
            )
        }
        Notice::ShadowsPersona { name, scope } => {
            format!("this project, which you do not trust, replaces the {scope} persona {name}")
        }
    }
}

fn place(UnfilledPlaceholder { variable, kind, name, field }: &UnfilledPlaceholder) -> String {
    format!("${{env.{variable}}} in {} {name} {field}", kind.spoken())
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
