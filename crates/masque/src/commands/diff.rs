//! `masque diff`: compares two revisions.

use app::RevisionRef;
use app::outputs::{DiffSide, FieldChange, PieceDiff, PromptDiff, RevisionDiff};
use persona::{Kind, Name, Scope};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::lookup;
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
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pieces: &'a [PieceDiff],
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled: Option<&'a PromptDiff>,
    unified: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

pub(super) async fn run(args: &DiffArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let target = args.target()?;
    let kind = lookup::recorded_kind("diff", &target, args.recorded.scope, workspace).await?;
    args.check_kind(kind)?;
    let Target { name, rest, .. } = target;
    let mut revisions = rest.iter().map(|word| RevisionRef::parse(word));
    let (from, to) = (revisions.next(), revisions.next());
    let diff = workspace.library.diff(kind, &name, args.recorded.scope, from.as_ref(), to.as_ref()).await?;
    let compiled = match args.compiled {
        true => {
            let library = &workspace.library;
            Some(library.diff_prompts(kind, &name, args.recorded.scope, from.as_ref(), to.as_ref()).await?)
        }
        false => None,
    };
    let RevisionDiff { kind, name, scope, from: old, to: new, fields, pieces, note, .. } = &diff;
    let (note, compiled) = (note.as_deref(), compiled.as_ref());
    // Without a second revision, the pieces are compared with the current ones.
    let until = (from.is_none() || to.is_some()).then_some(new);
    let texts = match compiled {
        Some(PromptDiff { from, to }) => vec![Sides::new(&old.label, &new.label, from, to)],
        None => {
            let itself = Sides::new(&old.label, &new.label, &old.toml, &new.toml);
            std::iter::once(itself)
                .chain(pieces.iter().map(|piece| Sides::of_piece(piece, old, until)))
                .collect()
        }
    };
    let changed: Vec<&Sides<'_>> = texts.iter().filter(|sides| sides.old != sides.new).collect();
    if output.is_json() {
        let unified = changed.iter().map(|sides| sides.unified()).collect();
        let (from, to, scope) = (old.revision, new.revision, *scope);
        return output.json(&DiffOutput {
            kind: *kind,
            name,
            scope,
            from,
            to,
            fields,
            pieces,
            compiled,
            unified,
            note,
        });
    }
    if let Some(note) = note {
        output.advise(&format!("{note}."))?;
    }
    if changed.is_empty() {
        let equal = if compiled.is_some() { "prompt" } else { "definition and the same pieces" };
        return output.advise(&format!("{} and {} have the same {equal}.", old.label, new.label));
    }
    changed.iter().try_for_each(|sides| sides.print(output))
}

/// Two texts to compare, with their labels.
pub(super) struct Sides<'a> {
    old_label: String,
    new_label: String,
    old: &'a str,
    new: &'a str,
}

impl<'a> Sides<'a> {
    pub(super) fn new(old_label: &str, new_label: &str, old: &'a str, new: &'a str) -> Self {
        Self { old_label: old_label.to_owned(), new_label: new_label.to_owned(), old, new }
    }

    /// `new` is the newer side, or `None` for the piece as it is now.
    fn of_piece(piece: &'a PieceDiff, old: &DiffSide, new: Option<&DiffSide>) -> Self {
        let named = format!("{} {}", piece.kind.spoken(), piece.name);
        let label = |side: &DiffSide| format!("{named} in {}", side.label);
        let newer = new.map_or_else(|| format!("{named} now"), label);
        Self::new(&label(old), &newer, &piece.from_toml, &piece.to_toml)
    }

    fn unified(&self) -> String {
        let text = TextDiff::from_lines(self.old, self.new);
        let mut unified = text.unified_diff();
        unified.context_radius(CONTEXT).header(&self.old_label, &self.new_label).to_string()
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<()> {
        if !output.has_color() {
            return output.exact(&self.unified());
        }
        let text = TextDiff::from_lines(self.old, self.new);
        inline(&text, &self.old_label, &self.new_label, output)
    }
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
