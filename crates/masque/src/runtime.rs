//! Everything that running a persona needs, from the user's settings, the environment and the
//! project. Nothing is started, called or probed here: that happens with the first message.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use app::{Runtime, RuntimeOptions};
use providers::{Providers, Settings};
use tools::{McpServers, ServerSettings, ShellSettings};

use crate::config::Config;
use crate::failure::{Failure, Result};
use crate::locations::Directories;
use crate::output::{self, Warning};
use crate::project::{Connections, Project};
use crate::session::{Audience, Session};
use crate::trust::Trust;

/// Names of somebody else's choice that a notice lists.
const TOLD_NAMES: usize = 10;

/// The runtime for an open library. What of the project is not in force is told on standard error.
pub(crate) async fn open(session: &Session) -> Result<Runtime> {
    let Session { library, config, project, directories, audience, .. } = session;
    let root = root(project.as_ref(), *audience);
    // Without a root there is no project either, whatever lies around a server.
    let project = project.as_ref().filter(|_| root.is_some());
    let reach = Reach::of(config, project, directories.as_ref());
    let notices: Vec<Warning> = reach.notices.into_iter().map(Warning::Said).collect();
    output::warn(&notices, session.json);
    let environment = |name: &str| std::env::var(name).ok();
    let providers = Providers::build(reach.providers, &environment)
        .map_err(|error| Failure::invalid(format!("{error}; see `masque doctor`")))?;
    let options = RuntimeOptions {
        mcp_servers: McpServers::new(reach.mcp_servers),
        shell: shell(config),
        fetch: config.fetch.clone(),
        sources: Vec::new(),
        env_allow: config.env_allow.clone(),
        environment: Arc::new(environment),
        root,
        is_trusted: reach.is_trusted,
        cooldown: config.escalation_cooldown.unwrap_or(RuntimeOptions::COOLDOWN),
        max_tool_rounds: config.max_tool_rounds,
        ..RuntimeOptions::new(providers)
    };
    Ok(Runtime::new(library.clone(), options))
}

/// Commands are kept by this very program, whatever has become of its file.
fn shell(config: &Config) -> ShellSettings {
    ShellSettings {
        #[cfg(target_os = "linux")]
        keeper: Some(PathBuf::from("/proc/self/exe")),
        ..config.shell.clone()
    }
}

/// The directory that sessions may see. A command works where it is called; a server only in a
/// project that is open, and one that other machines reach only in a project that was named.
pub(crate) fn root(project: Option<&Project>, audience: Audience) -> Option<PathBuf> {
    let project = project.filter(|project| match audience {
        Audience::User => true,
        Audience::Machine => project.is_open(),
        Audience::Network => project.found.is_named(),
    });
    project.map(|project| project.root.clone())
}

/// Who may be called and what may be started.
#[derive(Debug)]
pub(crate) struct Reach {
    pub(crate) providers: BTreeMap<String, Settings>,
    pub(crate) mcp_servers: BTreeMap<String, ServerSettings>,
    /// Those of either that come from the project.
    pub(crate) project_providers: BTreeSet<String>,
    pub(crate) project_servers: BTreeSet<String>,
    /// Whether the user trusts the project.
    pub(crate) is_trusted: bool,
    /// What of the project is not in force, and why.
    pub(crate) notices: Vec<String>,
}

impl Reach {
    /// The user's own, and those of a project that the user trusts; of equal names the user's own.
    pub(crate) fn of(config: &Config, project: Option<&Project>, directories: Option<&Directories>) -> Self {
        let mut reach = Self {
            providers: config.providers.clone(),
            mcp_servers: config.mcp_servers.clone(),
            project_providers: BTreeSet::new(),
            project_servers: BTreeSet::new(),
            is_trusted: false,
            notices: Vec::new(),
        };
        if let Some(directories) = directories {
            let own = Connections::read(&directories.personas_file());
            if !own.server_names.is_empty() || !own.provider_names.is_empty() {
                let (file, config) = (directories.personas_file(), directories.config_file());
                let (file, config) = (file.display(), config.display());
                reach.notices.push(format!(
                    "the MCP servers and providers in {file} have no effect; move them to {config}"
                ));
            }
        }
        let Some(project) = project else { return reach };
        match directories.map(Trust::read) {
            Some(Ok(trust)) => reach.is_trusted = trust.holds(&project.root),
            Some(Err(failure)) => reach.notices.extend(failure.sentence()),
            _ => {}
        }
        let named = Connections::read(&project.file());
        if reach.is_trusted {
            reach.notices.extend(named.warnings);
            reach.project_providers = add(&mut reach.providers, named.providers);
            reach.project_servers = add(&mut reach.mcp_servers, named.mcp_servers);
            return reach;
        }
        for (what, names, done) in
            [("MCP servers", named.server_names, "started"), ("providers", named.provider_names, "called")]
        {
            if !names.is_empty() {
                let names = listed(&names);
                reach.notices.push(format!(
                    "this project names {what} ({names}); they are not {done} until you run `masque trust`"
                ));
            }
        }
        reach
    }
}

/// Some names, and how many more there are.
fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(TOLD_NAMES)].join(", ");
    match names.len().saturating_sub(TOLD_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Adds what is not there yet; the names of what was added.
fn add<T>(own: &mut BTreeMap<String, T>, others: BTreeMap<String, T>) -> BTreeSet<String> {
    let mut added = BTreeSet::new();
    for (name, value) in others {
        if !own.contains_key(&name) {
            own.insert(name.clone(), value);
            added.insert(name);
        }
    }
    added
}

#[cfg(test)]
mod tests;
