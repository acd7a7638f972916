//! The rows of the search index.
//!
//! PostgreSQL has columns for the kind and the id of an entity. SQLite's index has a row id alone,
//! which holds both. The first sixteen kinds share the positive row ids, as they always did; all
//! further kinds share the negative ones, so that no index must be rebuilt.

use persona::Kind;

/// Kinds whose rows are positive.
const FIRST_KINDS: i64 = 16;
/// Room for kinds in the negative rows.
const FURTHER_KINDS: i64 = 4_096;

/// A kind as the search index writes it: its position among all kinds. New kinds come last, since
/// these numbers are stored.
pub(crate) const fn search_number(kind: Kind) -> i64 {
    kind as i64
}

/// The row of an entity in SQLite's index.
pub(crate) const fn row_of(number: i64, id: i64) -> i64 {
    if number < FIRST_KINDS { id * FIRST_KINDS + number } else { -(id * FURTHER_KINDS + number) }
}

/// The number of the kind in a row, in SQL.
pub(crate) const KIND_OF_ROW: &str = "CASE WHEN rowid >= 0 THEN rowid % 16 ELSE -rowid % 4096 END";

/// The id of the entity in a row, in SQL.
pub(crate) const ENTITY_OF_ROW: &str = "CASE WHEN rowid >= 0 THEN rowid / 16 ELSE -rowid / 4096 END";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// These numbers are in every index that there is.
    #[test]
    fn kinds_keep_their_numbers() {
        let stored = [
            ("persona", 0),
            ("part", 1),
            ("trait", 2),
            ("skill", 3),
            ("guardrail", 4),
            ("arc", 5),
            ("tool_preset", 6),
            ("bias_profile", 7),
            ("context_preset", 8),
            ("test_input", 9),
        ];
        let numbers: Vec<(&str, i64)> =
            Kind::ALL.iter().take(10).map(|kind| (kind.as_str(), search_number(*kind))).collect();
        assert_eq!(numbers, stored);
        assert!(Kind::ALL.iter().all(|kind| search_number(*kind) < FURTHER_KINDS));
    }

    /// Also of kinds that are still to come.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_row_says_which_kind_and_which_entity() {
        let database = testkit::Database::sqlite();
        let mut rows = BTreeSet::new();
        let (mut selects, mut expected) = (Vec::new(), Vec::new());
        for number in [0, 1, 9, 15, 16, 17, 31, 32, 4_095] {
            for id in [1, 2, 15, 16, 17, 4_096, 1_000_000] {
                let row = row_of(number, id);
                assert!(rows.insert(row), "{number} {id} has the row of another");
                selects.push(format!("SELECT {row} AS rowid"));
                expected.push(format!("{number} {id}"));
            }
        }
        let rows = selects.join(" UNION ALL ");
        let sql = format!("SELECT ({KIND_OF_ROW}) || ' ' || ({ENTITY_OF_ROW}) FROM ({rows})");
        assert_eq!(database.texts(&sql).await, expected);
    }
}
