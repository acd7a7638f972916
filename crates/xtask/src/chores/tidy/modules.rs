//! Dead files: Rust files that no `mod` reaches, files with nothing in them, and `mod.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};
use toml_edit::{Item, TableLike};

use super::TidyReport;
use super::tree::{Crate, Tree};

/// Directories in which each file is a crate of its own, and each directory with a `main.rs` as well.
const TARGET_DIRECTORIES: [&str; 4] = ["src/bin", "tests", "examples", "benches"];

pub(super) fn check(tree: &Tree, report: &mut TidyReport) {
    let mut reached = BTreeSet::new();
    for member in &tree.crates {
        for root in roots(tree, member) {
            reach(tree, &root, true, &mut reached);
        }
    }
    for file in &tree.files {
        if file.text.trim().is_empty() {
            report.violation(&file.path, 1, "is empty; write it or delete it");
        }
        if !file.has_ending("rs") {
            continue;
        }
        if file.path.file_name().is_some_and(|name| name == "mod.rs") {
            let message = "is a mod.rs; name it after its module: foo.rs beside foo/";
            report.violation(&file.path, 1, message);
        }
        if !reached.contains(&file.path) {
            let message = "no `mod` reaches this file, so nothing compiles it; declare it or delete it";
            report.violation(&file.path, 1, message);
        }
    }
}

/// The files from which cargo compiles: the ones that it finds by their place, and the ones in the manifest.
fn roots(tree: &Tree, member: &Crate) -> Vec<PathBuf> {
    let manifest = member.manifest.document.as_table();
    let mut roots: Vec<PathBuf> = ["src/lib.rs", "src/main.rs", "build.rs"].map(PathBuf::from).into();
    let path_of = |table: &dyn TableLike| Some(PathBuf::from(table.get("path")?.as_str()?));
    let library = manifest.get("lib").and_then(Item::as_table_like);
    roots.extend(library.and_then(path_of));
    for kind in ["bin", "test", "example", "bench"] {
        let targets = manifest.get(kind).and_then(Item::as_array_of_tables);
        roots.extend(targets.into_iter().flatten().filter_map(|target| path_of(target)));
    }
    let build = manifest.get("package").and_then(Item::as_table_like);
    roots.extend(build.and_then(|package| Some(PathBuf::from(package.get("build")?.as_str()?))));
    let discovered = tree.files.iter().filter_map(|file| {
        let path = file.path.strip_prefix(&member.directory).ok()?;
        is_discovered(path).then(|| path.to_path_buf())
    });
    roots.extend(discovered);
    let in_workspace = roots.into_iter().map(|root| member.directory.join(root));
    in_workspace.collect()
}

fn is_discovered(path: &Path) -> bool {
    TARGET_DIRECTORIES.iter().any(|directory| {
        path.strip_prefix(directory).is_ok_and(|rest| {
            let parts = rest.components().count();
            parts == 1 || (parts == 2 && rest.ends_with("main.rs"))
        })
    })
}

/// Follows the modules of a file. The modules of a crate's root and of a `mod.rs` lie beside it, those of
/// `foo.rs` in `foo/`.
fn reach(tree: &Tree, path: &Path, is_root: bool, reached: &mut BTreeSet<PathBuf>) {
    let Some(file) = tree.file(path) else {
        return;
    };
    if !reached.insert(path.to_path_buf()) {
        return;
    }
    let Some(syntax) = &file.syntax else {
        return;
    };
    let beside = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let is_root = is_root || path.ends_with("mod.rs");
    let mut modules = Modules {
        below: if is_root { beside.clone() } else { path.with_extension("") },
        beside,
        inline: false,
        found: Vec::new(),
    };
    modules.visit_file(syntax);
    for (candidate, is_root) in modules.found {
        reach(tree, &candidate, is_root, reached);
    }
}

struct Modules {
    /// The directory in which `mod foo;` is resolved.
    below: PathBuf,
    /// The base of `#[path]` and `include!` outside inline modules.
    beside: PathBuf,
    inline: bool,
    /// The files that may be meant, and whether their own modules lie beside them.
    found: Vec<(PathBuf, bool)>,
}

impl<'ast> Visit<'ast> for Modules {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let name = module.ident.to_string();
        let name = name.trim_start_matches("r#");
        if module.content.is_some() {
            let outside = (self.below.clone(), self.inline);
            self.below.push(name);
            self.inline = true;
            visit::visit_item_mod(self, module);
            (self.below, self.inline) = outside;
            return;
        }
        let base = if self.inline { &self.below } else { &self.beside };
        let mut always_elsewhere = false;
        for attribute in &module.attrs {
            for path in paths(attribute) {
                self.found.push((normalise(&base.join(path)), true));
                always_elsewhere |= attribute.path().is_ident("path");
            }
        }
        if !always_elsewhere {
            let file = self.below.join(format!("{name}.rs"));
            let directory = self.below.join(name).join("mod.rs");
            self.found.extend([(file, false), (directory, true)]);
        }
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if called.path.is_ident("include")
            && let Ok(path) = called.parse_body::<LitStr>()
        {
            self.found.push((normalise(&self.beside.join(path.value())), true));
        }
        visit::visit_macro(self, called);
    }
}

/// The value of `#[path = "…"]`, also behind `cfg_attr`.
fn paths(attribute: &Attribute) -> Vec<String> {
    let metas = if attribute.path().is_ident("cfg_attr") {
        let list = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
        let parsed = attribute.parse_args_with(list).unwrap_or_default();
        parsed.into_iter().skip(1).collect()
    } else {
        vec![attribute.meta.clone()]
    };
    metas.into_iter().filter_map(|meta| path(&meta)).collect()
}

fn path(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if pair.path.is_ident("path") => Some(text.value()),
        _ => None,
    }
}

/// Resolves `..` by name: the tree's paths have none.
fn normalise(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path {
        if part == ".." {
            normal.pop();
        } else if part != "." {
            normal.push(part);
        }
    }
    normal
}
