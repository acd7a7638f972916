//! The content hash of an entity, which identifies its definition.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io;

use persona::AnyEntity;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use sha2::{Digest, Sha256};

/// The lowercase hexadecimal SHA-256 of a definition without its name: of its JSON with all keys
/// in order, so that neither the order of fields in a file nor that in a type matters.
pub fn entity_hash(entity: &AnyEntity) -> String {
    Canonical::default().hash(entity)
}

pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(digest.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes canonical JSON; keeps its buffers from one entity to the next.
#[derive(Debug, Default)]
pub(crate) struct Canonical(RefCell<Buffer>);

impl Canonical {
    pub(crate) fn hash(&self, entity: &AnyEntity) -> String {
        self.0.borrow_mut().clear();
        let mut serializer = Serializer::with_formatter(Sink(&self.0), Sorted(&self.0));
        // A definition has nothing that JSON cannot say, and a buffer takes everything.
        let _ = entity.serialize(&mut serializer);
        hex(&Sha256::digest(&self.0.borrow().bytes))
    }
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// One object while its entries are put in order.
    scratch: Vec<u8>,
    /// The start of each open object's first entry, in `bytes` and in `entries`.
    open: Vec<(usize, usize)>,
    entries: Vec<Entry>,
}

/// The offsets of one entry of an object: its start, the end of its key, the end of its value.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: usize,
    key_end: usize,
    end: usize,
}

impl Buffer {
    fn clear(&mut self) {
        self.bytes.clear();
        self.open.clear();
        self.entries.clear();
    }

    fn close_object(&mut self) {
        let Some((start, first)) = self.open.pop() else { return };
        let bytes = &self.bytes;
        let key = |entry: &Entry| &bytes[entry.start..entry.key_end];
        self.entries[first..].sort_by(|a, b| key(a).cmp(key(b)));
        self.scratch.clear();
        for entry in &self.entries[first..] {
            if self.open.is_empty() && key(entry) == b"\"name\"" {
                continue;
            }
            if !self.scratch.is_empty() {
                self.scratch.push(b',');
            }
            self.scratch.extend_from_slice(&bytes[entry.start..entry.end]);
        }
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(&self.scratch);
        self.bytes.push(b'}');
        self.entries.truncate(first);
    }
}

struct Sink<'b>(&'b RefCell<Buffer>);

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compact JSON whose objects are put in order when they close.
struct Sorted<'b>(&'b RefCell<Buffer>);

impl Formatter for Sorted<'_> {
    fn begin_object<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        let buffer = &mut *self.0.borrow_mut();
        buffer.bytes.push(b'{');
        buffer.open.push((buffer.bytes.len(), buffer.entries.len()));
        Ok(())
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W, _: bool) -> io::Result<()> {
        let buffer = &mut *self.0.borrow_mut();
        let start = buffer.bytes.len();
        buffer.entries.push(Entry { start, key_end: start, end: start });
        Ok(())
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        let buffer = &mut *self.0.borrow_mut();
        if let Some(entry) = buffer.entries.last_mut() {
            entry.key_end = buffer.bytes.len();
        }
        Ok(())
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        let buffer = &mut *self.0.borrow_mut();
        if let Some(entry) = buffer.entries.last_mut() {
            entry.end = buffer.bytes.len();
        }
        Ok(())
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.0.borrow_mut().close_object();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use persona::Kind;
    use serde_json::json;

    use super::*;

    fn canonical(entity: &AnyEntity) -> String {
        let canonical = Canonical::default();
        canonical.hash(entity);
        String::from_utf8(canonical.0.into_inner().bytes).expect("JSON is UTF-8")
    }

    #[test]
    fn keys_are_in_order_at_every_depth_and_the_name_is_left_out() {
        let arc = json!({
            "name": "a", "tags": ["x"], "summary": "s \"q\"",
            "stages": [{"parts": ["p"], "order": 1, "name": "first"}, {"name": "second"}],
        });
        let arc = AnyEntity::from_json(Kind::Arc, arc).expect("an arc");
        assert_eq!(
            canonical(&arc),
            r#"{"stages":[{"name":"first","order":1,"parts":["p"]},{"name":"second","order":0,"parts":[]}],"summary":"s \"q\"","tags":["x"]}"#
        );
        let mut other = arc.clone();
        other.set_name("b".parse().expect("a name"));
        assert_eq!(entity_hash(&arc), entity_hash(&other));
        assert_eq!(entity_hash(&arc), hex(&Sha256::digest(canonical(&arc))));
    }

    #[test]
    fn an_object_without_entries_is_empty() {
        let skill = AnyEntity::from_json(Kind::BiasProfile, json!({"name": "a"})).expect("a profile");
        assert_eq!(canonical(&skill), r#"{"multipliers":{},"tags":[]}"#);
    }
}
