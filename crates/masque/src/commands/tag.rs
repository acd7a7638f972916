//! `masque tag`: tags revisions.

use app::outputs::Tagged;
use app::{NewTag, RevisionRef};
use serde_json::json;

use super::lookup;
use crate::cli::TagArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(args: &TagArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    if let Some(tag) = &args.delete {
        return untag(args, tag, workspace, output).await;
    }
    let (target, revision, tag) = args.tagging()?;
    let kind = lookup::recorded_kind("tag", &target, args.recorded.scope, workspace).await?;
    let name = target.name;
    let reference = revision.map(RevisionRef::parse);
    let (library, author) = (&workspace.library, &workspace.author);
    let tag = NewTag { tag, moves: args.moves, message: args.why.message.clone() };
    let tagged = library.tag(author, kind, &name, args.recorded.scope, reference.as_ref(), tag).await?;
    if output.is_json() {
        return output.json(&tagged);
    }
    let Tagged { kind, name, scope, revision, ask_for, tag, changed, moved_from } = &tagged;
    let revision = ask_for.clone().unwrap_or_else(|| revision.to_string());
    let of = format!("of {} {name} in {scope}", kind.spoken());
    output.line(match moved_from {
        _ if !changed => format!("nothing to change: revision {revision} {of} has the tag {tag}"),
        Some(from) => format!("moved tag {tag} {of} from revision {from} to {revision}"),
        None => format!("tagged revision {revision} {of} as {tag}"),
    })
}

async fn untag(args: &TagArgs, tag: &str, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let target = args.untagged()?;
    let kind = lookup::recorded_kind("tag", &target, args.recorded.scope, workspace).await?;
    let name = target.name;
    let deleted = workspace.library.untag(kind, &name, args.recorded.scope, tag).await?;
    if output.is_json() {
        return output.json(&json!({ "kind": kind, "name": name, "tag": tag, "deleted": deleted }));
    }
    let kind = kind.spoken();
    output.line(if deleted {
        format!("deleted tag {tag} of {kind} {name}")
    } else {
        format!("nothing to delete: {kind} {name} has no tag {tag}")
    })
}
