//! Reads a file again once it is complete, and puts it into force.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use persona::{AsReport as _, Code, Kind, Name};

use super::{ScopeFile, Scopes, Snapshot};
use files::settle::{LIMIT, LIMIT_WHERE_EMPTY, Look, QUIET, QUIET_WHERE_EMPTY, STEP};
use files::{Document, InForce, Problem, ProblemLevel, dangling, disk, document};
use store::Change;

use crate::{Error, Result};

/// The number of reads of a file that keeps changing before it counts as busy.
const TURNS: usize = 20;

/// The result of reading a file.
enum Read {
    Missing,
    /// The text that is in force.
    Same(String),
    Good {
        text: String,
        document: Box<Document>,
    },
    Broken(Problem),
}

impl Read {
    /// True if the file is missing or blank.
    fn is_empty(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Good { text, .. } => text.trim().is_empty(),
            Self::Same(_) | Self::Broken(_) => false,
        }
    }

    /// True if the file yields no entries.
    fn is_lost(&self) -> bool {
        self.is_empty() || matches!(self, Self::Broken(_))
    }

    /// The hash under which a history knows the text.
    fn hash(&self, path: &Path) -> Option<String> {
        match self {
            Self::Missing => Some(Document::empty(path).hash),
            Self::Good { document, .. } => Some(document.hash.clone()),
            Self::Same(_) | Self::Broken(_) => None,
        }
    }
}

/// The writer of a file that is read.
enum Written {
    /// Any program, which may still be writing.
    ByAnybody(Waiting),
    /// This process, which replaced the file in one step.
    Whole,
}

/// The start of waiting for another writer, and the state of the file then. `None` before waiting.
type Waiting = Option<(Instant, Look)>;

/// The outcome of reading a file again.
enum Reloaded {
    /// In force. Has the text, if it is valid.
    Text(Option<String>),
    /// In force, but the history could not be written.
    Unrecorded(Error),
    /// The file changed before it was recorded.
    Changed,
    /// Another program keeps writing the file. The previous version stays in force.
    Unsettled,
}

/// Reads a file on a blocking thread.
async fn read(path: &Path, old: &Arc<Snapshot>) -> Result<(Read, Look)> {
    let (path, old) = (path.to_owned(), old.clone());
    let read = tokio::task::spawn_blocking(move || {
        // Look before and after: the file may have changed while it was read.
        let mut look = Look::at(&path);
        let read = read_now(&path, &old);
        if let Read::Good { document, .. } = &read {
            for included in &document.included {
                match document.seen.get(included) {
                    Some(stamp) => look.add_as(included.clone(), Some(stamp.clone())),
                    None => look.add(included.clone()),
                }
            }
        }
        (read, look.unless_touched())
    });
    read.await.map_err(|source| Error::Interrupted { doing: "reading the file", source })
}

fn read_now(path: &Path, old: &Snapshot) -> Read {
    let bytes = match disk::read_bytes(path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Read::Missing,
        Err(error) => return Read::Broken(unreadable(path, &error)),
    };
    let text = match document::text_of(path, bytes) {
        Ok(text) => text,
        Err(problem) => return Read::Broken(problem),
    };
    if old.is_of(&text) {
        return Read::Same(text);
    }
    match document::read(path, &text) {
        // A value in place of a table of entries hides all entries that may have been meant.
        Ok(document) => match document.problems.iter().find(|problem| problem.is_of_whole()) {
            Some(problem) => Read::Broken(problem.clone()),
            None => Read::Good { text, document: Box::new(document) },
        },
        Err(problem) => Read::Broken(problem),
    }
}

/// A file that cannot be read is reported like one with a mistake, so that the other scopes stay usable.
fn unreadable(path: &Path, error: &files::Error) -> Problem {
    Problem::of_file(path, error.code(), error.without_path(), None)
}

fn had_entries(old: &Snapshot, seen: Option<&str>) -> bool {
    if old.read { !old.document.entries.is_empty() } else { seen.is_some() }
}

fn dangling_link(path: &Path, link: &Path) -> Problem {
    let target = std::fs::read_link(link).unwrap_or_default();
    let what = if link == path { "it".to_owned() } else { link.display().to_string() };
    let message = format!("{what} is a link to {}, which does not exist", target.display());
    let hint = "restore the target, or remove the link to delete its entries";
    Problem::of_file(path, Code::FileNotFound, message, Some(hint.to_owned()))
}

/// A version that is in force and in no history is not safe, so the user has to know.
fn unrecorded(path: &Path, error: &Error) -> Problem {
    let hint = "check the database; Masque does not write to the file until its changes are recorded";
    let message = format!("its changes could not be recorded in the history: {error}");
    Problem::of_file(path, error.code(), message, Some(hint.to_owned()))
}

/// True if reading the file now gives this document.
pub(crate) async fn is_current(path: &Path, document: &Document) -> Result<bool> {
    let (path, hash) = (path.to_owned(), document.hash.clone());
    let (alone, fingerprint) = (document.included.is_empty(), document.fingerprint);
    let read = tokio::task::spawn_blocking(move || {
        let Ok(text) = String::from_utf8(disk::read_bytes(&path)?.unwrap_or_default()) else {
            return Ok(false);
        };
        if alone || document::fingerprint(&text) != fingerprint {
            return Ok(document::fingerprint(&text) == fingerprint);
        }
        Ok(document::read(&path, &text).is_ok_and(|now| now.hash == hash))
    });
    read.await.map_err(|source| Error::Interrupted { doing: "reading the file", source })?
}

impl Scopes {
    /// Reads a file again and puts it into force. While another program writes it, the last valid version
    /// stays in force; in a fresh process, that of its history.
    pub(crate) async fn reload(&self, file: &ScopeFile) -> Result<()> {
        let _busy = file.busy.lock().await;
        if let Reloaded::Text(_) | Reloaded::Unrecorded(_) = self.reload_settled(file).await? {
            return Ok(());
        }
        if file.current().read {
            return Ok(());
        }
        let document = self.last_valid(file).await;
        if document.entries.is_empty() {
            return self.reload_written(file).await;
        }
        file.publish(Snapshot::from_history(document));
        Ok(())
    }

    /// The same for a caller that holds the file and is going to write to it. Fails if another program is
    /// writing the file, or if its changes are in no history. Returns the text, if it is valid.
    pub(crate) async fn reload_held(&self, file: &ScopeFile) -> Result<Option<String>> {
        let path = || file.path.display().to_string();
        match self.reload_settled(file).await? {
            Reloaded::Text(text) => Ok(text),
            Reloaded::Unrecorded(error) => Err(error),
            Reloaded::Unsettled => Err(Error::FileChanged { path: path() }),
            Reloaded::Changed => Err(files::Error::FileBusy { path: path() }.into()),
        }
    }

    /// Reads the file that this process has just replaced. A later change by another program is left to the
    /// next read.
    pub(crate) async fn reload_written(&self, file: &ScopeFile) -> Result<()> {
        for _ in 0..TURNS {
            if !matches!(self.reload_once(file, &mut Written::Whole).await?, Reloaded::Changed) {
                break;
            }
        }
        Ok(())
    }

    async fn reload_settled(&self, file: &ScopeFile) -> Result<Reloaded> {
        let mut written = Written::ByAnybody(None);
        for _ in 0..TURNS {
            let reloaded = self.reload_once(file, &mut written).await?;
            if !matches!(reloaded, Reloaded::Changed) {
                return Ok(reloaded);
            }
        }
        Ok(Reloaded::Changed)
    }

    async fn reload_once(&self, file: &ScopeFile, written: &mut Written) -> Result<Reloaded> {
        let old = file.current();
        let read = match written {
            Written::ByAnybody(waiting) => self.read_settled(file, &old, waiting).await?,
            Written::Whole => Some(read(&file.path, &old).await?.0),
        };
        let (text, mut document) = match read {
            None => return Ok(Reloaded::Unsettled),
            Some(Read::Same(text)) => return Ok(Reloaded::Text(Some(text))),
            Some(Read::Good { text, document }) => (Some(text), *document),
            Some(Read::Missing) => match self.out_of_reach(file, &old).await {
                Some(problem) => {
                    self.keep_last_valid_file(file, &old, problem).await;
                    return Ok(Reloaded::Text(None));
                }
                None => (None, Document::empty(&file.path)),
            },
            Some(Read::Broken(problem)) => {
                self.keep_last_valid_file(file, &old, problem).await;
                return Ok(Reloaded::Text(None));
            }
        };
        if old.is_good() && old.document.hash == document.hash {
            return Ok(Reloaded::Text(text));
        }
        self.keep_last_valid_entries(file, &old, &mut document).await;
        let problems_are_others = old.document.problems != document.problems;
        let recorded = match self.local().is_read_only() {
            // The next process that can write records it.
            true => Ok(true),
            false => self.record_seen(file, &document).await,
        };
        let (snapshot, reloaded) = match recorded {
            Ok(true) => (Snapshot::new(document, None), Reloaded::Text(text)),
            Ok(false) => return Ok(Reloaded::Changed),
            Err(error) => {
                tracing::warn!(%error, path = %file.path.display(), "what changed in the file is not in its history");
                (Snapshot::unrecorded(document, unrecorded(&file.path, &error)), Reloaded::Unrecorded(error))
            }
        };
        let problems_are_others = problems_are_others || !old.file_problems().eq(snapshot.file_problems());
        let changes = file.publish(snapshot);
        if old.read {
            let nothing_but_problems = changes.is_empty() && problems_are_others;
            self.announce(if nothing_but_problems { vec![Change::Everything] } else { changes });
        }
        Ok(reloaded)
    }

    /// Reads a file when no program is writing it. `None` if the wait reached its limit.
    async fn read_settled(
        &self,
        file: &ScopeFile,
        old: &Arc<Snapshot>,
        waiting: &mut Waiting,
    ) -> Result<Option<Read>> {
        loop {
            let (found, look) = read(&file.path, old).await?;
            let Some(quiet) = self.required_quiet(file, old, &found, &look).await else {
                return Ok(Some(found));
            };
            let (began, first) = waiting.get_or_insert_with(|| (Instant::now(), look.clone()));
            let limit = if quiet == QUIET { LIMIT } else { LIMIT_WHERE_EMPTY };
            let mut now = look.clone();
            while !now.is_quiet(quiet) && (now.is_same(&look) || !found.is_empty()) {
                if began.elapsed() >= limit {
                    let (last, now) = read(&file.path, old).await?;
                    // A file that replaces another one is complete, however often that happens.
                    let whole = now.is_same(first) || now.is_replaced(first) && !last.is_lost();
                    return Ok(whole.then_some(last));
                }
                tokio::time::sleep(STEP).await;
                now = look.again();
            }
            if now.is_same(&look) {
                return Ok(Some(found));
            }
        }
    }

    /// The time for which a file must be left alone to count as complete. `None` if it is complete.
    async fn required_quiet(
        &self,
        file: &ScopeFile,
        old: &Snapshot,
        read: &Read,
        look: &Look,
    ) -> Option<Duration> {
        let quiet = if read.is_empty() { QUIET_WHERE_EMPTY } else { QUIET };
        if look.is_quiet(quiet) || matches!(read, Read::Same(_)) {
            return None;
        }
        // A file that another Masque process wrote is recorded and complete.
        let seen = self.seen_hash(file).await.ok().flatten();
        if seen.is_some() && seen == read.hash(&file.path) {
            return None;
        }
        let had_entries = had_entries(old, seen.as_deref());
        match read {
            Read::Missing if !had_entries => None,
            _ if !had_entries => Some(QUIET).filter(|quiet| !look.is_quiet(*quiet)),
            _ => Some(quiet),
        }
    }

    /// The problem of a dangling link to a file that had entries. On a disk that is not mounted, the file is
    /// not deleted.
    async fn out_of_reach(&self, file: &ScopeFile, old: &Snapshot) -> Option<Problem> {
        let link = dangling(&file.path)?;
        let seen = self.seen_hash(file).await.ok().flatten();
        had_entries(old, seen.as_deref()).then(|| dangling_link(&file.path, &link))
    }

    /// A file that cannot be used changes nothing except the reported problem.
    async fn keep_last_valid_file(&self, file: &ScopeFile, old: &Snapshot, problem: Problem) {
        let document = if old.read { old.document.clone() } else { self.last_valid(file).await };
        let entries = document.all().count();
        let since = match entries {
            0 => None,
            _ => self.seen_at(file).await.ok().flatten(),
        };
        let problem = Problem { in_force: Some(InForce { entries, since }), ..problem };
        let changed = old.broken.as_ref() != Some(&problem);
        let changes = file.publish(Snapshot::new(document, Some(problem)));
        if changed {
            self.announce(if changes.is_empty() { vec![Change::Everything] } else { changes });
        }
    }

    /// An entry with an error stays in force in its last valid version.
    async fn keep_last_valid_entries(&self, file: &ScopeFile, old: &Snapshot, document: &mut Document) {
        let errors = document.problems.iter().filter(|problem| problem.level == ProblemLevel::Error);
        let listed = errors.filter_map(|problem| problem.entry.as_ref());
        let mut bad: Vec<(Kind, Name)> =
            listed.filter_map(|(kind, name)| Some((*kind, Name::parse(name).ok()?))).collect();
        // Only the first of very many problems are listed.
        bad.extend(document.broken.iter().cloned());
        if bad.is_empty() {
            return;
        }
        let recorded = if old.read { Document::empty(&file.path) } else { self.last_valid(file).await };
        let before = if old.read { &old.document } else { &recorded };
        for (kind, name) in bad {
            if let Some(entry) = before.entries.get(&kind).and_then(|entries| entries.get(&name)) {
                document.entries.entry(kind).or_default().insert(name, entry.clone());
            }
        }
    }
}
