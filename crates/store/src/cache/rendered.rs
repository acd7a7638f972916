//! JSON that is rendered once and sent many times.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;

/// The estimated bytes that all cached trees of this process may take.
const TREE_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of a tree for each byte of its JSON: nodes have room for eleven fields, and keys are
/// strings of their own.
const TREE_FACTOR: usize = 4;

/// The bytes of the trees that are cached now.
static CACHED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// An answer in the form in which it is sent. Most fronts send the text; MCP also sends a tree, which
/// costs ten times as much to parse as to clone. So the tree of an answer that is requested repeatedly is
/// cached, as long as there is room.
#[derive(Debug)]
pub struct Rendered {
    json: Box<str>,
    /// Counts in [`CACHED_BYTES`] while it is here.
    tree: OnceLock<Value>,
    was_parsed: AtomicBool,
}

impl Rendered {
    pub fn new(json: String) -> Self {
        Self { json: json.into(), tree: OnceLock::new(), was_parsed: AtomicBool::new(false) }
    }

    /// The answer as compact JSON.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The answer as a tree.
    pub fn value(&self) -> Value {
        if let Some(tree) = self.tree.get() {
            return tree.clone();
        }
        let tree: Value = serde_json::from_str(&self.json).unwrap_or_default();
        // An answer that is asked for once needs no tree.
        if self.was_parsed.swap(true, Ordering::Relaxed) {
            self.keep(&tree);
        }
        tree
    }

    fn keep(&self, tree: &Value) {
        let bytes = self.tree_bytes();
        let has_room = |kept: usize| kept.checked_add(bytes).filter(|kept| *kept <= TREE_BYTES);
        let reserved = CACHED_BYTES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_room);
        if reserved.is_ok() && self.tree.set(tree.clone()).is_err() {
            CACHED_BYTES.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn tree_bytes(&self) -> usize {
        self.json.len() * TREE_FACTOR
    }
}

impl Drop for Rendered {
    fn drop(&mut self) {
        if self.tree.get().is_some() {
            CACHED_BYTES.fetch_sub(self.tree_bytes(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The count is the process's, so one test walks through all of it.
    #[test]
    fn trees_are_kept_within_their_room() {
        let json = |bytes: usize| format!("{{\"text\":\"{}\"}}", "x".repeat(bytes));
        let small = Rendered::new(json(10));
        let expected: Value = serde_json::from_str(small.json()).expect("JSON");
        assert_eq!(small.value(), expected);
        assert!(small.tree.get().is_none(), "asked for once");
        assert_eq!((small.value(), small.value()), (expected.clone(), expected));
        assert!(small.tree.get().is_some());
        assert_eq!(CACHED_BYTES.load(Ordering::Relaxed), small.tree_bytes());

        let large = Rendered::new(json(TREE_BYTES / TREE_FACTOR - 20));
        let asked = || (large.value(), large.value());
        asked();
        assert!(large.tree.get().is_none(), "no room beside the small one");
        drop(small);
        assert_eq!(CACHED_BYTES.load(Ordering::Relaxed), 0);
        asked();
        assert!(large.tree.get().is_some());
        drop(large);
        assert_eq!(CACHED_BYTES.load(Ordering::Relaxed), 0);
    }
}
