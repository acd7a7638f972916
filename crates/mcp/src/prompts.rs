//! Prompts: a person picks a persona from the client's menu and the conversation puts it on.

use std::collections::BTreeMap;

use app::Library;
use app::inputs::GetPersona;
use app::outputs::ListItem;
use operations::Reads;
use persona::{Budget, Code, Name, PartType, Report, TokenCounter as _};
use rmcp::model::{
    CacheScope, ErrorData, GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};
use serde_json::Value;

use crate::limits::{LIST_TTL_MS, PROMPTS};
use crate::resources::{protocol_error, whole};
use crate::wording;

/// The prompt that takes any persona by name.
pub(crate) const WEAR: &str = "wear";

/// `wear`, then the personas that were used last.
pub(crate) async fn list(library: &Library) -> Result<ListPromptsResult, ErrorData> {
    let recent = Reads(library).recent_personas(PROMPTS).await.map_err(|error| protocol_error(&error))?;
    // A persona called "wear" is reached through the prompt of that name.
    let personas = recent.iter().filter(|item| item.name.as_str() != WEAR).map(persona_prompt);
    let prompts = std::iter::once(wear()).chain(personas).collect();
    Ok(ListPromptsResult::with_all_items(prompts)
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private))
}

fn wear() -> Prompt {
    let argument = |name: &str, required, description: &str| {
        PromptArgument::new(name).with_required(required).with_description(description)
    };
    let arguments = vec![
        argument("name", true, "The persona to take on"),
        argument("overrides", false, "Parts for this time only: tone=calm-tone,goal=ship-it"),
        argument("detail", false, "true (the default) for the full text, false for the short one"),
        argument("types", false, "Only parts of these types: tone,goal"),
        argument("limit", false, "Only this many parts, by priority"),
        argument("max_tokens", false, "Tokens for the whole message; keeps what fits, by priority"),
    ];
    Prompt::new(
        WEAR,
        Some("Take on any persona of the library, with parts exchanged if you like"),
        Some(arguments),
    )
    .with_title("Wear a persona")
}

fn persona_prompt(item: &ListItem) -> Prompt {
    let shown = item.display_name.as_deref().unwrap_or(item.name.as_str());
    let about = [item.description.as_deref(), item.summary.as_deref()];
    let about = about.into_iter().flatten().find(|text| !text.trim().is_empty());
    let description = about.map_or_else(|| format!("Take on {shown}"), str::to_owned);
    Prompt::new(item.name.as_str(), Some(description), None).with_title(shown)
}

/// The text of a persona, as the user's message.
pub(crate) async fn get(
    library: &Library,
    prompt: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let mut request = request(prompt, arguments)
        .map_err(|message| wording::invalid_params(&Report::new(Code::InvalidValue, message)))?;
    let opening = format!(
        "From now on, take on the persona {} that is described below, and stay in it until I ask you to stop.\n\n",
        request.name
    );
    // The budget is that of the whole message.
    let spent = u32::try_from(app::Tokenizer.count(&opening)).unwrap_or(u32::MAX);
    request.max_tokens = request.max_tokens.map(|most| most.saturating_sub(spent).max(1));
    let prompt = Reads(library).prompt(&request).await.map_err(|error| protocol_error(&error))?;
    let app::outputs::Prompt { text, budget } = prompt;
    let message = PromptMessage::new_text(Role::User, opening + &text);
    let description =
        format!("The persona {}{}", request.name, budget.as_ref().map(shortened).unwrap_or_default());
    Ok(GetPromptResult::new(vec![message]).with_description(description))
}

/// The effect of a budget, behind the name of a persona.
fn shortened(budget: &Budget) -> String {
    let over = if budget.over_budget { ", over budget" } else { "" };
    let named = budget
        .left_out
        .iter()
        .flat_map(|(kind, names)| names.keys().map(move |name| format!("{kind} {name}")));
    let named: Vec<String> = named.collect();
    let count = budget.left_out_count.filter(|_| named.is_empty()).map(|count| format!("{count} pieces"));
    let left_out = if named.is_empty() { count } else { Some(named.join(", ")) };
    let left_out = left_out.map(|left_out| format!("; left out: {left_out}")).unwrap_or_default();
    format!("{over}{left_out}")
}

/// The library request of a prompt and its arguments.
fn request(prompt: &str, arguments: &JsonObject) -> Result<GetPersona, String> {
    let known = ["name", "overrides", "detail", "types", "limit", "max_tokens"];
    if let Some(unknown) = arguments.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("unknown argument {unknown:?}; use {}", known.join(", ")));
    }
    let name = match prompt {
        WEAR => text(arguments, "name")?.ok_or("name is missing; name the persona to take on")?,
        persona => persona,
    };
    let name = Name::parse(name).map_err(|error| error.to_string())?;
    let overrides = text(arguments, "overrides")?.map(parse_overrides).transpose()?;
    let detail = match text(arguments, "detail")? {
        None | Some("true") => true,
        Some("false") => false,
        Some(other) => return Err(format!("detail is {other:?}; use true or false")),
    };
    let types = text(arguments, "types")?.map(parse_types).transpose()?;
    let (limit, max_tokens) = (number(arguments, "limit")?, number(arguments, "max_tokens")?);
    Ok(GetPersona { detail: Some(detail), overrides, types, limit, max_tokens, ..whole(&name) })
}

/// Parses `tone,goal`.
fn parse_types(text: &str) -> Result<Vec<PartType>, String> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| word.parse().map_err(|error| format!("types: {error}"))).collect()
}

/// A number, as a text or as a number.
fn number(arguments: &JsonObject, name: &str) -> Result<Option<u32>, String> {
    let given = match arguments.get(name) {
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => text(arguments, name)?.map(str::to_owned),
    };
    given.map(|digits| digits.parse().map_err(|_| format!("{name} is {digits:?}; use a number"))).transpose()
}

/// A text argument. Blank counts as absent, since clients send empty form fields.
fn text<'a>(arguments: &'a JsonObject, name: &str) -> Result<Option<&'a str>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some("true")),
        Some(Value::Bool(false)) => Ok(Some("false")),
        Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("{name} must be a text")),
    }
}

/// Parses `tone=calm-tone,goal=ship-it`.
fn parse_overrides(text: &str) -> Result<BTreeMap<PartType, Name>, String> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let parse = |pair: &str| {
        let (part_type, name) = pair.split_once('=').ok_or_else(|| {
            format!("overrides has {pair:?}; write it as type=part, for example tone=calm-tone")
        })?;
        let part_type = part_type.trim().parse().map_err(|error| format!("overrides: {error}"))?;
        let name = Name::parse(name.trim()).map_err(|error| format!("overrides.{part_type}: {error}"))?;
        Ok::<(PartType, Name), String>((part_type, name))
    };
    let mut overrides = BTreeMap::new();
    for pair in pairs {
        let (part_type, name) = parse(pair)?;
        if overrides.insert(part_type, name).is_some() {
            return Err(format!("overrides names {part_type} twice"));
        }
    }
    Ok(overrides)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(prompt: &str, arguments: &Value) -> Result<GetPersona, String> {
        request(prompt, arguments.as_object().expect("an object"))
    }

    #[test]
    fn wear_takes_a_name_and_overrides() {
        let arguments = json!({ "name": "mentor", "overrides": "tone=dry, goal = ship-it,", "detail": "" });
        let request = parsed(WEAR, &arguments).expect("valid");
        assert_eq!(request.name.as_str(), "mentor");
        let overrides = request.overrides.expect("two");
        assert_eq!(overrides[&PartType::Goal].as_str(), "ship-it");
        assert_eq!(overrides.len(), 2);
        assert_eq!(request.detail, Some(true));
        let arguments = json!({ "name": "mentor", "types": "tone, goal", "limit": "2", "max_tokens": 300 });
        let request = parsed(WEAR, &arguments).expect("valid");
        assert_eq!(request.types, Some(vec![PartType::Tone, PartType::Goal]));
        assert_eq!((request.limit, request.max_tokens), (Some(2), Some(300)));
    }

    #[test]
    fn a_persona_is_its_own_prompt() {
        let request = parsed("mentor", &json!({ "detail": false })).expect("valid");
        assert_eq!(request.name.as_str(), "mentor");
        assert_eq!(request.detail, Some(false));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        let check = |prompt: &str, arguments: Value, part: &str| {
            let error = parsed(prompt, &arguments).expect_err("wrong");
            assert!(error.contains(part), "{error}");
        };
        check(WEAR, json!({}), "name is missing");
        check(WEAR, json!({ "name": "a", "tone": "b" }), "unknown argument \"tone\"");
        check(WEAR, json!({ "name": "a b" }), "expected letters");
        check(WEAR, json!({ "name": "a", "overrides": "tone" }), "tone=calm-tone");
        check(WEAR, json!({ "name": "a", "overrides": "tonne=b" }), "did you mean \"tone\"?");
        check(WEAR, json!({ "name": "a", "overrides": "tone=" }), "overrides.tone");
        check(WEAR, json!({ "name": "a", "detail": "maybe" }), "use true or false");
        check(WEAR, json!({ "name": "a", "limit": "few" }), "use a number");
        check(WEAR, json!({ "name": "a", "types": "tonne" }), "tone");
        check(WEAR, json!({ "name": 3 }), "must be a text");
    }
}
