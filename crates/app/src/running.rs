//! Running personas: sessions, and the loop that answers their messages.
//!
//! `agent` decides; this module calls models, runs tools, and stores every entry before it reports it.
//! A run is a task that holds its session by a lease, which is over seconds after its process dies. A
//! run that waits for an approval is rows and no task. A run can also do without a session:
//! see [`Runtime::perform`].

mod active_run;
mod ask;
mod conducting;
mod consumption;
mod decide;
mod delegate;
mod drive;
mod editing;
mod figures;
mod gone;
mod grants;
mod journal;
mod leases;
mod live;
mod live_sessions;
mod meter;
mod model_calls;
mod models;
mod own_tools;
mod perform;
mod prepare;
mod preview;
mod project_files;
mod project_root;
mod recent;
mod record;
mod reply_buffer;
mod room;
mod runner;
mod send;
mod session_log;
mod session_tree;
mod sessions;
mod spans;
mod starter;
mod subject;
mod subscription;
mod tool_calls;
mod toolset;
mod undo;
mod unstored;
mod update;
mod waiting;

use async_recursion::async_recursion as boxed;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::sessions::Sessions;
use llm::Prices;
use providers::Providers;
use tokio_util::sync::CancellationToken;
use tools::{FixedTools, McpServers, ToolSource, Workspace};

use crate::Library;
use crate::conducting::Conducting;
use crate::editing::LibraryTool;
use crate::testing::LiveTests;
use leases::Leases;
use live_sessions::LiveSessions;
use models::Models;
use prepare::Personas;
use project_files::ProjectFiles;
use project_root::ProjectRoot;
use recent::RecentConversations;
use runner::SessionRunner;
use session_log::SessionLog;
use session_tree::SessionTree;
use starter::RunStarter;

pub(crate) use ask::{ModelQuestion, NoAnswer};
pub(crate) use subject::Subject;

pub use ::sessions::{IdPrefix, IdSuffix, SessionCounts};
pub use agent::ApprovalPolicy;
pub use consumption::Consumed;
pub use decide::Decision;
pub(crate) use editing::EditingMessage;
pub use grants::{AllGranted, Grants};
pub(crate) use leases::busy;
pub use live::{EventId, Reported};
pub(crate) use meter::input_tokens;
pub use meter::{Meter, SharedBudget};
pub use models::{ModelList, ProviderModels};
pub use own_tools::DELEGATE;
pub use perform::{Performance, Performed};
pub use preview::CallPreview;
pub use send::SendOptions;
pub(crate) use send::check_text;
pub(crate) use sessions::new_session;
pub use sessions::{CreateSession, Greeting, GreetingWord, ListSessions, SessionList, SessionView};
pub use subscription::Subscription;

type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The user's settings for running personas.
pub struct RuntimeOptions {
    pub providers: Providers,
    pub prices: Prices,
    pub mcp_servers: McpServers,
    pub shell: tools::ShellSettings,
    /// The files that tools write or read only with the user's consent.
    pub guard: tools::Guard,
    /// None: no tool opens addresses.
    pub fetch: Option<tools::FetchSettings>,
    /// Further sources of tools, after files, commands, addresses and MCP servers.
    pub sources: Vec<Arc<dyn ToolSource>>,
    /// Operations of the library that the editing agent may call, besides the tools of its own.
    pub library_tools: Vec<LibraryTool>,
    /// The names that `${env.NAME}` may use.
    pub env_allow: BTreeSet<String>,
    pub environment: Lookup,
    /// The directory that sessions may see.
    pub root: Option<PathBuf>,
    pub grants: Arc<dyn Grants>,
    /// How long a model that answered in place of another one is kept.
    pub cooldown: Duration,
    /// For personas without a limit of their own.
    pub max_tool_rounds: Option<u32>,
    /// The personas and models of tiers for tracks that name none.
    pub mma: conductor::Mma,
    /// The directory of the worktrees of tracks. None: in the user's directory for state.
    pub worktrees: Option<PathBuf>,
    /// Memory for the conversations of sessions that ran lately, so that a message does not read all of
    /// its session again.
    pub conversation_bytes: usize,
}

impl RuntimeOptions {
    /// The default of `cooldown`.
    pub const COOLDOWN: Duration = Duration::from_secs(60);
    /// The default of `conversation_bytes`.
    pub const CONVERSATION_BYTES: usize = 64 * 1024 * 1024;

    /// No tools but the runtime's own, no files, no environment.
    pub fn new(providers: Providers) -> Self {
        Self {
            providers,
            prices: Prices::default(),
            mcp_servers: McpServers::new(BTreeMap::new()),
            shell: tools::ShellSettings::default(),
            guard: tools::Guard::default(),
            fetch: None,
            sources: Vec::new(),
            library_tools: Vec::new(),
            env_allow: BTreeSet::new(),
            environment: Arc::new(|_| None),
            root: None,
            grants: Arc::new(AllGranted),
            cooldown: Self::COOLDOWN,
            max_tool_rounds: None,
            mma: conductor::Mma::default(),
            worktrees: None,
            conversation_bytes: Self::CONVERSATION_BYTES,
        }
    }
}

impl fmt::Debug for RuntimeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeOptions").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Sessions and their runs. Clones share them.
#[derive(Debug, Clone)]
pub struct Runtime {
    runner: Arc<SessionRunner>,
}

impl Runtime {
    pub fn new(library: Library, options: RuntimeOptions) -> Self {
        let RuntimeOptions { providers, mcp_servers, shell, guard, fetch, sources: further, .. } = options;
        let RuntimeOptions { prices, env_allow, environment, root, grants, cooldown, .. } = options;
        let RuntimeOptions { max_tool_rounds, conversation_bytes, library_tools, mma, worktrees, .. } =
            options;
        let scopes = library.scopes.clone();
        let workspace =
            Arc::new(Workspace::new(shell.clone(), guard.with_included(move || scopes.included())));
        let mut sources: Vec<Arc<dyn ToolSource>> = vec![Arc::clone(&workspace) as Arc<dyn ToolSource>];
        if let Some(settings) = &fetch {
            sources.push(Arc::new(FixedTools::fetch(settings)));
        }
        sources.push(Arc::new(mcp_servers));
        sources.extend(further);
        let sessions = Sessions::new(library.scopes.database().engine().clone());
        let live = Arc::new(LiveSessions::default());
        let leases = Arc::new(Leases::new(sessions.clone(), Arc::clone(&live)));
        let log = SessionLog::new(sessions.clone(), Arc::clone(&live));
        let tree = SessionTree::new(sessions.clone(), log.clone(), Arc::clone(&live), Arc::clone(&leases));
        let starter = RunStarter {
            sessions: sessions.clone(),
            tree: tree.clone(),
            leases: Arc::clone(&leases),
            recent: Arc::new(RecentConversations::new(conversation_bytes)),
            personas: Personas {
                library: library.clone(),
                env_allow,
                environment: Arc::clone(&environment),
                grants,
            },
            models: Arc::new(Models::new(providers, prices, environment, cooldown)),
            files: ProjectFiles::new(library.clone(), Arc::clone(&workspace)),
            workspace,
            shell,
            sources,
            library_tools: library_tools.into(),
            max_tool_rounds,
            stopping: CancellationToken::new(),
        };
        let conducting = Conducting::new(library.scopes.database().engine(), mma, worktrees);
        let project = ProjectRoot::new(root);
        let runner = Arc::new(SessionRunner {
            library,
            sessions,
            log,
            tree,
            live,
            leases,
            starter,
            project,
            tests: LiveTests::default(),
            conducting,
        });
        Self { runner }
    }

    pub fn library(&self) -> &Library {
        &self.runner.library
    }

    /// Lets the runs of this process end by themselves, then stops those that take longer than this.
    #[boxed]
    pub async fn finish(&self, patience: Duration) {
        let ended = async {
            while self.active_runs() > 0 || self.tests().has_running() || self.conducting().is_working() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        if tokio::time::timeout(patience, ended).await.is_err() {
            self.stop().await;
        }
    }

    /// The tests of this process.
    pub(crate) fn tests(&self) -> &LiveTests {
        &self.runner.tests
    }

    /// Stops all runs of this process, and waits until they have stopped.
    #[boxed]
    pub async fn stop(&self) {
        self.runner.starter.stopping.cancel();
        // Their claims are free for other processes at once.
        self.conducting().stop().await;
        self.tests().cancel_all();
        for live in self.runner.live.all() {
            live.run.interrupt();
        }
        let is_busy =
            || self.runner.live.all().iter().any(|live| live.run.is_running()) || self.tests().has_running();
        while is_busy() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
