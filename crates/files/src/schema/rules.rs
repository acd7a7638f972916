//! What a value must be, beyond what its type says: the same bounds that reading enforces, in the words
//! of a schema.

use persona::{Scope, limits};
use serde_json::{Value, json};

/// A bound on the value of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// What the type says is all.
    Typed,
    /// The name of an entity.
    Name,
    /// A list of names, each once.
    Names(usize),
    /// A base: a name, with or without a scope.
    Base,
    /// One of the type's words, this one where nothing is written.
    Word(&'static str),
    /// One line that says something, of at most so many characters.
    Line(usize),
    /// A text of at most so many bytes. Schemas count characters, which are never more.
    Text(usize),
    /// A list of single lines, such as tags.
    Lines(usize),
    /// A list of names or patterns of tools.
    Tools(usize),
    /// A list of short texts.
    Texts(usize),
    /// A list of anything else.
    List(usize),
    /// A table whose keys the author chooses.
    Keys(usize),
    /// A whole number within bounds, and what counts where nothing is written.
    Whole(i64, i64, Option<i64>),
    /// A number within bounds, and what counts where nothing is written.
    Number(f64, f64, Option<f64>),
    /// A list whose entries say where they look: by `glob` or by `path`.
    Either(usize, [&'static str; 2]),
    /// A path or pattern that stays inside the project.
    Inside,
    /// A file below the directory of the personas.toml.
    InnerFile,
}

impl Rule {
    pub(super) fn apply(self, schema: &mut Value) {
        match self {
            Self::Typed => {}
            Self::Name => schema["pattern"] = json!(whole(&name_pattern())),
            Self::Names(most) => {
                bound(schema, "maxItems", most);
                schema["uniqueItems"] = json!(true);
                Self::Name.apply(&mut schema["items"]);
            }
            Self::Base => {
                let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
                schema["pattern"] = json!(whole(&format!("(({}):)?{}", scopes.join("|"), name_pattern())));
            }
            Self::Word(word) => schema["default"] = json!(word),
            Self::Line(most) => {
                bound(schema, "maxLength", most);
                schema["pattern"] = json!(SAYS_SOMETHING);
            }
            Self::Text(most) => bound(schema, "maxLength", most),
            Self::Lines(most) => {
                bound(schema, "maxItems", most);
                Self::Line(limits::TAG_CHARS).apply(&mut schema["items"]);
            }
            Self::Tools(most) => {
                bound(schema, "maxItems", most);
                Self::Line(limits::TOOL_CHARS).apply(&mut schema["items"]);
            }
            Self::Texts(most) => {
                bound(schema, "maxItems", most);
                Self::Text(limits::SHORT_TEXT_BYTES).apply(&mut schema["items"]);
            }
            Self::List(most) => bound(schema, "maxItems", most),
            Self::Keys(most) => {
                bound(schema, "maxProperties", most);
                schema["propertyNames"] =
                    json!({ "maxLength": limits::TAG_CHARS, "pattern": SAYS_SOMETHING });
            }
            Self::Whole(least, most, default) => between(schema, json!(least), json!(most), json!(default)),
            Self::Number(least, most, default) => between(schema, json!(least), json!(most), json!(default)),
            Self::Either(most, fields) => {
                bound(schema, "maxItems", most);
                schema["items"]["oneOf"] =
                    fields.iter().map(|field| json!({ "required": [field] })).collect();
            }
            Self::Inside => {
                Self::Line(limits::SHORT_TEXT_BYTES).apply(schema);
                schema["not"] = json!({ "pattern": format!("^[/~]|{UPWARDS}") });
            }
            Self::InnerFile => {
                Self::Line(limits::SHORT_TEXT_BYTES).apply(schema);
                schema["not"] = json!({ "pattern": format!("^/|{UPWARDS}") });
            }
        }
    }
}

/// At least one character that is no blank.
const SAYS_SOMETHING: &str = r"\S";

/// A step out of a directory, anywhere in a path.
const UPWARDS: &str = r"(^|[/\\])\.\.([/\\]|$)";

/// The pattern of names, as part of a longer one.
pub(super) fn name_pattern() -> String {
    format!("[A-Za-z0-9][A-Za-z0-9_-]{{0,{}}}", limits::NAME_CHARS - 1)
}

/// A pattern that must match from beginning to end.
pub(super) fn whole(pattern: &str) -> String {
    format!("^{pattern}$")
}

fn bound(schema: &mut Value, keyword: &str, most: usize) {
    schema[keyword] = json!(most);
}

fn between(schema: &mut Value, least: Value, most: Value, default: Value) {
    schema["minimum"] = least;
    schema["maximum"] = most;
    match (default, schema.as_object_mut()) {
        (Value::Null, Some(schema)) => drop(schema.remove("default")),
        (default, _) => schema["default"] = default,
    }
}
