//! Skills as the Skills extension offers them: a directory that holds one `SKILL.md`.

use app::inputs::List;
use app::{ErrorKind, Library};
use operations::Reads;
use persona::{Code, Kind, Name, Remedy, Report, Skill, Subject, shortened};
use rmcp::model::{CustomRequest, ErrorData, ExtensionCapabilities, JsonObject};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::limits::{LIST_TTL_MS, READ_TTL_MS, SKILL_DESCRIPTION_CHARS, SKILL_PAGE};
use crate::resources::{named, protocol_error};
use crate::uri::{ResourceUri, lawful_name};
use crate::wording;

pub(crate) const LIST: &str = "skills/list";
pub(crate) const GET: &str = "skills/get";
pub(crate) const MIME_TYPE: &str = "text/markdown";

/// Declares the extension, with no optional features: there are no directories to read.
pub(crate) fn capability() -> ExtensionCapabilities {
    ExtensionCapabilities::from([("io.modelcontextprotocol/skills".to_owned(), JsonObject::new())])
}

/// A skill's `SKILL.md` and its frontmatter.
pub(crate) struct SkillFile {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) text: String,
}

impl SkillFile {
    pub(crate) fn of(skill: &Skill) -> Self {
        let name = lawful_name(&skill.name);
        let content = skill.content.as_deref().unwrap_or_default().trim();
        let description = description(skill.description.as_deref(), content, &skill.name);
        // A JSON string is a YAML string too: nothing in it can end the frontmatter.
        let frontmatter = format!("name: {}\ndescription: {}", json!(name), json!(description));
        let text = format!("---\n{frontmatter}\n---\n\n{content}\n");
        Self { name, description, text }
    }
}

/// The authored description, else the beginning of the content, else the name; never too long.
fn description(authored: Option<&str>, content: &str, name: &Name) -> String {
    let candidates = [authored.unwrap_or_default().trim().to_owned(), shortened(content)];
    let found = candidates.into_iter().find(|text| !text.is_empty());
    let text = found.unwrap_or_else(|| format!("The skill {name}"));
    if text.chars().count() <= SKILL_DESCRIPTION_CHARS {
        return text;
    }
    text.chars().take(SKILL_DESCRIPTION_CHARS - 1).chain(['…']).collect()
}

/// The entry of a skill: its address, its frontmatter, and its one file with digest and size.
fn entry(skill: &Skill) -> Value {
    let uri = ResourceUri::Skill(skill.name.clone()).to_string();
    let file = SkillFile::of(skill);
    let digest = Sha256::digest(file.text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({
        "uri": uri,
        "frontmatter": { "name": file.name, "description": file.description },
        "resources": [{ "uri": uri, "digest": format!("sha256:{hex}"), "size": file.text.len() }],
    })
}

#[derive(Deserialize)]
struct ListParams {
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct GetParams {
    uri: String,
}

/// Answers `skills/list` and `skills/get`.
pub(crate) async fn answer(library: &Library, request: &CustomRequest) -> Result<JsonObject, ErrorData> {
    let result = match request.method.as_str() {
        LIST => list(library, params::<ListParams>(request)?.and_then(|params| params.cursor)).await?,
        _ => {
            let params = params::<GetParams>(request)?;
            let params = params.ok_or_else(|| {
                wording::invalid_params(
                    &Report::new(Code::MissingField, "missing field uri").about(Subject::field("uri")),
                )
            })?;
            get(library, &params.uri).await?
        }
    };
    match result {
        Value::Object(object) => Ok(object),
        _ => Err(ErrorData::internal_error("the answer is not an object", None)),
    }
}

fn params<T: serde::de::DeserializeOwned>(request: &CustomRequest) -> Result<Option<T>, ErrorData> {
    let wrong = |error: serde_json::Error| {
        let message = format!("invalid params of {}: {error}", request.method);
        wording::invalid_params(&Report::new(Code::InvalidRequest, message))
    };
    request.params_as().map_err(wrong)
}

async fn list(library: &Library, cursor: Option<String>) -> Result<Value, ErrorData> {
    let query = List { tags: None, query: None, limit: Some(SKILL_PAGE), cursor, scope: None };
    let page = Reads(library).list(Kind::Skill, query).await.map_err(|error| protocol_error(&error))?;
    let mut skills = Vec::with_capacity(page.items.len());
    for item in &page.items {
        if let Some(skill) = find(library, &item.name).await?
            && !is_shadowed(library, &item.name).await?
        {
            skills.push(entry(&skill));
        }
    }
    let mut result = json!({ "skills": skills, "ttlMs": LIST_TTL_MS, "cacheScope": "private" });
    if let Some(cursor) = page.next_cursor {
        result["nextCursor"] = Value::String(cursor);
    }
    Ok(result)
}

async fn get(library: &Library, uri: &str) -> Result<Value, ErrorData> {
    let unknown = || {
        let list = Remedy::ListKind { kind: Kind::Skill, part_type: None };
        let report = Report::new(Code::NotFound, "no skill has this uri").with_remedy(list);
        let data = Some(json!({ "uri": uri }));
        wording::with_data(ErrorData::invalid_params(report.sentence(wording::remedy), data), &report)
    };
    let parsed = ResourceUri::parse(uri).filter(|parsed| parsed.to_string() == uri);
    let Some(ResourceUri::Skill(name)) = parsed else { return Err(unknown()) };
    let skill = find(library, &name).await?.ok_or_else(unknown)?;
    Ok(json!({ "skill": entry(&skill), "ttlMs": READ_TTL_MS, "cacheScope": "private" }))
}

/// True if a skill's lawful name is the real name of another skill, which takes precedence.
async fn is_shadowed(library: &Library, name: &Name) -> Result<bool, ErrorData> {
    let lawful = lawful_name(name);
    if lawful == name.as_str() {
        return Ok(false);
    }
    match Name::parse(&lawful) {
        Ok(lawful) => Ok(find(library, &lawful).await?.is_some()),
        Err(_) => Ok(false),
    }
}

async fn find(library: &Library, name: &Name) -> Result<Option<Skill>, ErrorData> {
    match Reads(library).skill(&named(name)).await {
        Ok(document) => Ok(Some(document.entity)),
        Err(error) if error.kind() == ErrorKind::Missing => Ok(None),
        Err(error) => Err(protocol_error(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, description: Option<&str>, content: &str) -> Skill {
        Skill {
            name: Name::parse(name).expect("a name"),
            description: description.map(str::to_owned),
            content: Some(content.to_owned()),
            tags: Vec::new(),
        }
    }

    #[test]
    fn a_skill_file_starts_with_its_frontmatter() {
        let file = SkillFile::of(&skill("Code_Review", Some("How to: \"review\"\ncode"), "Read it.\n"));
        assert_eq!(
            file.text,
            "---\nname: \"code-review\"\ndescription: \"How to: \\\"review\\\"\\ncode\"\n---\n\nRead it.\n"
        );
    }

    #[test]
    fn a_description_is_always_there_and_never_too_long() {
        assert_eq!(SkillFile::of(&skill("a", None, "Read it.\nTwice.")).description, "Read it. …");
        assert_eq!(SkillFile::of(&skill("a", Some(" "), "")).description, "The skill a");
        let long = SkillFile::of(&skill("a", Some(&"ä".repeat(3_000)), "")).description;
        assert_eq!(long.chars().count(), SKILL_DESCRIPTION_CHARS);
    }

    #[test]
    fn the_digest_is_that_of_the_bytes() {
        let skill = skill("a", Some("b"), "ü");
        let entry = entry(&skill);
        let file = SkillFile::of(&skill);
        assert_eq!(entry["resources"][0]["size"], file.text.len());
        assert_eq!(entry["resources"][0]["uri"], entry["uri"]);
        let digest = entry["resources"][0]["digest"].as_str().expect("a digest");
        assert!(digest.starts_with("sha256:") && digest.len() == 71, "{digest}");
    }
}
