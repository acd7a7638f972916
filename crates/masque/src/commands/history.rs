//! `masque history`: who changed what, when and why.

use app::outputs::{RevisionItem, TagItem};
use chrono::Local;
use persona::limits;

use super::meant::{Meant, Named};
use crate::cli::{HistoryArgs, Target};
use crate::failure::Result;
use crate::output::{Column, Output, Table, one_line};
use crate::session::Session;

const COLUMNS: [Column; 7] = [
    Column::Fixed("REVISION"),
    Column::Fixed("WHEN"),
    Column::Fixed("WHO"),
    Column::Fixed("WHAT"),
    Column::Stretched("WHY"),
    Column::Optional("TAGS"),
    Column::Optional("NAMED"),
];

pub(super) async fn run(args: &HistoryArgs, session: &Session, output: &mut Output) -> Result<()> {
    let Target { kind, name, implied, .. } = args.target()?;
    let limit = args.limit.map(|limit| limit as usize);
    let meant = Meant { command: "history", name: &name, implied, scope: args.recorded.scope };
    let history = session.library.history(kind, &name, args.recorded.scope, limit).await;
    let history = meant.found(history, session).await?;
    if output.is_json() {
        return output.json(&history);
    }
    let rows: Vec<Vec<String>> = history.items.iter().map(|item| cells(item, &history.name)).collect();
    let table = Table::fitted(&COLUMNS, &rows, output.width());
    table.header(output)?;
    rows.iter().try_for_each(|row| table.row(output, row))?;
    if history.next_cursor.is_some() {
        let most = limits::REVISIONS;
        output.advise(&format!("\nThere are older ones: repeat with a higher --limit, of up to {most}."))?;
    }
    let named = Named::new(kind, &name, history.scope, session).await;
    output.advise(&format!(
        "\nOf {} {name} in {}. `{}` shows what changed since REV, `{}` goes back to it.",
        kind.spoken(),
        history.scope,
        named.command("diff", "REV"),
        named.command("rollback", "REV"),
    ))
}

fn cells(item: &RevisionItem, now: &persona::Name) -> Vec<String> {
    let RevisionItem { revision, ask_for, name, action, author, front, message, created_at, tags: _, tagged } =
        item;
    let when = created_at.with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string();
    // A name that it no longer has.
    let named = if name == now { String::new() } else { name.to_string() };
    vec![
        ask_for.clone().unwrap_or_else(|| revision.to_string()),
        when,
        one_line(&format!("{author} ({front})")),
        one_line(action),
        one_line(message.as_deref().unwrap_or_default()),
        one_line(&tagged.iter().map(told).collect::<Vec<_>>().join(", ")),
        named,
    ]
}

/// A tag, who gave it, and why.
fn told(TagItem { tag, author, message, of_another, .. }: &TagItem) -> String {
    if *of_another {
        return format!("{tag} (of another that had the name)");
    }
    match (author, message) {
        (Some(author), Some(message)) => format!("{tag} ({author}: {message})"),
        (Some(author), None) => format!("{tag} ({author})"),
        (None, _) => tag.clone(),
    }
}
