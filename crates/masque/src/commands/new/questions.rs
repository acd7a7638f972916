//! The prompts of `masque new`.

use app::ErrorKind;
use app::inputs::{CreatePersona, GetEntity, ListParts};
use app::outputs::Written;
use persona::{Kind, Name, PartType, Scope};

use crate::ask::{self, Choice};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::workspace::Workspace;

/// Maximum number of tone parts to choose from.
const MOST_TONES: u32 = 50;

/// The values of the flags.
pub(super) struct NewOptions {
    pub(super) name: Option<Name>,
    pub(super) template: Option<Name>,
    pub(super) scope: Option<Scope>,
    pub(super) message: Option<String>,
}

/// Asks for missing values and creates the persona.
pub(super) async fn ask(options: NewOptions, workspace: &Workspace, output: &mut Output) -> Result<Written> {
    let NewOptions { name, template, scope, message } = options;
    let scope = match scope {
        Some(scope) => scope,
        None => ask_scope(workspace, output).await?,
    };
    let name = ask_name(name, scope, workspace, output).await?;
    let template = match template {
        Some(template) => Some(template),
        None => ask_template(workspace, output).await?,
    };
    let (library, author) = (&workspace.library, &workspace.author);
    if let Some(template) = template {
        return Ok(library.new_from_template(author, &template, name, Some(scope), message).await?);
    }
    let summary =
        ask::text("Summary:", "One sentence, such as \"You review code.\" It is loaded by default.", output)
            .await?;
    let system_prompt = ask::text(
        "System prompt:",
        "The prompt starts with this; use `masque edit` for longer texts.",
        output,
    )
    .await?;
    let parts = ask_tone(scope, workspace, output).await?.map(|tone| vec![tone]);
    let input = serde_json::json!({
        "name": name,
        "summary": summary,
        "system_prompt": system_prompt,
        "parts": parts,
        "message": message,
        "scope": scope,
    });
    let input: CreatePersona = serde_json::from_value(input).map_err(|error| Failure::json(&error))?;
    Ok(library.create_persona(author, input).await?)
}

async fn ask_scope(workspace: &Workspace, output: &mut Output) -> Result<Scope> {
    let library = &workspace.library;
    let mut choices = Vec::new();
    for scope in [Scope::Project, Scope::Global, Scope::Shared] {
        let place = match library.path(scope) {
            Some(path) => path.display().to_string(),
            None if scope == Scope::Shared => "the database".to_owned(),
            None => continue,
        };
        choices.push(Choice::new(scope, &place, scope));
    }
    let default = library.default_scope();
    let start = choices.iter().position(|choice| choice.value == default).unwrap_or(0);
    ask::choose("Scope:", choices, start, output).await
}

/// Asks for a name that is free in the scope.
async fn ask_name(
    given: Option<Name>,
    scope: Scope,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<Name> {
    let mut given = given;
    loop {
        let name = match given.take() {
            Some(name) => name,
            None => ask::name("Name:", output).await?,
        };
        let input = GetEntity { kind: Kind::Persona, name: name.clone(), revision: None, scope: Some(scope) };
        match workspace.library.get_entity(&input).await {
            Err(error) if error.kind() == ErrorKind::Missing => return Ok(name),
            Err(error) => return Err(error.into()),
            Ok(_) => output.advise(&format!("{scope} already has a persona {name}; choose another name"))?,
        }
    }
}

async fn ask_template(workspace: &Workspace, output: &mut Output) -> Result<Option<Name>> {
    let mut choices = vec![Choice::new("none", "", None)];
    for item in workspace.library.list_templates().await?.items {
        let summary = item.summary.or(item.description).unwrap_or_default();
        choices.push(Choice::new(&item.name, &summary, Some(item.name.clone())));
    }
    ask::choose("Template:", choices, 0, output).await
}

/// Asks for a tone part that the scope can refer to.
async fn ask_tone(scope: Scope, workspace: &Workspace, output: &mut Output) -> Result<Option<Name>> {
    let list = ListParts {
        part_type: Some(PartType::Tone),
        tags: None,
        query: None,
        limit: Some(MOST_TONES),
        cursor: None,
        scope: None,
    };
    let tones = workspace.library.list(Kind::Part, list).await?.items;
    let mut choices = vec![Choice::new("none", "", None)];
    // A definition cannot refer to stronger scopes.
    for item in tones.into_iter().filter(|item| item.scope <= scope) {
        let summary = item.summary.or(item.description).unwrap_or_default();
        choices.push(Choice::new(&item.name, &summary, Some(item.name.clone())));
    }
    ask::choose("Tone:", choices, 0, output).await
}
