//! Finds tracks by their id or a part of it.

use std::fmt;

use app::inputs::{ByTrack, ListTracks};
use app::outputs::{TrackItem, TrackList};
use app::{Code, Runtime};
use conductor::Phase;
use uuid::Uuid;

use crate::commands::SHORT_ID;
use crate::failure::{CommandError, Result};
use crate::output::one_line;

/// Minimum length of a shortened id.
const LEAST: usize = 4;
/// Maximum number of tracks in the error for an ambiguous id.
const NAMED: usize = 5;
/// Tracks per read.
const PAGE: usize = 200;

/// A track's id, and its end as people type it.
#[derive(Debug, Clone)]
pub(super) struct Handle {
    pub(super) id: Uuid,
    short: String,
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short)
    }
}

/// Finds the track with this id, or the only one whose id begins or ends like this.
pub(super) async fn track(runtime: &Runtime, text: &str) -> Result<Handle> {
    let wanted = text.trim().to_lowercase();
    let unknown = || CommandError::UnknownTrack { text: one_line(text) };
    if let Ok(id) = wanted.parse::<Uuid>() {
        return match runtime.get_track(ByTrack { id }).await {
            Ok(_) => handle(runtime, id).await,
            Err(error) if error.code() == Code::UnknownTrack => Err(unknown().into()),
            Err(error) => Err(error.into()),
        };
    }
    let is_part = wanted.len() >= LEAST && wanted.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if !is_part {
        return Err(CommandError::InvalidTrackId { text: one_line(text), least: LEAST }.into());
    }
    let ids = ids(runtime).await?;
    let matches = |id: &&Uuid| {
        let id = id.to_string();
        id.starts_with(&wanted) || id.ends_with(&wanted)
    };
    let found: Vec<Uuid> = ids.iter().filter(matches).copied().collect();
    match found.as_slice() {
        [] => Err(unknown().into()),
        [one] => Ok(Handle { id: *one, short: end(*one, shown(&ids)) }),
        several => {
            let tracks = several.iter().take(NAMED).copied().collect();
            Err(CommandError::AmbiguousTrack { text: one_line(text), tracks }.into())
        }
    }
}

/// The track to go on with: the named one, or the last open one of this project.
pub(super) async fn named_or_open(runtime: &Runtime, text: &str) -> Result<Handle> {
    if !text.is_empty() {
        return track(runtime, text).await;
    }
    let is_open = |item: &&TrackItem| !matches!(item.phase, Phase::Finished | Phase::Cancelled);
    let mut cursor = None;
    loop {
        let page = page(runtime, false, PAGE, cursor).await?;
        if let Some(open) = page.items.iter().find(is_open) {
            return handle(runtime, open.id).await;
        }
        cursor = match page.next_cursor {
            Some(cursor) => Some(cursor),
            None => return Err(CommandError::NoOpenTrack.into()),
        };
    }
}

pub(super) async fn handle(runtime: &Runtime, id: Uuid) -> Result<Handle> {
    Ok(Handle { id, short: end(id, shown(&ids(runtime).await?)) })
}

pub(super) async fn page(
    runtime: &Runtime,
    everywhere: bool,
    limit: usize,
    cursor: Option<String>,
) -> Result<TrackList> {
    let input = ListTracks { everywhere, limit: Some(limit.min(PAGE)), cursor };
    Ok(runtime.list_tracks(input).await?)
}

/// The ids of all tracks.
async fn ids(runtime: &Runtime) -> Result<Vec<Uuid>> {
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = page(runtime, true, PAGE, cursor).await?;
        ids.extend(page.items.iter().map(|item| item.id));
        cursor = match page.next_cursor {
            Some(cursor) => Some(cursor),
            None => return Ok(ids),
        };
    }
}

/// The number of characters at the end of an id that tell all tracks apart.
pub(crate) fn shown(ids: &[Uuid]) -> usize {
    let mut texts: Vec<String> = ids.iter().map(|id| id.to_string().chars().rev().collect()).collect();
    texts.sort_unstable();
    let shared = |pair: &[String]| {
        let [one, other] = pair else { return 0 };
        one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
    };
    texts.windows(2).map(shared).max().map_or(SHORT_ID, |shared| SHORT_ID.max(shared + 1))
}

/// The last characters of an id.
pub(crate) fn end(id: Uuid, length: usize) -> String {
    let id = id.to_string();
    id[id.len().saturating_sub(length)..].to_owned()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{end, shown};

    #[test]
    fn enough_of_an_id_is_shown_to_tell_tracks_apart() {
        let ids =
            |texts: &[&str]| -> Vec<Uuid> { texts.iter().map(|text| text.parse().expect("an id")).collect() };
        assert_eq!(shown(&[]), 6);
        let one = ids(&["00000000-0000-7000-8000-00000000abcd"]);
        assert_eq!((shown(&one), end(one[0], 6)), (6, "00abcd".to_owned()));
        let alike = ids(&["00000000-0000-7000-8000-00001200abcd", "00000000-0000-7000-8000-00003200abcd"]);
        assert_eq!(shown(&alike), 8, "both end in 200abcd");
        assert_ne!(end(alike[0], 8), end(alike[1], 8));
    }
}
