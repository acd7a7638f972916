//! The editing agent: tell what to change about a persona. Requests and answers are camelCase, as the editor's
//! page has them.

use app::editing::{
    AppliedProposal, ChatEvent, ChatHistory, ClearedChat, DismissedProposal, Locks, ProposalAnswer,
    StoredPersona, UndoneTurn,
};
use app::inputs::{
    ApplyProposal, ByPersonaId, DismissProposal, EditorMessage, EntityLocks, LockEntity, UnlockEntity,
};

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
    op!(editor_proposal, Read, "The changes that the editing agent proposes since it was last told to plan only, and those that it must ask about",
        FOR_PEOPLE, get("/api/persona-agent/proposal"), command("edit"),
        ByPersonaId => ProposalAnswer, |cx, input| cx.runtime()?.editor_proposal(&input)),
    op!(apply_editor_proposal, Overwrite, "Apply a proposal of the editing agent, or the change that it asked about: exactly that, or nothing if an entity was changed since",
    FOR_PEOPLE, post("/api/persona-agent/apply"), command("edit"),
    ApplyProposal => AppliedProposal, |cx, input| {
        let (runtime, author) = (cx.runtime()?, cx.author());
        async move { runtime.apply_editor_proposal(&author, &input).await }
    }),
    op!(dismiss_editor_proposal, Remove, "Drop a proposal of the editing agent, or keep what it asked about as it is",
        FOR_PEOPLE, post("/api/persona-agent/dismiss"), command("edit"),
        DismissProposal => DismissedProposal, |cx, input| cx.runtime()?.dismiss_editor_proposal(&input)),
    op!(entity_locks, Read, "The fields of an entity that the editing agent must not change",
        FOR_PEOPLE, get("/api/library/{kind}/{name}/locks"), command("edit"),
        EntityLocks => Locks, |cx, input| cx.library.entity_locks(input)),
    op!(lock_entity, Add, "Lock an entity, or one of its fields, against the editing agent; everyone else may still change it",
        FOR_PEOPLE, post("/api/library/{kind}/{name}/locks"), command("edit"),
        LockEntity => Locks, |cx, input| cx.library.lock_entity(input)),
    op!(unlock_entity, Remove, "Unlock an entity, or one of its fields, for the editing agent",
        FOR_PEOPLE, delete("/api/library/{kind}/{name}/locks"), command("edit"),
        UnlockEntity => Locks, |cx, input| cx.library.unlock_entity(input)),
];
