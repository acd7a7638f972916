//! Builds the runtime from the user's settings, the environment and the project. Servers and models
//! are contacted with the first message, not here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::running::Grants;
use app::{Runtime, RuntimeOptions};
use providers::{ProviderSettings, Providers};
use tools::{Guard, McpServers, ServerSettings, ShellSettings};

use crate::config::Config;
use crate::failure::{CommandError, Result};
use crate::locations::Directories;
use crate::output::{self, Warning, WarningCode};
use crate::project::{Connections, Project, read_text};
use crate::trust::{News, TrustList, TrustState};
use crate::workspace::{Audience, Workspace};

/// Maximum number of names in a notice.
const LISTED_NAMES: usize = 10;

/// Opens the runtime. Prints notices about ignored parts of the project to standard error.
pub(crate) async fn open(workspace: &Workspace) -> Result<Runtime> {
    let Workspace { library, config, project, directories, audience, .. } = workspace;
    let root = root(project.as_ref(), *audience);
    // Without a root, a server uses no project.
    let project = project.as_ref().filter(|_| root.is_some());
    let allowed = AllowedConnections::resolve(config, project, directories.as_ref());
    output::warn(&allowed.notices, workspace.json);
    let environment = |name: &str| std::env::var(name).ok();
    let providers = Providers::build(allowed.providers, &environment)
        .map_err(|error| CommandError::InvalidProviders(error.to_string()))?;
    let guard = guard(config, directories.as_ref(), &allowed.mcp_servers);
    let options = RuntimeOptions {
        prices: config.prices.clone(),
        mcp_servers: McpServers::new(allowed.mcp_servers),
        shell: shell(config),
        guard,
        fetch: config.fetch.clone(),
        sources: Vec::new(),
        library_tools: server::library_tools(),
        env_allow: config.env_allow.clone(),
        environment: Arc::new(environment),
        root,
        grants: Arc::new(UserGrants { directories: directories.clone(), project: project.cloned() }),
        cooldown: config.escalation_cooldown.unwrap_or(RuntimeOptions::COOLDOWN),
        max_tool_rounds: config.max_tool_rounds,
        mma: config.mma.clone(),
        ..RuntimeOptions::new(providers)
    };
    Ok(Runtime::new(library.clone(), options))
}

/// Warns before sessions begin whose tools may access everything that the user has.
pub(crate) fn warn_of_wide_root(workspace: &Workspace) {
    let Workspace { project, directories, audience, .. } = workspace;
    let root = root(project.as_ref(), *audience);
    let home = directories.as_ref().map(|directories| directories.home.as_path());
    let notice = wide_root(root.as_deref(), home).map(|text| Warning::new(WarningCode::WideRoot, text));
    output::warn(&Vec::from_iter(notice), workspace.json);
}

/// The user's list, read anew for every run.
struct UserGrants {
    directories: Option<Directories>,
    project: Option<Project>,
}

impl UserGrants {
    fn list(&self) -> Option<TrustList> {
        TrustList::read(self.directories.as_ref()?).ok()
    }
}

impl Grants for UserGrants {
    fn trusts_project(&self, text: &str) -> bool {
        let list = self.list().zip(self.project.as_ref());
        list.is_some_and(|(list, project)| list.state(&project.root, text) == TrustState::Trusted)
    }

    fn confirms(&self, preset: &str) -> bool {
        self.list().is_some_and(|list| list.confirms(preset))
    }
}

/// The files that tools touch only with the user's consent.
fn guard(
    config: &Config,
    directories: Option<&Directories>,
    servers: &BTreeMap<String, ServerSettings>,
) -> Guard {
    let own = directories.into_iter().flat_map(|of| [of.masque_config(), of.masque_data()]);
    let programs = servers.values().flat_map(ServerSettings::program_files);
    let guard = Guard::default().with_own(own).with_programs(programs);
    match &config.secrets {
        Some(secrets) => guard.with_secrets(secrets.clone()),
        None => guard,
    }
}

/// A notice if sessions may access everything that the user has.
fn wide_root(root: Option<&Path>, home: Option<&Path>) -> Option<String> {
    let root = root?.canonicalize().ok()?;
    let home = home.and_then(|home| home.canonicalize().ok());
    let what = match home {
        _ if root.parent().is_none() => "the whole file system".to_owned(),
        Some(home) if home == root => "your home directory".to_owned(),
        Some(home) if home.starts_with(&root) => format!("{}, which has your home directory", root.display()),
        _ => return None,
    };
    Some(format!(
        "tools may read and change everything in {what}; start in a project, or narrow it with --root DIR"
    ))
}

/// The running program supervises commands, even if its file was replaced.
fn shell(config: &Config) -> ShellSettings {
    ShellSettings {
        #[cfg(target_os = "linux")]
        keeper: Some(PathBuf::from("/proc/self/exe")),
        ..config.shell.clone()
    }
}

/// The directory that sessions may access. A server needs an open project, and a server for other
/// machines a named one.
pub(crate) fn root(project: Option<&Project>, audience: Audience) -> Option<PathBuf> {
    let project = project.filter(|project| match audience {
        Audience::User => true,
        Audience::Machine => project.is_open(),
        Audience::Network => project.origin.is_named(),
    });
    project.map(|project| project.root.clone())
}

/// The providers and MCP servers that may be used.
#[derive(Debug)]
pub(crate) struct AllowedConnections {
    pub(crate) providers: BTreeMap<String, ProviderSettings>,
    pub(crate) mcp_servers: BTreeMap<String, ServerSettings>,
    /// The names of those from the project.
    pub(crate) project_providers: BTreeSet<String>,
    pub(crate) project_servers: BTreeSet<String>,
    /// True if the user trusts the project.
    pub(crate) is_trusted: bool,
    /// Notices about ignored parts of the project.
    pub(crate) notices: Vec<Warning>,
}

impl AllowedConnections {
    /// Combines the user's connections with those of a trusted project. The user's win.
    pub(crate) fn resolve(
        config: &Config,
        project: Option<&Project>,
        directories: Option<&Directories>,
    ) -> Self {
        let mut allowed = Self {
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
                let text =
                    format!("the MCP servers and providers in {file} have no effect; move them to {config}");
                allowed.notices.push(Warning::new(WarningCode::ConnectionsIgnored, text));
            }
        }
        let Some(project) = project else { return allowed };
        // The trusted text is also the one that is used.
        let text = read_text(&project.file());
        match directories.map(TrustList::read) {
            Some(Ok(list)) => match list.state(&project.root, &text) {
                TrustState::Trusted => allowed.is_trusted = true,
                TrustState::Changed => {
                    let text = changed(&list.news(&project.root, &text));
                    allowed.notices.push(Warning::new(WarningCode::TrustChanged, text));
                }
                TrustState::Untrusted => {}
            },
            Some(Err(failure)) => {
                let sentence = failure.sentence();
                allowed.notices.extend(sentence.map(|text| Warning::new(WarningCode::TrustUnreadable, text)));
            }
            None => {}
        }
        let named = Connections::parse(&project.file(), &text);
        if allowed.is_trusted {
            let invalid = |text| Warning::new(WarningCode::InvalidConnection, text);
            allowed.notices.extend(named.warnings.into_iter().map(invalid));
            allowed.project_providers = add(&mut allowed.providers, named.providers);
            allowed.project_servers = add(&mut allowed.mcp_servers, named.mcp_servers);
            return allowed;
        }
        for (what, names, done) in
            [("MCP servers", named.server_names, "started"), ("providers", named.provider_names, "called")]
        {
            if !names.is_empty() {
                let names = join_limited(&names);
                let text = format!(
                    "this project defines {what} ({names}); they are not {done} until you run `masque trust`"
                );
                allowed.notices.push(Warning::new(WarningCode::UntrustedConnections, text));
            }
        }
        allowed
    }
}

/// The notice for a project that is no longer trusted.
fn changed(news: &[News]) -> String {
    let fields: Vec<String> = news.iter().map(|news| news.field.clone()).collect();
    let which = match fields.is_empty() {
        true => String::new(),
        false => format!(" ({})", join_limited(&fields)),
    };
    format!("this project changed since you trusted it{which}; review it with `masque trust`")
}

/// Joins the first names, and counts the rest.
fn join_limited(names: &[String]) -> String {
    let shown = names[..names.len().min(LISTED_NAMES)].join(", ");
    match names.len().saturating_sub(LISTED_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Adds missing entries. Returns their names.
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
