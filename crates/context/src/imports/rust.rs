//! Modules and crates of Rust. A module is `NAME.rs` or `NAME/mod.rs`.

use super::{Files, Import, directories, directory};

/// The library of a package, below its directory.
const LIBRARY: &str = "src/lib.rs";

pub(super) fn resolve(import: &Import, from: &str, files: Files<'_>) -> Vec<String> {
    let place = Place::of(from, files);
    if let Some(name) = import.path.strip_prefix("mod ") {
        return place.here().child(name, files).into_iter().map(|module| module.file).collect();
    }
    let is_outside = import.path.starts_with("::");
    let mut segments = import.path.split("::").map(str::trim).filter(|part| !part.is_empty()).peekable();
    let start = match segments.peek().copied() {
        None => return Vec::new(),
        Some("crate") => {
            segments.next();
            place.root()
        }
        Some("self") => {
            segments.next();
            place.here()
        }
        Some("super") => {
            let mut module = place.here();
            while segments.next_if_eq(&"super").is_some() {
                let Some(outer) = module.outer(&place, files) else { return Vec::new() };
                module = outer;
            }
            module
        }
        Some(name) => {
            let near = if is_outside { None } else { place.here().child(name, files) };
            match near.or_else(|| library(name, from, files)) {
                Some(module) => {
                    segments.next();
                    module
                }
                None => match own_library(name, segments.clone().nth(1), from, files) {
                    Some(module) => {
                        segments.next();
                        module
                    }
                    None => return Vec::new(),
                },
            }
        }
    };
    let mut module = start;
    let mut is_whole = true;
    for name in segments {
        match module.child(name, files) {
            Some(inner) => module = inner,
            None => {
                is_whole = false;
                break;
            }
        }
    }
    named(module, if is_whole { &import.names } else { &[] }, files)
}

/// The files of the names that are modules, and that of the module itself for the others.
fn named(module: Module, names: &[String], files: Files<'_>) -> Vec<String> {
    let inner: Vec<Option<Module>> = names.iter().map(|name| module.child(name, files)).collect();
    let has_items = inner.is_empty() || inner.iter().any(Option::is_none);
    let own = has_items.then_some(module.file).filter(|file| !file.is_empty());
    own.into_iter().chain(inner.into_iter().flatten().map(|module| module.file)).collect()
}

/// The library of a package of the project, by the name of its directory.
fn library(name: &str, from: &str, files: Files<'_>) -> Option<Module> {
    let dashed = name.replace('_', "-");
    let names = if dashed == name { vec![name] } else { vec![name, &dashed] };
    let found = directories(from).find_map(|above| {
        let places =
            names.iter().flat_map(|name| [format!("{above}{name}/"), format!("{above}crates/{name}/")]);
        files.first(places.map(|package| format!("{package}{LIBRARY}")))
    })?;
    Some(Module { below: directory(&found).to_owned(), file: found })
}

/// The library of the file's own package, whose name is not known: it must have the next part of the path as a
/// module.
fn own_library(name: &str, next: Option<&str>, from: &str, files: Files<'_>) -> Option<Module> {
    if matches!(name, "std" | "core" | "alloc") {
        return None;
    }
    let found = files.first(directories(from).map(|above| format!("{above}{LIBRARY}")))?;
    let module = Module { below: directory(&found).to_owned(), file: found };
    module.child(next?, files)?;
    Some(module)
}

/// A module: its file, and the directory of the modules inside it.
struct Module {
    /// Empty if the crate's root is not known.
    file: String,
    below: String,
}

impl Module {
    fn child(&self, name: &str, files: Files<'_>) -> Option<Self> {
        let name = name.strip_prefix("r#").unwrap_or(name);
        let below = format!("{}{name}/", self.below);
        let file = files.first([format!("{}{name}.rs", self.below), format!("{below}mod.rs")])?;
        Some(Self { file, below })
    }

    /// The module around this one.
    fn outer(&self, place: &Place<'_>, files: Files<'_>) -> Option<Self> {
        if self.below == place.root {
            return None;
        }
        let below = directory(self.below.trim_end_matches('/')).to_owned();
        if below == place.root {
            return Some(place.root());
        }
        let path = below.trim_end_matches('/');
        let file = files.first([format!("{path}.rs"), format!("{below}mod.rs")])?;
        Some(Self { file, below })
    }
}

/// The place of a file in its crate.
struct Place<'a> {
    from: &'a str,
    /// The directory of the crate's modules.
    root: &'a str,
    root_file: String,
}

impl<'a> Place<'a> {
    fn of(from: &'a str, files: Files<'_>) -> Self {
        let own = directory(from);
        let is_target = matches!(
            own.trim_end_matches('/').rsplit('/').next(),
            Some("bin" | "tests" | "examples" | "benches")
        );
        let main = |above: &str| files.first([format!("{above}lib.rs"), format!("{above}main.rs")]);
        let nearest = directories(from).find_map(|above| main(above).map(|file| (above, file)));
        match nearest {
            Some((root, root_file)) if !is_target || root == own => {
                // Both roots of a package have the same modules.
                let root_file =
                    if directory(from) == root && is_root(from) { from.to_owned() } else { root_file };
                Self { from, root, root_file }
            }
            _ => Self { from, root: own, root_file: from.to_owned() },
        }
    }

    fn root(&self) -> Module {
        Module { file: self.root_file.clone(), below: self.root.to_owned() }
    }

    /// The module of the file.
    fn here(&self) -> Module {
        let below = match self.from.strip_suffix(".rs") {
            _ if self.from == self.root_file => self.root.to_owned(),
            Some(path) if path.ends_with("/mod") => directory(self.from).to_owned(),
            Some(path) => format!("{path}/"),
            None => self.root.to_owned(),
        };
        Module { file: self.from.to_owned(), below }
    }
}

fn is_root(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("lib.rs" | "main.rs"))
}
