//! The editing agent: tell what to change about a persona. Requests and answers are camelCase, as the editor's
//! page has them.

use app::editing::{
    AppliedProposal, ChatEvent, ChatHistory, ClearedChat, ProposalAnswer, StoredPersona, UndoneTurn,
};
use app::inputs::{ApplyProposal, ByPersonaId, EditorMessage};

use super::prelude::*;

const FOR_PEOPLE: Mcp = no_tool("an MCP client changes personas with tools of its own");

pub(super) const OPERATIONS: &[Operation] = &[
    chat!(chat_with_editor, Step, "Tell the editing agent what to change about a persona; streams its answer",
    FOR_PEOPLE, post("/api/persona-agent/chat"), command("edit"),
    EditorMessage => ChatEvent, |cx, input| {
        let (runtime, author) = (cx.runtime()?, cx.author());
        async move { runtime.chat_with_editor(&author, input).await }
    }),
    op!(clear_editor_chat, Overwrite, "Begin a new conversation about a persona; the old one stays among the sessions",
        FOR_PEOPLE, post("/api/persona-agent/clear"), command("edit"),
        ByPersonaId => ClearedChat, |cx, input| cx.runtime()?.clear_editor_chat(&input)),
    op!(editor_chat_history, Read, "The turns of the current conversation about a persona",
        FOR_PEOPLE, get("/api/persona-agent/history"), no_command("masque sessions shows what was said"),
        ByPersonaId => ChatHistory, |cx, input| cx.runtime()?.editor_chat_history(&input)),
    op!(undo_editor_turn, Overwrite, "Take back the last turn of the editing agent that changed something; later edits by hand stay",
    FOR_PEOPLE, post("/api/persona-agent/undo"), command("edit"),
    ByPersonaId => UndoneTurn, |cx, input| {
        let (runtime, author) = (cx.runtime()?, cx.author());
        async move { runtime.undo_editor_turn(&author, &input).await }
    }),
    op!(stored_persona, Read, "A persona in the shape of the editor's page, with its current conversation",
        FOR_PEOPLE, get("/api/storage/personas/{personaId}"), no_command("masque show has all of a persona"),
        ByPersonaId => StoredPersona, |cx, input| cx.runtime()?.stored_persona(&input)),
    op!(editor_proposal, Read, "The changes that the editing agent proposes since it was last told to plan only",
        FOR_PEOPLE, get("/api/persona-agent/proposal"), command("edit"),
        ByPersonaId => ProposalAnswer, |cx, input| cx.runtime()?.editor_proposal(&input)),
    op!(apply_editor_proposal, Overwrite, "Apply a proposal of the editing agent: exactly that, or nothing if an entity was changed since",
    FOR_PEOPLE, post("/api/persona-agent/apply"), command("edit"),
    ApplyProposal => AppliedProposal, |cx, input| {
        let (runtime, author) = (cx.runtime()?, cx.author());
        async move { runtime.apply_editor_proposal(&author, &input).await }
    }),
];
