//! The most recently used personas, in memory and written now and then. Losing a minute of them costs
//! nothing, so reads stay reads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use persona::Name;

use crate::Result;
use database::{Engine, Parameter};

/// The interval between writes.
const INTERVAL: Duration = Duration::from_secs(60);
/// The number of names per write, newest first. The rest was not recent.
const WRITTEN: usize = 100;
/// The number of names in memory, above which the oldest are forgotten.
const HELD: usize = 4 * WRITTEN;

#[derive(Debug, Default)]
pub struct RecentUses {
    used: Mutex<HashMap<Name, DateTime<Utc>>>,
    /// All uses since the store was opened.
    count: AtomicU64,
}

impl RecentUses {
    /// Records the use of a persona.
    pub fn note(&self, name: &Name) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.insert(name.clone(), Utc::now());
        if used.len() > HELD {
            *used = newest(std::mem::take(&mut *used)).into_iter().collect();
        }
    }

    /// The number of uses since the store was opened.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The personas used since the last flush, newest first.
    pub(crate) fn recent(&self) -> Vec<Name> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).clone();
        newest(used).into_iter().map(|(name, _)| name).collect()
    }

    pub(crate) async fn flush(&self, engine: &Engine) -> Result<()> {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        if used.is_empty() {
            return Ok(());
        }
        let mut transaction = engine.begin().await?;
        for (name, at) in newest(used) {
            transaction
                .run(
                    "INSERT INTO agent_persona_usage (name, last_used_at) VALUES ($1, $2) \
                     ON CONFLICT (name) DO UPDATE SET last_used_at = excluded.last_used_at",
                    &[Parameter::from(&name), Parameter::Time(at)],
                )
                .await?;
        }
        Ok(transaction.commit().await?)
    }
}

fn newest(used: HashMap<Name, DateTime<Utc>>) -> Vec<(Name, DateTime<Utc>)> {
    let mut used: Vec<_> = used.into_iter().collect();
    used.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
    used.truncate(WRITTEN);
    used
}

/// Starts writing usage now and then; it ends when the store is dropped.
pub(crate) fn start(engine: &Engine) -> Arc<RecentUses> {
    let usage = Arc::new(RecentUses::default());
    let weak = Arc::downgrade(&usage);
    let engine = engine.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let Some(usage) = weak.upgrade() else { return };
            if let Err(error) = usage.flush(&engine).await {
                tracing::debug!(%error, "usage was not kept");
            }
        }
    });
    usage
}
