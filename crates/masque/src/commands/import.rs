//! `masque import`: previews the changes of a bundle, then applies them.

use std::collections::BTreeMap;

use app::outputs::{FieldChange, ImportChange, ImportItem, ImportPlan};
use app::{Library, TomlText};
use indicatif::HumanCount;
use persona::{Kind, Scope};
use serde::Serialize;

use super::fields::{excerpts, shown};
use super::written::list;
use crate::ask;
use crate::cli::ImportArgs;
use crate::definition::read_text;
use crate::failure::{CommandError, Result};
use crate::output::{Column, Output, Style, Table, TransferProgress, clean, width_of};
use crate::workspace::Workspace;

const COLUMNS: [Column; 3] = [Column::Fixed("NAME"), Column::Fixed("KIND"), Column::Fixed("CHANGE")];
const COUNT_COLUMNS: [Column; 3] =
    [Column::Fixed("CHANGE"), Column::Fixed("KIND"), Column::Fixed("ENTITIES")];
/// Lines of a list before a question.
const MOST_LINES: usize = 40;

/// Columns before a changed field, and between its name and values.
const INDENT: usize = 4;
const GAP: usize = 2;
const ARROW: &str = " → ";
/// Columns of a line without a terminal.
const LINE_COLUMNS: usize = 140;
/// Minimum columns of a value.
const LEAST_COLUMNS: usize = 12;

/// The JSON output.
#[derive(Serialize)]
struct ImportOutput<'a> {
    /// False if the items are only a preview.
    imported: bool,
    #[serde(flatten)]
    plan: &'a ImportPlan,
}

pub(crate) async fn run(args: ImportArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let ImportArgs { file, dry_run, yes, create, why } = args;
    let text = read_text(&file)?;
    let source = match file.as_os_str() == "-" {
        true => TomlText::named("standard input", &text),
        false => TomlText::of_file(&file, &text),
    };
    let library = &workspace.library;
    let scope = create.scope;
    let import = async |output: &Output| {
        let mut progress = TransferProgress::new(output);
        let mut follow = |at: app::Progress| progress.at(&at);
        library.follow_import(&workspace.author, source, scope, why.message.clone(), &mut follow).await
    };
    // Without a question in between, the import itself is the preview: it is checked and stored once.
    let mut imported = if yes { Some(import(output).await?) } else { None };
    let plan = match &imported {
        Some(done) => done.clone(),
        None => planned(library, source, scope, output).await?,
    };
    let count = plan.changes();
    if !output.is_json() {
        preview(&plan, dry_run, output)?;
    }
    if imported.is_none() && count > 0 && !dry_run && confirm_import(count, &plan, output).await? {
        imported = Some(import(output).await?);
    }
    let imported = imported.filter(|done| done.changes() > 0);
    if output.is_json() {
        let plan = imported.as_ref().unwrap_or(&plan);
        return output.json(&ImportOutput { imported: imported.is_some(), plan });
    }
    match imported {
        Some(done) => output.line(format!("imported {} into {}", entities(done.changes()), done.scope)),
        None if count == 0 => output.line("nothing to import: everything is already up to date"),
        None if dry_run => output.line("dry run: nothing was imported"),
        None => output.line("nothing was imported"),
    }
}

async fn planned(
    library: &Library,
    source: TomlText<'_>,
    scope: Option<Scope>,
    output: &Output,
) -> Result<ImportPlan> {
    let mut progress = TransferProgress::new(output);
    let mut follow = |at: app::Progress| progress.at(&at);
    Ok(library.follow_plan(source, scope, &mut follow).await?)
}

async fn confirm_import(count: usize, plan: &ImportPlan, output: &mut Output) -> Result<bool> {
    if !ask::can_ask(output) {
        let (what, scope) = (entities(count), plan.scope);
        return Err(CommandError::NeedsConsent { action: format!("importing {what} into {scope}") }.into());
    }
    ask::confirm(&format!("Import {} into {}?", entities(count), plan.scope), output).await
}

fn entities(count: usize) -> String {
    if count == 1 { "1 entity".to_owned() } else { format!("{} entities", HumanCount(count as u64)) }
}

/// Lists the changes. A question after a long list would leave the user without its beginning, so a
/// terminal shows counts instead, unless only the list was wanted.
fn preview(plan: &ImportPlan, lists_all: bool, output: &mut Output) -> Result<()> {
    let lines: usize = plan.items.iter().map(|item| 1 + item.fields.len()).sum();
    if output.is_terminal() && !lists_all && lines > MOST_LINES {
        counts(&plan.items, output)?;
    } else {
        rows(&plan.items, output)?;
    }
    if !plan.copied.is_empty() {
        output.line(format!("copied from the builtins: {}", list(&plan.copied)))?;
    }
    plan.warnings.iter().try_for_each(|warning| output.line(format!("warning: {warning}")))
}

/// One row for each entity, with its changed fields.
fn rows(items: &[ImportItem], output: &mut Output) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let row = |item: &ImportItem| vec![item.name.to_string(), item.kind.spoken().to_owned(), change(item)];
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    let table = Table::fitted(&COLUMNS, &rows, output.width());
    table.header(output)?;
    for (item, cells) in items.iter().zip(&rows) {
        table.row(output, cells)?;
        field_changes(&item.fields, output)?;
    }
    Ok(())
}

/// One row for each change and kind.
fn counts(items: &[ImportItem], output: &mut Output) -> Result<()> {
    let mut counted: BTreeMap<(String, Kind), u64> = BTreeMap::new();
    for item in items {
        *counted.entry((change(item), item.kind)).or_default() += 1;
    }
    let row = |((change, kind), count): (&(String, Kind), &u64)| {
        vec![change.clone(), kind.spoken().to_owned(), HumanCount(*count).to_string()]
    };
    let rows: Vec<Vec<String>> = counted.iter().map(row).collect();
    let table = Table::fitted(&COUNT_COLUMNS, &rows, output.width());
    table.header(output)?;
    rows.iter().try_for_each(|cells| table.row(output, cells))?;
    output.line("--dry-run lists every entity and its changed fields.")
}

fn change(item: &ImportItem) -> String {
    match (item.change, item.in_place_of) {
        (ImportChange::Create, Some(Scope::Builtin)) => "create, overrides the builtin".to_owned(),
        (ImportChange::Create, Some(scope)) => format!("create, overrides {scope}"),
        (ImportChange::Create, None) => "create".to_owned(),
        (ImportChange::Update, _) => "update".to_owned(),
        (ImportChange::Unchanged, _) => "unchanged".to_owned(),
        (ImportChange::Builtin, _) => "builtin".to_owned(),
    }
}

/// Prints the old and new values of changed fields.
fn field_changes(changes: &[FieldChange], output: &mut Output) -> Result<()> {
    let longest = changes.iter().map(|change| width_of(&change.field)).max().unwrap_or(0);
    let taken = INDENT + longest + GAP + width_of(ARROW);
    let width = output.width().unwrap_or(LINE_COLUMNS).saturating_sub(taken) / 2;
    for FieldChange { field, from, to } in changes {
        let values = [from, to].map(|value| value.as_ref().map(shown));
        let excerpts = excerpts(&values, width.max(LEAST_COLUMNS));
        let [old, new] = [(0, "(not set)"), (1, "(cleared)")].map(|(at, absent)| match values[at] {
            Some(_) => clean(&excerpts[at]).into_owned(),
            None => output.styled(Style::Faint, absent),
        });
        let name = output.styled(Style::Name, format!("{field:<longest$}"));
        output.styled_line(&format!("{:INDENT$}{name}{:GAP$}{old}{ARROW}{new}", "", ""))?;
    }
    Ok(())
}
