//! `masque update`.

use persona::{CharacterArc, Guardrail, Kind, Part, Skill, Trait};
use serde::de::DeserializeOwned;

use super::{lookup, presets, written};
use crate::cli::{UpdateArgs, UpdateCommand, UpdateKind};
use crate::definition::{Definition, Purpose};
use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(command: UpdateCommand, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let Workspace { library, author, .. } = workspace;
    let UpdateKind { kind, rename, args, fields } = match command {
        UpdateCommand::OfKind(update) => update,
        UpdateCommand::Named(update) => {
            let target = update.target()?;
            let kind = lookup::kind("update", &target, update.scope, workspace).await?;
            update.of_kind(kind, &target.name)?
        }
    };
    let mut flags = fields.read()?;
    // A rename alone is an update, so standard input is not read.
    flags.extend(rename.map(|name| ("new_name".to_owned(), name.as_str().into())));
    let definition = Definition::read(args.given.file.as_deref(), &flags, Purpose::Update)?;
    let written = match kind {
        Kind::Persona => library.update_persona(author, input(definition, &args, kind)?).await?,
        Kind::Part => library.update::<Part>(author, input(definition, &args, kind)?).await?,
        Kind::Trait => library.update::<Trait>(author, input(definition, &args, kind)?).await?,
        Kind::Skill => library.update::<Skill>(author, input(definition, &args, kind)?).await?,
        Kind::Guardrail => library.update::<Guardrail>(author, input(definition, &args, kind)?).await?,
        Kind::Arc => library.update::<CharacterArc>(author, input(definition, &args, kind)?).await?,
        kind => presets::amend(kind, definition, args, workspace).await?,
    };
    let (kind, name) = (written.kind.spoken(), &written.name);
    let done = format!("updated {kind} {name}");
    let idle = format!("{kind} {name} is already up to date");
    written::print(&written, &done, &idle, output)
}

fn input<T: DeserializeOwned>(mut definition: Definition, args: &UpdateArgs, kind: Kind) -> Result<T> {
    if definition.is_empty() {
        return Err(nothing_to_change(kind));
    }
    definition.set("name", &Some(&args.name))?;
    definition.set("if_revision", &args.given.if_revision)?;
    definition.set("message", &args.given.why.message)?;
    definition.set("scope", &args.given.change.scope)?;
    definition.into_input()
}

pub(super) fn nothing_to_change(kind: Kind) -> Failure {
    CommandError::NothingToChange { kind }.into()
}
