//! Headers of C and C++: beside the file, or below the usual directories.

use super::{Files, directories, directory, joined};

/// Directories of headers, below a directory around the file.
const PLACES: [&str; 3] = ["", "include/", "src/"];

pub(super) fn resolve(path: &str, from: &str, files: Files<'_>) -> Vec<String> {
    let bracketed = path.strip_prefix('<').and_then(|path| path.strip_suffix('>'));
    let near = match bracketed {
        Some(_) => None,
        None => joined(directory(from), path).filter(|path| files.has(path)),
    };
    let name = bracketed.unwrap_or(path).trim();
    if name.is_empty() || name.starts_with('.') && near.is_none() {
        return Vec::new();
    }
    let below = |above: &str| files.first(PLACES.iter().map(|place| format!("{above}{place}{name}")));
    near.or_else(|| directories(from).find_map(below)).into_iter().collect()
}
