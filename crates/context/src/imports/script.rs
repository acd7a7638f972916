//! Modules of TypeScript and JavaScript: relative paths, aliases of the source directory, and packages of the
//! project.

use super::{Files, directories, directory, joined};

/// Endings that an import leaves out.
const ENDINGS: [&str; 11] =
    [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".svelte", ".vue"];
/// Endings of the output, and those of its source.
const COMPILED: [(&str, &[&str]); 4] =
    [(".js", &[".ts", ".tsx"]), (".jsx", &[".tsx"]), (".mjs", &[".mts"]), (".cjs", &[".cts"])];
/// Aliases of bundlers, and what they stand for.
const ALIASES: [(&str, &str); 4] = [("@/", "src/"), ("~/", "src/"), ("$lib/", "src/lib/"), ("#/", "src/")];

pub(super) fn resolve(path: &str, from: &str, files: Files<'_>) -> Vec<String> {
    let path = path.split(['?', '!']).next().unwrap_or_default();
    if path.is_empty() {
        return Vec::new();
    }
    if path == "." || path == ".." || path.starts_with("./") || path.starts_with("../") {
        return joined(directory(from), path).and_then(|path| module(&path, files)).into_iter().collect();
    }
    directories(from)
        .find_map(|above| candidates(above, path).find_map(|path| module(&path, files)))
        .into_iter()
        .collect()
}

/// The paths below a directory that a path without a dot in front may mean.
fn candidates(above: &str, path: &str) -> impl Iterator<Item = String> {
    let aliased = ALIASES.iter().find_map(|(alias, directory)| {
        path.strip_prefix(alias).map(|rest| format!("{above}{directory}{rest}"))
    });
    let is_scoped = path.starts_with('@');
    // `@scope/name` is a package, `name/file` a path below a base.
    let based =
        (!is_scoped && path.contains('/')).then(|| format!("{above}{}", path.trim_start_matches('/')));
    let name = if is_scoped { path.split_once('/').map(|(_, name)| name) } else { Some(path) };
    let packages = name.into_iter().flat_map(move |name| {
        let (package, inner) = name.split_once('/').unwrap_or((name, ""));
        ["packages", "apps", "libs"].into_iter().flat_map(move |group| {
            let package = format!("{above}{group}/{package}");
            [format!("{package}/src/{inner}"), format!("{package}/{inner}")]
        })
    });
    aliased.into_iter().chain(based).chain(packages)
}

/// The file of a module: itself, with an ending, or the index of a directory.
fn module(path: &str, files: Files<'_>) -> Option<String> {
    let path = path.trim_end_matches('/');
    let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if is_file && files.has(path) {
        return Some(path.to_owned());
    }
    let compiled = COMPILED.iter().find_map(|(ending, sources)| Some((path.strip_suffix(ending)?, *sources)));
    let sources =
        compiled.into_iter().flat_map(|(stem, sources)| sources.iter().map(move |of| format!("{stem}{of}")));
    let endings = ENDINGS.iter().map(|ending| format!("{path}{ending}"));
    let slash = if path.is_empty() { "" } else { "/" };
    let indexes = ENDINGS.iter().map(|ending| format!("{path}{slash}index{ending}"));
    files.first(sources.chain(endings).chain(indexes))
}
