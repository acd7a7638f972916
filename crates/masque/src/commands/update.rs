//! `masque update`.

use persona::{CharacterArc, Guardrail, Kind, Part, Skill, Trait};
use serde::de::DeserializeOwned;

use super::{whole, written};
use crate::cli::{Fields, Update, UpdateKind};
use crate::definition::{Definition, Purpose};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(kind: UpdateKind, session: &Session, output: &mut Output) -> Result<()> {
    let Session { library, author, .. } = session;
    let written = match kind {
        UpdateKind::Persona(args) => library.update_persona(author, input(args, Kind::Persona)?).await?,
        UpdateKind::Part(args) => library.update::<Part>(author, input(args, Kind::Part)?).await?,
        UpdateKind::Trait(args) => library.update::<Trait>(author, input(args, Kind::Trait)?).await?,
        UpdateKind::Skill(args) => library.update::<Skill>(author, input(args, Kind::Skill)?).await?,
        UpdateKind::Guardrail(args) => {
            library.update::<Guardrail>(author, input(args, Kind::Guardrail)?).await?
        }
        UpdateKind::Arc(args) => library.update::<CharacterArc>(author, input(args, Kind::Arc)?).await?,
        UpdateKind::ToolPreset(args) => whole::amend(Kind::ToolPreset, args, session).await?,
        UpdateKind::BiasProfile(args) => whole::amend(Kind::BiasProfile, args, session).await?,
        UpdateKind::ContextPreset(args) => whole::amend(Kind::ContextPreset, args, session).await?,
        UpdateKind::TestInput(args) => whole::amend(Kind::TestInput, args, session).await?,
    };
    let (kind, name) = (written.kind.spoken(), &written.name);
    let done = format!("updated {kind} {name}");
    let idle = format!("{kind} {name} is so already");
    written::tell(&written, &done, &idle, output)
}

fn input<F: Fields, T: DeserializeOwned>(args: Update<F>, kind: Kind) -> Result<T> {
    let Update { rename, amend: mut args } = args;
    args.fields.read_files()?;
    // Renaming needs no further fields, so standard input is not asked for any.
    let flags = Flags { fields: &args.fields, new_name: rename.as_ref() };
    let mut definition = Definition::read(args.file.as_deref(), &flags, Purpose::Update)?;
    if definition.is_empty() {
        return Err(nothing_to_change(kind));
    }
    definition.set("name", &Some(&args.name))?;
    definition.set("if_revision", &args.if_revision)?;
    definition.set("message", &args.why.message)?;
    definition.set("scope", &args.change.scope)?;
    definition.into_input()
}

pub(super) fn nothing_to_change(kind: Kind) -> Failure {
    Failure::invalid(format!(
        "there is nothing to change; give fields as flags or with --file (masque update {kind} --help)"
    ))
}

#[derive(serde::Serialize)]
struct Flags<'a, F> {
    #[serde(flatten)]
    fields: &'a F,
    new_name: Option<&'a persona::Name>,
}
