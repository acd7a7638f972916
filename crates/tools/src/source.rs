//! Sources of a run's tools.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use agent::ToolCall;
use futures::future::BoxFuture;

use crate::{FetchSettings, Guard, McpServers, Preview, Registered, Root, RootError, ShellSettings, limits};

/// A source of tools. A run takes its tools from the sources that it is handed, in order; a name that
/// is taken stays with the first source that has it.
pub trait ToolSource: fmt::Debug + Send + Sync {
    /// The tools for a run. A source that lacks something says so and provides the rest.
    fn tools<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Provided>;
}

/// The run that asks, as far as a source may know it.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// The directory that the run may see.
    pub root: Option<&'a str>,
    /// True if the run can use tools whose names begin like this. A source need not start others.
    pub admits: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

impl fmt::Debug for RunContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext").field("root", &self.root).finish_non_exhaustive()
    }
}

/// The tools of a source, and what it could not provide.
#[derive(Debug, Default)]
pub struct Provided {
    pub tools: Vec<Registered>,
    pub problems: Vec<String>,
}

impl From<Vec<Registered>> for Provided {
    fn from(tools: Vec<Registered>) -> Self {
        Self { tools, problems: Vec::new() }
    }
}

/// Files and commands below a run's root. Runs with the same root share the tools: opening a
/// directory and compiling schemas takes longer than most calls do.
#[derive(Debug)]
pub struct Workspace {
    shell: ShellSettings,
    guard: Guard,
    roots: Mutex<HashMap<String, (Root, Vec<Registered>)>>,
}

impl Workspace {
    pub fn new(shell: ShellSettings, guard: Guard) -> Self {
        Self { shell, guard, roots: Mutex::default() }
    }

    /// The files that need the user's consent.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Previews a call. It is empty for tools that are not of the workspace.
    pub fn preview(&self, root: &str, call: &ToolCall) -> Preview {
        let Ok((root, tools)) = self.open(root) else { return Preview::default() };
        match tools.iter().find(|registered| registered.tool.name == call.name) {
            Some(found) => {
                Preview { concerns: found.concerns(call), change: crate::files::change(&root, call) }
            }
            None => Preview::default(),
        }
    }

    /// Opens a directory again if it was replaced since.
    fn open(&self, path: &str) -> Result<(Root, Vec<Registered>), RootError> {
        let mut known = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(path).filter(|(root, _)| root.is_current()) {
            return Ok(found.clone());
        }
        let root = Root::open_exactly(Path::new(path), self.guard.clone())?;
        crate::files::clear_leftovers(root.dir());
        let mut tools = crate::files(&root);
        tools.extend(crate::shell(&root, &self.shell));
        if known.len() >= limits::OPEN_ROOTS {
            known.clear();
        }
        known.insert(path.to_owned(), (root.clone(), tools.clone()));
        Ok((root, tools))
    }
}

impl ToolSource for Workspace {
    fn tools<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Provided> {
        let provided = match run.root.map(|root| self.open(root)) {
            None => Provided::default(),
            Some(Ok((_, tools))) => tools.into(),
            Some(Err(error)) => Provided { tools: Vec::new(), problems: vec![error.to_string()] },
        };
        Box::pin(std::future::ready(provided))
    }
}

/// Tools that are the same for every run.
#[derive(Debug, Clone, Default)]
pub struct FixedTools(pub Vec<Registered>);

impl FixedTools {
    /// The set `fetch`.
    pub fn fetch(settings: &FetchSettings) -> Self {
        Self(crate::fetch(settings))
    }
}

impl ToolSource for FixedTools {
    fn tools<'a>(&'a self, _: RunContext<'a>) -> BoxFuture<'a, Provided> {
        Box::pin(std::future::ready(self.0.clone().into()))
    }
}

impl ToolSource for McpServers {
    fn tools<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Provided> {
        Box::pin(async move {
            if self.is_empty() || !(run.admits)(McpServers::PREFIX) {
                return Provided::default();
            }
            let (tools, problems) = self.list().await;
            Provided { tools, problems: problems.iter().map(ToString::to_string).collect() }
        })
    }
}

#[cfg(test)]
mod tests;
