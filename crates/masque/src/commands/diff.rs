//! `masque diff`: compares two revisions.

use app::RevisionRef;
use app::outputs::{FieldChange, RevisionDiff};
use persona::{Kind, Name, Scope};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::lookup::Lookup;
use crate::cli::{DiffArgs, Target};
use crate::failure::Result;
use crate::output::{Output, Style};
use crate::workspace::Workspace;

/// Context lines around a change.
const CONTEXT: usize = 3;

/// The JSON output.
#[derive(Debug, Serialize)]
struct DiffOutput<'a> {
    kind: Kind,
    name: &'a Name,
    scope: Scope,
    from: i64,
    to: i64,
    fields: &'a [FieldChange],
    unified: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

pub(super) async fn run(args: &DiffArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let Target { kind, name, implied, rest } = args.target()?;
    let mut revisions = rest.iter().map(|word| RevisionRef::parse(word));
    let (from, to) = (revisions.next(), revisions.next());
    let diff = workspace.library.diff(kind, &name, args.recorded.scope, from.as_ref(), to.as_ref()).await;
    let diff = Lookup { command: "diff", name: &name, implied, scope: args.recorded.scope }
        .resolve(diff, workspace)
        .await?;
    let RevisionDiff { kind, name, scope, from, to, fields, note } = &diff;
    let note = note.as_deref();
    let text = TextDiff::from_lines(&from.toml, &to.toml);
    let unified = || {
        let mut unified = text.unified_diff();
        unified.context_radius(CONTEXT).header(&from.label, &to.label).to_string()
    };
    if output.is_json() {
        let (from, to, unified) = (from.revision, to.revision, unified());
        return output.json(&DiffOutput {
            kind: *kind,
            name,
            scope: *scope,
            from,
            to,
            fields,
            unified,
            note,
        });
    }
    if let Some(note) = note {
        output.advise(&format!("{note}."))?;
    }
    if from.toml == to.toml {
        return output.advise(&format!("{} and {} have the same definition.", from.label, to.label));
    }
    if output.has_color() { inline(&text, &from.label, &to.label, output) } else { output.exact(&unified()) }
}

/// Prints a unified diff with changed words highlighted.
fn inline(text: &TextDiff<'_, '_, str>, from: &str, to: &str, output: &mut Output) -> Result<()> {
    let head = [
        output.styled(Style::Removed, format!("--- {from}")),
        output.styled(Style::Added, format!("+++ {to}")),
    ];
    head.iter().try_for_each(|line| output.styled_line(line))?;
    for group in text.grouped_ops(CONTEXT) {
        let place = similar::udiff::UnifiedHunkHeader::new(&group).to_string();
        let place = output.styled(Style::Faint, place);
        output.styled_line(&place)?;
        for change in group.iter().flat_map(|op| text.iter_inline_changes(op)) {
            let (sign, line, word) = match change.tag() {
                ChangeTag::Delete => ("-", Some(Style::Removed), Style::RemovedWord),
                ChangeTag::Insert => ("+", Some(Style::Added), Style::AddedWord),
                ChangeTag::Equal => (" ", None, Style::Title),
            };
            let plain = |text: &str, output: &Output| match line {
                Some(style) => output.styled(style, text),
                None => crate::output::clean(text).into_owned(),
            };
            let mut shown = plain(sign, output);
            for (emphasized, piece) in change.iter_strings_lossy() {
                // A styled line break would color the next line.
                let piece = piece.trim_end_matches('\n');
                if piece.is_empty() {
                    continue;
                }
                shown.push_str(&if emphasized { output.styled(word, piece) } else { plain(piece, output) });
            }
            output.styled_line(&shown)?;
        }
    }
    Ok(())
}
