//! Reading a file again, once it is whole, and putting it into force.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use persona::{Kind, Name};

use super::{ScopeFile, Scopes, Snapshot};
use files::settle::{LIMIT, LIMIT_WHERE_EMPTY, Look, QUIET, QUIET_WHERE_EMPTY, STEP};
use files::{Document, InForce, Level, Problem, dangling, disk, document};
use store::Change;

use crate::{Error, Result};

/// How often a file that changes while it is read is read again before it counts as busy.
const TURNS: usize = 20;

/// What reading a file brought.
enum Read {
    Missing,
    /// The text that is in force already.
    Same(String),
    Good {
        text: String,
        document: Box<Document>,
    },
    Broken(Problem),
}

impl Read {
    /// Whether there is nothing in the file.
    fn is_empty(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Good { text, .. } => text.trim().is_empty(),
            Self::Same(_) | Self::Broken(_) => false,
        }
    }

    /// Whether nothing can be had from the file.
    fn is_lost(&self) -> bool {
        self.is_empty() || matches!(self, Self::Broken(_))
    }

    /// What a history knows the text by.
    fn hash(&self, path: &Path) -> Option<String> {
        match self {
            Self::Missing => Some(Document::empty(path).hash),
            Self::Good { document, .. } => Some(document.hash.clone()),
            Self::Same(_) | Self::Broken(_) => None,
        }
    }
}

/// How a file that is read came by its text.
enum Written {
    /// Somebody may be writing it, and is waited for.
    ByAnybody(Waiting),
    /// By ourselves, in a single step.
    Whole,
}

/// Since when somebody who writes a file is waited for, and how it looked then; none before that.
type Waiting = Option<(Instant, Look)>;

/// How reading a file again ended.
enum Reloaded {
    /// It is in force. Its text, where it has one that is good.
    Text(Option<String>),
    /// It is in force, but its history could not be written.
    Unrecorded(Error),
    /// It changed before it was recorded.
    Changed,
    /// Somebody is writing it all the time; what was in force before still is.
    Unsettled,
}

/// Reads a file on a thread where waiting is no harm.
async fn read(path: &Path, old: &Arc<Snapshot>) -> Result<(Read, Look)> {
    let (path, old) = (path.to_owned(), old.clone());
    let read = tokio::task::spawn_blocking(move || {
        // Looked at first and last: what was read in between may be neither the one nor the other.
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
    read.await.map_err(|error| Error::Invalid(format!("reading the file was interrupted: {error}")))
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
        // What is no table of entries hides all that may be meant by it.
        Ok(document) => match document.problems.iter().find(|problem| problem.is_of_whole()) {
            Some(problem) => Read::Broken(problem.clone()),
            None => Read::Good { text, document: Box::new(document) },
        },
        Err(problem) => Read::Broken(problem),
    }
}

/// A file that cannot be read at all is told like one with a mistake: whatever stands elsewhere must
/// not be out of reach because of it.
fn unreadable(path: &Path, error: &files::Error) -> Problem {
    let said = error.to_string();
    let message = said.strip_prefix(&*path.to_string_lossy()).unwrap_or(&said);
    Problem::of_file(path, message.trim_start_matches([':', ' ']), None)
}

fn has_had_something(old: &Snapshot, seen: Option<&str>) -> bool {
    if old.read { !old.document.entries.is_empty() } else { seen.is_some() }
}

fn lost(path: &Path, link: &Path) -> Problem {
    let target = std::fs::read_link(link).unwrap_or_default();
    let what = if link == path { "it".to_owned() } else { link.display().to_string() };
    let message = format!("{what} is a link to {}, which is not there", target.display());
    let hint = "put that back, or remove the link if nothing of it is to stay in force";
    Problem::of_file(path, message, Some(hint.to_owned()))
}

/// What is in force and in no history is not safe, which somebody must know.
fn unrecorded(path: &Path, error: &Error) -> Problem {
    let hint = "see to the database; Masque writes nothing to this file before its changes are recorded";
    let message = format!("what changed in it could not be recorded in its history: {error}");
    Problem::of_file(path, message, Some(hint.to_owned()))
}

/// Whether a document is what reading its file gives now.
pub(crate) async fn is_still(path: &Path, document: &Document) -> Result<bool> {
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
    read.await.map_err(|error| Error::Invalid(format!("reading the file was interrupted: {error}")))?
}

impl Scopes {
    /// Reads a file again and puts it into force. While somebody is writing it, what was good before
    /// stays in force: in a fresh process, what its history has.
    pub(crate) async fn reload(&self, file: &ScopeFile) -> Result<()> {
        let _busy = file.busy.lock().await;
        if let Reloaded::Text(_) | Reloaded::Unrecorded(_) = self.reload_settled(file).await? {
            return Ok(());
        }
        if file.current().read {
            return Ok(());
        }
        let document = self.last_good(file).await;
        if document.entries.is_empty() {
            return self.reload_written(file).await;
        }
        file.publish(Snapshot::standing_in(document));
        Ok(())
    }

    /// The same for whoever holds the file already and is going to write to it: not over what
    /// somebody else is writing, nor over what is in no history. Returns its text, where it has one
    /// that is good.
    pub(crate) async fn reload_held(&self, file: &ScopeFile) -> Result<Option<String>> {
        let path = || file.path.display().to_string();
        match self.reload_settled(file).await? {
            Reloaded::Text(text) => Ok(text),
            Reloaded::Unrecorded(error) => Err(error),
            Reloaded::Unsettled => Err(Error::FileChanged { path: path() }),
            Reloaded::Changed => Err(files::Error::FileBusy { path: path() }.into()),
        }
    }

    /// Reads what this process has just put in the file's place; what somebody else puts there since
    /// is read by whoever reads it next.
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
                    self.keep_whole(file, &old, problem).await;
                    return Ok(Reloaded::Text(None));
                }
                None => (None, Document::empty(&file.path)),
            },
            Some(Read::Broken(problem)) => {
                self.keep_whole(file, &old, problem).await;
                return Ok(Reloaded::Text(None));
            }
        };
        if old.is_good() && old.document.hash == document.hash {
            return Ok(Reloaded::Text(text));
        }
        self.keep_last_good(file, &old, &mut document).await;
        let problems_are_others = old.document.problems != document.problems;
        let (snapshot, reloaded) = match self.record_seen(file, &document).await {
            Ok(true) => (Snapshot::new(document, None), Reloaded::Text(text)),
            Ok(false) => return Ok(Reloaded::Changed),
            Err(error) => {
                tracing::warn!(%error, path = %file.path.display(), "what changed in the file is not in its history");
                (Snapshot::unrecorded(document, unrecorded(&file.path, &error)), Reloaded::Unrecorded(error))
            }
        };
        let problems_are_others = problems_are_others || !old.of_whole().eq(snapshot.of_whole());
        let changes = file.publish(snapshot);
        if old.read {
            let nothing_but_problems = changes.is_empty() && problems_are_others;
            self.announce(if nothing_but_problems { vec![Change::Everything] } else { changes });
        }
        Ok(reloaded)
    }

    /// Reads a file when nobody is writing it; none where somebody has been doing so for as long as
    /// anybody waits.
    async fn read_settled(
        &self,
        file: &ScopeFile,
        old: &Arc<Snapshot>,
        waiting: &mut Waiting,
    ) -> Result<Option<Read>> {
        loop {
            let (found, look) = read(&file.path, old).await?;
            let Some(quiet) = self.quiet_that_is_due(file, old, &found, &look).await else {
                return Ok(Some(found));
            };
            let (began, first) = waiting.get_or_insert_with(|| (Instant::now(), look.clone()));
            let limit = if quiet == QUIET { LIMIT } else { LIMIT_WHERE_EMPTY };
            let mut now = look.clone();
            while !now.is_quiet(quiet) && (now.is_same(&look) || !found.is_empty()) {
                if began.elapsed() >= limit {
                    let (last, now) = read(&file.path, old).await?;
                    // What is put in the file's place is whole, however often that happens.
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

    /// How long a file must have been left alone to count as whole; none where that is so already.
    async fn quiet_that_is_due(
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
        // What another Masque process wrote is recorded, and whole.
        let seen = self.seen_hash(file).await.ok().flatten();
        if seen.is_some() && seen == read.hash(&file.path) {
            return None;
        }
        let has_had_something = has_had_something(old, seen.as_deref());
        match read {
            Read::Missing if !has_had_something => None,
            _ if !has_had_something => Some(QUIET).filter(|quiet| !look.is_quiet(*quiet)),
            _ => Some(quiet),
        }
    }

    /// What is wrong where a link leads to a file that had something and is not there: on a disk that
    /// is not mounted, it is not gone.
    async fn out_of_reach(&self, file: &ScopeFile, old: &Snapshot) -> Option<Problem> {
        let link = dangling(&file.path)?;
        let seen = self.seen_hash(file).await.ok().flatten();
        has_had_something(old, seen.as_deref()).then(|| lost(&file.path, &link))
    }

    /// A file that cannot be used changes nothing but the problem that is told.
    async fn keep_whole(&self, file: &ScopeFile, old: &Snapshot, problem: Problem) {
        let document = if old.read { old.document.clone() } else { self.last_good(file).await };
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

    /// An entry with a mistake stays in force as it was when it was last good.
    async fn keep_last_good(&self, file: &ScopeFile, old: &Snapshot, document: &mut Document) {
        let told = document.problems.iter().filter(|problem| problem.level == Level::Error);
        let told = told.filter_map(|problem| problem.entry.as_ref());
        let mut bad: Vec<(Kind, Name)> =
            told.filter_map(|(kind, name)| Some((*kind, Name::parse(name).ok()?))).collect();
        // Of very many problems not all are told.
        bad.extend(document.broken.iter().cloned());
        if bad.is_empty() {
            return;
        }
        let recorded = if old.read { Document::empty(&file.path) } else { self.last_good(file).await };
        let before = if old.read { &old.document } else { &recorded };
        for (kind, name) in bad {
            if let Some(entry) = before.entries.get(&kind).and_then(|entries| entries.get(&name)) {
                document.entries.entry(kind).or_default().insert(name, entry.clone());
            }
        }
    }
}
