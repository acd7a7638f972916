//! Deserializes entities from a parsed file, including implied fields and short forms.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use persona::field::Shape;
use persona::{Code, Field, Kind, Name};
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::context::Context;
use super::fault::Fault;
use super::short::{implied_order, may_be_a_bare_name};

/// Fields whose text may be in a file of its own, as `<field>_file`: the long texts.
pub(crate) fn long_fields() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let fields = Kind::ALL.iter().flat_map(|kind| kind.fields());
        let inner = |field: &'static Field| match field.shape {
            Shape::Table(fields) => fields,
            _ => std::slice::from_ref(field),
        };
        let long = fields.flat_map(inner).filter(|field| field.is_long()).map(|field| field.name);
        long.collect::<BTreeSet<_>>().into_iter().collect()
    });
    &NAMES
}

/// The long field of a key such as `content_file`.
pub(crate) fn field_of_file_key(key: &str) -> Option<&'static str> {
    let field = key.strip_suffix("_file")?;
    long_fields().iter().copied().find(|known| *known == field)
}

/// A value and its place in the file.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a, 'i> {
    value: &'a Spanned<DeValue<'i>>,
    /// The index in a list.
    position: usize,
    /// The entry that it is in.
    kind: Kind,
    name: &'a Name,
    /// True for the entry itself, whose key is its name.
    whole: bool,
    context: &'a Context,
}

impl<'a, 'i> Node<'a, 'i> {
    pub(crate) fn entry(
        value: &'a Spanned<DeValue<'i>>,
        kind: Kind,
        name: &'a Name,
        context: &'a Context,
    ) -> Self {
        Self { value, position: 0, kind, name, whole: true, context }
    }

    fn inner(&self, value: &'a Spanned<DeValue<'i>>, position: usize) -> Self {
        Self { value, position, whole: false, ..*self }
    }

    fn offset(&self) -> usize {
        self.value.span().start
    }
}

impl<'de> Deserializer<'de> for Node<'_, '_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let read = match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Integer(integer) => visit_integer(integer, visitor),
            DeValue::Float(float) => match float.as_str().parse() {
                Ok(float) => visitor.visit_f64(float),
                Err(_) => {
                    Err(Fault::new(Code::InvalidValue, format!("{} is not a number", float.as_str()), None))
                }
            },
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Datetime(_) => Err(de::Error::invalid_type(Unexpected::Other("a date"), &visitor)),
            DeValue::Array(array) => visitor.visit_seq(Elements { node: self, array, next: 0 }),
            DeValue::Table(table) => {
                visitor.visit_map(Entries { node: self, rest: table.iter(), pending: None })
            }
        };
        read.map_err(|fault: Fault| fault.at(self.offset()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        type_name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let order = implied_order(type_name, self.position);
        let read = match self.value.get_ref() {
            DeValue::Table(table) => visitor.visit_map(Fields {
                node: self,
                table,
                rest: table.iter(),
                known: fields,
                pending: None,
                name: self.whole.then_some(self.name.as_str()),
                order: order.filter(|_| !table.contains_key("order")),
            }),
            DeValue::String(text) if may_be_a_bare_name(type_name) => {
                visitor.visit_map(BareName { name: Some(text), order, pending: None })
            }
            _ => return self.deserialize_any(visitor),
        };
        read.map_err(|fault: Fault| fault.at(self.offset()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn visit_integer<'de, V: Visitor<'de>>(integer: &DeInteger<'_>, visitor: V) -> Result<V::Value, Fault> {
    match i64::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(value) => visitor.visit_i64(value),
        Err(_) => Err(Fault::new(Code::OutOfRange, format!("{integer} is too large a number"), None)),
    }
}

/// The elements of a list.
struct Elements<'a, 'i> {
    node: Node<'a, 'i>,
    array: &'a [Spanned<DeValue<'i>>],
    next: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let is_skipped = |value: &Spanned<DeValue<'_>>| self.node.context.is_skipped(value.span().start);
        while self.array.get(self.next).is_some_and(is_skipped) {
            self.next += 1;
        }
        let position = self.next;
        let Some(value) = self.array.get(position) else { return Ok(None) };
        self.next += 1;
        let read = seed.deserialize(self.node.inner(value, position));
        read.map(Some).map_err(|fault: Fault| fault.at(value.span().start).under_index(position))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.array.len() - self.next)
    }
}

type Rest<'a, 'i> = toml::map::Iter<'a, Spanned<toml::de::DeString<'i>>, Spanned<DeValue<'i>>>;

/// A table whose keys are free: categories, multipliers.
struct Entries<'a, 'i> {
    node: Node<'a, 'i>,
    rest: Rest<'a, 'i>,
    pending: Option<(&'a str, &'a Spanned<DeValue<'i>>)>,
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let context = self.node.context;
        let mut rest = self.rest.by_ref().filter(|(_, value)| !context.is_skipped(value.span().start));
        let Some((key, value)) = rest.next() else { return Ok(None) };
        self.pending = Some((key.get_ref(), value));
        let key: StrDeserializer<'_, Fault> = key.get_ref().as_ref().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, value)) = self.pending.take() else { return Err(out_of_turn()) };
        let place = |fault: Fault| fault.at(value.span().start).under_key(key);
        seed.deserialize(self.node.inner(value, 0)).map_err(place)
    }
}

/// A value was asked for before its key: no derived reader does that.
fn out_of_turn() -> Fault {
    Fault::new(Code::InvalidValue, "a value without a key", None)
}

/// A table whose keys are the fields of a type: unknown ones are passed over with a warning, some
/// are implied, and long texts may come from files.
struct Fields<'a, 'i> {
    node: Node<'a, 'i>,
    table: &'a DeTable<'i>,
    rest: Rest<'a, 'i>,
    known: &'static [&'static str],
    pending: Option<Pending<'a, 'i>>,
    /// Implied fields that are still to be handed out.
    name: Option<&'a str>,
    order: Option<i32>,
}

enum Pending<'a, 'i> {
    Value(&'a str, &'a Spanned<DeValue<'i>>),
    File(&'a str, &'a Spanned<DeValue<'i>>),
    Name(&'a str),
    Order(i32),
}

impl<'a, 'i> Fields<'a, 'i> {
    /// True if a value with a mistake is left out.
    fn is_skipped(&self, key: &str, offsets: [usize; 2]) -> bool {
        let context = self.node.context;
        let is_skipped = offsets.into_iter().any(|offset| context.is_skipped(offset));
        if is_skipped {
            let field = field_of_file_key(key).unwrap_or(key);
            let field = self.known.iter().find(|known| **known == field);
            field.into_iter().for_each(|field| context.skip_field(self.node.offset(), field));
        }
        is_skipped
    }

    /// The next field that the type knows.
    fn next_field(&mut self) -> Result<Option<&'a str>, Fault> {
        while let Some((key, value)) = self.rest.next() {
            let offset = key.span().start;
            let key: &'a str = key.get_ref();
            if self.is_skipped(key, [offset, value.span().start]) {
                continue;
            }
            if self.node.whole && key == "name" {
                if value.get_ref().as_str() != Some(self.node.name.as_str()) {
                    return Err(other_name(self.node.name).at(value.span().start));
                }
            } else if self.known.contains(&key) {
                self.pending = Some(Pending::Value(key, value));
                return Ok(Some(key));
            } else if let Some(field) = field_of_file_key(key).filter(|field| self.known.contains(field)) {
                if self.table.contains_key(field) {
                    let message = format!("{field} and {key} are both given");
                    let hint = Some("keep one of them".to_owned());
                    return Err(Fault::new(Code::ConflictingFields, message, hint).at(offset));
                }
                self.pending = Some(Pending::File(key, value));
                return Ok(Some(field));
            } else {
                let entry = (self.node.kind, self.node.name.as_str());
                self.node.context.unknown_key(entry, key, offset, self.known);
            }
        }
        if let Some(name) = self.name.take() {
            self.pending = Some(Pending::Name(name));
            return Ok(Some("name"));
        }
        Ok(self.order.take().map(|order| {
            self.pending = Some(Pending::Order(order));
            "order"
        }))
    }
}

fn other_name(name: &Name) -> Fault {
    let message = format!("the name in the entry is not the entry's key, {name:?}");
    Fault::new(Code::ConflictingFields, message, Some("remove the line: the key is the name".into()))
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(field) = self.next_field()? else { return Ok(None) };
        let field: StrDeserializer<'_, Fault> = field.into_deserializer();
        seed.deserialize(field).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        match self.pending.take() {
            Some(Pending::Value(key, value)) => {
                let place = |fault: Fault| fault.at(value.span().start).under_key(key);
                seed.deserialize(self.node.inner(value, 0)).map_err(place)
            }
            Some(Pending::File(key, value)) => {
                let place = |fault: Fault| fault.at(value.span().start).under_key(key);
                let Some(path) = value.get_ref().as_str() else {
                    let hint = format!("write {key} = \"prompts/text.md\"");
                    let message = "expected the path of a text file";
                    return Err(place(Fault::new(Code::InvalidValue, message, Some(hint))));
                };
                let text = self.node.context.included(path).map_err(place)?;
                let text: de::value::StringDeserializer<Fault> = text.into_deserializer();
                seed.deserialize(Optional(text)).map_err(place)
            }
            Some(Pending::Name(name)) => {
                let name: StrDeserializer<'_, Fault> = name.into_deserializer();
                seed.deserialize(name)
            }
            Some(Pending::Order(order)) => {
                let order: de::value::I32Deserializer<Fault> = order.into_deserializer();
                seed.deserialize(order)
            }
            None => Err(out_of_turn()),
        }
    }
}

/// A value for a field that may be optional: serde's own ones know nothing of options.
struct Optional<D>(D);

impl<'de, D: Deserializer<'de, Error = Fault>> Deserializer<'de> for Optional<D> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self.0)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A list's element that is only a name.
struct BareName<'a> {
    name: Option<&'a str>,
    order: Option<i32>,
    pending: Option<Bare<'a>>,
}

enum Bare<'a> {
    Name(&'a str),
    Order(i32),
}

impl<'de> MapAccess<'de> for BareName<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let name = self.name.take().map(Bare::Name);
        self.pending = name.or_else(|| self.order.take().map(Bare::Order));
        let field: StrDeserializer<'_, Fault> = match self.pending {
            Some(Bare::Name(_)) => "name".into_deserializer(),
            Some(Bare::Order(_)) => "order".into_deserializer(),
            None => return Ok(None),
        };
        seed.deserialize(field).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        match self.pending.take() {
            Some(Bare::Name(name)) => {
                let name: StrDeserializer<'_, Fault> = name.into_deserializer();
                seed.deserialize(name)
            }
            Some(Bare::Order(order)) => {
                let order: de::value::I32Deserializer<Fault> = order.into_deserializer();
                seed.deserialize(order)
            }
            None => Err(out_of_turn()),
        }
    }
}
