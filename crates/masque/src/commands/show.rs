//! `masque show`: a persona or a piece, for reading.

use app::ErrorKind;
use app::inputs::GetPersona;
use app::outputs::Document;
use persona::{CharacterArc, Guardrail, Kind, Name, Part, Scope, Skill, Trait};

use crate::cli::ShowArgs;
use crate::failure::{Failure, Result};
use crate::output::{Output, Style};
use crate::session::Session;

mod persona_text;
mod piece_text;

pub(super) async fn run(args: ShowArgs, session: &Session, output: &mut Output) -> Result<()> {
    let (kind, name) = args.target()?;
    let library = &session.library;
    match kind {
        Kind::Persona => show_persona(args, name, session, output).await,
        Kind::Part => show_piece(&library.get::<Part>(&name).await?, output, piece_text::part),
        Kind::Trait => show_piece(&library.get::<Trait>(&name).await?, output, piece_text::trait_),
        Kind::Skill => show_piece(&library.get::<Skill>(&name).await?, output, piece_text::skill),
        Kind::Guardrail => show_piece(&library.get::<Guardrail>(&name).await?, output, piece_text::guardrail),
        Kind::Arc => show_piece(&library.get::<CharacterArc>(&name).await?, output, piece_text::arc),
    }
}

fn show_piece<T: serde::Serialize>(
    document: &Document<T>,
    output: &mut Output,
    print: impl Fn(&Document<T>, &mut Output) -> Result<()>,
) -> Result<()> {
    if output.is_json() { output.json(document) } else { print(document, output) }
}

async fn show_persona(args: ShowArgs, name: Name, session: &Session, output: &mut Output) -> Result<()> {
    let (compiled, detail) = (args.compiled, args.detail);
    let kind_was_implied = !args.names_its_kind();
    let input = input(args, name)?;
    let loaded = match session.library.get_persona(&input).await {
        Ok(loaded) => loaded,
        Err(error) if error.kind() == ErrorKind::Missing && kind_was_implied => {
            return Err(found_elsewhere(&input.name, session).await.unwrap_or_else(|| error.into()));
        }
        Err(error) => return Err(error.into()),
    };
    if output.is_json() {
        return output.json(&loaded.view());
    }
    let view = loaded.view();
    if compiled {
        let text = if detail { &view.compiled_detail } else { &view.compiled_summary };
        return output.exact(text.as_deref().unwrap_or_default());
    }
    persona_text::print(&view, output)
}

fn input(args: ShowArgs, name: Name) -> Result<GetPersona> {
    let mut overrides = std::collections::BTreeMap::new();
    for (part_type, part) in args.overrides {
        if overrides.insert(part_type, part).is_some() {
            let message = format!("--override names {part_type} twice; one part can take its place");
            return Err(Failure::invalid(message));
        }
    }
    Ok(GetPersona {
        name,
        detail: args.detail,
        overrides: (!overrides.is_empty()).then_some(overrides),
        types: args.types,
        limit: args.limit,
        max_tokens: args.max_tokens,
        compiled: args.compiled,
    })
}

/// Who leaves the kind out may mean a piece: say so instead of suggesting other personas.
async fn found_elsewhere(name: &Name, session: &Session) -> Option<Failure> {
    let pieces = Kind::ALL.iter().filter(|kind| **kind != Kind::Persona);
    for kind in pieces {
        let names = session.library.complete_names(*kind, name.as_str(), 1).await.ok()?;
        if names.first() == Some(name) {
            return Some(Failure::told(
                ErrorKind::Missing,
                format!("no persona is named {name:?}, but a {kind} is: masque show {kind} {name}"),
            ));
        }
    }
    None
}

/// The first line of what is shown: what people call it, its key and where it is kept.
pub(super) fn title(
    name: &Name,
    display_name: Option<&str>,
    scope: Scope,
    revision: i64,
    output: &mut Output,
) -> Result<()> {
    let shown = output.styled(Style::Title, display_name.unwrap_or(name.as_str()));
    let place = match (scope, display_name) {
        (Scope::Builtin, None) => "builtin".to_owned(),
        (Scope::Builtin, Some(_)) => format!("{name}, builtin"),
        (scope, None) => format!("{scope}, revision {revision}"),
        (scope, Some(_)) => format!("{name}, {scope}, revision {revision}"),
    };
    let place = output.styled(Style::Faint, format!("({place})"));
    output.styled_line(&format!("{shown} {place}"))
}
