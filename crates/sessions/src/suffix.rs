//! Finds sessions by the end of their ids. Ids begin with the time and end at random, so a short end names
//! one session where a short beginning names all of a day.

use uuid::Uuid;

use super::{BuiltStatement, Statement};
use crate::{Result, Sessions};
use database::Parameter;

/// The characters of an id with its dashes.
const LENGTH: usize = 36;
/// The number of digits of an id.
const DIGITS: usize = 32;
/// The digits that follow each dash of an id.
const AFTER_DASHES: [usize; 4] = [12, 16, 20, 24];

/// The end of an id, with the dashes of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdSuffix(String);

impl IdSuffix {
    /// The end that all ids have.
    pub const ANY: Self = Self(String::new());

    /// Parses hexadecimal digits, with optional dashes where ids have them. `None` if no id ends like this.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reversed = String::with_capacity(LENGTH);
        let mut digits = 0;
        let mut is_after_dash = false;
        for c in text.chars().rev() {
            match c {
                '-' if is_after_dash || !AFTER_DASHES.contains(&digits) => return None,
                '-' => {}
                c if c.is_ascii_hexdigit() && digits < DIGITS => {
                    if AFTER_DASHES.contains(&digits) {
                        reversed.push('-');
                    }
                    reversed.push(c.to_ascii_lowercase());
                    digits += 1;
                }
                _ => return None,
            }
            is_after_dash = c == '-';
        }
        (digits > 0).then(|| Self(reversed.chars().rev().collect()))
    }
}

static ENDING: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let id = dialect.text("a.id");
        format!(
            "SELECT {id} FROM sessions a WHERE {id} LIKE $1 AND a.parent_id IS NULL \
             ORDER BY a.id DESC LIMIT $2"
        )
    })
});

/// An end of some length that several ids have.
static SHARED_END: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let id = dialect.text("a.id");
        format!(
            "SELECT ends.tail FROM (SELECT substr({id}, CAST($1 AS INTEGER)) AS tail FROM sessions a \
             WHERE a.parent_id IS NULL) ends GROUP BY ends.tail HAVING COUNT(*) > 1 LIMIT 1"
        )
    })
});

impl Sessions {
    /// Ids of top-level sessions with this suffix, at most `limit`, newest first.
    pub async fn sessions_ending(&self, suffix: &IdSuffix, limit: usize) -> Result<Vec<Uuid>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [Parameter::Text(format!("%{}", suffix.0)), Parameter::Int(limit)];
        let found = self.session_texts(&ENDING, &values).await?;
        Ok(found.iter().filter_map(|id| Uuid::parse_str(id).ok()).collect())
    }

    /// The least number of characters, but not fewer than `least`, at the end of an id that no two top-level
    /// sessions share.
    pub async fn unique_end(&self, least: usize) -> Result<usize> {
        // An end does not begin with a dash.
        let is_end =
            |length: &usize| !AFTER_DASHES.iter().enumerate().any(|(at, digits)| digits + at + 1 == *length);
        for length in (least..LENGTH).filter(is_end) {
            let start = i64::try_from(LENGTH + 1 - length).unwrap_or(1);
            if self.session_texts(&SHARED_END, &[Parameter::Int(start)]).await?.is_empty() {
                return Ok(length);
            }
        }
        Ok(LENGTH)
    }
}

#[cfg(test)]
mod tests {
    use super::IdSuffix;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(IdSuffix::parse(text).map(|suffix| suffix.0).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn a_suffix_has_the_dashes_of_ids() {
        check("F00d", Some("f00d"));
        check("456789abcdef", Some("456789abcdef"));
        check("-456789abcdef", Some("456789abcdef"));
        check("3456789abcdef", Some("3-456789abcdef"));
        check("3-456789abcdef", Some("3-456789abcdef"));
        let whole = "0123abcd-0123-4567-89ab-cdef01234567";
        check(whole, Some(whole));
        check(&whole.replace('-', ""), Some(whole));
    }

    #[test]
    fn a_suffix_of_no_id_is_none() {
        for text in ["", "-", "1-2", "12-", "1--456789abcdef", "xyz", "１2", &"0".repeat(33)] {
            check(text, None);
        }
    }
}
