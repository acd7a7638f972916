//! `masque tag`: names for revisions.

use app::outputs::Tagged;
use app::{NewTag, RevisionRef};
use serde_json::json;

use super::meant::Meant;
use crate::cli::{TagArgs, Target};
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(args: &TagArgs, session: &Session, output: &mut Output) -> Result<()> {
    if let Some(tag) = &args.delete {
        return untag(args, tag, session, output).await;
    }
    let (Target { kind, name, implied, .. }, revision, tag) = args.tagging()?;
    let wanted = revision.map(RevisionRef::parse);
    let (library, author) = (&session.library, &session.author);
    let tag = NewTag { tag, message: args.why.message.clone() };
    let tagged = library.tag(author, kind, &name, args.recorded.scope, wanted.as_ref(), tag).await;
    let tagged = Meant { command: "tag", name: &name, implied, scope: args.recorded.scope }
        .found(tagged, session)
        .await?;
    if output.is_json() {
        return output.json(&tagged);
    }
    let Tagged { kind, name, scope, revision, ask_for, tag } = &tagged;
    let revision = ask_for.clone().unwrap_or_else(|| revision.to_string());
    output.line(format!("{tag} is revision {revision} of {} {name} in {scope}", kind.spoken()))
}

async fn untag(args: &TagArgs, tag: &str, session: &Session, output: &mut Output) -> Result<()> {
    let Target { kind, name, implied, .. } = args.untagged()?;
    let deleted = session.library.untag(kind, &name, args.recorded.scope, tag).await;
    let deleted = Meant { command: "tag", name: &name, implied, scope: args.recorded.scope }
        .found(deleted, session)
        .await?;
    if output.is_json() {
        return output.json(&json!({ "kind": kind, "name": name, "tag": tag, "deleted": deleted }));
    }
    let kind = kind.spoken();
    output.line(if deleted {
        format!("took the tag {tag} off {kind} {name}")
    } else {
        format!("{kind} {name} has no tag {tag}; there was nothing to delete")
    })
}
