//! Presence of the processes that share a SQLite file.

use database::{Parameter, Presence, Presences};
use uuid::Uuid;

use crate::{Result, Tracks, Work};

/// The end of the name of the directory with the lock files, apart from those of sessions, because the next
/// process frees what a dead one held before it removes the file.
const SUFFIX: &str = "-workers";

impl Tracks {
    /// Shows other processes on the same SQLite file that this one lives, and ends the claims of those that
    /// are gone. PostgreSQL needs none: it knows the connections of a process. Call it before the first
    /// claim, and keep the value.
    pub async fn announce(&self, node: Uuid) -> Result<Option<Presence>> {
        let Some(presences) = Presences::beside(self.engine(), SUFFIX) else { return Ok(None) };
        for leftover in presences.leftovers() {
            self.release_all(leftover.node()).await?;
            leftover.remove();
        }
        Ok(presences.announce(node))
    }

    /// Ends the claims of a node that is gone.
    async fn release_all(&self, node: Uuid) -> Result<()> {
        let mut work = Work::begin(self).await?;
        let sql = "UPDATE masque_track_claims SET node = NULL, holder = NULL WHERE node = $1";
        work.run(sql, &[Parameter::Text(node.to_string())]).await?;
        work.commit().await
    }

    /// True if the process of a node is known to be gone.
    pub(crate) fn is_gone(&self, node: Uuid) -> bool {
        Presences::beside(self.engine(), SUFFIX).is_some_and(|presences| presences.is_gone(node))
    }
}
