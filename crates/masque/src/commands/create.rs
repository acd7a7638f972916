//! `masque create`.

use persona::{CharacterArc, Guardrail, Kind, Part, Skill, Trait};
use serde::de::DeserializeOwned;

use super::{presets, written};
use crate::cli::{CreateArgs, CreateKind};
use crate::definition::{Definition, Purpose};
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(command: CreateKind, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let Workspace { library, author, .. } = workspace;
    let CreateKind { kind, args, fields } = command;
    let mut definition = Definition::read(args.file.as_deref(), &fields.read()?, Purpose::Create)?;
    definition.set("name", &args.name)?;
    let written = match kind {
        Kind::Persona => library.create_persona(author, input(definition, &args)?).await?,
        Kind::Part => library.create::<Part>(author, input(definition, &args)?).await?,
        Kind::Trait => library.create::<Trait>(author, input(definition, &args)?).await?,
        Kind::Skill => library.create::<Skill>(author, input(definition, &args)?).await?,
        Kind::Guardrail => library.create::<Guardrail>(author, input(definition, &args)?).await?,
        Kind::Arc => library.create::<CharacterArc>(author, input(definition, &args)?).await?,
        kind => presets::create(kind, definition, args, workspace).await?,
    };
    let (kind, name) = (written.kind.spoken(), &written.name);
    let done = format!("created {kind} {name}");
    let idle = format!("{kind} {name} already exists");
    written::print(&written, &done, &idle, output)
}

fn input<T: DeserializeOwned>(mut definition: Definition, args: &CreateArgs) -> Result<T> {
    definition.set("message", &args.why.message)?;
    definition.set("scope", &args.place.scope)?;
    definition.into_input()
}
