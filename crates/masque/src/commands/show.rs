//! `masque show`: prints a persona or a piece.

use app::inputs::{ByName, GetEntity, GetPersona, RevisionText};
use app::outputs::{PersonaSettings, PersonaView};
use persona::explain::WrittenOut;
use persona::{AnyEntity, Kind, Name, Scope};
use serde::Serialize;

use super::lookup;
use crate::cli::ShowArgs;
use crate::failure::Result;
use crate::output::{Output, Style};
use crate::workspace::Workspace;

mod explanation;
pub(super) mod persona_text;
mod piece_text;
mod plain_text;
mod preset_text;

/// Shows an entity. Returns its kind and name.
pub(super) async fn run(args: ShowArgs, workspace: &Workspace, output: &mut Output) -> Result<(Kind, Name)> {
    let target = args.target()?;
    let kind = lookup::kind("show", &target, args.only.scope, workspace).await?;
    args.check_kind(kind)?;
    let name = target.name;
    if kind != Kind::Persona {
        show_piece(args, kind, name.clone(), workspace, output).await?;
    } else if args.explain {
        explain(&args, &name, workspace, output).await?;
    } else if args.flat {
        flat(&args, &name, workspace, output).await?;
    } else {
        show_persona(args, &name, workspace, output).await?;
    }
    Ok((kind, name))
}

async fn show_piece(
    args: ShowArgs,
    kind: Kind,
    name: Name,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    let input = GetEntity { kind, name, revision: args.revision.map(RevisionText), scope: args.only.scope };
    let document = workspace.library.get_entity(&input).await?;
    if output.is_json() {
        return output.json(&document);
    }
    let (entity, meta) = (&document.entity, &document.meta);
    title(entity.name(), None, meta.scope, meta.revision, output)?;
    match entity {
        // `show_persona` handles personas.
        AnyEntity::Persona(_) => Ok(()),
        AnyEntity::Part(part) => piece_text::part(part, output),
        AnyEntity::Trait(item) => piece_text::trait_(item, output),
        AnyEntity::Skill(skill) => piece_text::skill(skill, output),
        AnyEntity::Guardrail(guardrail) => piece_text::guardrail(guardrail, output),
        AnyEntity::Arc(arc) => piece_text::arc(arc, output),
        AnyEntity::ToolPreset(preset) => preset_text::tool_preset(preset, output),
        AnyEntity::BiasProfile(profile) => preset_text::bias_profile(profile, output),
        entity => plain_text::print(entity, output),
    }
}

async fn explain(args: &ShowArgs, name: &Name, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let input = ByName { name: name.clone(), scope: args.only.scope };
    let explanation = workspace.library.explain(&input).await?;
    if output.is_json() { output.json(&explanation) } else { explanation::print(&explanation, output) }
}

async fn flat(args: &ShowArgs, name: &Name, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let input = ByName { name: name.clone(), scope: args.only.scope };
    let written = workspace.library.written_out(&input).await?;
    let WrittenOut { persona, scope, shifts } = written;
    // A definition has no field for the shifts.
    if output.is_json() {
        return output.json(&persona);
    }
    let name = persona.name.clone();
    output.exact(&app::toml_of(&[persona.into()])?)?;
    if !shifts.is_empty() {
        output.advise(&format!(
            "Replacing {name} in {scope} with this changes its meaning; keep the base, or fix these first:"
        ))?;
    }
    shifts.iter().try_for_each(|shift| output.advise(&format!("  {shift}")))
}

async fn show_persona(args: ShowArgs, name: &Name, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let compiled = args.compiled;
    let input = input(args, name.clone())?;
    let loaded = workspace.library.get_persona(&input).await?;
    let view = app::parse_view(&loaded);
    if compiled {
        if output.is_json() {
            return output.json(&view);
        }
        let text = view.compiled_detail.as_ref().or(view.compiled_summary.as_ref());
        output.exact(text.map_or("", String::as_str))?;
        return persona_text::advise_budget(view.budget.as_ref(), output);
    }
    // A budget counts the answer of agents, which has no settings of runs.
    let settings = match input.max_tokens {
        Some(_) => PersonaSettings::default(),
        None => workspace.library.settings(&input).await?,
    };
    if output.is_json() {
        return output.json(&PersonaOutput { view: &view, settings: &settings });
    }
    persona_text::print(&view, &settings, output)
}

/// The JSON output: the view of agents, and the settings of runs.
#[derive(Serialize)]
struct PersonaOutput<'a> {
    #[serde(flatten)]
    view: &'a PersonaView,
    #[serde(flatten)]
    settings: &'a PersonaSettings,
}

fn input(args: ShowArgs, name: Name) -> Result<GetPersona> {
    let ShowArgs { detail, summary, cut, compiled, revision, only, .. } = args;
    let detail = if detail || summary { Some(detail) } else { None };
    cut.apply(request(name, detail, compiled, revision, only.scope))
}

/// The request for a persona with nothing changed or left out.
pub(super) fn request(
    name: Name,
    detail: Option<bool>,
    compiled: bool,
    revision: Option<String>,
    scope: Option<Scope>,
) -> GetPersona {
    GetPersona {
        name,
        detail,
        overrides: None,
        types: None,
        limit: None,
        max_tokens: None,
        compiled,
        revision: revision.map(RevisionText),
        scope,
    }
}

/// Prints the title: display name, name, scope and revision.
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
