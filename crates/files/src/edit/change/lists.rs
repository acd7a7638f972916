//! Changing a list that is written as `[[…]]`, element by element.

use super::*;

impl Changes<'_> {
    /// False if the elements changed their order, or none stays: then the list is written again.
    pub(super) fn tables(
        &mut self,
        entry: &Entry,
        tables: &[Table],
        path: &str,
        old: &[FieldValue],
        new: &[FieldValue],
    ) -> bool {
        if tables.len() != old.len() {
            return false;
        }
        let Some(matched) = matched(old, new).filter(|matched| !matched.is_empty()) else { return false };
        let mut removed: Vec<&Table> = Vec::new();
        let mut pairs = matched.iter().copied().peekable();
        for (index, table) in tables.iter().enumerate() {
            match pairs.next_if(|(i, _)| *i == index) {
                Some((i, j)) => {
                    if let (FieldValue::Table(old), FieldValue::Table(new)) = (&old[i], &new[j]) {
                        self.table(entry, table, path, Before { fields: Some(old), known: &[] }, new, false);
                    }
                }
                None => removed.push(table),
            }
        }
        for table in removed {
            self.remove_table(entry, table);
        }
        for (j, value) in new.iter().enumerate() {
            if matched.iter().any(|(_, matched)| *matched == j) {
                continue;
            }
            let FieldValue::Table(fields) = value else { continue };
            let text = render::section(&format!("[[{path}]]"), fields, self.newline);
            let above = matched.iter().rev().find(|(_, matched)| *matched < j).map(|(i, _)| &tables[*i]);
            match above {
                Some(table) => self.block_after(entry, table, &text),
                None => self.block_before(entry, &tables[matched[0].0], &text),
            }
        }
        true
    }
}

/// Pairs old elements with new ones: by name, else by position. `None` if their order changed.
fn matched(old: &[FieldValue], new: &[FieldValue]) -> Option<Vec<(usize, usize)>> {
    let name = |value: &FieldValue| match value {
        FieldValue::Table(fields) => fields.name().map(str::to_owned),
        _ => None,
    };
    if old.iter().chain(new).any(|value| name(value).is_none()) {
        return Some((0..old.len().min(new.len())).map(|index| (index, index)).collect());
    }
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (i, element) in old.iter().enumerate() {
        if let Some(j) = new.iter().position(|other| name(other) == name(element)) {
            if pairs.last().is_some_and(|(_, last)| *last >= j) {
                return None;
            }
            pairs.push((i, j));
        }
    }
    Some(pairs)
}

/// The longest sequence of pairs that rises on both sides.
pub(super) fn longest_common(a: usize, b: usize, same: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let mut lengths = vec![vec![0_u32; b + 1]; a + 1];
    for i in (0..a).rev() {
        for j in (0..b).rev() {
            lengths[i][j] =
                if same(i, j) { lengths[i + 1][j + 1] + 1 } else { lengths[i + 1][j].max(lengths[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < a && j < b {
        if same(i, j) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
