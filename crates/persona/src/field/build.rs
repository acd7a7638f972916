//! Building the description of a field: a shape, then what is special about it.

use super::{Field, Flag, Inherit, Input, Search, Shape, TableType, Word};
use crate::{Kind, limits};

const fn field(shape: Shape, about: &'static str) -> Field {
    Field {
        name: "",
        shape,
        about,
        search: Search::No,
        inherit: Inherit::Own,
        is_filled: false,
        is_setting: false,
        says_something: false,
        flag: Flag::Named,
        input: Input::Own,
    }
}

pub(crate) const fn key(about: &'static str) -> Field {
    field(Shape::Key, about)
}

pub(crate) const fn line(most: usize, about: &'static str) -> Field {
    field(Shape::Line(most), about)
}

pub(crate) const fn text(most: usize, about: &'static str) -> Field {
    field(Shape::Text(most), about)
}

pub(crate) const fn short(about: &'static str) -> Field {
    text(limits::SHORT_TEXT_BYTES, about)
}

pub(crate) const fn long(about: &'static str) -> Field {
    text(limits::LONG_TEXT_BYTES, about)
}

pub(crate) const fn path(about: &'static str) -> Field {
    field(Shape::Path, about)
}

pub(crate) const fn name(kind: Kind, about: &'static str) -> Field {
    field(Shape::Name(kind), about)
}

pub(crate) const fn names(kind: Kind, most: usize, about: &'static str) -> Field {
    field(Shape::Names(kind, most), about)
}

pub(crate) const fn base(about: &'static str) -> Field {
    field(Shape::Base, about)
}

pub(crate) const fn word(words: fn() -> Vec<&'static str>, about: &'static str) -> Field {
    field(Shape::Word(Word { words, unset: None, implied: None, is_optional: false }), about)
}

pub(crate) const fn words(most: usize, chars: usize, about: &'static str) -> Field {
    field(Shape::Words { most, chars }, about)
}

/// The words that search finds an entity by.
pub(crate) const fn tags(about: &'static str) -> Field {
    words(limits::TAGS, limits::TAG_CHARS, about).searched()
}

pub(crate) const fn texts(most: usize, about: &'static str) -> Field {
    field(Shape::Texts(most), about)
}

pub(crate) const fn whole(least: i64, most: i64, about: &'static str) -> Field {
    field(Shape::Whole { least, most, unset: None, implied: None }, about)
}

pub(crate) const fn number(least: f64, most: f64, about: &'static str) -> Field {
    field(Shape::Number { least, most, unset: None }, about)
}

pub(crate) const fn switch(about: &'static str) -> Field {
    field(Shape::Switch, about)
}

pub(crate) const fn table(fields: &'static [Field], about: &'static str) -> Field {
    field(Shape::Table(fields), about)
}

pub(crate) const fn list(most: usize, item: &'static TableType, about: &'static str) -> Field {
    field(Shape::List { most, item }, about)
}

pub(crate) const fn map(most: usize, chars: usize, of: &'static Field, about: &'static str) -> Field {
    field(Shape::Map { most, chars, of }, about)
}

impl Field {
    pub(crate) const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub(crate) const fn taken(self, input: Input) -> Self {
        Self { input, ..self }
    }

    pub(crate) const fn searched(self) -> Self {
        Self { search: Search::AsText, ..self }
    }

    pub(crate) const fn searched_as_name(self) -> Self {
        Self { search: Search::AsName, ..self }
    }

    pub(crate) const fn strongest(self) -> Self {
        Self { inherit: Inherit::Strongest, ..self }
    }

    pub(crate) const fn union(self, removed_by: &'static str) -> Self {
        Self { inherit: Inherit::Union(removed_by), ..self }
    }

    pub(crate) const fn removes(self) -> Self {
        Self { inherit: Inherit::Removes, ..self }
    }

    pub(crate) const fn filled(self) -> Self {
        Self { is_filled: true, ..self }
    }

    pub(crate) const fn setting(self) -> Self {
        Self { is_setting: true, ..self }
    }

    pub(crate) const fn says_something(self) -> Self {
        Self { says_something: true, ..self }
    }

    pub(crate) const fn flag(self, name: &'static str) -> Self {
        Self { flag: Flag::Called(name), ..self }
    }

    /// Sets the number that counts if none is given.
    pub(crate) const fn unset(self, value: f64) -> Self {
        let shape = match self.shape {
            Shape::Whole { least, most, implied, .. } => {
                Shape::Whole { least, most, unset: Some(value as i64), implied }
            }
            Shape::Number { least, most, .. } => Shape::Number { least, most, unset: Some(value) },
            other => other,
        };
        Self { shape, ..self }
    }

    /// Sets the number that counts if none is given, and is never written out.
    pub(crate) const fn implied(self, value: i64) -> Self {
        let shape = match self.shape {
            Shape::Whole { least, most, .. } => {
                Shape::Whole { least, most, unset: Some(value), implied: Some(value) }
            }
            other => other,
        };
        Self { shape, ..self }
    }

    const fn with_word(self, unset: Option<&'static str>, implied: Option<&'static str>) -> Self {
        let shape = match self.shape {
            Shape::Word(word) => Shape::Word(Word { unset, implied, is_optional: implied.is_none(), ..word }),
            other => other,
        };
        Self { shape, ..self }
    }

    /// Sets the word that counts in a field without one.
    pub(crate) const fn unset_word(self, word: &'static str) -> Self {
        self.with_word(Some(word), None)
    }

    /// Sets the word that counts if none is given, and is never written out.
    pub(crate) const fn implied_word(self, word: &'static str) -> Self {
        self.with_word(None, Some(word))
    }
}
