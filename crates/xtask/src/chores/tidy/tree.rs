//! The files that the rules look at, read and parsed once.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use toml_edit::Document;

use super::TidyReport;

/// Names of directories that no rule enters.
const SKIPPED_DIRECTORIES: [&str; 3] = ["fixtures", "node_modules", "target"];

/// The endings of the files that rules read; `snap.new` is a snapshot that waits for review.
const READ_ENDINGS: [&str; 6] = [".rs", ".ts", ".svelte", ".py", ".snap", ".snap.new"];

pub(super) struct Tree {
    pub(super) root: PathBuf,
    pub(super) crates: Vec<Crate>,
    pub(super) files: Vec<SourceFile>,
}

pub(super) struct Crate {
    /// The folder's name, which is the crate's name.
    pub(super) name: String,
    /// Relative to the workspace, as all paths here.
    pub(super) directory: PathBuf,
    pub(super) manifest: Manifest,
}

pub(super) struct Manifest {
    pub(super) path: PathBuf,
    text: String,
    pub(super) document: Document<String>,
}

pub(super) struct SourceFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Only of Rust files, and absent where those don't parse.
    pub(super) syntax: Option<syn::File>,
}

impl Tree {
    /// Reads `crates/*` and `web/src`. Files that can't be understood are violations in themselves.
    pub(super) fn load(root: &Path, report: &mut TidyReport) -> Result<Self> {
        let mut tree = Self { root: root.to_path_buf(), crates: Vec::new(), files: Vec::new() };
        for directory in sorted_entries(&root.join("crates"))? {
            if directory.join("Cargo.toml").is_file() {
                tree.load_crate(&directory, report)?;
            }
        }
        let web = root.join("web/src");
        if web.is_dir() {
            tree.load_files(&web, report)?;
        }
        Ok(tree)
    }

    fn load_crate(&mut self, directory: &Path, report: &mut TidyReport) -> Result<()> {
        let path = self.relative(&directory.join("Cargo.toml"));
        let text = read(&directory.join("Cargo.toml"))?;
        match Document::parse(text.clone()) {
            Ok(document) => self.crates.push(Crate {
                name: file_name(directory),
                directory: self.relative(directory),
                manifest: Manifest { path, text, document },
            }),
            Err(error) => report.violation(&path, 1, format!("is not TOML: {error}")),
        }
        self.load_files(directory, report)
    }

    fn load_files(&mut self, directory: &Path, report: &mut TidyReport) -> Result<()> {
        for entry in sorted_entries(directory)? {
            let name = file_name(&entry);
            if entry.is_dir() {
                if !name.starts_with('.') && !SKIPPED_DIRECTORIES.contains(&name.as_str()) {
                    self.load_files(&entry, report)?;
                }
            } else if READ_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
                let path = self.relative(&entry);
                self.files.push(SourceFile::new(path, read(&entry)?, report));
            }
        }
        Ok(())
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_path_buf()
    }

    /// The Rust files that parse, with their syntax.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&SourceFile, &syn::File)> {
        self.files.iter().filter_map(|file| Some((file, file.syntax.as_ref()?)))
    }

    pub(super) fn file(&self, path: &Path) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl Manifest {
    /// The line in which a part of the manifest begins.
    pub(super) fn line(&self, span: Option<Range<usize>>) -> usize {
        let start = span.map_or(0, |span| span.start.min(self.text.len()));
        1 + self.text[..start].matches('\n').count()
    }
}

impl SourceFile {
    fn new(path: PathBuf, text: String, report: &mut TidyReport) -> Self {
        let mut file = Self { path, text, syntax: None };
        if file.has_ending("rs") {
            match syn::parse_file(&file.text) {
                Ok(syntax) => file.syntax = Some(syntax),
                Err(error) => {
                    let line = error.span().start().line;
                    report.violation(&file.path, line, format!("does not parse: {error}"));
                }
            }
        }
        file
    }

    pub(super) fn has_ending(&self, ending: &str) -> bool {
        self.path.extension().is_some_and(|extension| extension == ending)
    }

    /// True if the whole file is test code: `foo/tests.rs`, or any file below `tests`.
    pub(super) fn is_test(&self) -> bool {
        let in_tests = self.path.iter().any(|part| part == "tests");
        in_tests || self.path.file_name().is_some_and(|name| name == "tests.rs")
    }
}

fn sorted_entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("could not list {}", directory.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
