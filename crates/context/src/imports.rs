//! The imports of a source file, and the files of the project that they name.

mod c_family;
mod go;
mod java;
mod python;
mod rust;
mod script;

use crate::language::Language;

/// An import. A `use` of Rust with braces is one import for each path in front of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The path as written, without quotes: `crate::limits`, `..models`, `./button`, `"parse.h"` of C without
    /// quotes and `<vector>` with its brackets. `mod limits;` of Rust is `mod limits`.
    pub path: String,
    /// The imported names; `*` for all of them.
    pub names: Vec<String>,
}

/// The files of the project that an import of the file `from` names: none for a library. Paths are relative to
/// the project's root, with `/`.
///
/// `exists` is asked about files, and for packages of Go and Java about directories, whose paths end in `/`.
/// Such a path in the result stands for all files directly in it.
#[must_use]
pub fn resolve(
    import: &Import,
    from: &str,
    language: Language,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let files = Files { exists };
    let mut found = match language {
        Language::Rust => rust::resolve(import, from, files),
        Language::Python => python::resolve(import, from, files),
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            script::resolve(&import.path, from, files)
        }
        Language::Go => go::resolve(&import.path, from, files),
        Language::C | Language::Cpp => c_family::resolve(&import.path, from, files),
        Language::Java => java::resolve(import, from, files),
    };
    found.retain(|path| path != from);
    found
}

/// The files of the project.
#[derive(Clone, Copy)]
struct Files<'a> {
    exists: &'a dyn Fn(&str) -> bool,
}

impl Files<'_> {
    fn has(self, path: &str) -> bool {
        (self.exists)(path)
    }

    /// The first path that exists.
    fn first(self, paths: impl IntoIterator<Item = String>) -> Option<String> {
        paths.into_iter().find(|path| self.has(path))
    }
}

/// The directory of a path: empty, or with a `/` at its end.
fn directory(path: &str) -> &str {
    path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or_default()
}

/// The directories around a file, the nearest first. The last is the root, which is empty.
fn directories(from: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(directory(from));
    std::iter::from_fn(move || {
        let here = next?;
        next = (!here.is_empty()).then(|| directory(here.trim_end_matches('/')));
        Some(here)
    })
}

/// A relative path below a directory, without `.` and `..`. `None` if it leads out of the project.
fn joined(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests;
