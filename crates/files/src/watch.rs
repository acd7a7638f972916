//! Follows files as they change, however an editor saves them.
//!
//! Directories are watched rather than files: a save may replace the file, a link may get another target,
//! a file may not exist yet. If the system reports nothing, the files are polled several times a second.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::links::{Followed, follow};
use super::settle::inode;

/// A save is over when nothing has happened for this long.
const CALM: Duration = Duration::from_millis(30);
/// A burst that does not end is reported after this time.
const BURST: Duration = Duration::from_millis(100);
/// The polling interval if the system reports nothing.
const POLL: Duration = Duration::from_millis(100);
/// The interval of additional looks, in case a report was lost.
const GLANCE: Duration = Duration::from_secs(2);
/// Forces polling, for file systems that silently report nothing.
const FORCE: &str = "MASQUE_WATCH";

/// The way in which changes are noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchMode {
    /// The system reports them.
    Native,
    /// The files are polled several times a second.
    Polling { reason: String },
}

/// Follows some files until it is dropped.
pub struct Watcher {
    commands: Sender<Message>,
    mode: Arc<Mutex<WatchMode>>,
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").field("mode", &self.mode()).finish_non_exhaustive()
    }
}

enum Message {
    /// Something happened to these paths.
    Event(Vec<PathBuf>),
    /// Reports were lost, or the system says that something is wrong.
    Doubt,
    Paths(Vec<PathBuf>),
    Stop,
}

impl Watcher {
    /// Calls `changed` after any of the files has changed; once for a burst of changes.
    pub fn start(paths: Vec<PathBuf>, changed: impl Fn() + Send + Sync + 'static) -> Self {
        let (commands, messages) = mpsc::channel();
        let mode = Arc::new(Mutex::new(WatchMode::Native));
        let mut follower = Follower::new(paths, commands.clone(), mode.clone());
        let started = std::thread::Builder::new()
            .name("masque-watch".to_owned())
            .spawn(move || follower.run(&messages, &changed));
        if let Err(error) = started {
            tracing::warn!(%error, "files are not followed");
        }
        Self { commands, mode }
    }

    /// Follows these files from now on, instead of those before.
    pub fn set(&self, paths: Vec<PathBuf>) {
        let _ = self.commands.send(Message::Paths(paths));
    }

    pub fn mode(&self) -> WatchMode {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.commands.send(Message::Stop);
    }
}

/// A fingerprint of a file's state.
type Stamp = Option<(u64, u64, SystemTime, i64)>;
type Look = Vec<Stamp>;

struct Follower {
    paths: Vec<PathBuf>,
    /// The files, and every link on the way to them.
    trail: BTreeSet<PathBuf>,
    /// The watched directories, each with its identity.
    directories: BTreeMap<PathBuf, Option<u64>>,
    seen: Look,
    commands: Sender<Message>,
    system: Option<RecommendedWatcher>,
    mode: Arc<Mutex<WatchMode>>,
}

impl Follower {
    fn new(paths: Vec<PathBuf>, commands: Sender<Message>, mode: Arc<Mutex<WatchMode>>) -> Self {
        let mut follower = Self {
            paths,
            trail: BTreeSet::new(),
            directories: BTreeMap::new(),
            seen: Look::new(),
            commands,
            system: None,
            mode,
        };
        follower.connect();
        follower.arm();
        follower.seen = follower.look();
        follower
    }

    fn connect(&mut self) {
        if std::env::var_os(FORCE).is_some_and(|how| how == "poll") {
            self.poll(format!("{FORCE}=poll asks for it"));
            return;
        }
        let commands = self.commands.clone();
        let report = move |event: notify::Result<notify::Event>| {
            let message = match event {
                // Reading a file changes nothing.
                Ok(event) if event.kind.is_access() && !event.need_rescan() => return,
                Ok(event) if event.need_rescan() => Message::Doubt,
                Ok(event) => Message::Event(event.paths),
                Err(_) => Message::Doubt,
            };
            let _ = commands.send(message);
        };
        match notify::recommended_watcher(report) {
            Ok(system) => self.system = Some(system),
            Err(error) => self.poll(format!("the system reports no changes of files: {error}")),
        }
    }

    fn poll(&mut self, reason: String) {
        self.system = None;
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = WatchMode::Polling { reason };
    }

    /// Watches the directories that matter now. Links may lead elsewhere than before, and a
    /// directory may have come into being.
    fn arm(&mut self) {
        self.trail = self.paths.iter().flat_map(|path| trail(path)).collect();
        // A directory that another one took the place of may live on where some program works in it,
        // so that the system does not say that it is gone.
        let inode = |directory: &Path| std::fs::metadata(directory).ok().map(|data| inode(&data));
        let nearest = self.trail.iter().filter_map(|path| nearest(path));
        let directories: BTreeMap<PathBuf, Option<u64>> =
            nearest.map(|directory| (directory.clone(), inode(&directory))).collect();
        let Some(system) = &mut self.system else { return };
        for (gone, _) in self.directories.iter().filter(|(path, known)| directories.get(*path) != Some(known))
        {
            let _ = system.unwatch(gone);
        }
        let mut refused = None;
        for (new, _) in directories.iter().filter(|(path, now)| self.directories.get(*path) != Some(now)) {
            if let Err(error) = system.watch(new, RecursiveMode::NonRecursive)
                // It may be gone again. The next event arms the watcher again.
                && new.exists()
            {
                refused = Some(format!("{} cannot be watched: {error}", new.display()));
            }
        }
        self.directories = directories;
        if let Some(reason) = refused {
            self.poll(reason);
        }
    }

    fn look(&self) -> Look {
        let mut looks = Look::new();
        for path in &self.paths {
            looks.push(stamp(std::fs::symlink_metadata(path)));
            looks.push(stamp(std::fs::metadata(path)));
        }
        looks
    }

    fn run(&mut self, messages: &Receiver<Message>, changed: &dyn Fn()) {
        // When the burst that is under way began.
        let mut burst: Option<Instant> = None;
        loop {
            let quiet = match (burst, &self.system) {
                (Some(began), _) => CALM.min(BURST.saturating_sub(began.elapsed())),
                (None, Some(_)) => GLANCE,
                (None, None) => POLL,
            };
            let ours = match messages.recv_timeout(quiet) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Message::Paths(paths)) => self.follow(paths),
                Ok(Message::Event(paths)) => {
                    self.forget(&paths);
                    self.concerns(&paths)
                }
                Ok(Message::Doubt) => true,
                Err(RecvTimeoutError::Timeout) if burst.is_some() => {
                    burst = None;
                    self.tell(changed);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => self.look() != self.seen,
            };
            if ours && burst.is_none() {
                burst = Some(Instant::now());
            }
            if burst.is_some_and(|began| began.elapsed() >= BURST) {
                burst = None;
                self.tell(changed);
            }
        }
    }

    /// Follows other files; whether one that was followed before has changed meanwhile.
    fn follow(&mut self, paths: Vec<PathBuf>) -> bool {
        let before = std::mem::replace(&mut self.paths, paths);
        let seen = std::mem::take(&mut self.seen);
        self.arm();
        self.seen = self.look();
        // Each path has two looks: at itself and at what it leads to.
        let now: BTreeMap<&PathBuf, &[Stamp]> = self.paths.iter().zip(self.seen.chunks(2)).collect();
        before.iter().zip(seen.chunks(2)).any(|(path, looks)| now.get(path).is_some_and(|now| *now != looks))
    }

    /// Forgets a changed directory: it may have been replaced by another one that is not watched yet.
    fn forget(&mut self, paths: &[PathBuf]) {
        for path in paths.iter().filter(|path| self.directories.remove(*path).is_some()).collect::<Vec<_>>() {
            if let Some(system) = &mut self.system {
                let _ = system.unwatch(path);
            }
        }
    }

    /// True if an event is about one of the files, or about a directory above them.
    fn concerns(&self, paths: &[PathBuf]) -> bool {
        let named = |path: &PathBuf| {
            self.trail.contains(path) || self.trail.iter().any(|known| known.starts_with(path))
        };
        paths.is_empty() || paths.iter().any(named)
    }

    fn tell(&mut self, changed: &dyn Fn()) {
        self.arm();
        // Look first: a later change is another change.
        self.seen = self.look();
        changed();
    }
}

fn stamp(data: std::io::Result<std::fs::Metadata>) -> Stamp {
    let data = data.ok()?;
    let modified = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some((data.ino(), data.len(), modified, data.ctime_nsec()))
    }
    #[cfg(not(unix))]
    Some((0, data.len(), modified, 0))
}

/// The directory of a path, or the nearest one above it that is there.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|directory| directory.is_dir()).map(Path::to_owned)
}

/// Every link on the way to a file, and the file itself.
fn trail(path: &Path) -> Vec<PathBuf> {
    let Followed { links, end, .. } = follow(path);
    [vec![path.to_owned()], links, vec![end]].concat()
}

#[cfg(test)]
mod tests;
