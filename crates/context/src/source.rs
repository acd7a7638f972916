//! A file of a request: its hash, and its text and views once they are needed.

use std::sync::{Arc, OnceLock};

use crate::cache::Parsed;
use crate::outline::outline;
use crate::project::Loaded;
use crate::skeleton::skeleton;
use crate::symbols::SourceMap;
use crate::{ContentHash, Project, Reason, View};

/// A file that may be shown.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) hash: ContentHash,
    pub(crate) bytes: u64,
    text: OnceLock<Arc<str>>,
    parsed: OnceLock<Arc<Parsed>>,
}

impl Source {
    pub(crate) fn new(path: String, bytes: u64, loaded: Loaded) -> Self {
        let text = loaded.text.map_or_else(OnceLock::new, OnceLock::from);
        Self { path, hash: loaded.hash, bytes, text, parsed: OnceLock::new() }
    }

    /// The text. Fails if the file has changed since the request began.
    pub(crate) fn text(&self, project: &Project) -> Result<Arc<str>, Reason> {
        if let Some(text) = self.text.get() {
            return Ok(Arc::clone(text));
        }
        let (hash, text) = project.read(&self.path)?;
        if hash != self.hash {
            return Err(Reason::Changed);
        }
        Ok(Arc::clone(self.text.get_or_init(|| text)))
    }

    /// The symbols and views, parsed once per content.
    pub(crate) fn parsed(&self, project: &Project) -> Result<Arc<Parsed>, Reason> {
        if let Some(parsed) = self.parsed.get() {
            return Ok(Arc::clone(parsed));
        }
        let cache = project.cache();
        let parsed = match cache.parsed(self.hash, &self.path) {
            Some(parsed) => parsed,
            None => cache.parse(self.hash, &self.path, &self.text(project)?),
        };
        Ok(Arc::clone(self.parsed.get_or_init(|| parsed)))
    }

    /// The symbols, if they were parsed and the language is known.
    pub(crate) fn map(&self) -> Option<&SourceMap> {
        self.parsed.get()?.map.as_ref()
    }

    /// The text of a view. A file without a skeleton has an outline instead. A summary is not made here.
    pub(crate) fn body(&self, project: &Project, view: View) -> Result<Arc<str>, Reason> {
        match self.actual(project, view)? {
            View::Full | View::Excerpt => self.text(project),
            View::Skeleton => {
                let parsed = self.parsed(project)?;
                let Some(map) = &parsed.map else { return self.text(project) };
                if let Some(text) = parsed.skeleton.get() {
                    return Ok(Arc::clone(text));
                }
                let text = self.text(project)?;
                Ok(Arc::clone(parsed.skeleton.get_or_init(|| skeleton(&text, map).into())))
            }
            View::Outline | View::Summary => {
                let parsed = self.parsed(project)?;
                if let Some(text) = parsed.outline.get() {
                    return Ok(Arc::clone(text));
                }
                let text = self.text(project)?;
                Ok(Arc::clone(
                    parsed.outline.get_or_init(|| outline(&self.path, &text, parsed.map.as_ref()).into()),
                ))
            }
        }
    }

    /// The view that a file really has when asked for one: without symbols, a skeleton is an outline.
    pub(crate) fn actual(&self, project: &Project, view: View) -> Result<View, Reason> {
        match view {
            View::Skeleton if self.parsed(project)?.map.is_none() => Ok(View::Outline),
            view => Ok(view),
        }
    }
}
