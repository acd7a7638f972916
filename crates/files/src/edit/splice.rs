//! Replacing stretches of a text, all at once.

use std::ops::Range;

/// A stretch of a text and what takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
    /// True if the inserted text belongs to the lines below it.
    heads: bool,
}

impl Splice {
    pub(crate) fn replace(range: Range<usize>, text: String) -> Self {
        Self { range, text, heads: false }
    }

    /// Inserts text that belongs to the lines above.
    pub(crate) fn below(at: usize, text: String) -> Self {
        Self { range: at..at, text, heads: false }
    }

    /// Inserts text that belongs to the lines below.
    pub(crate) fn above(at: usize, text: String) -> Self {
        Self { range: at..at, text, heads: true }
    }

    pub(crate) fn delete(range: Range<usize>) -> Self {
        Self { range, text: String::new(), heads: false }
    }

    fn is_deletion(&self) -> bool {
        self.text.is_empty()
    }
}

/// Applies splices to `text[within]`. Of two at the same place, an insertion comes first, otherwise the
/// earlier one. Deletions may overlap, and a text inserted amid a deletion takes its place. `None` if
/// anything else overlaps.
pub(crate) fn splice(text: &str, within: Range<usize>, splices: &[Splice]) -> Option<String> {
    let mut order: Vec<&Splice> = splices.iter().collect();
    order.sort_by_key(|splice| (splice.range.start, splice.range.end, splice.heads));
    let added: usize = order.iter().map(|splice| splice.text.len()).sum();
    let mut result = String::with_capacity(within.len() + added);
    let mut at = within.start;
    let mut last_deletes = false;
    for splice in order {
        if splice.range.end > within.end {
            return None;
        }
        if splice.range.start < at {
            let inserts = splice.range.is_empty();
            if !last_deletes || !(inserts || splice.is_deletion()) {
                return None;
            }
            result.push_str(&splice.text);
            at = at.max(splice.range.end);
            continue;
        }
        result.push_str(text.get(at..splice.range.start)?);
        result.push_str(&splice.text);
        at = splice.range.end;
        last_deletes = splice.is_deletion() && !splice.range.is_empty();
    }
    result.push_str(text.get(at..within.end)?);
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_apply_in_order_and_never_clash() {
        let text = "abcdef";
        let put = |range: Range<usize>, text: &str| Splice::replace(range, text.into());
        let run = |splices: &[Splice]| splice(text, 0..6, splices);
        assert_eq!(run(&[put(4..5, "E"), put(1..1, "x"), put(1..2, "")]).as_deref(), Some("axcdEf"));
        assert_eq!(run(&[put(1..1, "x"), put(1..1, "y")]).as_deref(), Some("axybcdef"));
        let heads = Splice::above(1, "y".into());
        assert_eq!(run(&[heads, Splice::below(1, "x".into())]).as_deref(), Some("axybcdef"));
        assert_eq!(run(&[put(0..3, ""), put(2..4, "")]).as_deref(), Some("ef"));
        assert_eq!(run(&[put(0..3, ""), put(2..2, "x")]).as_deref(), Some("xdef"));
        assert_eq!(run(&[put(0..3, ""), put(2..3, "x")]), None);
        assert_eq!(run(&[put(0..3, "y"), put(2..4, "")]), None);
        assert_eq!(run(&[put(5..9, "")]), None);
        assert_eq!(splice(text, 2..4, &[put(3..3, "x")]).as_deref(), Some("cxd"));
    }
}
