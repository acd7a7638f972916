//! Spans, and the fields from which they are made.

use std::fmt;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};

use crate::ids::{Place, SpanId};
use crate::limits::TEXT_BYTES;

/// Attributes that are lists. `tracing` has no lists; these have one word.
const LISTS: [&str; 1] = ["gen_ai.response.finish_reasons"];
const PREFIX: &str = "otel.";

/// A span as it is sent. The numbers of kinds are those of the protocol.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) place: Place,
    pub(crate) parent: Option<SpanId>,
    /// True if the parent is a span of another process.
    pub(crate) is_parent_remote: bool,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Nanoseconds since 1970.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: Vec<(&'static str, Value)>,
    pub(crate) is_failed: bool,
    began: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
    Words(Vec<String>),
}

impl Span {
    pub(crate) fn begin(name: &str, place: Place, parent: Option<SpanId>, is_parent_remote: bool) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let start = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        Self {
            place,
            parent,
            is_parent_remote,
            name: name.to_owned(),
            kind: Kind::Internal,
            start,
            end: start,
            attributes: Vec::new(),
            is_failed: false,
            began: Instant::now(),
        }
    }

    /// Sets the end. The clock of the machine may have been set meanwhile.
    pub(crate) fn finish(&mut self) {
        let took = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.end = self.start.saturating_add(took);
    }

    /// Applies fields. A later value replaces an earlier one.
    pub(crate) fn apply(&mut self, fields: Fields) {
        let Fields { name, kind, is_failed, attributes, parent: _, is_end: _ } = fields;
        if let Some(name) = name {
            self.name = name;
        }
        self.kind = kind.unwrap_or(self.kind);
        self.is_failed |= is_failed;
        for (key, value) in attributes {
            match self.attributes.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => self.attributes.push((key, value)),
            }
        }
    }
}

/// The recorded fields of a `tracing` span.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    name: Option<String>,
    kind: Option<Kind>,
    is_failed: bool,
    attributes: Vec<(&'static str, Value)>,
    /// The caller's place.
    pub(crate) parent: Option<Place>,
    pub(crate) is_end: bool,
}

impl Fields {
    fn set(&mut self, field: &Field, value: Value) {
        let Some(instruction) = field.name().strip_prefix(PREFIX) else {
            return self.attributes.push((field.name(), value));
        };
        match (instruction, value) {
            ("name", Value::Text(name)) => self.name = Some(name),
            ("kind", Value::Text(kind)) if kind == "server" => self.kind = Some(Kind::Server),
            ("kind", Value::Text(kind)) if kind == "client" => self.kind = Some(Kind::Client),
            ("status_code", Value::Text(code)) if code == "ERROR" => self.is_failed = true,
            ("parent", Value::Text(parent)) => self.parent = Place::parse(&parent),
            ("end", Value::Flag(is_end)) => self.is_end = is_end,
            _ => {}
        }
    }

    fn set_text(&mut self, field: &Field, mut text: String) {
        text.truncate(text.floor_char_boundary(TEXT_BYTES));
        let is_list = LISTS.contains(&field.name());
        self.set(field, if is_list { Value::Words(vec![text]) } else { Value::Text(text) });
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        let end = value.floor_char_boundary(TEXT_BYTES);
        self.set_text(field, value[..end].to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set_text(field, format!("{value:?}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, Value::Whole(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, Value::Whole(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, Value::Number(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, Value::Flag(value));
    }
}
