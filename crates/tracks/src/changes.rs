//! News of changed tracks, without asking again and again.

use database::{Engine, Listening, Postgres};
use uuid::Uuid;

use crate::{Result, Tracks};

const CHANNEL: &str = "masque_tracks";

/// The channel of a library, apart from those of other schemas in the same database.
pub(crate) fn channel(postgres: &Postgres) -> String {
    postgres.schema.own(CHANNEL)
}

/// A connection that hears of every change of a track: creation, append, the end of a claim, deletion.
///
/// It does not connect again. Once it fails, its user listens anew, and reads what it may have missed.
#[derive(Debug)]
pub struct Changes(Listening);

impl Changes {
    /// The next track that changed. `None` after seconds of silence.
    pub async fn next(&mut self) -> Result<Option<Uuid>> {
        loop {
            let Some(payload) = self.0.next().await? else { return Ok(None) };
            if let Ok(track) = Uuid::parse_str(&payload) {
                return Ok(Some(track));
            }
        }
    }
}

impl Tracks {
    /// Listens to changes of tracks. `None` on SQLite, where [`Tracks::last_seq`] is cheap enough to ask
    /// often.
    pub async fn changes(&self) -> Result<Option<Changes>> {
        match self.engine() {
            Engine::Sqlite(_) => Ok(None),
            Engine::Postgres(postgres) => Ok(Some(Changes(postgres.listen(&channel(postgres)).await?))),
        }
    }
}
