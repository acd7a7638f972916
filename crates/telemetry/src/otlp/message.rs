//! Messages of the protocol.

/// A message: its fields with their numbers in protobuf and their names in JSON, in the order of the
/// numbers.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) fields: Vec<(u32, &'static str, Field)>,
}

#[derive(Debug)]
pub(super) enum Field {
    Text(String),
    /// Bytes; hexadecimal in JSON.
    Id(Vec<u8>),
    /// `fixed64`.
    Time(u64),
    /// `fixed32`.
    Flags(u32),
    /// An `enum`; a number in JSON.
    Choice(u64),
    /// `int64`.
    Whole(i64),
    Number(f64),
    Flag(bool),
    One(Message),
    Many(Vec<Message>),
}

impl Message {
    pub(super) fn with(mut self, number: u32, name: &'static str, field: Field) -> Self {
        self.fields.push((number, name, field));
        self
    }
}
