//! Creates and deletes tracks.

use chrono::{DateTime, SubsecRound as _, Utc};
use conductor::{Phase, Track};
use database::Parameter;
use uuid::Uuid;

use crate::log::phase_word;
use crate::{DEFINITION_BYTES, PROJECT_BYTES, TITLE_BYTES};
use crate::{Error, Result, Tracks, Work};

/// A track to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTrack {
    pub id: Uuid,
    /// The directory of the project.
    pub project: String,
    pub definition: Track,
    pub created_at: DateTime<Utc>,
}

const CREATE: &str = "INSERT INTO masque_tracks (id, title, project, definition, status, created_at, updated_at) \
                      VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (id) DO NOTHING";

impl Tracks {
    /// Stores a new track with an empty log.
    pub async fn create(&self, new: &NewTrack) -> Result<()> {
        let definition = serde_json::to_string(&new.definition)?;
        short_enough("definition", &definition, DEFINITION_BYTES)?;
        short_enough("title", &new.definition.title, TITLE_BYTES)?;
        short_enough("project", &new.project, PROJECT_BYTES)?;
        let values = [
            Parameter::Uuid(new.id),
            Parameter::from(new.definition.title.as_str()),
            Parameter::from(new.project.as_str()),
            Parameter::Text(definition),
            Parameter::from(phase_word(Phase::New)),
            Parameter::Time(new.created_at.trunc_subsecs(6)),
        ];
        let mut work = Work::begin(self).await?;
        if work.run(CREATE, &values).await? == 0 {
            return Err(Error::TrackExists { id: new.id });
        }
        work.announce(self, new.id).await?;
        work.commit().await
    }

    /// Deletes a track with its log, its claims and its costs. False if there is none. Fails while a process
    /// works on it.
    pub async fn delete(&self, id: Uuid) -> Result<bool> {
        let mut work = Work::begin(self).await?;
        if !work.lock_to_delete(id).await? {
            return Ok(false);
        }
        if self.seen_claims(&mut work, id).await?.iter().any(|claim| !claim.sighting.is_over) {
            return Err(Error::TrackBusy { id });
        }
        work.run("DELETE FROM masque_tracks WHERE id = $1", &[Parameter::Uuid(id)]).await?;
        work.announce(self, id).await?;
        work.commit().await?;
        Ok(true)
    }
}

/// Fails if a text is longer than its limit.
pub(crate) fn short_enough(field: &'static str, text: &str, most: usize) -> Result<()> {
    if text.len() > most {
        return Err(Error::TooLong { field, most, length: text.len() });
    }
    Ok(())
}
