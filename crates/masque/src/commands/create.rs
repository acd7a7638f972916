//! `masque create`.

use persona::{
    BiasProfile, CharacterArc, ContextPreset, Guardrail, Part, Skill, TestInput, ToolPreset, Trait,
};
use serde::de::DeserializeOwned;

use super::{whole, written};
use crate::cli::{Create, CreateKind, Fields};
use crate::definition::{Definition, Purpose};
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(kind: CreateKind, session: &Session, output: &mut Output) -> Result<()> {
    let Session { library, author, .. } = session;
    let written = match kind {
        CreateKind::Persona(args) => library.create_persona(author, input(args)?).await?,
        CreateKind::Part(args) => library.create::<Part>(author, input(args)?).await?,
        CreateKind::Trait(args) => library.create::<Trait>(author, input(args)?).await?,
        CreateKind::Skill(args) => library.create::<Skill>(author, input(args)?).await?,
        CreateKind::Guardrail(args) => library.create::<Guardrail>(author, input(args)?).await?,
        CreateKind::Arc(args) => library.create::<CharacterArc>(author, input(args)?).await?,
        CreateKind::ToolPreset(args) => whole::create::<ToolPreset, _>(args, session).await?,
        CreateKind::BiasProfile(args) => whole::create::<BiasProfile, _>(args, session).await?,
        CreateKind::ContextPreset(args) => whole::create::<ContextPreset, _>(args, session).await?,
        CreateKind::TestInput(args) => whole::create::<TestInput, _>(args, session).await?,
    };
    let (kind, name) = (written.kind.spoken(), &written.name);
    let done = format!("created {kind} {name}");
    let idle = format!("{kind} {name} exists already");
    written::tell(&written, &done, &idle, output)
}

fn input<F: Fields, T: DeserializeOwned>(args: Create<F>) -> Result<T> {
    definition(args)?.into_input()
}

fn definition<F: Fields>(mut args: Create<F>) -> Result<Definition> {
    args.fields.read_files()?;
    let mut definition = Definition::read(args.file.as_deref(), &args.fields, Purpose::Create)?;
    definition.set("name", &args.name)?;
    definition.set("message", &args.why.message)?;
    definition.set("scope", &args.place.scope)?;
    Ok(definition)
}
