//! The questions of `masque new`.

use app::ErrorKind;
use app::inputs::{CreatePersona, GetEntity, ListParts};
use app::outputs::Written;
use persona::{Kind, Name, PartType, Scope};

use super::templates;
use crate::ask::{self, Choice};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;

/// Tone parts that can be chosen from.
const MOST_TONES: u32 = 50;

/// What the flags say already.
pub(super) struct Said {
    pub(super) name: Option<Name>,
    pub(super) template: Option<Name>,
    pub(super) scope: Option<Scope>,
    pub(super) message: Option<String>,
}

/// Asks what was not said yet, and creates the persona.
pub(super) async fn ask(said: Said, session: &Session, output: &mut Output) -> Result<Written> {
    let Said { name, template, scope, message } = said;
    let scope = match scope {
        Some(scope) => scope,
        None => ask_scope(session, output).await?,
    };
    let name = ask_name(name, scope, session, output).await?;
    let template = match template {
        Some(template) => Some(template),
        None => ask_template(session, output).await?,
    };
    let (library, author) = (&session.library, &session.author);
    if let Some(template) = template {
        return Ok(library.new_from_template(author, &template, name, Some(scope), message).await?);
    }
    let summary =
        ask::text("What is it, in a sentence?", "You review code. Loaded by default.", output).await?;
    let system_prompt =
        ask::text("System prompt:", "Its prompt opens with this; `masque edit` has room for more.", output)
            .await?;
    let parts = ask_tone(scope, session, output).await?.map(|tone| vec![tone]);
    let input = serde_json::json!({
        "name": name,
        "summary": summary,
        "system_prompt": system_prompt,
        "parts": parts,
        "message": message,
        "scope": scope,
    });
    let input: CreatePersona = serde_json::from_value(input)
        .map_err(|error| Failure::broken(format!("the answers cannot be passed on: {error}")))?;
    Ok(library.create_persona(author, input).await?)
}

async fn ask_scope(session: &Session, output: &mut Output) -> Result<Scope> {
    let library = &session.library;
    let mut choices = Vec::new();
    for scope in [Scope::Project, Scope::Global, Scope::Shared] {
        let words = match library.path(scope) {
            Some(path) => format!("{scope}: {}", path.display()),
            None if scope == Scope::Shared => format!("{scope}: the database"),
            None => continue,
        };
        choices.push(Choice::new(&words, scope));
    }
    let default = library.default_scope();
    let start = choices.iter().position(|choice| choice.value == default).unwrap_or(0);
    ask::choose("Where is it kept?", choices, start, output).await
}

/// A name that the scope does not have yet.
async fn ask_name(given: Option<Name>, scope: Scope, session: &Session, output: &mut Output) -> Result<Name> {
    let mut given = given;
    loop {
        let name = match given.take() {
            Some(name) => name,
            None => ask::name("Its name:", output).await?,
        };
        let input = GetEntity { kind: Kind::Persona, name: name.clone(), revision: None, scope: Some(scope) };
        match session.library.get_entity(&input).await {
            Err(error) if error.kind() == ErrorKind::Missing => return Ok(name),
            Err(error) => return Err(error.into()),
            Ok(_) => output.advise(&format!("{scope} has a persona {name} already; choose another name"))?,
        }
    }
}

async fn ask_template(session: &Session, output: &mut Output) -> Result<Option<Name>> {
    let mut choices = vec![Choice::new("nothing: I write it myself", None)];
    for item in templates(session).await? {
        let summary = item.summary.or(item.description).unwrap_or_default();
        choices.push(Choice::new(&format!("{}: {summary}", item.name), Some(item.name)));
    }
    ask::choose("What does it begin with?", choices, 0, output).await
}

/// A part of type tone that the scope can refer to.
async fn ask_tone(scope: Scope, session: &Session, output: &mut Output) -> Result<Option<Name>> {
    let list = ListParts {
        part_type: Some(PartType::Tone),
        tags: None,
        query: None,
        limit: Some(MOST_TONES),
        cursor: None,
        scope: None,
    };
    let tones = session.library.list(Kind::Part, list).await?.items;
    let mut choices = vec![Choice::new("none", None)];
    // What is stronger than the scope cannot be meant from there.
    for item in tones.into_iter().filter(|item| item.scope <= scope) {
        let summary = item.summary.or(item.description).unwrap_or_default();
        choices.push(Choice::new(&format!("{}: {summary}", item.name), Some(item.name)));
    }
    ask::choose("How does it speak?", choices, 0, output).await
}
