//! `masque tag`: tags revisions.

use app::outputs::Tagged;
use app::{NewTag, RevisionRef};
use serde_json::json;

use super::lookup::Lookup;
use crate::cli::{TagArgs, Target};
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(args: &TagArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    if let Some(tag) = &args.delete {
        return untag(args, tag, workspace, output).await;
    }
    let (Target { kind, name, implied, .. }, revision, tag) = args.tagging()?;
    let reference = revision.map(RevisionRef::parse);
    let (library, author) = (&workspace.library, &workspace.author);
    let tag = NewTag { tag, message: args.why.message.clone() };
    let tagged = library.tag(author, kind, &name, args.recorded.scope, reference.as_ref(), tag).await;
    let tagged = Lookup { command: "tag", name: &name, implied, scope: args.recorded.scope }
        .resolve(tagged, workspace)
        .await?;
    if output.is_json() {
        return output.json(&tagged);
    }
    let Tagged { kind, name, scope, revision, ask_for, tag } = &tagged;
    let revision = ask_for.clone().unwrap_or_else(|| revision.to_string());
    output.line(format!("tagged revision {revision} of {} {name} in {scope} as {tag}", kind.spoken()))
}

async fn untag(args: &TagArgs, tag: &str, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let Target { kind, name, implied, .. } = args.untagged()?;
    let deleted = workspace.library.untag(kind, &name, args.recorded.scope, tag).await;
    let deleted = Lookup { command: "tag", name: &name, implied, scope: args.recorded.scope }
        .resolve(deleted, workspace)
        .await?;
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
