//! Presence of the processes that share a SQLite file.

use database::{Parameter, Presence, Presences};
use uuid::Uuid;

use crate::{Result, Sessions, Work};

/// The end of the name of the directory with the lock files.
const SUFFIX: &str = "-nodes";

impl Sessions {
    /// Shows other processes on the same SQLite file that this one lives, and releases the sessions of those
    /// that are gone. PostgreSQL needs none: it knows the connections of a process.
    pub async fn announce(&self, node: Uuid) -> Result<Option<Presence>> {
        let Some(presences) = Presences::beside(self.engine(), SUFFIX) else { return Ok(None) };
        for leftover in presences.leftovers() {
            self.release(leftover.node()).await?;
            leftover.remove();
        }
        Ok(presences.announce(node))
    }

    /// Releases the sessions of a node that is gone.
    async fn release(&self, node: Uuid) -> Result<()> {
        let mut work = Work::begin(self).await?;
        let sql = "UPDATE sessions SET lease_node = NULL WHERE status = 'running' AND lease_node LIKE $1";
        work.run(sql, &[Parameter::Text(format!("{node}.%"))]).await?;
        work.commit().await
    }

    /// True if the process of a lease's holder is known to be gone.
    pub(crate) fn is_gone(&self, holder: &str) -> bool {
        let node = holder.split('.').next().and_then(|node| Uuid::parse_str(node).ok());
        let presences = Presences::beside(self.engine(), SUFFIX);
        presences.zip(node).is_some_and(|(presences, node)| presences.is_gone(node))
    }
}
