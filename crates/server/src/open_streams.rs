//! The open streams of sessions, tests and tracks, which share their places.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::EVENT_RETRY_AFTER_S;
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::result::ApiResult;

/// The contents of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamOf {
    Sessions,
    Tests,
    Tracks,
}

impl StreamOf {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Tests => "tests",
            Self::Tracks => "tracks",
        }
    }
}

#[derive(Debug)]
pub(crate) struct OpenStreams {
    places: Arc<Semaphore>,
    most: usize,
    sessions: Arc<AtomicUsize>,
    tests: Arc<AtomicUsize>,
    tracks: Arc<AtomicUsize>,
}

/// The place of an open stream, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamSlot {
    count: Arc<AtomicUsize>,
    _place: OwnedSemaphorePermit,
}

impl OpenStreams {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(most)),
            most,
            sessions: Arc::default(),
            tests: Arc::default(),
            tracks: Arc::default(),
        }
    }

    /// Reserves a stream before anything starts for it.
    pub(crate) fn slot(&self, of: StreamOf) -> ApiResult<StreamSlot> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let error = RequestError::TooManyStreams { what: of.as_str(), most: self.most };
            Problem::from(error).retry_after(EVENT_RETRY_AFTER_S)
        })?;
        let count = Arc::clone(self.counter(of));
        count.fetch_add(1, Ordering::Relaxed);
        Ok(StreamSlot { count, _place: place })
    }

    pub(crate) fn count(&self, of: StreamOf) -> usize {
        self.counter(of).load(Ordering::Relaxed)
    }

    fn counter(&self, of: StreamOf) -> &Arc<AtomicUsize> {
        match of {
            StreamOf::Sessions => &self.sessions,
            StreamOf::Tests => &self.tests,
            StreamOf::Tracks => &self.tracks,
        }
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}
