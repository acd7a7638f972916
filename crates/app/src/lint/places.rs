//! The places of findings in the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use files::document::{Locator, TextPlace, directory_of};
use persona::Scope;
use persona::lint::Finding;

/// A file, and a line and column in it, if known.
pub(super) type Placed = (Option<PathBuf>, Option<(usize, usize)>);

/// The current files of the scopes.
#[derive(Default)]
pub(super) struct Places<'t>(BTreeMap<Scope, File<'t>>);

struct File<'t> {
    path: &'t Path,
    /// The directory that included paths are relative to.
    directory: PathBuf,
    /// `None` if the file cannot be read any more.
    locator: Option<Locator<'t>>,
}

impl<'t> Places<'t> {
    pub(super) fn add(&mut self, scope: Scope, path: &'t Path, text: Option<&'t str>) {
        let file = File { path, directory: directory_as_given(path), locator: text.and_then(Locator::new) };
        self.0.insert(scope, file);
    }

    /// The place of a finding: the character in a text, else the name, the key of the field, or the
    /// entry.
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

/// The directory of a file as given, without following links. Callers compare it with the project's
/// path.
fn directory_as_given(path: &Path) -> PathBuf {
    let directory = directory_of(path);
    match path.parent() {
        Some(given) if fs::canonicalize(given).is_ok_and(|real| real == directory) => given.to_owned(),
        _ => directory,
    }
}
