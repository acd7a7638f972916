//! Drafts a track from an epic, by tier 1 in plan mode.

use agent::{ApprovalPolicy, Duty, DutyRole};
use async_recursion::async_recursion as boxed;
use conductor::{Model, Tier, Track, to_toml};
use persona::Name;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::casting::{self, Settings};
use super::duties::HandedIn;
use super::observing::Watching;
use super::worker::{Assignment, Ended, drive_unpaid};
use super::{opening, wording};
use crate::inputs::DraftTrack;
use crate::outputs::DraftedTrack;
use crate::{Result, Runtime, TrackError};

impl Runtime {
    /// Lets a model draft a track. Nothing is created. The same session asked again returns its result, or
    /// goes on.
    #[boxed]
    pub async fn draft_track(&self, input: DraftTrack) -> Result<DraftedTrack> {
        let DraftTrack { epic, session, persona, model } = input;
        crate::running::check_text("epic", &epic)?;
        let session = session.unwrap_or_else(Uuid::now_v7);
        let (persona, model) = self.drafter(persona.as_ref(), model).await?;
        let assignment = Assignment {
            session,
            duty: Duty::of_track(session, DutyRole::Draft),
            persona,
            model,
            root: Some(self.project_root()?),
            policy: ApprovalPolicy::Read,
            message: opening::draft(&epic),
        };
        // Dropping the future leaves the session to itself; asked again, its result is taken up.
        let cancel = CancellationToken::new();
        let ended = drive_unpaid(self, &assignment, &mut Watching::of_reader(), &cancel).await?;
        let reason = match ended {
            Ended::HandedIn(HandedIn::Track(track)) => {
                let toml = to_toml(&track);
                return Ok(DraftedTrack { session, track: *track, toml });
            }
            Ended::HandedIn(HandedIn::Blocked(reason) | HandedIn::Question(reason)) => reason,
            Ended::HandedIn(_) | Ended::Stopped => "it handed nothing in".to_owned(),
            Ended::Fault(fault) => wording::fault(&fault),
        };
        Err(TrackError::NoDraft { reason }.into())
    }

    /// The persona and the model of tier 1.
    async fn drafter(&self, persona: Option<&Name>, model: Option<Model>) -> Result<(Name, Model)> {
        let track = Track::new("draft");
        let settings = Settings { track: &track, user: &self.conducting().mma };
        let cast = casting::cast_tier(self, settings, Tier::Orchestrator, persona).await;
        let none = || TrackError::NoDraft { reason: "no model can be called".to_owned() };
        let model = model.or_else(|| cast.models.first().cloned()).ok_or_else(none)?;
        let persona = cast.persona.unwrap_or_else(|| casting::builtin(Tier::Orchestrator));
        Ok((persona, model))
    }
}
