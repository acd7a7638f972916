//! Snapshots of insta: each has the test that it belongs to, and none waits for review.

use super::TidyReport;
use super::tree::{SourceFile, Tree};

pub(super) fn check(tree: &Tree, report: &mut TidyReport) {
    for file in &tree.files {
        if file.has_ending("new") {
            let message = "a snapshot waits for review; run `cargo insta review`";
            report.violation(&file.path, 1, message);
        } else if file.has_ending("snap") {
            match source(file) {
                None => report.violation(
                    &file.path,
                    1,
                    "the snapshot does not name its source; delete it and run its test again",
                ),
                Some(source) if !tree.root.join(source).is_file() => report.violation(
                    &file.path,
                    1,
                    format!("the snapshot belongs to {source}, which is gone; delete it"),
                ),
                Some(_) => {}
            }
        }
    }
}

/// The test file that the header names, relative to the workspace.
fn source(file: &SourceFile) -> Option<&str> {
    let mut header = file.text.lines().skip(1);
    header
        .by_ref()
        .take_while(|line| *line != "---")
        .find_map(|line| line.strip_prefix("source: "))
        .map(|source| source.trim().trim_matches('"'))
}
