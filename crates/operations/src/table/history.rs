//! Revisions: list, compare, go back, tag.

use app::inputs::{CompareRevisions, EntityHistory, Rollback, TagRevision, UntagRevision};
use app::outputs::{History, RevisionDiff, RolledBack, Tagged, Untagged};
use app::{Library, NewTag, RevisionRef};

use super::prelude::*;
use crate::Context;

/// Why agents do not get these: every tool costs them context, and a person decides about history.
const FOR_PEOPLE: Mcp = no_tool("people decide about history, and every tool costs an agent context");

pub(super) const OPERATIONS: &[Operation] = &[
    op!(list_revisions, Read, "List the revisions of an entity, newest first: who, when and why",
        FOR_PEOPLE, get("/api/library/{kind}/{name}/history"), command("history"),
        EntityHistory => History, |cx, input| history(cx.library, input)),
    op!(compare_revisions, Read, "Compare two revisions of an entity and of its pieces; by default, show the last change",
        FOR_PEOPLE, get("/api/library/{kind}/{name}/diff"), command("diff"),
        CompareRevisions => RevisionDiff, |cx, input| diff(cx.library, input)),
    op!(rollback_entity, Overwrite, "Put an entity back to an earlier revision, which makes a new one; a deleted entity comes back",
        FOR_PEOPLE, post("/api/library/{kind}/{name}/rollback"), command("rollback"),
        Rollback => RolledBack, |cx, input| cx.library.rollback(&cx.author(), input)),
    op!(tag_revision, Overwrite, "Name a revision, so that callers can ask for it; `move` takes the tag off another one",
        FOR_PEOPLE, put("/api/library/{kind}/{name}/tags/{tag}"), command("tag"),
        TagRevision => Tagged, |cx, input| tag(cx, input)),
    op!(untag_revision, Remove, "Take a tag off a revision",
        FOR_PEOPLE, delete("/api/library/{kind}/{name}/tags/{tag}"), command("tag"),
        UntagRevision => Untagged, |cx, input| untag(cx.library, input)),
];

async fn history(library: &Library, input: EntityHistory) -> app::Result<History> {
    let EntityHistory { kind, name, limit, cursor, scope } = input;
    let limit = limit.map(|limit| limit as usize);
    library.history_page(kind, &name, scope, limit, cursor.as_deref()).await
}

async fn diff(library: &Library, input: CompareRevisions) -> app::Result<RevisionDiff> {
    let CompareRevisions { kind, name, from, to, compiled, scope } = input;
    let (from, to) = (from.map(|from| from.parse()), to.map(|to| to.parse()));
    let mut diff = library.diff(kind, &name, scope, from.as_ref(), to.as_ref()).await?;
    if compiled {
        diff.compiled = Some(library.diff_prompts(kind, &name, scope, from.as_ref(), to.as_ref()).await?);
    }
    Ok(diff)
}

async fn tag(cx: &Context<'_>, input: TagRevision) -> app::Result<Tagged> {
    let TagRevision { kind, name, tag, revision, moves, message, scope } = input;
    let wanted: Option<RevisionRef> = revision.map(|revision| revision.parse());
    let tag = NewTag { tag: &tag, moves, message };
    cx.library.tag(&cx.author(), kind, &name, scope, wanted.as_ref(), tag).await
}

async fn untag(library: &Library, input: UntagRevision) -> app::Result<Untagged> {
    let UntagRevision { kind, name, tag, scope } = input;
    let deleted = library.untag(kind, &name, scope, &tag).await?;
    Ok(Untagged { kind, name, tag, deleted })
}
