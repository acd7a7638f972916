//! `masque import`: what a bundle would change, and then the change.

use app::outputs::{FieldChange, ImportChange, ImportItem, ImportPlan};
use app::{Code, TomlText};
use persona::Scope;
use serde::Serialize;

use super::fields::{excerpts, shown};
use super::written::list;
use crate::ask;
use crate::cli::ImportArgs;
use crate::definition::read_text;
use crate::failure::{Failure, Result};
use crate::output::{Column, Output, Style, Table, clean, width_of};
use crate::session::Session;

const COLUMNS: [Column; 3] = [Column::Fixed("NAME"), Column::Fixed("KIND"), Column::Fixed("CHANGE")];

/// Columns before a field that changes, and between its name and its values.
const INDENT: usize = 4;
const GAP: usize = 2;
const ARROW: &str = " → ";
/// Columns of a line where no terminal says how many there are.
const LINE_COLUMNS: usize = 140;
/// Columns of a value on a narrow terminal.
const LEAST_COLUMNS: usize = 12;

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
    let source = match file.as_os_str() == "-" {
        true => TomlText::named("standard input", &text),
        false => TomlText::of_file(&file, &text),
    };
    let library = &session.library;
    let scope = create.scope;
    let plan = library.plan_import(source, scope).await?;
    let count = changes(&plan);
    if !output.is_json() {
        preview(&plan, output)?;
    }
    let wanted = if count == 0 || dry_run { false } else { yes || agreed(count, &plan, output).await? };
    let imported =
        if wanted { Some(library.import(&session.author, source, scope, why.message).await?) } else { None };
    if output.is_json() {
        let plan = imported.as_ref().unwrap_or(&plan);
        return output.json(&Answer { imported: imported.is_some(), plan });
    }
    match imported {
        Some(done) => output.line(format!("imported {} into {}", entities(changes(&done)), done.scope)),
        None if count == 0 => output.line("everything is so already; there is nothing to import"),
        None if dry_run => output.line("nothing was imported; leave out --dry-run to import"),
        None => output.line("nothing was imported"),
    }
}

/// How many entities a plan creates or updates.
fn changes(plan: &ImportPlan) -> usize {
    let changes = |item: &&ImportItem| matches!(item.change, ImportChange::Create | ImportChange::Update);
    plan.items.iter().filter(changes).count()
}

async fn agreed(count: usize, plan: &ImportPlan, output: &mut Output) -> Result<bool> {
    if !ask::can_ask(output) {
        let (what, scope) = (entities(count), plan.scope);
        return Err(Failure::told(
            Code::NeedsConsent,
            format!(
                "nothing was imported, since nobody can be asked here; repeat with --yes to import {what} into {scope}"
            ),
        ));
    }
    ask::confirm(&format!("Import {} into {}?", entities(count), plan.scope), output).await
}

fn entities(count: usize) -> String {
    if count == 1 { "1 entity".to_owned() } else { format!("{count} entities") }
}

fn preview(plan: &ImportPlan, output: &mut Output) -> Result<()> {
    let row = |item: &ImportItem| {
        let change = match (item.change, item.in_place_of) {
            (ImportChange::Create, Some(Scope::Builtin)) => "create, in place of the builtin".to_owned(),
            (ImportChange::Create, Some(scope)) => format!("create, in place of {scope}'s"),
            (ImportChange::Create, None) => "create".to_owned(),
            (ImportChange::Update, _) => "update".to_owned(),
            (ImportChange::Unchanged, _) => "unchanged".to_owned(),
            (ImportChange::Builtin, _) => "builtin".to_owned(),
        };
        vec![item.name.to_string(), item.kind.spoken().to_owned(), change]
    };
    let rows: Vec<Vec<String>> = plan.items.iter().map(row).collect();
    if !rows.is_empty() {
        let table = Table::fitted(&COLUMNS, &rows, output.width());
        table.header(output)?;
        for (item, cells) in plan.items.iter().zip(&rows) {
            table.row(output, cells)?;
            field_changes(&item.fields, output)?;
        }
    }
    if !plan.copied.is_empty() {
        output.line(format!("copied from the builtins with it: {}", list(&plan.copied)))?;
    }
    plan.warnings.iter().try_for_each(|warning| output.line(format!("warning: {warning}")))
}

/// What each field is and what it becomes, below the entity that it is of.
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
