//! Running personas: sessions, and the loop that answers their messages.
//!
//! The decisions are `agent`'s; here models are called, tools run, and everything is stored before
//! it is told. A run is a task that holds its session by a lease: a process that dies lets go of it
//! within seconds, and a run that waits for permission is no task at all, only rows.

mod attempt;
mod begin;
mod calls;
mod delegate;
mod drive;
mod gone;
mod live;
mod models;
mod own_tools;
mod prepare;
mod room;
mod sessions;
mod subscription;
mod toolset;
mod unkept;
mod update;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ::sessions::{Control, Sessions};
use agent::{Mode, Session};
use chrono::Utc;
use providers::Providers;
use tokio_util::sync::CancellationToken;
use tools::{FixedTools, McpServers, ToolSource, Workspace};
use uuid::Uuid;

use crate::Library;
use begin::LEASE;
use live::Live;

pub use ::sessions::IdPrefix;
pub use agent::ApprovalPolicy;
pub use live::{EventId, Told};
pub use models::{ModelList, ProviderModels};
pub use own_tools::DELEGATE;
pub use sessions::{CreateSession, Decision, ListSessions, SendOptions, SessionList, SessionView};
pub use subscription::Subscription;

/// How often this process says that it still runs what it runs.
const HEARTBEAT: Duration = Duration::from_secs(1);

type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What the user has set up for running personas.
pub struct RuntimeOptions {
    pub providers: Providers,
    pub mcp_servers: McpServers,
    pub shell: tools::ShellSettings,
    /// None: no tool opens addresses.
    pub fetch: Option<tools::FetchSettings>,
    /// Further sources of tools, after files, commands, addresses and MCP servers.
    pub sources: Vec<Arc<dyn ToolSource>>,
    /// The names that `${env.NAME}` may stand for.
    pub env_allow: BTreeSet<String>,
    pub environment: Lookup,
    /// The directory that sessions may see.
    pub root: Option<PathBuf>,
    /// Whether the user trusts the project that is open.
    pub is_trusted: bool,
    /// How long a model that answered in another's place is kept.
    pub cooldown: Duration,
    /// For personas that do not say.
    pub max_tool_rounds: Option<u32>,
}

impl RuntimeOptions {
    /// How long a model that answered in another's place is kept, where nobody says otherwise.
    pub const COOLDOWN: Duration = Duration::from_secs(60);

    /// No tools but ours, no files, no environment.
    pub fn new(providers: Providers) -> Self {
        Self {
            providers,
            mcp_servers: McpServers::new(BTreeMap::new()),
            shell: tools::ShellSettings::default(),
            fetch: None,
            sources: Vec::new(),
            env_allow: BTreeSet::new(),
            environment: Arc::new(|_| None),
            root: None,
            is_trusted: true,
            cooldown: Self::COOLDOWN,
            max_tool_rounds: None,
        }
    }
}

impl RuntimeOptions {
    fn tool_sources(&self) -> Vec<Arc<dyn ToolSource>> {
        let mut sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(Workspace::new(self.shell.clone()))];
        if let Some(settings) = &self.fetch {
            sources.push(Arc::new(FixedTools::fetch(settings)));
        }
        sources.push(Arc::new(self.mcp_servers.clone()));
        sources.extend(self.sources.iter().cloned());
        sources
    }
}

impl fmt::Debug for RuntimeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeOptions").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Sessions and what runs in them; clones share it.
#[derive(Debug, Clone)]
pub struct Runtime(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    library: Library,
    sessions: Sessions,
    options: RuntimeOptions,
    /// This process, as the database knows it: a new name each time it starts.
    node: String,
    lives: Mutex<HashMap<Uuid, Weak<Live>>>,
    /// Where the tools of runs come from.
    sources: Vec<Arc<dyn ToolSource>>,
    beats: AtomicBool,
    /// The process ends: nothing is waited for any more.
    stopping: CancellationToken,
    fallback: models::Fallback,
}

impl Runtime {
    pub fn new(library: Library, options: RuntimeOptions) -> Self {
        let node = Uuid::now_v7().to_string();
        let sessions = Sessions::new(library.scopes.database().engine().clone());
        let (lives, sources, beats) = (Mutex::default(), options.tool_sources(), AtomicBool::new(false));
        let (stopping, fallback) = (CancellationToken::new(), models::Fallback::default());
        Self(Arc::new(Inner { library, sessions, options, node, lives, sources, beats, stopping, fallback }))
    }

    pub fn library(&self) -> &Library {
        &self.0.library
    }

    /// Stops all runs of this process, and waits until they have stopped.
    pub async fn stop(&self) {
        self.0.stopping.cancel();
        for live in self.0.all_live() {
            live.interrupt();
        }
        while self.0.all_live().iter().any(|live| live.is_running()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Inner {
    fn store(&self) -> &Sessions {
        &self.sessions
    }

    fn lives(&self) -> MutexGuard<'_, HashMap<Uuid, Weak<Live>>> {
        self.lives.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find_live(&self, id: Uuid) -> Option<Arc<Live>> {
        self.lives().get(&id).and_then(Weak::upgrade)
    }

    fn all_live(&self) -> Vec<Arc<Live>> {
        self.lives().values().filter_map(Weak::upgrade).collect()
    }

    /// The sessions that this process drives. One whose row says so and that is not among them is
    /// let go.
    fn running(&self) -> Vec<Uuid> {
        self.all_live().iter().filter(|live| live.is_running()).map(|live| live.id).collect()
    }

    fn runs(&self, id: Uuid) -> bool {
        self.find_live(id).is_some_and(|live| live.is_running())
    }

    /// The one for a session, made where there is none.
    fn live(&self, session: &Session, parent: Option<Arc<Live>>) -> Arc<Live> {
        let mut lives = self.lives();
        if let Some(live) = lives.get(&session.id).and_then(Weak::upgrade) {
            return live;
        }
        lives.retain(|_, live| live.strong_count() > 0);
        let live = Arc::new(Live::new(session.id, parent, session.mode, session.last_seq));
        lives.insert(session.id, Arc::downgrade(&live));
        live
    }

    /// Renews this process's hold on what it runs for as long as it runs something, and hears what
    /// others want of it.
    fn keep_alive(self: &Arc<Self>) {
        if self.beats.swap(true, Ordering::AcqRel) {
            return;
        }
        let runtime = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(HEARTBEAT).await;
                let mut running = runtime.running();
                if running.is_empty() {
                    runtime.beats.store(false, Ordering::Release);
                    // One that began in between relies on this task.
                    running = runtime.running();
                    if running.is_empty() || runtime.beats.swap(true, Ordering::AcqRel) {
                        return;
                    }
                }
                match runtime.store().renew_leases(&runtime.node, &running, Utc::now() + LEASE).await {
                    Ok(wishes) => wishes.into_iter().for_each(|wish| runtime.obey(&wish)),
                    Err(error) => tracing::warn!(%error, "the hold on running sessions was not renewed"),
                }
            }
        });
    }

    fn obey(&self, Control { session, mode, cancel_requested }: &Control) {
        let Some(live) = self.find_live(*session) else { return };
        if *mode == Mode::Plan {
            live.plan();
        }
        if *cancel_requested {
            live.cancel();
        }
    }
}
