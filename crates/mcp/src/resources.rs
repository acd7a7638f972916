//! Resources: personas and their pieces, addressable, listed and read.

use app::inputs::{ByName, GetPersona, List};
use app::outputs::{FullEntity, ListItem};
use app::{ErrorKind, Library};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use operations::{Front, Reads, ToolSelection, add_hints};
use persona::{Code, Kind, Name, Remedy, Report, Skill};
use rmcp::model::{
    Annotations, CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role,
};
use serde::Serialize;
use serde_json::json;

use crate::limits::{FIXED_TTL_MS, LIST_TTL_MS, READ_TTL_MS, RESOURCE_PAGE};
use crate::skills::{self, SkillFile};
use crate::uri::{Aspect, ResourceUri};
use crate::wording;

const JSON: &str = "application/json";
const MARKDOWN: &str = skills::MIME_TYPE;

/// One page of resources: first the personas, then the skills.
pub(crate) async fn list(library: &Library, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let (kind, cursor) = cursor.map_or(Ok((Kind::Persona, None)), open_cursor)?;
    let query = List { tags: None, query: None, limit: Some(RESOURCE_PAGE), cursor, scope: None };
    let page = Reads(library).list(kind, query).await.map_err(|error| protocol_error(&error))?;
    let mut resources = Vec::new();
    for item in &page.items {
        match kind {
            Kind::Skill => resources.push(skill_resource(item)),
            _ => resources.extend(Aspect::EVERY.map(|aspect| persona_resource(item, aspect))),
        }
    }
    let mut result = ListResourcesResult::with_all_items(resources)
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private);
    result.next_cursor = match (page.next_cursor, kind) {
        (None, Kind::Skill) => None,
        (None, _) => Some(seal_cursor(Kind::Skill, None)),
        (next, kind) => Some(seal_cursor(kind, next.as_deref())),
    };
    Ok(result)
}

/// A cursor names the list and its position. Opaque to clients.
fn seal_cursor(kind: Kind, cursor: Option<&str>) -> String {
    URL_SAFE_NO_PAD.encode(format!("{kind} {}", cursor.unwrap_or_default()))
}

fn open_cursor(sealed: &str) -> Result<(Kind, Option<String>), ErrorData> {
    let opened = URL_SAFE_NO_PAD.decode(sealed).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let parts = opened.as_deref().and_then(|text| text.split_once(' '));
    match parts {
        Some((kind @ ("persona" | "skill"), cursor)) => {
            let kind = if kind == "skill" { Kind::Skill } else { Kind::Persona };
            Ok((kind, (!cursor.is_empty()).then(|| cursor.to_owned())))
        }
        _ => {
            let report = Report::new(Code::InvalidCursor, "the cursor is not one that a list returned");
            Err(wording::invalid_params(&report.with_remedy(Remedy::StartOver)))
        }
    }
}

fn persona_resource(item: &ListItem, aspect: Aspect) -> Resource {
    let shown = item.display_name.as_deref().unwrap_or(item.name.as_str());
    let about = item.summary.as_deref().or(item.description.as_deref());
    let (name, title, mime_type, priority, audience) = match aspect {
        Aspect::Whole => (item.name.to_string(), shown.to_owned(), JSON, 0.5, vec![Role::Assistant]),
        Aspect::Manifest => (
            format!("{}-manifest", item.name),
            format!("{shown}: manifest"),
            JSON,
            0.8,
            vec![Role::Assistant],
        ),
        Aspect::Compiled => (
            format!("{}-compiled", item.name),
            format!("{shown}: prompt"),
            MARKDOWN,
            1.0,
            vec![Role::User, Role::Assistant],
        ),
    };
    let uri = ResourceUri::Persona(item.name.clone(), aspect).to_string();
    let annotations = Annotations::default().with_audience(audience).with_priority(priority);
    let resource =
        Resource::new(uri, name).with_title(title).with_mime_type(mime_type).with_annotations(annotations);
    match about {
        Some(about) => resource.with_description(about),
        None => resource,
    }
}

fn skill_resource(item: &ListItem) -> Resource {
    let skill = Skill {
        name: item.name.clone(),
        description: item.description.clone(),
        content: None,
        tags: Vec::new(),
    };
    let file = SkillFile::of(&skill);
    let mut annotations = Annotations::default().with_audience(vec![Role::Assistant]).with_priority(0.5);
    // A skill is one row. A persona's resources also change with its pieces, so the time of its own
    // last change would be wrong.
    if let Some(changed) = item.updated_at {
        annotations = annotations.with_timestamp(changed);
    }
    let resource = Resource::new(ResourceUri::Skill(skill.name).to_string(), file.name)
        .with_mime_type(MARKDOWN)
        .with_annotations(annotations);
    // A derived description would require the content.
    match item.description {
        Some(_) => resource.with_description(file.description),
        None => resource,
    }
}

/// The templates that clients complete into addresses, each with the kind of its `{name}`.
pub(crate) const TEMPLATES: [(&str, Kind, &str, &str, &str); 7] = [
    ("persona://{name}", Kind::Persona, "persona", JSON, "A persona in full"),
    (
        "persona://{name}/manifest",
        Kind::Persona,
        "persona-manifest",
        JSON,
        "The pieces of a persona, without contents",
    ),
    ("persona://{name}/compiled", Kind::Persona, "persona-compiled", MARKDOWN, "A persona as prompt text"),
    ("part://{name}", Kind::Part, "part", JSON, "A part with its content"),
    ("trait://{name}", Kind::Trait, "trait", JSON, "A trait with its instruction"),
    ("skill://{name}/SKILL.md", Kind::Skill, "skill", MARKDOWN, "A skill as SKILL.md"),
    ("guardrail://{name}", Kind::Guardrail, "guardrail", JSON, "A guardrail with its content"),
];

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let templates = TEMPLATES.map(|(uri, _, name, mime_type, description)| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(mime_type)
    });
    ListResourceTemplatesResult::with_all_items(templates.into())
        .with_ttl_ms(FIXED_TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

/// Reads one resource.
pub(crate) async fn read(
    library: &Library,
    uri: &str,
    selection: ToolSelection,
) -> Result<ReadResourceResult, ErrorData> {
    let parsed = ResourceUri::parse(uri).ok_or_else(|| unknown(uri))?;
    let content = contents(library, &parsed, selection).await;
    let (text, mime_type) = content.map_err(|error| match error.kind() {
        ErrorKind::Missing => {
            let report = error.report();
            wording::with_data(not_found(uri, report.sentence(wording::remedy)), &report)
        }
        _ => protocol_error(&error),
    })?;
    let contents = ResourceContents::text(text, uri).with_mime_type(mime_type);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(READ_TTL_MS).with_cache_scope(CacheScope::Private))
}

async fn contents(
    library: &Library,
    uri: &ResourceUri,
    selection: ToolSelection,
) -> app::Result<(String, &'static str)> {
    let reads = Reads(library);
    Ok(match uri {
        ResourceUri::Persona(name, Aspect::Whole) => {
            let loaded = reads.persona(&whole(name)).await?;
            (loaded.json().to_owned(), JSON)
        }
        ResourceUri::Persona(name, Aspect::Manifest) => {
            let mut manifest = reads.manifest(&named(name)).await?;
            add_hints(&mut manifest, Front::Mcp(selection));
            (pretty(&manifest), JSON)
        }
        ResourceUri::Persona(name, Aspect::Compiled) => (reads.prompt(&whole(name)).await?.text, MARKDOWN),
        ResourceUri::Part(name) => (pretty(&reads.part(&named(name)).await?), JSON),
        ResourceUri::Trait(name) => (pretty(&reads.trait_(&named(name)).await?), JSON),
        ResourceUri::Guardrail(name) => (pretty(&reads.guardrail(&named(name)).await?), JSON),
        ResourceUri::Skill(name) => {
            let skill: FullEntity<Skill> = reads.skill(&named(name)).await?;
            (SkillFile::of(&skill.entity).text, MARKDOWN)
        }
    })
}

/// The request for a persona in full.
pub(crate) fn whole(name: &Name) -> GetPersona {
    GetPersona {
        name: name.clone(),
        detail: Some(true),
        overrides: None,
        types: None,
        limit: None,
        max_tokens: None,
        compiled: false,
        revision: None,
        scope: None,
    }
}

/// The request for a name in its strongest scope: an address names no scope.
pub(crate) fn named(name: &Name) -> ByName {
    ByName { name: name.clone(), scope: None }
}

/// Formats JSON for people, who read resources too.
fn pretty<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// An address of unknown form.
pub(crate) fn unknown(uri: &str) -> ErrorData {
    let message = "no resource has this uri; see resources/templates/list";
    let report = Report::new(Code::UnknownAddress, message);
    wording::with_data(not_found(uri, message.to_owned()), &report)
}

/// Older clients expect a code of its own, newer ones invalid parameters. The protocol version
/// decides.
fn not_found(uri: &str, message: String) -> ErrorData {
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

/// An error of the library as a protocol error.
pub(crate) fn protocol_error(error: &app::Error) -> ErrorData {
    let report = error.report();
    let message = report.sentence(wording::remedy);
    let error = match error.kind() {
        ErrorKind::Missing | ErrorKind::Invalid | ErrorKind::Conflict | ErrorKind::Denied => {
            ErrorData::invalid_params(message, None)
        }
        ErrorKind::Busy => ErrorData::internal_error(message, None),
        ErrorKind::Broken => {
            tracing::error!(%error, "a request failed");
            ErrorData::internal_error(message, None)
        }
    };
    wording::with_data(error, &report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_open_to_their_content() {
        for (kind, cursor) in [(Kind::Persona, None), (Kind::Persona, Some("a b/c")), (Kind::Skill, None)] {
            let opened = open_cursor(&seal_cursor(kind, cursor)).expect("our own");
            assert_eq!(opened, (kind, cursor.map(str::to_owned)));
        }
        for forged in ["", "zzz", "!!", &URL_SAFE_NO_PAD.encode("part x")] {
            assert!(open_cursor(forged).is_err(), "{forged}");
        }
    }

    #[test]
    fn templates_make_addresses_that_parse() {
        for (template, kind, ..) in TEMPLATES {
            let uri = ResourceUri::parse(&template.replace("{name}", "abc")).expect(template);
            assert_eq!(uri.kind(), kind);
            assert_eq!(uri.name().as_str(), "abc");
        }
    }
}
