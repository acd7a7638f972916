//! Where findings stand in the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use files::document::{Locator, TextPlace, directory_of};
use persona::Scope;
use persona::lint::Finding;

/// A file, and a line and column in it, as far as there are any.
pub(super) type Placed = (Option<PathBuf>, Option<(usize, usize)>);

/// The files of the scopes, as they are now.
#[derive(Default)]
pub(super) struct Places<'t>(BTreeMap<Scope, File<'t>>);

struct File<'t> {
    path: &'t Path,
    /// Where the paths of texts of their own start.
    directory: PathBuf,
    /// None where it cannot be read any more.
    locator: Option<Locator<'t>>,
}

impl<'t> Places<'t> {
    pub(super) fn add(&mut self, scope: Scope, path: &'t Path, text: Option<&'t str>) {
        let file = File { path, directory: directory_as_given(path), locator: text.and_then(Locator::new) };
        self.0.insert(scope, file);
    }

    /// The place of what was found: that of its character for what is about one in a text, wherever
    /// it is written; that of the name or of the field's key, or of the entry otherwise.
    pub(super) fn of(&self, finding: &Finding) -> Placed {
        let Some(file) = self.0.get(&finding.scope) else { return (None, None) };
        let path = || Some(file.path.to_owned());
        let Some(locator) = &file.locator else { return (path(), None) };
        let name = finding.name.as_str();
        let in_text = finding.field.as_deref().zip(finding.at);
        let in_text = in_text.and_then(|(field, at)| locator.find_in_text(finding.kind, name, field, at));
        match (in_text, finding.at) {
            (Some(TextPlace::Included(text)), Some(at)) => {
                (Some(file.directory.join(text)), Some((at.line, at.column)))
            }
            (Some(TextPlace::Here { line, column }), _) => (path(), Some((line, column))),
            _ => {
                let steps: Vec<&str> =
                    finding.field.iter().chain(&finding.element).map(String::as_str).collect();
                let field = (!steps.is_empty()).then(|| steps.join("."));
                (path(), locator.find(finding.kind, name, field.as_deref()))
            }
        }
    }
}

/// The directory of a file, by the path under which the file is known rather than where links lead:
/// whoever tells what lies below a project compares paths.
fn directory_as_given(path: &Path) -> PathBuf {
    let directory = directory_of(path);
    match path.parent() {
        Some(given) if fs::canonicalize(given).is_ok_and(|real| real == directory) => given.to_owned(),
        _ => directory,
    }
}
