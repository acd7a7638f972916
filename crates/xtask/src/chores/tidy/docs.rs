//! Every crate says first what it is for, and what it must not know.

use super::TidyReport;
use super::tree::Tree;

pub(super) fn check(tree: &Tree, report: &mut TidyReport) {
    for member in &tree.crates {
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| member.directory.join(root));
        let mut present = roots.iter().filter_map(|root| tree.file(root)).peekable();
        if present.peek().is_none() {
            let message = "the crate has neither src/lib.rs nor src/main.rs; add one or remove the crate";
            report.violation(&member.manifest.path, 1, message);
        }
        for file in present {
            if !file.text.starts_with("//!") {
                let message = "a crate opens with `//!`: its purpose and what it must not know";
                report.violation(&file.path, 1, message);
            }
        }
    }
}
