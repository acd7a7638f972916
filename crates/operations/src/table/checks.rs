//! Lint, and conflicts between scopes.

use app::LintOptions;
use app::inputs::{LintLibrary, ListConflicts, ResolveConflict};
use app::outputs::{ConflictList, LintReport, Resolved};

use super::prelude::*;
use crate::Context;

pub(super) const OPERATIONS: &[Operation] = &[
    op!(lint_library, Read, "Check definitions for errors",
        no_tool("people fix their files; every tool's answer reports errors that matter"), get("/api/lint"), command("lint"),
        LintLibrary => LintReport, |cx, input| lint(cx, input)),
    op!(list_conflicts, Read, "List the names that several scopes define, field by field",
        no_tool("people resolve conflicts between their files"), get("/api/conflicts"), command("conflicts"),
        ListConflicts => ConflictList, |cx, input| conflicts(cx, input)),
    op!(resolve_conflict, Overwrite, "Resolve a conflict: keep one scope's definition, or merge them field by field",
        no_tool("people resolve conflicts between their files"), post("/api/conflicts/{kind}/{name}"), command("conflicts"),
        ResolveConflict => Resolved, |cx, input| resolve(cx, input)),
];

async fn lint(cx: &Context<'_>, input: LintLibrary) -> app::Result<LintReport> {
    let options = cx.lint.cloned().unwrap_or_default();
    cx.library.lint(LintOptions { scopes: input.scopes.unwrap_or_default(), ..options }).await
}

async fn conflicts(cx: &Context<'_>, input: ListConflicts) -> app::Result<ConflictList> {
    Ok(ConflictList { items: cx.library.conflicts(input.kind, input.name.as_ref()).await? })
}

async fn resolve(cx: &Context<'_>, input: ResolveConflict) -> app::Result<Resolved> {
    let resolution = input.resolution()?;
    let ResolveConflict { kind, name, message, .. } = input;
    cx.library.resolve_conflict(&cx.author(), kind, &name, resolution, message).await
}
