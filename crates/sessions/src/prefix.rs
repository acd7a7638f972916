//! Finds sessions by the beginning of their ids, as people name them.

use uuid::Uuid;

use super::{BuiltStatement, Statement};
use crate::{Result, Sessions};
use database::Parameter;

/// The number of digits of an id.
const DIGITS: usize = 32;
/// The positions of the dashes of an id.
const DASHES: [usize; 4] = [8, 12, 16, 20];

/// The beginning of an id, as a range: from the id that continues with zeros to the one with the highest
/// digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdPrefix {
    first: Uuid,
    last: Uuid,
}

impl IdPrefix {
    /// Parses hexadecimal digits, with optional dashes where ids have them. `None` if no id begins like this.
    pub fn parse(text: &str) -> Option<Self> {
        let mut digits = String::with_capacity(DIGITS);
        let mut dash_before = false;
        for c in text.chars() {
            match c {
                '-' if dash_before || !DASHES.contains(&digits.len()) => return None,
                '-' => {}
                c if c.is_ascii_hexdigit() && digits.len() < DIGITS => digits.push(c),
                _ => return None,
            }
            dash_before = c == '-';
        }
        if digits.is_empty() {
            return None;
        }
        let filled = |with: &str| {
            let rest = with.repeat(DIGITS - digits.len());
            Uuid::parse_str(&format!("{digits}{rest}")).ok()
        };
        Some(Self { first: filled("0")?, last: filled("f")? })
    }
}

/// Both engines order ids by their digits, so the primary key serves the range. Without the comparison,
/// SQLite would read every top-level session.
static BEGINNING: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let id = dialect.text("a.id");
        format!(
            "SELECT {id} FROM sessions a WHERE a.id BETWEEN $1 AND $2 AND (a.parent_id IS NULL) = TRUE \
             ORDER BY a.id DESC LIMIT $3"
        )
    })
});

impl Sessions {
    /// Ids of top-level sessions with this prefix, at most `limit`, newest first, because ids begin with the
    /// time.
    pub async fn sessions_beginning(&self, prefix: &IdPrefix, limit: usize) -> Result<Vec<Uuid>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [Parameter::Uuid(prefix.first), Parameter::Uuid(prefix.last), Parameter::Int(limit)];
        let found = self.session_texts(&BEGINNING, &values).await?;
        Ok(found.iter().filter_map(|id| Uuid::parse_str(id).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, first: &str, last: &str) {
        let prefix = IdPrefix::parse(text).unwrap_or_else(|| panic!("{text:?} is the beginning of ids"));
        assert_eq!((prefix.first.to_string(), prefix.last.to_string()), (first.to_owned(), last.to_owned()));
    }

    #[test]
    fn a_beginning_is_a_range() {
        check("0", "00000000-0000-0000-0000-000000000000", "0fffffff-ffff-ffff-ffff-ffffffffffff");
        check("019Af", "019af000-0000-0000-0000-000000000000", "019affff-ffff-ffff-ffff-ffffffffffff");
        for text in ["0123abcd-4", "0123abcd4"] {
            check(text, "0123abcd-4000-0000-0000-000000000000", "0123abcd-4fff-ffff-ffff-ffffffffffff");
        }
        check("0123abcd-", "0123abcd-0000-0000-0000-000000000000", "0123abcd-ffff-ffff-ffff-ffffffffffff");
        let whole = "0123abcd-0123-4567-89ab-cdef01234567";
        check(whole, whole, whole);
        check(&whole.replace('-', ""), whole, whole);
    }

    #[test]
    fn a_prefix_of_no_id_is_none() {
        let whole = "0123abcd-0123-4567-89ab-cdef01234567";
        for text in [
            "",
            "-",
            "01-2",
            "0123abcd--0",
            "0123abcd-01-",
            "xyz",
            "01 2",
            "０1",
            &format!("{whole}0"),
            &format!("{whole}-"),
        ] {
            assert_eq!(IdPrefix::parse(text), None, "{text:?}");
        }
    }
}
