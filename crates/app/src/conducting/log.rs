//! A track's log with the state that is folded from it.

use std::sync::Arc;

use chrono::{DateTime, SubsecRound as _, Utc};
use conductor::{Command, Conduct, Event, Recorded, Refusal, Track};
use tokio::sync::{Mutex, MutexGuard, watch};
use tracks::{Append, Appended, Fence, StoredTrack, TrackRow, Tracks};
use uuid::Uuid;

use crate::{Result, TrackError};

/// Times that a command is decided again after others appended.
const TRIES: usize = 50;

/// A track with its state, kept in step with the stored log.
#[derive(Debug)]
pub(crate) struct TrackLog {
    pub(super) id: Uuid,
    /// The directory of its project.
    pub(super) project: String,
    /// The definition without its tickets.
    pub(super) rules: Arc<Track>,
    tracks: Tracks,
    definition: Track,
    state: Mutex<State>,
    /// The number of the last event that was folded.
    news: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    conduct: Conduct,
    /// True while events are folded that may not be stored.
    is_ahead: bool,
}

/// What became of a command.
#[derive(Debug)]
pub(super) enum Said {
    /// It led to these events, which are stored.
    Done(Vec<Recorded>),
    Refused(Refusal),
    /// The claim is lost. Another process goes on.
    Fenced,
}

impl TrackLog {
    /// Reads a track. Fails if there is none.
    pub(super) async fn open(tracks: &Tracks, id: Uuid) -> Result<Self> {
        let StoredTrack { row, definition } = tracks.get(id).await?.ok_or(TrackError::Unknown(id))?;
        let TrackRow { project, .. } = row;
        let rules = Track { tickets: Vec::new(), ..definition.clone() };
        let state = State { conduct: Conduct::new(definition.clone()), is_ahead: false };
        let log = Self {
            id,
            project,
            rules: Arc::new(rules),
            tracks: tracks.clone(),
            definition,
            state: Mutex::new(state),
            news: watch::Sender::new(0),
        };
        drop(log.current().await?);
        Ok(log)
    }

    /// The numbers of last events, as they are folded here.
    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// The number of the last event that is folded here.
    pub(super) fn seq(&self) -> u64 {
        *self.news.borrow()
    }

    /// Looks at the state as it is folded here.
    pub(super) async fn look<T>(&self, look: impl FnOnce(&Conduct) -> T + Send) -> Result<T> {
        let mut state = self.state.lock().await;
        if state.is_ahead {
            self.fold(&mut state).await?;
        }
        Ok(look(&state.conduct))
    }

    /// Looks at the state after everything that is stored.
    pub(super) async fn look_now<T>(&self, look: impl FnOnce(&Conduct) -> T + Send) -> Result<T> {
        Ok(look(&self.current().await?.conduct))
    }

    /// Folds what others appended. True if there was something.
    pub(super) async fn catch_up(&self) -> Result<bool> {
        let known = *self.news.borrow();
        let last = self.tracks.last_seq(self.id).await?.ok_or(TrackError::Unknown(self.id))?;
        if last == known {
            return Ok(false);
        }
        drop(self.current().await?);
        Ok(true)
    }

    /// The state after everything that is stored, held.
    async fn current(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state.lock().await;
        self.fold(&mut state).await?;
        Ok(state)
    }

    async fn fold(&self, state: &mut State) -> Result<()> {
        if state.is_ahead {
            state.conduct = Conduct::new(self.definition.clone());
            state.is_ahead = false;
        }
        loop {
            let page = self.tracks.log(self.id, state.conduct.seq(), tracks::LOG_PAGE).await?;
            if page.is_empty() {
                break;
            }
            page.iter().for_each(|recorded| state.conduct.apply(recorded));
        }
        self.news.send_replace(state.conduct.seq());
        Ok(())
    }

    /// Decides a command and stores the events that it leads to. What others appended is folded first.
    pub(super) async fn say(&self, command: &Command, fence: Option<&Fence>) -> Result<Said> {
        let mut state = self.state.lock().await;
        for _ in 0..TRIES {
            if state.is_ahead {
                self.fold(&mut state).await?;
            }
            let at = Utc::now().trunc_subsecs(6);
            let events = match state.conduct.decide(command, at) {
                Ok(events) => events,
                Err(refusal) => {
                    // It may be refused for what this process knows alone.
                    let known = state.conduct.seq();
                    self.fold(&mut state).await?;
                    if state.conduct.seq() == known {
                        return Ok(Said::Refused(refusal));
                    }
                    continue;
                }
            };
            if events.is_empty() {
                return Ok(Said::Done(Vec::new()));
            }
            let based_on = state.conduct.seq();
            state.is_ahead = true;
            fold_ahead(&mut state.conduct, &events, at);
            let phase = state.conduct.phase();
            let append = Append { based_on, events: &events, at, phase, fence };
            match self.tracks.append(self.id, &append).await? {
                Appended::Stored(recorded) => {
                    state.is_ahead = false;
                    self.news.send_replace(state.conduct.seq());
                    return Ok(Said::Done(recorded));
                }
                Appended::Behind { .. } => self.fold(&mut state).await?,
                Appended::Fenced => {
                    self.fold(&mut state).await?;
                    return Ok(Said::Fenced);
                }
            }
        }
        Err(TrackError::Contended(self.id).into())
    }

    /// A command of a person. Fails if it is refused.
    pub(super) async fn order(&self, command: &Command) -> Result<Vec<Recorded>> {
        match self.say(command, None).await? {
            Said::Done(recorded) => Ok(recorded),
            Said::Refused(refusal) => Err(TrackError::Refused { track: self.id, refusal }.into()),
            // Nobody holds a claim to give an order.
            Said::Fenced => Err(TrackError::Contended(self.id).into()),
        }
    }
}

/// Folds events that are about to be stored.
fn fold_ahead(conduct: &mut Conduct, events: &[Event], at: DateTime<Utc>) {
    let first = conduct.seq() + 1;
    for (seq, event) in (first..).zip(events) {
        conduct.apply(&Recorded { seq, at, event: event.clone() });
    }
}
