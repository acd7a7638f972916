//! The PostgreSQL schema that holds the tables of a library.

use std::fmt;

use crate::{AddressError, Result};

/// PostgreSQL cuts longer identifiers off.
const NAME_BYTES: usize = 63;

/// A schema's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaName(String);

impl SchemaName {
    /// The schema of a new library whose address names none.
    pub const DEFAULT: &'static str = "masque";
    /// The schema of most libraries of earlier versions.
    const PUBLIC: &'static str = "public";

    /// Reads a name that needs no quotes anywhere. PostgreSQL keeps `pg_` for itself.
    pub fn parse(text: &str) -> Result<Self> {
        let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let is_plain = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        let is_taken = text.starts_with("pg_") || text == "information_schema";
        if !starts_well || !is_plain || is_taken || text.len() > NAME_BYTES {
            return Err(AddressError::Schema { name: text.to_owned() }.into());
        }
        Ok(Self(text.to_owned()))
    }

    /// A schema that the database has. Its name may need quotes.
    pub(crate) fn existing(name: String) -> Self {
        Self(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as SQL and `search_path` read it.
    pub(crate) fn quoted(&self) -> String {
        format!("\"{}\"", self.0.replace('"', "\"\""))
    }

    /// A name for something that all schemas of a database share, such as a channel: two schemas never
    /// get the same one. `public` keeps the plain name, which nodes of earlier versions use.
    pub fn own(&self, name: &str) -> String {
        if self.0 == Self::PUBLIC { name.to_owned() } else { format!("{name}_{:016x}", self.hash()) }
    }

    /// A key for the advisory lock of one of this schema's tasks.
    pub(crate) fn lock_key(&self, task: i64) -> i64 {
        if self.0 == Self::PUBLIC { task } else { task ^ self.hash().cast_signed() }
    }

    /// FNV-1a: all nodes of all versions must agree.
    fn hash(&self) -> u64 {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.0.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    }
}

impl Default for SchemaName {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl fmt::Display for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_a_plain_identifier() {
        let longest = "a".repeat(NAME_BYTES);
        for name in ["masque", "team_2", "_x", "public", &longest] {
            assert_eq!(SchemaName::parse(name).expect("a name").as_str(), name);
        }
        let too_long = "a".repeat(NAME_BYTES + 1);
        for name in
            ["", "2nd", "Team", "a-b", "a b", "a\"b", "a;b", "é", "pg_x", "information_schema", &too_long]
        {
            assert!(SchemaName::parse(name).is_err(), "{name}");
        }
    }

    /// Nodes of all versions on one database must agree.
    #[test]
    fn names_and_locks_are_pinned() {
        let (public, masque) = (SchemaName::existing("public".to_owned()), SchemaName::default());
        assert_eq!(public.own("masque_library"), "masque_library");
        assert_eq!(public.lock_key(7), 7);
        assert_eq!(masque.own("masque_library"), "masque_library_d6ae4a20379bf50d");
        assert_ne!(masque.lock_key(7), 7);
        assert_eq!(SchemaName::existing("a \"b".to_owned()).quoted(), "\"a \"\"b\"");
    }
}
