//! A connection that hears notifications.

use std::time::Duration;

use sqlx::Executor as _;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::time::timeout;

use super::Postgres;
use crate::{Error, Result};

/// The longest silence before the connection is checked, and the longest wait for its answer.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The statement that sends a notification on a channel, `$1`, when its transaction commits.
pub const NOTIFY: &str = "SELECT pg_notify($1, $2)";

/// A connection of its own that hears the notifications of one channel. It does not connect again: once it
/// fails, its user knows that notifications may be missing.
#[derive(Debug)]
pub struct Listening(PgListener);

impl Postgres {
    pub async fn listen(&self, channel: &str) -> Result<Listening> {
        // Not of the readers' pool, which would never get the connection back.
        let options = (*self.readers.connect_options()).clone();
        let listening = async {
            let pool = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.eager_reconnect(false);
            listener.listen(channel).await?;
            Ok::<_, sqlx::Error>(listener)
        };
        let listener = timeout(super::ACQUIRE_TIMEOUT, listening).await.map_err(|_| Error::TimedOut)??;
        Ok(Listening(listener))
    }
}

impl Listening {
    /// The next notification. `None` after seconds of silence in which the connection proved to be alive.
    pub async fn next(&mut self) -> Result<Option<String>> {
        match timeout(HEARTBEAT, self.0.try_recv()).await {
            Ok(Ok(Some(notification))) => Ok(Some(notification.payload().to_owned())),
            Ok(Ok(None)) => Err(Error::Closed),
            Ok(Err(error)) => Err(error.into()),
            // Silence may mean a dead connection.
            Err(_) => match timeout(HEARTBEAT, self.0.execute("SELECT 1")).await {
                Ok(alive) => Ok(alive.map(|_| None)?),
                Err(_) => Err(Error::TimedOut),
            },
        }
    }
}
