//! Tracks of tickets: write, start, watch, decide, merge.

use app::conducting::TrackEvent;
use app::inputs::{
    AnswerTicket, ApproveTickets, ByTicket, ByTrack, CancelTicket, CancelTrack, CleanTracks, DraftTrack,
    JudgeResult, ListTracks, MergeTrack, RaiseCap, RetryTicket, StartTrack, TicketDiff, WatchTrack,
    WrittenTrack,
};
use app::outputs::{
    CleanedWorktrees, CreatedTrack, DraftedTrack, MergedTrack, TicketChange, TrackBoard, TrackList,
    TrackPlan, TrackReport,
};

use super::prelude::*;
use crate::{Effect, Media, OperationFn};

const NO_TRACKS: Mcp = no_tool("a track runs commands and merges branches: a person starts it");

pub(super) const OPERATIONS: &[Operation] = &[
    op!(create_track, Create, "Store a track for the open project; nothing is worked yet",
        NO_TRACKS, post("/api/tracks"), command("conduct"),
        WrittenTrack => CreatedTrack, |cx, input| cx.runtime()?.create_track(input)),
    op!(list_tracks, Read, "List the tracks of the open project, or of all projects without one",
        NO_TRACKS, get("/api/tracks"), command("conduct list"),
        ListTracks => TrackList, |cx, input| cx.runtime()?.list_tracks(input)),
    op!(plan_track, Read, "Show how a track would be worked: order, personas, models and context; calls no model",
        NO_TRACKS, post("/api/tracks/plan"), command("conduct --dry-run"),
        WrittenTrack => TrackPlan, |cx, input| cx.runtime()?.plan_track(input)),
    op!(draft_track, Create, "Let a tier-1 persona draft a track from an epic; nothing is created",
        NO_TRACKS, post("/api/tracks/draft"), command("conduct --draft"),
        DraftTrack => DraftedTrack, |cx, input| cx.runtime()?.draft_track(input)),
    op!(clean_worktrees, Remove, "Remove the worktrees of ended tickets; work that no branch has is archived first",
        NO_TRACKS, post("/api/tracks/clean"), command("conduct clean"),
        CleanTracks => CleanedWorktrees, |cx, input| cx.runtime()?.clean_tracks(input)),
    op!(get_track, Read, "A track with all that happened to its tickets",
        NO_TRACKS, get("/api/tracks/{id}"), command("conduct show"),
        ByTrack => TrackBoard, |cx, input| cx.runtime()?.get_track(input)),
    Operation {
        name: "watch_track",
        summary: "Stream the events of a track, from its beginning or after one, until it ends",
        effect: Effect::Read,
        mcp: NO_TRACKS,
        http: get("/api/tracks/{id}/events"),
        cli: command("conduct log"),
        input: |generator| generator.subschema_for::<WatchTrack>(),
        output: |generator| generator.subschema_for::<TrackEvent>(),
        media: Media::Events,
        run: OperationFn::TrackEvents(|cx, fields| {
            Box::pin(async move {
                let input: WatchTrack = crate::parse(fields)?;
                Ok(cx.runtime()?.watch_track(input).await?)
            })
        }),
    },
    op!(track_report, Read, "What happened in a track, as Markdown",
        NO_TRACKS, get("/api/tracks/{id}/report"), command("conduct report"),
        ByTrack => TrackReport, |cx, input| cx.runtime()?.track_report(input)),
    op!(ticket_diff, Read, "What an attempt at a ticket changed, as a diff from its base",
        NO_TRACKS, get("/api/tracks/{id}/tickets/{ticket}/diff"), command("conduct diff"),
        TicketDiff => TicketChange, |cx, input| cx.runtime()?.ticket_diff(input)),
    op!(start_track, Step, "Start a track, and work it in this process",
        NO_TRACKS, post("/api/tracks/{id}/start"), command("conduct"),
        StartTrack => TrackBoard, |cx, input| cx.runtime()?.start_track(&cx.author(), input)),
    op!(pause_track, Overwrite, "Start nothing new in a track; what runs may end",
        NO_TRACKS, post("/api/tracks/{id}/pause"), command("conduct pause"),
        ByTrack => TrackBoard, |cx, input| cx.runtime()?.pause_track(&cx.author(), input)),
    op!(resume_track, Step, "Go on with a track that was paused, or that no process works any more",
        NO_TRACKS, post("/api/tracks/{id}/resume"), command("conduct resume"),
        ByTrack => TrackBoard, |cx, input| cx.runtime()?.resume_track(&cx.author(), input)),
    op!(cancel_track, Overwrite, "Cancel a track and all its open tickets",
        NO_TRACKS, post("/api/tracks/{id}/cancel"), command("conduct cancel"),
        CancelTrack => TrackBoard, |cx, input| cx.runtime()?.cancel_track(&cx.author(), input)),
    op!(approve_tickets, Step, "Approve tickets that a model planned",
        NO_TRACKS, post("/api/tracks/{id}/approve"), command("conduct approve"),
        ApproveTickets => TrackBoard, |cx, input| cx.runtime()?.approve_tickets(&cx.author(), input)),
    op!(raise_cap, Overwrite, "Change the cap of a ticket, of the track or of each day",
        NO_TRACKS, post("/api/tracks/{id}/cap"), command("conduct cap"),
        RaiseCap => TrackBoard, |cx, input| cx.runtime()?.raise_cap(&cx.author(), input)),
    op!(merge_track, Overwrite, "Bring the track's work to a branch of the user, by a fast-forward or not at all",
        NO_TRACKS, post("/api/tracks/{id}/merge"), command("conduct merge"),
        MergeTrack => MergedTrack, |cx, input| cx.runtime()?.merge_track(input)),
    op!(approve_step, Step, "Approve the next step of a ticket",
        NO_TRACKS, post("/api/tracks/{id}/tickets/{ticket}/approve-step"), command("conduct approve-step"),
        ByTicket => TrackBoard, |cx, input| cx.runtime()?.approve_step(&cx.author(), input)),
    op!(retry_ticket, Step, "Give a ticket another chance, with another model or persona if one is named",
        NO_TRACKS, post("/api/tracks/{id}/tickets/{ticket}/retry"), command("conduct retry"),
        RetryTicket => TrackBoard, |cx, input| cx.runtime()?.retry_ticket(&cx.author(), input)),
    op!(cancel_ticket, Overwrite, "Cancel a ticket; those that depend on it stay blocked",
        NO_TRACKS, post("/api/tracks/{id}/tickets/{ticket}/cancel"), command("conduct cancel"),
        CancelTicket => TrackBoard, |cx, input| cx.runtime()?.cancel_ticket(&cx.author(), input)),
    op!(answer_ticket, Step, "Answer the question of a ticket's worker",
        NO_TRACKS, post("/api/tracks/{id}/tickets/{ticket}/answer"), command("conduct answer"),
        AnswerTicket => TrackBoard, |cx, input| cx.runtime()?.answer_ticket(&cx.author(), input)),
    op!(approve_result, Step, "Accept a result that no check or no reviewer vouches for",
        NO_TRACKS, post("/api/tracks/{id}/tickets/{ticket}/approve-result"), command("conduct accept"),
        JudgeResult => TrackBoard, |cx, input| cx.runtime()?.approve_result(&cx.author(), input)),
    op!(reject_result, Step, "Send such a result back to its worker",
        NO_TRACKS, post("/api/tracks/{id}/tickets/{ticket}/reject-result"), command("conduct reject"),
        JudgeResult => TrackBoard, |cx, input| cx.runtime()?.reject_result(&cx.author(), input)),
];
