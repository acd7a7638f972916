//! Tracks on both engines: their logs, claims, fences and costs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::ops::Deref;

use chrono::{DateTime, Utc};
use conductor::{Event, Isolation, Phase, PlanApproval, Ticket, TicketId, Track};
use database::now;
use store::Store;
use testkit::{Database, samples};
use tracks::{Append, Appended, Claimed, Fence, Holder, NewTrack, Tracks};
use uuid::Uuid;

mod appending;
mod claims;
mod costs;
mod keeping;
mod presence;

/// A library with its tracks, as one process opens it.
struct Opened {
    library: Store,
    tracks: Tracks,
}

impl Deref for Opened {
    type Target = Tracks;

    fn deref(&self) -> &Tracks {
        &self.tracks
    }
}

impl Opened {
    async fn close(&self) {
        self.library.close().await;
    }
}

async fn open(database: &Database) -> Opened {
    let library = samples::open(database).await;
    let tracks = Tracks::new(library.engine().clone());
    Opened { library, tracks }
}

fn id(text: &str) -> TicketId {
    TicketId::parse(text).unwrap()
}

fn new_track(title: &str, project: &str, created_at: DateTime<Utc>) -> NewTrack {
    let mut definition = Track::new(title);
    definition.goal = "Done — 完成\0".to_owned();
    definition.tickets = vec![Ticket::new(id("T1"), "First"), Ticket::new(id("T2"), "Second")];
    NewTrack { id: Uuid::now_v7(), project: project.to_owned(), definition, created_at }
}

async fn created(tracks: &Tracks) -> Uuid {
    let new = new_track("A track", "/home/é/project", now());
    tracks.create(&new).await.unwrap();
    new.id
}

fn opened() -> Event {
    Event::Opened {
        format: conductor::FORMAT,
        isolation: Isolation::Worktrees,
        plan: PlanApproval::Written,
        concurrency: None,
        by: "tester".to_owned(),
    }
}

fn resumed(by: &str) -> Event {
    Event::Resumed { by: by.to_owned() }
}

/// An append by a person, or under a claim.
fn append<'a>(based_on: u64, events: &'a [Event], fence: Option<&'a Fence>) -> Append<'a> {
    Append { based_on, events, at: now(), phase: Phase::Running, fence }
}

/// Appends, which must succeed, and returns the number of the last event.
async fn appended(tracks: &Tracks, track: Uuid, append: &Append<'_>) -> u64 {
    match tracks.append(track, append).await.unwrap() {
        Appended::Stored(recorded) => recorded.last().map_or(append.based_on, |last| last.seq),
        other => panic!("{other:?}"),
    }
}

fn holder(name: &str) -> Holder {
    Holder { node: Uuid::now_v7(), name: name.to_owned() }
}

/// Claims a ticket that is free.
async fn claimed(tracks: &Tracks, track: Uuid, ticket: &str) -> Fence {
    taken(tracks.claim(track, Some(&id(ticket)), &holder("worker")).await.unwrap())
}

#[track_caller]
fn taken(claimed: Claimed) -> Fence {
    match claimed {
        Claimed::Taken(fence) => fence,
        Claimed::Busy(sighting) => panic!("{sighting:?}"),
    }
}

/// The beat of a ticket that another worker has.
#[track_caller]
fn busy(claimed: Claimed) -> i64 {
    match claimed {
        Claimed::Busy(sighting) => {
            assert!(!sighting.is_over, "{sighting:?}");
            sighting.beat
        }
        Claimed::Taken(fence) => panic!("{fence:?}"),
    }
}
