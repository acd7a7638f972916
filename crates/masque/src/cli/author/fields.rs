//! The flags of each kind, built from the descriptions of its fields. Collected values have the field
//! names of files.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use persona::Kind;
use persona::field::{Field, Flag, Inherit, Input, Shape};
use serde_json::{Map, Value, json};

use crate::definition::{read_json, read_text};
use crate::failure::Result;

/// The heading of flags about inheritance.
const INHERITANCE: &str = "Inheritance";
const FIELDS: &str = "Fields";

/// Fields set by flags, before files are read.
#[derive(Debug, Default)]
pub(crate) struct GivenFields {
    values: Map<String, Value>,
    files: Vec<(&'static FieldFlag, PathBuf)>,
}

impl GivenFields {
    /// Returns the fields, with the contents of flags like `--content-file`.
    pub(crate) fn read(self) -> Result<Map<String, Value>> {
        let mut values = self.values;
        for (flag, path) in self.files {
            let value = if takes_json(flag.field) { read_json(&path)? } else { read_text(&path)?.into() };
            put(&mut values, flag, value);
        }
        Ok(values)
    }
}

/// One flag, and the field that it sets.
#[derive(Debug)]
struct FieldFlag {
    field: &'static Field,
    /// The table that contains the field. None at the top level.
    table: Option<&'static str>,
    long: String,
    /// The flag that reads the value from a file.
    file: Option<String>,
    value_name: String,
    help: String,
    file_help: String,
    heading: &'static str,
}

/// Every flag of every kind, by [`Kind`]'s order.
static FLAGS: LazyLock<Vec<Vec<FieldFlag>>> =
    LazyLock::new(|| Kind::ALL.iter().map(|kind| flags_of(kind.fields())).collect());

fn flags(kind: Kind) -> &'static [FieldFlag] {
    Kind::ALL.iter().position(|known| *known == kind).map_or(&[], |at| FLAGS[at].as_slice())
}

fn flags_of(fields: &'static [Field]) -> Vec<FieldFlag> {
    let mut flags = Vec::new();
    for field in fields {
        match (field.shape, flag_name(field)) {
            (Shape::Key, _) => {}
            (Shape::Table(inner), prefix) => {
                let inner = inner.iter().map(|inner| {
                    let long = format!("{prefix}-{}", flag_name(inner));
                    // Only top-level fields can be read from a file.
                    FieldFlag { file: None, ..FieldFlag::new(inner, Some(field.name), long) }
                });
                flags.extend(inner);
            }
            (_, long) => flags.push(FieldFlag::new(field, None, long)),
        }
    }
    flags
}

/// `--system-prompt` for `system_prompt`. A repeatable flag is in the singular.
fn flag_name(field: &Field) -> String {
    let name = match field.flag {
        Flag::Called(name) => return name.to_owned(),
        Flag::Named => field.name,
    };
    let name = if is_repeatable(field) { name.strip_suffix('s').unwrap_or(name) } else { name };
    name.replace('_', "-")
}

fn is_repeatable(field: &Field) -> bool {
    match field.shape {
        Shape::Words { .. } | Shape::Names(..) | Shape::Texts(_) => true,
        Shape::List { .. } | Shape::Map { .. } => !takes_json(field),
        _ => false,
    }
}

/// True for tables within a table, and for lists and maps of tables without a shorter syntax, such as a
/// name or `CATEGORY=N`.
fn takes_json(field: &Field) -> bool {
    match field.shape {
        Shape::List { item, .. } => {
            item.type_name != MODEL && !item.may_be_bare && !item.may_be_text && !item.is_named
        }
        Shape::Map { of, .. } => !matches!(of.shape, Shape::Number { .. }),
        Shape::Table(_) => true,
        _ => false,
    }
}

impl FieldFlag {
    fn new(field: &'static Field, table: Option<&'static str>, long: String) -> Self {
        let about = field.about.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let more = if is_repeatable(field) {
            "; repeatable"
        } else if takes_json(field) {
            ", as JSON"
        } else {
            ""
        };
        let about_bases = field.inherit == Inherit::Removes
            || matches!(field.shape, Shape::Base)
            || field.name.ends_with("_mode");
        Self {
            field,
            table,
            file: (field.is_long() || takes_json(field)).then(|| format!("{long}-file")),
            value_name: value_name(field),
            help: format!("{about}{more}"),
            file_help: format!(
                "Read the {} from a file; \"-\" for standard input",
                field.name.replace('_', " ")
            ),
            heading: if about_bases { INHERITANCE } else { FIELDS },
            long,
        }
    }

    fn argument(&'static self) -> Arg {
        let argument = Arg::new(self.long.as_str())
            .long(self.long.as_str())
            .value_name(self.value_name.as_str())
            .help(self.help.as_str())
            .help_heading(self.heading);
        let argument = match self.field.shape {
            Shape::Word(word) => {
                let words = (word.words)().into_iter().map(PossibleValue::new);
                // As with texts, an empty word clears the field.
                let none = word.is_optional.then(|| PossibleValue::new("").hide(true));
                argument.value_parser(PossibleValuesParser::new(words.chain(none)))
            }
            Shape::Whole { .. } => argument.value_parser(clap::value_parser!(u32)),
            Shape::Number { .. } => argument.value_parser(clap::value_parser!(f64)),
            _ if takes_json(self.field) => argument.value_parser(json_value),
            Shape::Map { .. } => argument.value_parser(pair),
            Shape::List { item, .. } if item.type_name == MODEL => argument.value_parser(model),
            _ => argument,
        };
        let argument = if self.field.name.ends_with("_type") { argument.alias("type") } else { argument };
        if is_repeatable(self.field) { argument.action(ArgAction::Append) } else { argument }
    }

    /// The value of the field on the command line.
    fn value(&self, matches: &ArgMatches) -> Option<Value> {
        let id = self.long.as_str();
        let texts =
            |id: &str| matches.get_many::<String>(id).map(|values| values.filter(|it| !it.is_empty()));
        Some(match self.field.shape {
            Shape::Whole { .. } => json!(matches.get_one::<u32>(id)?),
            Shape::Number { .. } => json!(matches.get_one::<f64>(id)?),
            _ if takes_json(self.field) => match matches.get_one::<Value>(id)? {
                Value::Null => self.field.unset_json(),
                value => value.clone(),
            },
            Shape::Map { .. } => {
                let pairs = matches.get_many::<(String, f64)>(id)?;
                Value::Object(pairs.map(|(key, value)| (key.clone(), json!(value))).collect())
            }
            Shape::List { item, .. } if item.type_name == MODEL => {
                matches.get_many::<Value>(id)?.filter(|model| !model.is_null()).cloned().collect()
            }
            Shape::List { item, .. } if item.may_be_text => {
                texts(id)?.map(|text| text_or_table(text)).collect()
            }
            // A part is linked by name, and a new stage has only a name.
            Shape::List { item, .. } if !item.may_be_bare => {
                texts(id)?.map(|name| json!({ "name": name })).collect()
            }
            _ if is_repeatable(self.field) => texts(id)?.cloned().collect(),
            _ => matches.get_one::<String>(id)?.as_str().into(),
        })
    }
}

/// The placeholder of a value in the help.
fn value_name(field: &Field) -> String {
    let last = field.name.rsplit('_').next().unwrap_or(field.name).to_uppercase();
    match field.shape {
        Shape::Name(_) | Shape::Names(..) => "NAME".to_owned(),
        Shape::Base => "NAME|SCOPE:NAME".to_owned(),
        Shape::Whole { .. } | Shape::Number { .. } => "N".to_owned(),
        Shape::Word(_) => last,
        _ if takes_json(field) => "JSON".to_owned(),
        Shape::Words { .. } => last.strip_suffix('S').unwrap_or(&last).to_owned(),
        Shape::List { item, .. } if item.type_name == MODEL => "PROVIDER/MODEL".to_owned(),
        Shape::List { item, .. } if item.may_be_text => "TEXT|JSON".to_owned(),
        Shape::List { .. } => "NAME".to_owned(),
        Shape::Map { .. } => "CATEGORY=N".to_owned(),
        _ => "TEXT".to_owned(),
    }
}

/// The type of list entries whose flag has a syntax of its own: `PROVIDER/MODEL`.
const MODEL: &str = "PreferredModel";

/// Parses `anthropic/claude-sonnet-4-5`. An empty text means no model.
fn model(text: &str) -> std::result::Result<Value, &'static str> {
    match text.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
            Ok(json!({ "provider": provider, "model": model }))
        }
        None if text.is_empty() => Ok(Value::Null),
        _ => Err("expected PROVIDER/MODEL, for example anthropic/claude-sonnet-4-5"),
    }
}

/// Parses `search=1.5`.
fn pair(text: &str) -> std::result::Result<(String, f64), &'static str> {
    let parsed = text.split_once('=').and_then(|(key, value)| {
        let value = value.trim().parse().ok().filter(|value: &f64| value.is_finite())?;
        Some((key.trim().to_owned(), value))
    });
    parsed.ok_or("expected CATEGORY=NUMBER, for example search=1.5")
}

/// Parses JSON. As with texts, an empty value clears the field.
fn json_value(text: &str) -> std::result::Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))
}

/// A table if the text is a JSON object, else the text itself.
fn text_or_table(text: &str) -> Value {
    let table = text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    table.unwrap_or_else(|| text.into())
}

/// The kind of the entities that a flag of a kind names, if it names some.
pub(crate) fn named_kind(kind: Kind, long: &str) -> Option<Kind> {
    flags(kind).iter().find(|flag| flag.long == long)?.field.shape.names()
}

/// The fate of a field's current value in an update, for the help of the field's flag.
pub(super) fn update_note(kind: Kind, long: &str) -> Option<&'static str> {
    let field = flags(kind).iter().find(|flag| flag.long == long)?.field;
    if is_repeatable(field) || takes_json(field) {
        Some("replaces the current ones")
    } else {
        field.is_cleared_by_zero().then_some("0 clears it")
    }
}

/// Adds the flags of a kind. `taken` selects the fields.
pub(super) fn augment(command: Command, kind: Kind, taken: fn(Input) -> bool) -> Command {
    flags(kind).iter().filter(|flag| taken(flag.field.input)).fold(command, |command, flag| {
        let command = command.arg(flag.argument());
        let Some(file) = &flag.file else { return command };
        command.arg(
            Arg::new(file.as_str())
                .long(file.as_str())
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help(flag.file_help.as_str())
                .help_heading(flag.heading)
                .conflicts_with(flag.long.as_str()),
        )
    })
}

/// Collects the values of the flags of a kind.
pub(super) fn collect(matches: &ArgMatches, kind: Kind, taken: fn(Input) -> bool) -> GivenFields {
    let mut given = GivenFields::default();
    for flag in flags(kind).iter().filter(|flag| taken(flag.field.input)) {
        if let Some(value) = flag.value(matches) {
            put(&mut given.values, flag, value);
        }
        let path = flag.file.as_ref().and_then(|file| matches.get_one::<PathBuf>(file.as_str()));
        given.files.extend(path.map(|path| (flag, path.clone())));
    }
    given
}

fn put(values: &mut Map<String, Value>, flag: &FieldFlag, value: Value) {
    let name = flag.field.name.to_owned();
    match flag.table {
        None => drop(values.insert(name, value)),
        Some(table) => {
            let table = values.entry(table).or_insert_with(|| json!({}));
            table[name] = value;
        }
    }
}

#[cfg(test)]
mod tests;
