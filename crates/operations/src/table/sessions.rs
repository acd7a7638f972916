//! Sessions: talk to a persona, watch, decide, go back. Events stream.

use agent::Event;
use app::inputs::{
    ByCall, BySession, DecideCall, DecidePlan, ListModels, SendMessage, SetSessionMode, UpdateSession,
    WatchSession,
};
use app::running::{CallPreview, CreateSession, ListSessions, ModelList, SessionList, SessionView};
use schemars::JsonSchema;
use serde::Serialize;

use super::prelude::*;
use crate::{BoxedOutcome, Media, OperationFn};

const NO_SESSIONS: Mcp = no_tool("an MCP client is itself the agent that wears a persona");

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cancelled {
    /// False if nothing was running.
    cancelled: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Undone {
    /// The message that was taken back.
    content: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionDeleted {
    deleted: bool,
}

/// A plan, as Markdown.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanText(String);

/// A session that was just created.
#[derive(Debug, Serialize)]
pub(crate) struct NewSession(pub(crate) SessionView);

pub(super) const OPERATIONS: &[Operation] = &[
    op!(create_session, Create, "Start a session with a persona",
        NO_SESSIONS, post("/api/sessions"), command("chat"),
        CreateSession => (SessionView) as (NewSession),
        |cx, input| { let runtime = cx.runtime()?; async { runtime.create_session(input).await.map(NewSession) } }),
    op!(list_sessions, Read, "List sessions, the last used first",
        NO_SESSIONS, get("/api/sessions"), command("sessions list"),
        ListSessions => SessionList, |cx, input| cx.runtime()?.sessions(input)),
    op!(get_session, Read, "A session with its turns, and the calls that wait for permission",
        NO_SESSIONS, get("/api/sessions/{id}"), command("sessions show"),
        BySession => SessionView, |cx, input| cx.runtime()?.session(input.id)),
    // Null means something in this input: it leaves the choice of a model to the persona.
    Operation {
        run: OperationFn::Call(|cx, fields| {
            Box::pin(async move {
                let input: UpdateSession = app::inputs::parse(&fields).map_err(crate::CallError::Input)?;
                Ok(Box::new(cx.runtime()?.update_session(input).await?) as BoxedOutcome)
            })
        }),
        ..op!(update_session, Overwrite, "Change the persona or the model of an idle session",
            NO_SESSIONS, patch("/api/sessions/{id}"), command("chat"),
            UpdateSession => SessionView, |cx, input| cx.runtime()?.session(input.id))
    },
    Operation {
        media: Media::Nothing,
        ..op!(delete_session, Remove, "Delete a session with everything that was said",
        NO_SESSIONS, delete("/api/sessions/{id}"), command("sessions delete"),
        BySession => SessionDeleted, |cx, input| {
            let runtime = cx.runtime()?;
            async move { runtime.delete_session(input.id).await.map(|deleted| SessionDeleted { deleted }) }
        })
    },
    op!(set_session_mode, Overwrite, "Switch a session to plan or build mode, even while it runs",
    NO_SESSIONS, patch("/api/sessions/{id}/mode"), command("chat"),
    SetSessionMode => SessionView, |cx, input| {
        let mode = input.mode()?;
        cx.runtime()?.set_mode(input.id, mode)
    }),
    stream!(send_message, Step, "Send a message; streams the events of the run to its end",
    NO_SESSIONS, post("/api/sessions/{id}/messages"), command("run"),
    SendMessage => Event, |cx, input| {
        let options = input.options()?;
        cx.runtime()?.send(input.id, input.content, options)
    }),
    stream!(watch_session, Read, "Stream the events of a session, from now on or after an event",
        NO_SESSIONS, get("/api/sessions/{id}/events"), command("sessions resume"),
        WatchSession => Event, |cx, input| cx.runtime()?.watch(input)),
    op!(cancel_run, Overwrite, "Cancel the run of a session",
    NO_SESSIONS, post("/api/sessions/{id}/cancel"), command("sessions cancel"),
    BySession => Cancelled, |cx, input| {
        let runtime = cx.runtime()?;
        async move { runtime.cancel(input.id).await.map(|cancelled| Cancelled { cancelled }) }
    }),
    op!(preview_call, Read, "A call that waits for permission, with the change that it makes to a file",
    NO_SESSIONS, get("/api/sessions/{id}/approvals/{call_id}"), command("sessions approve"),
    ByCall => CallPreview, |cx, input| {
        let runtime = cx.runtime()?;
        async move { runtime.preview_call(input.id, &input.call_id).await }
    }),
    op!(decide_call, Step, "Approve or reject a call that waits for permission; the run continues after the last one",
    NO_SESSIONS, post("/api/sessions/{id}/approvals/{call_id}"), command("sessions approve"),
    DecideCall => SessionView, |cx, input| {
        let (runtime, decision) = (cx.runtime()?, input.decision()?);
        async move { runtime.decide(input.id, &input.call_id, decision).await }
    }),
    Operation {
        media: Media::Markdown,
        ..op!(get_plan, Read, "The plan that a session handed over, as Markdown",
        NO_SESSIONS, get("/api/sessions/{id}/plan"), command("plan"),
        BySession => PlanText, |cx, input| {
            let runtime = cx.runtime()?;
            async move { runtime.plan(input.id).await.map(|plan| PlanText(plan.content)) }
        })
    },
    op!(decide_plan, Overwrite, "Approve a plan, which switches to build mode, or send it back",
        NO_SESSIONS, post("/api/sessions/{id}/plan"), command("plan"),
        DecidePlan => SessionView, |cx, input| cx.runtime()?.decide_plan(input)),
    op!(undo_message, Remove, "Take back the last message and all turns since; files stay as they are",
    NO_SESSIONS, post("/api/sessions/{id}/undo"), command("chat"),
    BySession => Undone, |cx, input| {
        let runtime = cx.runtime()?;
        async move { runtime.undo(input.id).await.map(|content| Undone { content }) }
    }),
    op!(list_models, Read, "List the providers that are set up, with their models",
    NO_SESSIONS, get("/api/models"), command("models"),
    ListModels => ModelList, |cx, _input| {
        let runtime = cx.runtime()?;
        async move { app::Result::Ok(ModelList { items: runtime.models().await }) }
    }),
];
