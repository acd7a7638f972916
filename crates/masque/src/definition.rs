//! The definition to write: the fields of a file, overridden by flags.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use app::inputs::InputError;
use app::{AsReport as _, Code, Remedy, Report, Subject};
use persona::{AnyEntity, FilePlace, Kind, with_kind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::{CommandError, Failure, Result};

/// Maximum size of a file or of standard input: an import takes every personas.toml that is read in place.
const MOST_BYTES: u64 = persona::limits::FILE_BYTES as u64;

/// State that `show --json` prints beside the fields. Ignored, so that its output can be edited.
const STATE_FIELDS: [&str; 4] = ["scope", "guid", "created_at", "updated_at"];

/// The fields of one entity, before they are checked.
#[derive(Debug)]
pub(crate) struct Definition {
    fields: Map<String, Value>,
    /// The file's name, for messages. None if all fields came from flags.
    origin: Option<String>,
}

/// The purpose of a definition. A file's `revision` is a condition of an update only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Create,
    Update,
}

impl Definition {
    /// Reads the file, if one is named. Without a file and without flags it reads standard input,
    /// unless that is a terminal; with flags it leaves standard input alone, because a loop in a
    /// script may still need it.
    pub(crate) fn read(file: Option<&Path>, flags: &impl Serialize, purpose: Purpose) -> Result<Self> {
        let flags = object(flags)?;
        let implied = flags.is_empty() && !io::stdin().is_terminal();
        let mut definition = match file {
            Some(path) => Self::parse_text(&read_text(path)?, &shown(path), purpose)?,
            None if implied => {
                let text = read_text(Path::new("-"))?;
                if text.trim().is_empty() {
                    Self::empty()
                } else {
                    Self::parse_text(&text, "standard input", purpose)?
                }
            }
            None => Self::empty(),
        };
        definition.fields.extend(flags);
        Ok(definition)
    }

    fn empty() -> Self {
        Self { fields: Map::new(), origin: None }
    }

    fn parse_text(text: &str, origin: &str, purpose: Purpose) -> Result<Self> {
        let mut fields = parse_fields(text, origin)?;
        for field in STATE_FIELDS {
            fields.remove(field);
        }
        let revision = fields.remove("revision");
        if let (Purpose::Update, Some(revision)) = (purpose, revision) {
            fields.entry("if_revision").or_insert(revision);
        }
        Ok(Self { fields, origin: Some(origin.to_owned()) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Sets a field, unless the value is `None`.
    pub(crate) fn set(&mut self, field: &str, value: &Option<impl Serialize>) -> Result<()> {
        if let Some(value) = value {
            let value = serde_json::to_value(value).map_err(|error| unserialisable(&error))?;
            self.fields.insert(field.to_owned(), value);
        }
        Ok(())
    }

    /// Expands the short forms of a personas.toml.
    pub(crate) fn spell_out(&mut self, kind: Kind) {
        files::document::spell_out(kind, &mut self.fields);
    }

    /// Takes the expected revision of a file or a flag.
    pub(crate) fn take_revision(&mut self) -> Result<Option<i64>> {
        match self.fields.remove("if_revision") {
            None => Ok(None),
            Some(revision) => match revision.as_i64() {
                Some(revision) => Ok(Some(revision)),
                None => Err(Report::new(Code::InvalidValue, format!("revision {revision} is not a number"))
                    .about(Subject::field("revision"))
                    .into()),
            },
        }
    }

    /// The fields, unchecked.
    pub(crate) fn into_fields(self) -> Map<String, Value> {
        self.fields
    }

    /// The entity of a kind, with short forms expanded.
    pub(crate) fn into_entity(mut self, kind: Kind) -> Result<AnyEntity> {
        self.spell_out(kind);
        with_kind!(kind, T => self.into_input::<T>().map(AnyEntity::from))
    }

    /// Parses the fields into an input of the library.
    pub(crate) fn into_input<T: DeserializeOwned>(self) -> Result<T> {
        app::inputs::parse(&self.fields).map_err(|error| refused(&error, self.origin.as_deref()))
    }
}

/// Reads a text file, or standard input for the path "-".
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::file("read", Path::new(&shown(path)), &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        let most_mib = MOST_BYTES / (1024 * 1024);
        return Err(CommandError::FileTooLarge { file: shown(path), most_mib, remedy: None }.into());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = Some(error.utf8_error().valid_up_to());
        CommandError::NotText { what: shown(path), at, remedy: Some(Remedy::SaveAsUtf8) }
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads a JSON file, or standard input for the path "-".
pub(crate) fn read_json(path: &Path) -> Result<Value> {
    serde_json::from_str(&read_text(path)?).map_err(|error| not_json(shown(path), &error))
}

fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The flags that were given, as fields.
fn object(flags: &impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(flags).map_err(|error| unserialisable(&error))? {
        Value::Object(mut fields) => {
            fields.retain(|_, value| !value.is_null());
            Ok(fields)
        }
        _ => Ok(Map::new()),
    }
}

fn unserialisable(error: &serde_json::Error) -> Failure {
    Failure::json(error)
}

/// TOML never opens with a brace and a JSON object always does, so the content tells them apart.
fn parse_fields(text: &str, origin: &str) -> Result<Map<String, Value>> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| not_json(origin, &error));
    }
    toml::from_str(text).map_err(|error| not_toml(origin, text, &error))
}

/// The failure of a JSON text, with the place of the error.
fn not_json(origin: impl Display, error: &serde_json::Error) -> Failure {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    not_readable(origin, (error.line(), error.column()), message)
}

/// The failure of a TOML text, with the place of the error.
pub(crate) fn not_toml(origin: impl Display, text: &str, error: &toml::de::Error) -> Failure {
    let (line, column) = place(text, error.span().map_or(0, |span| span.start));
    let message = error.message().trim_end().replace('\n', ", ");
    not_readable(origin, (line, column), &message)
}

/// The failure of a file that is not valid TOML or JSON, with the place of the error.
fn not_readable(origin: impl Display, (line, column): (usize, usize), message: &str) -> Failure {
    let place = FilePlace { path: origin.to_string(), line: Some(line), column: Some(column) };
    let subject = Subject { place: Some(place), ..Subject::default() };
    Report::new(Code::InvalidConfig, format!("{origin}:{line}:{column}: {message}")).about(subject).into()
}

/// Line and column of a byte, both from 1.
pub(crate) fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The failure of an input, with the command line's own advice.
fn refused(error: &InputError, origin: Option<&str>) -> Failure {
    let mut report = error.report();
    let origin = origin.map(|origin| format!("{origin}: ")).unwrap_or_default();
    report.message = format!("{origin}{}", report.message);
    if let Some(advice) = advice(error) {
        report.message = format!("{}; {advice}", report.message);
        report.candidates.clear();
        report.remedies.clear();
    }
    report.into()
}

/// Advice that names flags and commands; other errors keep their remedies.
fn advice(error: &InputError) -> Option<String> {
    match error {
        InputError::Missing { parent, field: "name" } if parent.is_empty() => {
            Some("pass it after the kind, or set it in the file".to_owned())
        }
        InputError::Missing { parent, field } if parent.is_empty() => {
            Some(format!("pass --{}, or set it in the file", field.replace('_', "-")))
        }
        InputError::Unknown { field, .. } => match field.as_str() {
            "parts" | "traits" | "skills" | "guardrails" => {
                Some("use `masque link` and `masque unlink`".to_owned())
            }
            "arc" => Some("use `masque arc assign` and `masque arc unassign`".to_owned()),
            "stages" => Some("use `masque arc add-stage` and `masque arc remove-stage`".to_owned()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use app::inputs::{CreatePart, CreatePersona, UpdatePart, UpdatePersona};
    use persona::{Kind, ToolPreset};
    use serde::de::DeserializeOwned;

    use super::{Code, Definition, Purpose};
    use crate::failure::Failure;

    /// The code of a refusal, its field and its candidates; `None` for an accepted input.
    fn refusal<T: DeserializeOwned>(text: &str, purpose: Purpose) -> Option<(Code, String, Vec<String>)> {
        match Definition::parse_text(text, "x.toml", purpose).and_then(Definition::into_input::<T>) {
            Ok(_) => None,
            Err(Failure::Reported(report)) => {
                Some((report.code, report.subject.field.unwrap_or_default(), report.candidates))
            }
            Err(_) => panic!("a failure without a report"),
        }
    }

    #[test]
    fn toml_and_json_are_distinguished() {
        let create = |text| refusal::<CreatePart>(text, Purpose::Create);
        assert_eq!(create("name = 'a'\npart_type = 'tone'"), None);
        assert_eq!(create(" \n{\"name\": \"a\", \"part_type\": \"tone\"}"), None);
    }

    #[test]
    fn an_error_names_the_field() {
        let create = |text| refusal::<CreatePart>(text, Purpose::Create).expect("an error");
        let tone = || vec!["tone".to_owned()];
        assert_eq!(
            create("name = 'a'\npart_type = 'tone'\nconten = 'x'"),
            (Code::UnknownField, "conten".to_owned(), vec!["content".to_owned()])
        );
        assert_eq!(
            create("name = 'a'\npart_type = 'tonn'"),
            (Code::UnknownWord, "part_type".to_owned(), tone())
        );
        assert_eq!(create("name = 'a'"), (Code::MissingField, "part_type".to_owned(), Vec::new()));
        let nested = "name = 'a'\nparts = ['b', { name = 'c', part_type = 'tonn' }]";
        let nested = refusal::<CreatePersona>(nested, Purpose::Create).expect("an error");
        assert_eq!(nested, (Code::UnknownWord, "parts[1].part_type".to_owned(), tone()));
    }

    #[test]
    fn an_error_of_the_syntax_has_a_place() {
        let place = |text| match Definition::parse_text(text, "x.toml", Purpose::Create) {
            Err(Failure::Reported(report)) => report.subject.place.expect("a place"),
            _ => panic!("the text has an error"),
        };
        assert_eq!(place("name = 'a'\nsummary = 'x\n").line, Some(2));
        let json = place("{\"name\": \"a\",\n \"tags\": [}");
        assert_eq!((json.line, json.column), (Some(2), Some(11)));
    }

    #[test]
    fn a_value_of_the_wrong_type_is_invalid() {
        let preset = "name = 'a'\ncategories = { read = [5] }";
        let preset = refusal::<ToolPreset>(preset, Purpose::Create).expect("an error");
        assert_eq!(preset, (Code::InvalidValue, "categories.read[0]".to_owned(), Vec::new()));
        let models = "name = 'a'\npreferred_models = ['m']";
        let models = refusal::<UpdatePersona>(models, Purpose::Update).expect("an error");
        assert_eq!(models, (Code::InvalidValue, "preferred_models[0]".to_owned(), Vec::new()));
    }

    #[test]
    fn a_short_form_is_taken_as_in_a_file() {
        let text = "name = 'a'\ncategories = { read = ['cat', { name = 'ls', weight = 1 }] }";
        let preset = Definition::parse_text(text, "x.toml", Purpose::Create).and_then(|mut definition| {
            definition.spell_out(Kind::ToolPreset);
            definition.into_input::<ToolPreset>()
        });
        let tools = preset.map(|preset| preset.categories["read"].len());
        assert_eq!(tools.ok(), Some(2));
    }

    #[test]
    fn shown_json_can_be_updated() {
        let shown = r#"{"name": "a", "part_type": "tone", "tags": [], "scope": "shared", "revision": 3,
            "guid": "0190e3a0-0000-7000-8000-000000000000", "created_at": "2026-01-01T00:00:00Z"}"#;
        assert_eq!(refusal::<CreatePart>(shown, Purpose::Create), None);
        let update = Definition::parse_text(shown, "x.json", Purpose::Update)
            .and_then(Definition::into_input::<UpdatePart>);
        assert_eq!(update.map(|update| update.if_revision).ok(), Some(Some(3)));
    }

    #[test]
    fn links_are_no_fields_of_an_update() {
        let update = |text| refusal::<UpdatePersona>(text, Purpose::Update).expect("an error");
        assert_eq!(update("name = 'a'\nparts = []"), (Code::UnknownField, "parts".to_owned(), Vec::new()));
        assert_eq!(update("name = 'a'\narc = 'x'"), (Code::UnknownField, "arc".to_owned(), Vec::new()));
    }
}
