//! Texts with placeholders for the request: `{{last_user}}` and others.

use std::borrow::Cow;

use serde_json::Value;

use crate::limits;

const NAMES: [(&str, Place); 4] = [
    ("last_user", Place::LastUser),
    ("tool_result", Place::ToolResult),
    ("model", Place::Model),
    ("call", Place::Call),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    LastUser,
    ToolResult,
    Model,
    Call,
}

/// Values for the placeholders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TemplateValues<'a> {
    pub(crate) last_user: &'a str,
    pub(crate) tool_result: &'a str,
    pub(crate) model: &'a str,
    pub(crate) call: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Literal(String),
    Place(Place),
}

impl Template {
    pub(crate) fn literal(text: &str) -> Self {
        Self { parts: vec![Part::Literal(text.to_owned())] }
    }

    /// Braces that hold anything but a name in lower case are text, as in code or JSON.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(open) = rest.find("{{") {
            let inner = &rest[open + 2..];
            let Some(close) = inner.find("}}") else { break };
            let name = inner[..close].trim();
            let is_name =
                !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase());
            if !is_name {
                literal.push_str(&rest[..open + 2]);
                rest = inner;
                continue;
            }
            let Some((_, place)) = NAMES.iter().find(|(known, _)| *known == name) else {
                let known = NAMES.map(|(known, _)| format!("{{{{{known}}}}}")).join(", ");
                return Err(format!("unknown placeholder {{{{{name}}}}} (expected {known})"));
            };
            literal.push_str(&rest[..open]);
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Place(*place));
            rest = &inner[close + 2..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { parts })
    }

    pub(crate) fn render(&self, words: &TemplateValues<'_>) -> String {
        match &self.parts[..] {
            [] => String::new(),
            [Part::Literal(only)] => only.clone(),
            parts => parts.iter().map(|part| part.render(words)).collect(),
        }
    }

    fn has_places(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Place(_)))
    }
}

impl Part {
    fn render<'a>(&'a self, words: &TemplateValues<'a>) -> Cow<'a, str> {
        match self {
            Self::Literal(text) => Cow::Borrowed(text),
            Self::Place(Place::LastUser) => Cow::Borrowed(shortened(words.last_user)),
            Self::Place(Place::ToolResult) => Cow::Borrowed(shortened(words.tool_result)),
            Self::Place(Place::Model) => Cow::Borrowed(shortened(words.model)),
            Self::Place(Place::Call) => Cow::Owned(words.call.to_string()),
        }
    }
}

fn shortened(text: &str) -> &str {
    let mut end = text.len().min(limits::SUBSTITUTED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The input of a tool call: JSON whose texts may have places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InputTemplate {
    value: Value,
    /// The finished text, if it has no placeholder.
    ready: Option<String>,
}

impl InputTemplate {
    pub(crate) fn parse(value: Value) -> Result<Self, String> {
        let has_places = check(&value)?;
        let ready = (!has_places).then(|| value.to_string());
        Ok(Self { value, ready })
    }

    /// The input as JSON text.
    pub(crate) fn render(&self, words: &TemplateValues<'_>) -> String {
        match &self.ready {
            Some(ready) => ready.clone(),
            None => fill(&self.value, words).to_string(),
        }
    }
}

/// True if any text has a placeholder.
fn check(value: &Value) -> Result<bool, String> {
    let mut found = false;
    match value {
        Value::String(text) => found = Template::parse(text)?.has_places(),
        Value::Array(items) => {
            for item in items {
                found |= check(item)?;
            }
        }
        Value::Object(fields) => {
            for item in fields.values() {
                found |= check(item)?;
            }
        }
        _ => {}
    }
    Ok(found)
}

fn fill(value: &Value, words: &TemplateValues<'_>) -> Value {
    match value {
        Value::String(text) => {
            Value::String(Template::parse(text).map_or_else(|_| text.clone(), |text| text.render(words)))
        }
        Value::Array(items) => items.iter().map(|item| fill(item, words)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, item)| (key.clone(), fill(item, words))).collect())
        }
        other => other.clone(),
    }
}
