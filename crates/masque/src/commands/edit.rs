//! `masque edit`: opens an entity as TOML in the user's editor, and checks it before saving. With `--chat`,
//! the editing agent makes the change; locks bind that agent.

use app::outputs::Written;
use app::{ErrorKind, Report, TomlText};
use persona::{Kind, Name, Scope};

use super::lint::LintReminder;
use super::{lint, lookup, written};
use crate::cli::EditArgs;
use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;
use crate::wording;
use crate::workspace::Workspace;

mod chat;
mod locks;
mod proposal;

mod draft;
use draft::{Draft, DraftContent};

mod editor;
use editor::Editor;

/// Maximum number of attempts, in case the editor is a script.
const MOST_ATTEMPTS: usize = 20;

/// The edited entity and the scope to save it in.
struct EditTarget {
    kind: Kind,
    name: Name,
    /// The scope and revision it was read from.
    found: Scope,
    revision: i64,
    /// The scope to save in. Editing a builtin saves a copy.
    scope: Scope,
    message: Option<String>,
}

pub(super) async fn run(args: EditArgs, workspace: &Workspace, output: &mut Output) -> Result<LintReminder> {
    if args.chat.is_some() || args.undo || args.apply || args.dismiss {
        let name = args.persona()?;
        return chat::run(args, name, workspace, output).await.map(|()| LintReminder::All);
    }
    let target = args.target()?;
    let kind = lookup::kind("edit", &target, args.change.scope, workspace).await?;
    if args.locks || !args.lock.is_empty() || !args.unlock.is_empty() {
        return locks::run(&args, kind, target.name, workspace, output).await.map(|()| LintReminder::All);
    }
    let name = target.name;
    let editor = Editor::find()?;
    let requested = args.change.scope;
    let (original, found, revision) = read(kind, &name, requested, workspace).await?;
    let scope = match found {
        Scope::Builtin => requested.unwrap_or(workspace.library.default_scope()),
        found => found,
    };
    workspace.library.check_can_save(&workspace.author, kind, &name, scope).await?;
    let target = EditTarget { kind, name, found, revision, scope, message: args.why.message };
    output.flush()?;
    let mut draft = Draft::new(&target.file_name(), &original)?;
    let mut last = original.clone();
    let mut wrong = String::new();
    for _ in 0..MOST_ATTEMPTS {
        if let Err(failure) = editor.open(draft.path()).await {
            return Err(keep(draft, &original, failure));
        }
        let text = match draft.read() {
            Ok(DraftContent::Text(text)) if text != original => text,
            Ok(DraftContent::Text(_)) => return unchanged(&target, "the text is unchanged", output),
            Ok(DraftContent::Empty) => return unchanged(&target, "the file is empty", output),
            Err(failure) => return Err(keep(draft, &original, failure)),
        };
        let failure = match target.save(&text, workspace).await {
            Ok(written) => return saved(&target, &written, workspace, output).await,
            Err(failure) => failure,
        };
        let message = match &failure {
            // The same error again: the user gives up, or the editor is a script.
            Failure::Reported(report) if is_invalid_text(report.kind) && text != last => {
                target.placed(report, &text, workspace).await
            }
            _ => return Err(keep(draft, &original, failure)),
        };
        if let Err(failure) = draft.write_with_error(&text, &message) {
            return Err(keep(draft, &original, failure));
        }
        last = text;
        wrong = message;
    }
    let failure = CommandError::StillWrong { attempts: MOST_ATTEMPTS, wrong };
    Err(keep(draft, &original, failure.into()))
}

/// Reads the text, its scope and its revision. Falls back to the builtin.
async fn read(
    kind: Kind,
    name: &Name,
    requested: Option<Scope>,
    workspace: &Workspace,
) -> Result<(String, Scope, i64)> {
    let read = async |scope| workspace.library.entity_toml(kind, name, scope).await;
    Ok(match read(requested).await {
        Err(app::Error::Elsewhere { found: Scope::Builtin, .. }) => read(Some(Scope::Builtin)).await?,
        found => found?,
    })
}

impl EditTarget {
    async fn save(&self, text: &str, workspace: &Workspace) -> Result<Written> {
        let Self { kind, name, revision, scope, message, .. } = self;
        // Revision 0 requires that the copy of a builtin is new.
        let expected = if self.found == Scope::Builtin { 0 } else { *revision };
        let (library, author) = (&workspace.library, &workspace.author);
        let file_name = self.file_name();
        let text = TomlText::named(&file_name, text);
        let saved = library.save_toml(author, *kind, name, text, *scope, Some(expected), message.clone());
        Ok(saved.await?)
    }

    fn file_name(&self) -> String {
        format!("{}.{}.toml", self.name, self.kind)
    }

    /// The message for an error, with line numbers that account for the comment above the text.
    async fn placed(&self, report: &Report, text: &str, workspace: &Workspace) -> String {
        let message = report.sentence(wording::remedy);
        if report.subject.place.is_none() {
            return message;
        }
        let moved = format!("{}{text}", "\n".repeat(draft::lines_above(&message)));
        // Saving an invalid text again fails again, with the new line numbers.
        match self.save(&moved, workspace).await {
            Err(failure) => failure.sentence().unwrap_or(message),
            Ok(_) => message,
        }
    }
}

/// True if the text is invalid, rather than the state of the library.
fn is_invalid_text(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::Missing)
}

/// Keeps the text of a failed edit, and names its file.
fn keep(draft: Draft, original: &str, failure: Failure) -> Failure {
    match (draft.keep_if_changed(original), failure) {
        (Some(path), Failure::Reported(report)) => {
            let message = format!("{}\nyour text is saved in {}", report.message, path.display());
            Report { message, ..*report }.into()
        }
        (_, failure) => failure,
    }
}

fn unchanged(target: &EditTarget, why: &str, output: &mut Output) -> Result<LintReminder> {
    let EditTarget { kind, name, found, revision, .. } = target;
    let written = Written::unchanged(*kind, name.clone(), *found, *revision);
    written::print(&written, "", why, output)?;
    Ok(LintReminder::All)
}

/// Prints the outcome and the lint findings.
async fn saved(
    target: &EditTarget,
    written: &Written,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<LintReminder> {
    let EditTarget { kind, name, found, .. } = target;
    let kind = kind.spoken();
    let copy = if *found == Scope::Builtin { ", a copy of the builtin" } else { "" };
    let done = format!("saved {kind} {name}{copy}");
    let idle = format!("{kind} {name} is unchanged");
    written::print_with_pieces(written, &done, &idle, output)?;
    lint::print_findings(written, workspace, output).await
}
