//! Completion: what a client offers while a person fills in a prompt or an address.

use app::Library;
use app::inputs::ListParts;
use operations::Reads;
use persona::{Code, Kind, PartType, Report};
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};

use crate::limits::{COMPLETION_PAGES, COMPLETIONS};
use crate::prompts::WEAR;
use crate::resources::{TEMPLATES, protocol_error};
use crate::wording;

/// The values that begin with what was typed so far.
pub(crate) async fn complete(
    library: &Library,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let argument = (request.argument.name.as_str(), request.argument.value.as_str());
    let (values, has_more) = match &request.r#ref {
        Reference::Prompt(prompt) if prompt.name == WEAR => wear(library, argument).await?,
        // A persona's own prompt has nothing to fill in.
        Reference::Prompt(_) => (Vec::new(), false),
        Reference::Resource(resource) => address(library, &resource.uri, argument).await?,
        _ => return Err(invalid("unknown reference (expected ref/prompt or ref/resource)")),
    };
    let completion = CompletionInfo::with_pagination(values, None, has_more);
    completion.map(CompleteResult::new).map_err(|message| ErrorData::internal_error(message, None))
}

type Values = Result<(Vec<String>, bool), ErrorData>;

async fn wear(library: &Library, (argument, typed): (&str, &str)) -> Values {
    match argument {
        "name" => names(library, Kind::Persona, typed).await,
        "overrides" => overrides(library, typed).await,
        "detail" => Ok((beginning(["true", "false"], typed), false)),
        _ => Err(invalid("unknown argument (expected name, overrides or detail)")),
    }
}

async fn address(library: &Library, template: &str, (argument, typed): (&str, &str)) -> Values {
    let known = TEMPLATES.iter().find(|(uri, ..)| *uri == template);
    match known {
        Some((_, kind, ..)) if argument == "name" => names(library, *kind, typed).await,
        _ => Err(invalid("unknown template (expected one of resources/templates/list, and name)")),
    }
}

fn invalid(message: &str) -> ErrorData {
    wording::invalid_params(&Report::new(Code::InvalidValue, message))
}

async fn names(library: &Library, kind: Kind, typed: &str) -> Values {
    // One extra result shows that there are more.
    let found = Reads(library).complete_names(kind, typed, COMPLETIONS + 1).await;
    let found = found.map_err(|error| protocol_error(&error))?;
    let has_more = found.len() > COMPLETIONS;
    Ok((found.iter().take(COMPLETIONS).map(ToString::to_string).collect(), has_more))
}

/// Completes the last of `type=part,type=part`: first the type, then a part of that type.
async fn overrides(library: &Library, typed: &str) -> Values {
    let (before, last) =
        typed.rsplit_once(',').map_or(("", typed), |(before, last)| (before, last.trim_start()));
    let before = if before.is_empty() { String::new() } else { format!("{before},") };
    let Some((part_type, name)) = last.split_once('=') else {
        let types = beginning(PartType::ALL.iter().map(|part_type| part_type.as_str()), last);
        return Ok((types.iter().map(|part_type| format!("{before}{part_type}=")).collect(), false));
    };
    let Ok(part_type) = part_type.trim().parse::<PartType>() else { return Ok((Vec::new(), false)) };
    let (names, has_more) = parts_of(library, part_type, name.trim_start()).await?;
    Ok((names.iter().map(|name| format!("{before}{part_type}={name}")).collect(), has_more))
}

/// The parts of a type whose names begin with what was typed, as far as a few pages reach.
async fn parts_of(library: &Library, part_type: PartType, typed: &str) -> Values {
    let mut found = Vec::new();
    let mut cursor = None;
    for _ in 0..COMPLETION_PAGES {
        let query = ListParts {
            part_type: Some(part_type),
            tags: None,
            query: None,
            limit: u32::try_from(persona::limits::PAGE).ok(),
            cursor,
            scope: None,
        };
        let page = Reads(library).list(Kind::Part, query).await;
        let page = page.map_err(|error| protocol_error(&error))?;
        found.extend(beginning(page.items.iter().map(|item| item.name.as_str()), typed));
        cursor = page.next_cursor;
        if cursor.is_none() || found.len() > COMPLETIONS {
            break;
        }
    }
    let has_more = cursor.is_some() || found.len() > COMPLETIONS;
    found.truncate(COMPLETIONS);
    Ok((found, has_more))
}

fn beginning<'a>(words: impl IntoIterator<Item = &'a str>, typed: &str) -> Vec<String> {
    words.into_iter().filter(|word| word.starts_with(typed)).map(str::to_owned).collect()
}
