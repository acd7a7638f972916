//! Modules and packages of Python. A module is `NAME.py`, a package a directory with `__init__.py`.

use super::{Files, Import, directories, directory};

pub(super) fn resolve(import: &Import, from: &str, files: Files<'_>) -> Vec<String> {
    let dots = import.path.bytes().take_while(|byte| *byte == b'.').count();
    let path = import.path.get(dots..).unwrap_or_default().trim().replace('.', "/");
    if dots > 0 {
        let Some(base) = directories(from).nth(dots - 1) else { return Vec::new() };
        return below(base, &path, &import.names, files);
    }
    // The directories of absolute imports are not known: those around the file, outermost first.
    let mut roots: Vec<&str> = directories(from).collect();
    roots.reverse();
    for root in roots {
        for base in [root.to_owned(), format!("{root}src/")] {
            let found = below(&base, &path, &import.names, files);
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// The files of a module and of those names that are modules themselves.
fn below(base: &str, path: &str, names: &[String], files: Files<'_>) -> Vec<String> {
    let package = if path.is_empty() { base.to_owned() } else { format!("{base}{path}/") };
    let inner: Vec<Option<String>> =
        names.iter().map(|name| module(&format!("{package}{}", name.replace('.', "/")), files)).collect();
    let has_items = inner.is_empty() || inner.iter().any(Option::is_none);
    let own = has_items.then(|| own(base, path, names, files)).flatten();
    own.into_iter().chain(inner.into_iter().flatten()).collect()
}

/// The file of a module. Of `import a.b.c`, which names no members, the longest part that exists.
fn own(base: &str, path: &str, names: &[String], files: Files<'_>) -> Option<String> {
    if path.is_empty() {
        return files.first([format!("{base}__init__.py")]);
    }
    let mut path = path;
    loop {
        if let Some(found) = module(&format!("{base}{path}"), files) {
            return Some(found);
        }
        path = directory(path).trim_end_matches('/');
        if path.is_empty() || !names.is_empty() {
            return None;
        }
    }
}

fn module(path: &str, files: Files<'_>) -> Option<String> {
    if path.is_empty() || path.ends_with('/') {
        return None;
    }
    files.first([format!("{path}.py"), format!("{path}/__init__.py"), format!("{path}.pyi")])
}
