//! The description of a field: its shape, limits and purpose.
//!
//! Each kind describes its fields once, beside its type ([`Described::FIELDS`]). Everything that
//! treats fields alike reads that table: checks, references, inheritance, lint, the schema of
//! personas.toml, search words, storage, and the flags of the command line.

use crate::{Kind, limits};

mod build;
pub(crate) use build::{
    base, key, line, list, long, map, name, names, number, path, short, switch, table, tags, text, texts,
    whole, word, words,
};

mod macros;
pub(crate) use macros::{blank, described, kind, taken};

pub(crate) mod value;
pub use value::{AnyValue, Leaf, ValueView, Visit, walk};

/// One field of a kind, or of an entry in one of its lists.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub shape: Shape,
    /// Purpose, in sentences. A flag's help has the first one.
    pub about: &'static str,
    pub search: Search,
    pub inherit: Inherit,
    /// True if the runtime fills in `${env.NAME}`: the text reaches a model.
    pub is_filled: bool,
    /// True if it is for people and runtimes: `show` prints it, views for agents leave it out.
    pub is_setting: bool,
    /// True if a text must hold more than blanks.
    pub says_something: bool,
    pub flag: Flag,
    pub input: Input,
}

/// The shape of a value, and its limits.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// The name of the entity or of the entry itself.
    Key,
    /// One line of at most so many characters.
    Line(usize),
    /// A text of at most so many bytes.
    Text(usize),
    /// A path or a glob inside the project.
    Path,
    /// The name of an entity.
    Name(Kind),
    /// The names of at most so many entities, each once.
    Names(Kind, usize),
    /// The name of a persona, with or without a scope.
    Base,
    /// A word of a closed vocabulary.
    Word(Word),
    /// At most `most` single lines of at most `chars` characters.
    Words { most: usize, chars: usize },
    /// At most so many short texts.
    Texts(usize),
    /// A whole number. `unset` is the default; `implied` is a default that is never written out.
    Whole { least: i64, most: i64, unset: Option<i64>, implied: Option<i64> },
    /// A number. `unset` is the default.
    Number { least: f64, most: f64, unset: Option<f64> },
    /// True or false.
    Switch,
    /// A table with fields of its own.
    Table(&'static [Field]),
    /// A list of at most `most` tables.
    List { most: usize, item: &'static TableType },
    /// A table whose keys the author chooses: at most `most`, of at most `chars` characters.
    Map { most: usize, chars: usize, of: &'static Field },
}

/// A closed vocabulary in a field.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    pub words: fn() -> Vec<&'static str>,
    /// The effective word of an empty field, for the schema.
    pub unset: Option<&'static str>,
    /// The default word, which is neither written to a file nor compared.
    pub implied: Option<&'static str>,
    /// True if the field may be empty.
    pub is_optional: bool,
}

/// A table as the entry of a list.
#[derive(Debug)]
pub struct TableType {
    /// The name of the Rust type, as serde passes it to readers and writers.
    pub type_name: &'static str,
    pub about: &'static str,
    pub fields: &'static [Field],
    /// True if a file may write its name alone.
    pub may_be_bare: bool,
    /// The `order` of the first entry, where entries without one are numbered by position.
    pub first_order: Option<i32>,
    /// True if an entry may be a text instead of a table.
    pub may_be_text: bool,
    /// True if names are unique; paths then have the name instead of a position.
    pub is_named: bool,
}

/// The weight of a field in the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    No,
    /// Weighs more than any text.
    AsName,
    AsText,
}

/// The rule that combines a persona's field with its base's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inherit {
    /// Not inherited, or by a rule of its own.
    Own,
    /// The strongest layer that sets it decides. A table is inherited field by field.
    Strongest,
    /// The union of all layers, minus the entries in the field of this name.
    Union(&'static str),
    /// Removes entries from the base's list.
    Removes,
}

/// The flag of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// `--name-of-field`. The flag of a list of texts or names is repeatable, and in the singular.
    Named,
    /// The same under another name.
    Called(&'static str),
}

/// The inputs with this field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Create and update.
    Own,
    /// Create only; other commands change it later.
    Linked,
}

impl Field {
    /// True if a value of this field is a text that may have a file of its own.
    pub const fn is_long(&self) -> bool {
        matches!(self.shape, Shape::Text(most) if most >= limits::LONG_TEXT_BYTES)
    }

    /// True if an update clears the field with 0, as an empty text clears others.
    pub const fn is_cleared_by_zero(&self) -> bool {
        matches!(self.shape, Shape::Whole { least, implied: None, .. } if least > 0)
    }

    /// The JSON value that means "not set".
    pub fn unset_json(&self) -> serde_json::Value {
        match self.shape {
            Shape::Words { .. } | Shape::Names(..) | Shape::Texts(_) | Shape::List { .. } => {
                serde_json::Value::Array(Vec::new())
            }
            Shape::Map { .. } => serde_json::Value::Object(serde_json::Map::new()),
            Shape::Word(Word { implied: Some(word), .. }) => word.into(),
            Shape::Whole { implied: Some(number), .. } => number.into(),
            _ => serde_json::Value::Null,
        }
    }
}

impl Shape {
    /// The kind of the entities that a value names.
    pub fn names(&self) -> Option<Kind> {
        match self {
            Self::Name(kind) | Self::Names(kind, _) => Some(*kind),
            Self::Base => Some(Kind::Persona),
            Self::List { item, .. } => item.link(),
            _ => None,
        }
    }
}

impl TableType {
    pub(crate) const fn new(type_name: &'static str, fields: &'static [Field], about: &'static str) -> Self {
        Self {
            type_name,
            about,
            fields,
            may_be_bare: false,
            first_order: None,
            may_be_text: false,
            is_named: false,
        }
    }

    pub(crate) const fn bare(self) -> Self {
        Self { may_be_bare: true, ..self }
    }

    pub(crate) const fn or_text(self) -> Self {
        Self { may_be_text: true, ..self }
    }

    pub(crate) const fn ordered_from(self, first: i32) -> Self {
        Self { first_order: Some(first), ..self }
    }

    pub(crate) const fn named_once(self) -> Self {
        Self { is_named: true, ..self }
    }

    /// The kind of the linked entity, if an entry's name is a reference.
    fn link(&self) -> Option<Kind> {
        self.fields.iter().find_map(|field| match field {
            Field { name: "name", shape: Shape::Name(kind), .. } => Some(*kind),
            _ => None,
        })
    }
}

/// A type whose fields are described.
pub trait Described {
    const TYPE_NAME: &'static str;
    const FIELDS: &'static [Field];

    /// The value of every field, in order.
    fn values(&self) -> Vec<(&'static Field, &dyn AnyValue)>;

    fn values_mut(&mut self) -> Vec<(&'static Field, &mut dyn AnyValue)>;
}

/// Finds a field by its path: `plan_persona.model`, `stages.parts`.
pub fn find(fields: &'static [Field], path: &str) -> Option<&'static Field> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let found = fields.iter().find(|field| field.name == first)?;
    match (rest, found.shape) {
        (None, _) => Some(found),
        (Some(rest), Shape::Table(fields)) => find(fields, rest),
        (Some(rest), Shape::List { item, .. }) => find(item.fields, rest),
        (Some(_), _) => None,
    }
}
