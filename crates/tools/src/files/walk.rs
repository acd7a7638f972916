//! Going through directories without ever leaving the root.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cap_std::fs::{Dir, FileType};
use ignore::overrides::{Override, OverrideBuilder};
use tokio_util::sync::CancellationToken;

use super::ignored::{Layer, is_git, is_hidden, is_ignored, refuse_git};
use super::root::Root;
use crate::limits;

/// Tells work that blocks a thread when to stop.
#[derive(Debug)]
pub(crate) struct Watch {
    cancelled: CancellationToken,
    deadline: Instant,
}

impl Watch {
    pub(crate) fn new(cancelled: CancellationToken) -> Self {
        Self { cancelled, deadline: Instant::now() + limits::FILES_TIME }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.cancelled.is_cancelled() || Instant::now() >= self.deadline
    }
}

/// The reason why a walk stopped early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Complete,
    /// The visitor had enough.
    Enough,
    /// Out of time, or cancelled.
    Time,
    /// Out of entries that it may look at.
    Entries,
}

impl Ended {
    /// A note for the model. None if everything was visited, or the visitor words it itself.
    pub(crate) fn note(self) -> Option<String> {
        match self {
            Self::Complete | Self::Enough => None,
            Self::Time => Some(format!(
                "[stopped after {} s; name a smaller path or a narrower glob]",
                limits::FILES_TIME.as_secs()
            )),
            Self::Entries => {
                Some(format!("[stopped after {} entries; name a smaller path]", limits::WALK_ENTRIES))
            }
        }
    }
}

/// Something that a walk came upon.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// Relative to the session's root.
    pub path: &'a Path,
    pub kind: FileType,
    /// The directory that holds it, and its name there.
    pub dir: &'a Dir,
    pub name: &'a OsStr,
}

#[derive(Debug)]
pub(crate) struct Walk<'a> {
    watch: &'a Watch,
    glob: Option<Override>,
    start: PathBuf,
    hidden: bool,
    depth: usize,
    layers: Vec<Layer>,
    /// Rules above the root know absolute paths.
    root: &'a Root,
    seen: usize,
}

type Visit<'v> = dyn FnMut(Found<'_>) -> io::Result<ControlFlow<()>> + 'v;

impl<'a> Walk<'a> {
    /// `start` as the model named it; `glob` picks files, relative to it.
    pub(crate) fn new(
        root: &'a Root,
        start: &Path,
        glob: Option<&str>,
        depth: usize,
        watch: &'a Watch,
    ) -> Result<Self, String> {
        let start = root.resolved(start)?;
        refuse_git(&start)?;
        let mut layers = Vec::new();
        let mut base = PathBuf::new();
        layers.extend(Layer::of(root.dir(), &base));
        // The starting directory's own rules are read when it is walked.
        for part in start.parent().into_iter().flat_map(Path::components) {
            base.push(part);
            if let Ok(dir) = root.dir().open_dir(&base) {
                layers.extend(Layer::of(&dir, &base));
            }
        }
        let hidden = glob.is_some_and(|glob| glob.split(['/', '{', ',']).any(|part| part.starts_with('.')));
        let glob = glob.map(parse_glob).transpose()?;
        Ok(Self { watch, glob, start, hidden, depth: depth.min(limits::WALK_DEPTH), layers, root, seen: 0 })
    }

    /// Visits everything that is not ignored, sorted by name, a directory before its content.
    pub(crate) fn run(mut self, visit: &mut Visit<'_>) -> Result<Ended, String> {
        let start = self.start.clone();
        let opened = if start.as_os_str().is_empty() {
            self.root.dir().try_clone()
        } else {
            self.root.dir().open_dir(&start)
        };
        let dir = opened.map_err(|error| self.root.explain(&start, &error))?;
        let below_root = !start.as_os_str().is_empty();
        match self.enter(&dir, &start, 1, below_root, visit) {
            Ok(ControlFlow::Continue(())) => Ok(Ended::Complete),
            Ok(ControlFlow::Break(ended)) => Ok(ended),
            Err(error) => Err(self.root.explain(&start, &error)),
        }
    }

    fn enter(
        &mut self,
        dir: &Dir,
        path: &Path,
        depth: usize,
        has_rules: bool,
        visit: &mut Visit<'_>,
    ) -> io::Result<ControlFlow<Ended>> {
        let rules = has_rules.then(|| Layer::of(dir, path)).flatten();
        let added = rules.is_some();
        self.layers.extend(rules);
        let flow = self.entries(dir, path, depth, visit);
        if added {
            self.layers.pop();
        }
        flow
    }

    fn entries(
        &mut self,
        dir: &Dir,
        path: &Path,
        depth: usize,
        visit: &mut Visit<'_>,
    ) -> io::Result<ControlFlow<Ended>> {
        let mut entries = Vec::new();
        for entry in dir.entries()? {
            if self.watch.is_over() {
                return Ok(ControlFlow::Break(Ended::Time));
            }
            self.seen += 1;
            if self.seen > limits::WALK_ENTRIES {
                return Ok(ControlFlow::Break(Ended::Entries));
            }
            let Ok(entry) = entry else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            entries.push((entry.file_name(), kind));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in entries {
            if self.watch.is_over() {
                return Ok(ControlFlow::Break(Ended::Time));
            }
            let below = path.join(&name);
            if self.is_left_out(&below, &name, kind.is_dir()) {
                continue;
            }
            let closed = kind.is_dir() && depth >= self.depth;
            if self.is_picked(&below, kind.is_dir()) {
                let found = Found { path: &below, kind, dir, name: &name };
                if visit(found)?.is_break() {
                    return Ok(ControlFlow::Break(Ended::Enough));
                }
            }
            if !kind.is_dir() || closed {
                continue;
            }
            // A directory may have become a link meanwhile; opened below `dir`, it leads nowhere
            // else. One that may not be entered is passed over.
            let Ok(inner) = dir.open_dir(&name) else { continue };
            if let Ok(ControlFlow::Break(ended)) = self.enter(&inner, &below, depth + 1, true, visit) {
                return Ok(ControlFlow::Break(ended));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn is_left_out(&self, path: &Path, name: &OsStr, is_dir: bool) -> bool {
        if is_git(name) {
            return true;
        }
        let ignored = is_ignored(&self.layers, path, is_dir)
            .or_else(|| is_ignored(self.root.above(), &self.root.path().join(path), is_dir));
        // A rule that shows a hidden file names it.
        ignored.unwrap_or_else(|| is_hidden(name) && !self.hidden)
    }

    fn is_picked(&self, path: &Path, is_dir: bool) -> bool {
        let Some(glob) = &self.glob else { return true };
        let below = path.strip_prefix(&self.start).unwrap_or(path);
        !is_dir && glob.matched(below, false).is_whitelist()
    }
}

/// A glob in the manner of gitignore: without a slash it holds at any depth.
fn parse_glob(glob: &str) -> Result<Override, String> {
    let failed =
        |error: ignore::Error| format!("invalid glob {glob:?}: {error}; use one such as *.rs or src/**/*.rs");
    if glob.starts_with('!') {
        return Err(format!("{glob:?}: a glob says what to pick, not what to leave out"));
    }
    let below = glob.strip_prefix("./").unwrap_or(glob);
    // A directory's name means its content.
    let below = if below.ends_with('/') { format!("{below}**") } else { below.to_owned() };
    let mut builder = OverrideBuilder::new(".");
    builder.add(&below).map_err(failed)?;
    let glob = builder.build().map_err(failed)?;
    if glob.is_empty() {
        Err(format!("invalid glob {below:?}; use one such as *.rs or src/**/*.rs"))
    } else {
        Ok(glob)
    }
}
