//! The list of files that did not fit, for a reader that may ask for them.

use std::fmt::Write as _;

use crate::limits;
use crate::section::shown;

/// Lists of the missing files, the longest first. The best files are named; the others are counted.
pub(super) fn versions(missing: &[&str]) -> Vec<String> {
    if missing.is_empty() {
        return Vec::new();
    }
    let mut named = missing.len().min(limits::MANIFEST_LINES);
    let mut versions = Vec::new();
    while named > 0 {
        versions.push(manifest(missing, named));
        named /= 2;
    }
    versions.push(manifest(missing, 0));
    versions
}

fn manifest(missing: &[&str], named: usize) -> String {
    let mut text = format!("## Not shown, for lack of room: {}\n", missing.len());
    for path in missing.iter().take(named) {
        let _ = writeln!(text, "- {}", shown(path));
    }
    if named > 0 && missing.len() > named {
        let _ = writeln!(text, "- and {} more", missing.len() - named);
    }
    text
}
