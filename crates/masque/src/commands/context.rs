//! `masque context`: the files of the project that a prompt would have.

use std::path::Path;

use app::inputs::ShowContext;
use app::{Code, Runtime};
use context::{Context, LeftOut, Note, Reason, Shown, Why};

use crate::cli::{ContextArgs, ContextOf};
use crate::failure::{Failure, Result};
use crate::output::{Column, Output, Style, Table, one_line};
use crate::runtime;
use crate::workspace::Workspace;

const COLUMNS: [Column; 4] =
    [Column::Fixed("TOKENS"), Column::Fixed("VIEW"), Column::Stretched("FILE"), Column::Kept("WHY")];

pub(super) async fn run(args: ContextArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let runtime = runtime::open(workspace).await?;
    let (of, files) = args.target()?;
    let root = workspace.project.as_ref().map(|project| project.root.as_path());
    let files = files.iter().map(|file| in_project(file, root)).collect();
    let shown = show(of, ShowContext { files, ..args.input() }, &runtime).await?;
    if output.is_json() {
        return output.json(&shown);
    }
    if args.text {
        return output.exact(&shown.text);
    }
    print(&shown, output)
}

/// Shows the files of a preset, else those of a persona of this name.
async fn show(of: ContextOf, input: ShowContext, runtime: &Runtime) -> Result<Context> {
    let of_persona = |name| ShowContext { persona: Some(name), ..input.clone() };
    let of_preset = |name| ShowContext { preset: Some(name), ..input.clone() };
    match of {
        ContextOf::Project => Ok(runtime.show_context(input).await?),
        ContextOf::Preset(name) => Ok(runtime.show_context(of_preset(name)).await?),
        ContextOf::Persona(name) => Ok(runtime.show_context(of_persona(name)).await?),
        ContextOf::Either(name) => {
            let unknown = match runtime.show_context(of_preset(name.clone())).await {
                Err(error) if error.code() == Code::NotFound => Failure::from(error),
                shown => return Ok(shown?),
            };
            match runtime.show_context(of_persona(name)).await {
                Err(error) if error.code() == Code::NotFound => Err(unknown),
                shown => Ok(shown?),
            }
        }
    }
}

/// A file as the project names it, if it is inside. The user names it from the working directory.
fn in_project(file: &str, root: Option<&Path>) -> String {
    let inside = || {
        let file = std::path::absolute(file).ok()?.canonicalize().ok()?;
        let below = file.strip_prefix(root?.canonicalize().ok()?).ok()?;
        Some(below.to_str()?.replace(std::path::MAIN_SEPARATOR, "/"))
    };
    inside().unwrap_or_else(|| file.to_owned())
}

fn print(shown: &Context, output: &mut Output) -> Result<()> {
    let Context { tokens, budget, files, left_out, notes, .. } = shown;
    let rows: Vec<Vec<String>> = files.iter().map(cells).collect();
    if !rows.is_empty() {
        let table = Table::fitted(&COLUMNS, &rows, output.width());
        table.header(output)?;
        rows.iter().try_for_each(|row| table.styled_row(output, row, &[(2, Style::Name)]))?;
        output.blank()?;
    }
    let count = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
    output.line(format!("{count}, {tokens} of {budget} tokens"))?;
    if !left_out.is_empty() {
        output.blank()?;
        output.heading(&format!("Left out: {}", left_out.len()))?;
        for LeftOut { path, reason } in left_out {
            output.paragraph(2, &format!("{}: {}", one_line(path), why_left_out(reason)))?;
        }
    }
    for note in notes {
        output.advise(&said(note))?;
    }
    Ok(())
}

fn cells(Shown { path, view, tokens, why, .. }: &Shown) -> Vec<String> {
    vec![tokens.to_string(), view.as_str().to_owned(), one_line(path), why_shown(why)]
}

fn why_shown(why: &Why) -> String {
    match why {
        Why::Focus => "named".to_owned(),
        Why::Imported { by } => format!("imported by {}", one_line(by)),
        Why::Mentioned => "mentioned in the task".to_owned(),
        Why::Entry { entry } => format!("entry {} of the preset", entry + 1),
        Why::Project => "everything fits".to_owned(),
        Why::Ranked { place } => format!("place {place} of the ranking"),
    }
}

fn why_left_out(reason: &Reason) -> String {
    match reason {
        Reason::Budget => "does not fit the budget".to_owned(),
        Reason::Excluded => "the preset leaves it out".to_owned(),
        Reason::Binary => "is no text".to_owned(),
        Reason::Huge { bytes } => format!("is too large, {bytes} bytes"),
        Reason::TotalBytes => "comes after more bytes than are read at once".to_owned(),
        Reason::Secret => "may hold secrets".to_owned(),
        Reason::Link => "is a link".to_owned(),
        Reason::Outside => "leads out of the project".to_owned(),
        Reason::Special => "is no regular file".to_owned(),
        Reason::PathEncoding => "has a name that is not UTF-8".to_owned(),
        Reason::Missing => "does not exist".to_owned(),
        Reason::Changed => "changed meanwhile".to_owned(),
        Reason::Unreadable { message } => format!("cannot be read: {}", one_line(message)),
    }
}

fn said(note: &Note) -> String {
    match note {
        Note::NoMatch { entry, pattern } => {
            format!("Entry {} of the preset, {pattern:?}, has no file.", entry + 1)
        }
        Note::InvalidGlob { entry, glob, message } => {
            format!("Entry {} of the preset, {glob:?}, is no glob and has no file: {message}.", entry + 1)
        }
        Note::FocusLeftOut { path, reason } => format!("{path} is left out: it {}.", why_left_out(reason)),
        Note::FocusReduced { path, view } => {
            format!("{path} does not fit in full: its view is {}.", view.as_str())
        }
        Note::FocusTruncated { limit } => {
            format!("At most {limit} files come first; the others are ignored.")
        }
        Note::WalkTruncated { limit } => {
            format!("The project has more than {limit} files; the others are ignored.")
        }
        Note::SummariesMissing { files } => {
            let files = if *files == 1 { "1 file has".to_owned() } else { format!("{files} files have") };
            format!("{files} no summary yet; here an outline takes its place, in a run a model writes it.")
        }
    }
}
