//! The tools of one run: those that can be called, and who restricts them.

use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError};

pub(super) use agent::PLAN_EXIT;
use agent::{Annotations, Chosen, Mode, Permission, Selected, Session, Tool, limits, select};
use llm::{Schema, ToolSpec};
use serde_json::{Map, Value, json};
use tools::{Registered, Root, RootError, Toolbox};

use super::Inner;
use super::prepare::Prepared;
use crate::Result;

pub(super) const LOAD_SKILL: &str = "load_skill";
pub const DELEGATE: &str = "delegate";
/// Directories whose tools are kept ready.
const MOST_ROOTS: usize = 64;
/// How the names of MCP servers' tools begin.
const MCP_PREFIX: &str = "mcp__";

pub(super) struct Toolset {
    /// What a model may be offered, ours included, in a stable order.
    all: Vec<Arc<Tool>>,
    toolbox: Toolbox,
    /// The personas that delegated to this one, nearest first: a delegate may do nothing that they
    /// may not.
    above: Vec<Prepared>,
    /// What is offered in each mode, once it was asked for: neither the persona nor the tools change
    /// in a run.
    in_build: OnceLock<Arc<Offer>>,
    in_plan: OnceLock<Arc<Offer>>,
}

/// What a model is offered in a mode.
pub(super) struct Offer {
    pub(super) selected: Vec<Selected>,
    pub(super) specs: Arc<[ToolSpec]>,
    /// For the system prompt.
    pub(super) strategy: Option<String>,
}

impl Toolset {
    /// What is offered in a mode. The same list decides what runs.
    pub(super) fn offered(&self, prepared: &Prepared, mode: Mode) -> Arc<Offer> {
        let offer = match mode {
            Mode::Plan => &self.in_plan,
            Mode::Build => &self.in_build,
        };
        let made = offer.get_or_init(|| {
            let selected = self.selected(prepared, mode);
            let specs = selected.iter().map(|selected| selected.spec.clone()).collect();
            let strategy = agent::strategy(prepared.preset(mode), prepared.bias.as_ref(), &selected);
            Arc::new(Offer { selected, specs, strategy })
        });
        Arc::clone(made)
    }

    fn selected(&self, prepared: &Prepared, mode: Mode) -> Vec<Selected> {
        let mut offered = select(&self.all, &chosen(prepared, mode));
        for above in &self.above {
            let theirs = select(&self.all, &chosen(above, mode));
            offered.retain_mut(|selected| {
                let found = theirs.iter().find(|other| other.tool.name == selected.tool.name);
                if let Some(other) = found {
                    selected.permission = selected.permission.max(other.permission);
                }
                found.is_some()
            });
        }
        offered
    }

    pub(super) fn get(&self, name: &str) -> Option<&Registered> {
        self.toolbox.get(name)
    }
}

fn chosen(prepared: &Prepared, mode: Mode) -> Chosen<'_> {
    Chosen {
        mode,
        preset: prepared.preset(mode),
        bias: prepared.bias.as_ref(),
        deny: &prepared.deny,
        auto_counts: prepared.auto_counts,
    }
}

impl Inner {
    /// The tools of a session whose persona is prepared; what could not be had is told.
    pub(super) async fn toolset(
        &self,
        session: &Session,
        prepared: &Prepared,
    ) -> Result<(Toolset, Vec<String>)> {
        let mut above = Vec::new();
        let mut parent = session.parent;
        while let Some(id) = parent {
            let Some(session) = self.store().session(id).await? else { break };
            above.push(self.prepare(&session.persona, session.scope, &session.overrides).await?);
            parent = session.parent;
        }
        let (toolbox, problems) = self.toolbox(session.root.as_deref(), prepared).await;
        let mut all: Vec<Arc<Tool>> = toolbox.tools().cloned().collect();
        if !prepared.skills.is_empty() {
            let names: Vec<&str> = prepared.skills.keys().map(persona::Name::as_str).collect();
            all.push(Arc::new(load_skill(&names)));
        }
        if session.depth < limits::DELEGATION_DEPTH {
            all.push(Arc::clone(&DELEGATE_TOOL));
        }
        all.push(Arc::clone(&PLAN_EXIT_TOOL));
        let (in_build, in_plan) = (OnceLock::new(), OnceLock::new());
        Ok((Toolset { all, toolbox, above, in_build, in_plan }, problems))
    }
}

impl Inner {
    /// What of the built-in sets and MCP servers there is for a session. A server is started for a
    /// persona that may use MCP tools at all.
    async fn toolbox(&self, root: Option<&str>, prepared: &Prepared) -> (Toolbox, Vec<String>) {
        let mut problems = Vec::new();
        let mut toolbox = match root.map(|root| self.of_root(root)) {
            None => Toolbox::new(),
            Some(Ok(toolbox)) => toolbox,
            Some(Err(error)) => {
                problems.push(error.to_string());
                Toolbox::new()
            }
        };
        if let Some(settings) = &self.options.fetch {
            toolbox.add(tools::fetch(settings));
        }
        if !self.options.mcp_servers.is_empty() && wants_mcp(prepared) {
            let (tools, failed) = self.options.mcp_servers.tools().await;
            toolbox.add(tools);
            problems.extend(failed.iter().map(ToString::to_string));
        }
        (toolbox, problems)
    }
}

impl Inner {
    /// The tools of a directory, which its sessions share: opening it and preparing schemas takes
    /// longer than most calls do. One that was replaced since is opened anew.
    fn of_root(&self, path: &str) -> std::result::Result<Toolbox, RootError> {
        let mut known = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, toolbox)) = known.get(path).filter(|(root, _)| root.is_current()) {
            return Ok(toolbox.clone());
        }
        let root = Root::open(Path::new(path))?;
        let mut toolbox = Toolbox::new();
        toolbox.add(tools::files(&root));
        toolbox.add(tools::shell(&root, &self.options.shell));
        if known.len() >= MOST_ROOTS {
            known.clear();
        }
        known.insert(path.to_owned(), (root, toolbox.clone()));
        Ok(toolbox)
    }
}

/// Whether a persona's presets leave room for tools of MCP servers.
fn wants_mcp(prepared: &Prepared) -> bool {
    let names_some = |preset: &persona::ToolPreset| {
        let mut names = preset.categories.values().flatten().map(|tool| tool.name.as_str());
        names.any(|name| match name.split_once('*') {
            Some((before, _)) => before.starts_with(MCP_PREFIX) || MCP_PREFIX.starts_with(before),
            None => name.starts_with(MCP_PREFIX),
        })
    };
    [Mode::Build, Mode::Plan].into_iter().any(|mode| prepared.preset(mode).is_none_or(names_some))
}

fn own(name: &str, set: &'static str, description: &str, properties: &Value, required: &[&str]) -> Tool {
    Tool {
        name: name.to_owned(),
        set,
        description: description.to_owned(),
        input_schema: Schema::new(json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        })),
        annotations: Annotations::READ_ONLY,
    }
}

fn load_skill(names: &[&str]) -> Tool {
    let description = "Loads the content of one of your skills. Load a skill before you do what it is for.";
    let properties = json!({ "name": { "type": "string", "enum": names, "description": "The skill." } });
    own(LOAD_SKILL, "skills", description, &properties, &["name"])
}

static DELEGATE_TOOL: LazyLock<Arc<Tool>> = LazyLock::new(|| Arc::new(delegate()));
static PLAN_EXIT_TOOL: LazyLock<Arc<Tool>> = LazyLock::new(|| Arc::new(plan_exit()));

fn delegate() -> Tool {
    let description = "Gives a task to another persona, which works on it by itself and reports back. It sees nothing of \
                       this conversation: say everything that it needs to know.";
    let properties = json!({
        "persona": { "type": "string", "description": "The persona's name." },
        "task": { "type": "string", "description": "What is to be done, and what is to be reported." },
    });
    own(DELEGATE, "delegate", description, &properties, &["persona", "task"])
}

fn plan_exit() -> Tool {
    let description = "Hands the finished plan to the user, who decides whether it is carried out. Call it once the plan \
                       is complete, and not before.";
    let properties = json!({ "plan": { "type": "string", "description": "The whole plan, in markdown." } });
    own(PLAN_EXIT, "plan", description, &properties, &["plan"])
}

/// A text that one of our own tools needs; what is missing is told to the model.
pub(super) fn text<'a>(input: &'a Map<String, Value>, field: &str) -> std::result::Result<&'a str, String> {
    match input.get(field) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        Some(Value::String(_)) => Err(format!("{field} must not be empty; nothing was done.")),
        Some(_) => Err(format!("{field} must be a string; nothing was done.")),
        None => Err(format!("{field} is missing; nothing was done.")),
    }
}

/// Whether a tool may run without anybody being asked.
pub(super) fn is_allowed(selected: &Selected) -> bool {
    selected.permission == Permission::Allow
}
