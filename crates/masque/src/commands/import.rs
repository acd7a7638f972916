//! `masque import`: what a bundle would change, and then the change.

use std::path::Path;

use app::outputs::{ImportChange, ImportItem, ImportPlan};
use serde::Serialize;

use crate::ask;
use crate::cli::ImportArgs;
use crate::definition::read_text;
use crate::failure::{Failure, Result};
use crate::output::{Column, Output, Table, one_line};
use crate::session::Session;

const COLUMNS: [Column; 4] =
    [Column::Fixed("NAME"), Column::Fixed("KIND"), Column::Fixed("CHANGE"), Column::Stretched("FIELDS")];

#[derive(Serialize)]
struct Answer<'a> {
    /// Whether the items below were imported, or only would be.
    imported: bool,
    #[serde(flatten)]
    plan: &'a ImportPlan,
}

pub(crate) async fn run(args: ImportArgs, session: &Session, output: &mut Output) -> Result<()> {
    let ImportArgs { file, dry_run, yes, create, why } = args;
    let text = read_text(&file)?;
    let library = &session.library;
    let scope = create.scope;
    let plan = library.plan_import(&text, scope).await.map_err(|error| of_file(error, &file))?;
    let count = changes(&plan);
    if !output.is_json() {
        preview(&plan, output)?;
    }
    let wanted = if count == 0 || dry_run { false } else { yes || agreed(count, &plan, output).await? };
    let imported =
        if wanted { Some(library.import(&session.author, &text, scope, why.message).await?) } else { None };
    if output.is_json() {
        let plan = imported.as_ref().unwrap_or(&plan);
        return output.json(&Answer { imported: imported.is_some(), plan });
    }
    match imported {
        Some(done) => output.line(format!("imported {} into {}", entities(changes(&done)), done.scope)),
        None if count == 0 => output.line("everything is so already; there is nothing to import"),
        None if dry_run => output.line("nothing was imported; leave out --dry-run to import"),
        None if ask::can_ask(output) => output.line("nothing was imported"),
        None => output.line("nothing was imported; add --yes to import"),
    }
}

/// A mistake is told with the name of the file that it is in.
fn of_file(error: app::Error, file: &Path) -> Failure {
    match (Failure::from(error), file.to_str()) {
        (Failure::Told { kind, message }, Some(file)) if file != "-" => {
            let message = match message.strip_prefix("import:") {
                Some(rest) => format!("{file}:{rest}"),
                None => message,
            };
            Failure::told(kind, message)
        }
        (failure, _) => failure,
    }
}

/// How many entities a plan creates or updates.
fn changes(plan: &ImportPlan) -> usize {
    let changes = |item: &&ImportItem| matches!(item.change, ImportChange::Create | ImportChange::Update);
    plan.items.iter().filter(changes).count()
}

async fn agreed(count: usize, plan: &ImportPlan, output: &mut Output) -> Result<bool> {
    if !ask::can_ask(output) {
        return Ok(false);
    }
    ask::confirm(&format!("Import {} into {}?", entities(count), plan.scope), output).await
}

fn entities(count: usize) -> String {
    if count == 1 { "1 entity".to_owned() } else { format!("{count} entities") }
}

fn preview(plan: &ImportPlan, output: &mut Output) -> Result<()> {
    let row = |item: &ImportItem| {
        let change = match item.change {
            ImportChange::Create => "create",
            ImportChange::Update => "update",
            ImportChange::Unchanged => "unchanged",
            ImportChange::Builtin => "builtin",
        };
        let kind = item.kind.spoken().to_owned();
        vec![item.name.to_string(), kind, change.to_owned(), one_line(&item.fields.join(", "))]
    };
    let rows: Vec<Vec<String>> = plan.items.iter().map(row).collect();
    if !rows.is_empty() {
        let table = Table::fitted(&COLUMNS, &rows, output.width());
        table.header(output)?;
        rows.iter().try_for_each(|cells| table.row(output, cells))?;
    }
    plan.warnings.iter().try_for_each(|warning| output.line(format!("warning: {warning}")))
}
