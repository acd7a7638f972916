//! How long a file may be.

use super::TidyReport;
use super::tree::Tree;

/// A file aims at 250 lines; from here on it smells.
const WARN_LINES: usize = 500;
const MAX_LINES: usize = 800;

const CODE_ENDINGS: [&str; 4] = ["rs", "ts", "svelte", "py"];

/// The ending of files that a program writes.
const GENERATED: &str = ".d.ts";

pub(super) fn check(tree: &Tree, report: &mut TidyReport) {
    for file in &tree.files {
        let is_code = CODE_ENDINGS.iter().any(|ending| file.has_ending(ending));
        if !is_code || file.path.to_string_lossy().ends_with(GENERATED) {
            continue;
        }
        let lines = file.text.lines().count();
        if lines > MAX_LINES {
            let message = format!("has {lines} lines, {MAX_LINES} are the limit; split it");
            report.violation(&file.path, 1, message);
        } else if lines > WARN_LINES {
            let message = format!("has {lines} lines; from {WARN_LINES} on, think about a split");
            report.warning(&file.path, 1, message);
        }
    }
}
