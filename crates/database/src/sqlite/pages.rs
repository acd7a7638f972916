//! Copies of a file, page by page, while others write to it.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use tokio::sync::mpsc;

use super::statement::{column, first};
use super::{Sqlite, create_private, on_blocking_thread};
use crate::engine::BUSY_TIMEOUT;
use crate::{Error, Result};

/// The pages per step: 1 MiB of them.
const STEP_PAGES: i32 = 256;
/// The pause before a step is tried again.
const PAUSE: Duration = Duration::from_millis(10);
/// Reports in flight.
const REPORTS: usize = 1;

/// The pages of a copy so far, and of the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedPages {
    pub done: u64,
    pub total: u64,
}

impl Sqlite {
    /// Copies one state of the file into a new one, which only the user can read, and checks the copy. The
    /// caller removes a copy that failed.
    pub async fn copy_pages(&self, to: &Path, progress: &mut (dyn FnMut(CopiedPages) + Send)) -> Result<()> {
        let (from, path) = (self.readers.another()?, to.to_owned());
        let (sender, mut reports) = mpsc::channel(REPORTS);
        let copying = on_blocking_thread(move || copy(&from, &path, &sender));
        let reporting = async {
            while let Some(report) = reports.recv().await {
                progress(report);
            }
        };
        let (copied, ()) = futures::join!(copying, reporting);
        copied
    }
}

fn copy(from: &Connection, path: &Path, reports: &mpsc::Sender<CopiedPages>) -> Result<()> {
    create_private(path).map_err(|source| Error::File { path: path.display().to_string(), source })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut to = Connection::open_with_flags(path, flags)?;
    // A copy that fails is removed, so it needs no journal.
    to.pragma_update(None, "journal_mode", "OFF")?;
    // Without a transaction around all steps, each write in between would start the copy again.
    from.execute_batch("BEGIN")?;
    first::<i64>(from, "SELECT count(*) FROM sqlite_schema", &[])?;
    let total: i64 = first(from, "PRAGMA page_count", &[])?.unwrap_or_default();
    copy_steps(from, &mut to, reports)?;
    from.execute_batch("COMMIT")?;
    check(&to, total)?;
    to.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn copy_steps(from: &Connection, to: &mut Connection, reports: &mpsc::Sender<CopiedPages>) -> Result<()> {
    let backup = Backup::new(from, to)?;
    let mut deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        let step = backup.step(STEP_PAGES)?;
        let progress = backup.progress();
        let (total, left) = (count(progress.pagecount), count(progress.remaining));
        // The caller is gone, and with it the purpose of the copy.
        if reports.blocking_send(CopiedPages { done: total.saturating_sub(left), total }).is_err() {
            return Err(Error::Closed);
        }
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => deadline = Instant::now() + BUSY_TIMEOUT,
            _ if Instant::now() < deadline => std::thread::sleep(PAUSE),
            _ => return Err(Error::Busy("the file stayed locked".into())),
        }
    }
}

fn count(pages: i32) -> u64 {
    u64::try_from(pages).unwrap_or(0)
}

/// Compares the size of a copy with that of its source, and lets SQLite check its structure.
fn check(copy: &Connection, pages: i64) -> Result<()> {
    let copied: i64 = first(copy, "PRAGMA page_count", &[])?.unwrap_or_default();
    if copied != pages {
        return Err(Error::DamagedCopy { found: format!("{copied} pages instead of {pages}") });
    }
    let found: Vec<String> = column(copy, "PRAGMA quick_check(1)", &[])?;
    match found.as_slice() {
        [ok] if ok == "ok" => Ok(()),
        found => Err(Error::DamagedCopy { found: found.join("; ") }),
    }
}
