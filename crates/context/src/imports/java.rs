//! Classes and packages of Java, below the usual directories of sources.

use super::{Files, Import, directories, directory};

/// Directories of sources, below a directory around the file.
const SOURCES: [&str; 4] = ["", "src/main/java/", "main/java/", "src/"];
/// Classes inside a class that a path may name.
const NESTED: usize = 3;

pub(super) fn resolve(import: &Import, from: &str, files: Files<'_>) -> Vec<String> {
    let path = import.path.replace('.', "/");
    let is_wild = import.names.iter().any(|name| name == "*");
    let mut class = path.as_str();
    for _ in 0..NESTED {
        if let Some(found) = below(&format!("{class}.java"), from, files) {
            return vec![found];
        }
        class = directory(class).trim_end_matches('/');
        let is_class =
            class.rsplit('/').next().is_some_and(|name| name.starts_with(|c: char| c.is_uppercase()));
        if !is_class {
            break;
        }
    }
    if is_wild && path.contains('/') {
        return below(&format!("{path}/"), from, files).into_iter().collect();
    }
    Vec::new()
}

fn below(path: &str, from: &str, files: Files<'_>) -> Option<String> {
    directories(from)
        .find_map(|above| files.first(SOURCES.iter().map(|place| format!("{above}{place}{path}"))))
}
