//! `masque history`: lists revisions.

use app::outputs::{RevisionItem, TagItem};
use chrono::Local;
use persona::limits;

use super::lookup::{self, CommandSubject};
use crate::cli::HistoryArgs;
use crate::failure::Result;
use crate::output::{Column, Output, Table, one_line};
use crate::workspace::Workspace;

const COLUMNS: [Column; 7] = [
    Column::Fixed("REVISION"),
    Column::Fixed("WHEN"),
    Column::Fixed("WHO"),
    Column::Fixed("WHAT"),
    Column::Stretched("WHY"),
    Column::Kept("TAGS"),
    Column::Optional("NAMED"),
];

pub(super) async fn run(args: &HistoryArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let target = args.target()?;
    let kind = lookup::recorded_kind("history", &target, args.recorded.scope, workspace).await?;
    let name = target.name;
    let limit = args.limit.map(|limit| limit as usize);
    let history = workspace.library.history(kind, &name, args.recorded.scope, limit).await?;
    if output.is_json() {
        return output.json(&history);
    }
    let rows: Vec<Vec<String>> = history.items.iter().map(|item| cells(item, &history.name)).collect();
    let table = Table::fitted(&COLUMNS, &rows, output.width());
    table.header(output)?;
    rows.iter().try_for_each(|row| table.row(output, row))?;
    if history.next_cursor.is_some() {
        let most = limits::REVISIONS;
        output.advise(&format!("\nMore revisions exist; use a higher --limit (at most {most})."))?;
    }
    let named = CommandSubject::new(kind, &name, history.scope, workspace).await;
    output.advise(&format!(
        "\nHistory of {} {name} in {}. `{}` shows changes since REV, `{}` restores it.",
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
    // Shown only if the entity had another name then.
    let named = if name == now { String::new() } else { name.to_string() };
    vec![
        ask_for.clone().unwrap_or_else(|| revision.to_string()),
        when,
        one_line(&format!("{author} ({front})")),
        one_line(action),
        one_line(message.as_deref().unwrap_or_default()),
        one_line(&tagged.iter().map(tag_text).collect::<Vec<_>>().join(", ")),
        named,
    ]
}

/// A tag with its author and message.
fn tag_text(TagItem { tag, author, message, of_another, .. }: &TagItem) -> String {
    if *of_another {
        return format!("{tag} (of an earlier entity with this name)");
    }
    match (author, message) {
        (Some(author), Some(message)) => format!("{tag} ({author}: {message})"),
        (Some(author), None) => format!("{tag} ({author})"),
        (None, _) => tag.clone(),
    }
}
