//! `masque edit`: an entity as TOML in the user's own editor, checked before it is saved.

use app::outputs::Written;
use app::{ErrorKind, Report, TomlText};
use persona::{Kind, Name, Scope};

use super::lint::Findings;
use super::{lint, written};
use crate::cli::EditArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;
use crate::wording;

mod draft;
use draft::{Draft, Read};

mod editor;
use editor::Editor;

/// Times that a mistake opens the editor again: an editor that is a script may never learn.
const MOST_ATTEMPTS: usize = 20;

/// What is edited, and where it is saved.
struct Subject {
    kind: Kind,
    name: Name,
    /// Where it was read, and the revision that it had there.
    found: Scope,
    revision: i64,
    /// Where it is saved: a builtin is read-only, so a copy of it is.
    scope: Scope,
    message: Option<String>,
}

pub(super) async fn run(args: EditArgs, session: &Session, output: &mut Output) -> Result<Findings> {
    let (kind, name) = args.target()?;
    let editor = Editor::find()?;
    let wanted = args.change.scope;
    let (original, found, revision) = read(kind, &name, wanted, session).await?;
    let scope = match found {
        Scope::Builtin => wanted.unwrap_or(session.library.default_scope()),
        found => found,
    };
    session.library.check_can_save(&session.author, kind, &name, scope).await?;
    let subject = Subject { kind, name, found, revision, scope, message: args.why.message };
    output.flush()?;
    let mut draft = Draft::new(&subject.file_name(), &original)?;
    let mut last = original.clone();
    let mut wrong = String::new();
    for _ in 0..MOST_ATTEMPTS {
        if let Err(failure) = editor.open(draft.path()).await {
            return Err(keep(draft, &original, failure));
        }
        let text = match draft.read() {
            Ok(Read::Text(text)) if text != original => text,
            Ok(Read::Text(_)) => return unchanged(&subject, "you left it as it was", output),
            Ok(Read::Emptied) => return unchanged(&subject, "you left nothing in the file", output),
            Err(failure) => return Err(keep(draft, &original, failure)),
        };
        let failure = match subject.save(&text, session).await {
            Ok(written) => return saved(&subject, &written, session, output).await,
            Err(failure) => failure,
        };
        let message = match &failure {
            // The same mistake once more is somebody who gives up, or a script.
            Failure::Told(report) if is_mistake(report.kind) && text != last => {
                subject.placed(report, &text, session).await
            }
            _ => return Err(keep(draft, &original, failure)),
        };
        if let Err(failure) = draft.write_with_mistake(&text, &message) {
            return Err(keep(draft, &original, failure));
        }
        last = text;
        wrong = message;
    }
    let failure = Failure::invalid(format!(
        "it is still wrong after {MOST_ATTEMPTS} attempts; nothing was saved\n{wrong}"
    ));
    Err(keep(draft, &original, failure))
}

/// The text, where it is from and its revision; for a scope that does not have it yet, a builtin's.
async fn read(
    kind: Kind,
    name: &Name,
    wanted: Option<Scope>,
    session: &Session,
) -> Result<(String, Scope, i64)> {
    let read = async |scope| session.library.entity_toml(kind, name, scope).await;
    Ok(match read(wanted).await {
        Err(app::Error::Elsewhere { found: Scope::Builtin, .. }) => read(Some(Scope::Builtin)).await?,
        found => found?,
    })
}

impl Subject {
    async fn save(&self, text: &str, session: &Session) -> Result<Written> {
        let Self { kind, name, revision, scope, message, .. } = self;
        // A copy of a builtin is new where it goes, which is what revision 0 asks for.
        let expected = if self.found == Scope::Builtin { 0 } else { *revision };
        let (library, author) = (&session.library, &session.author);
        let file_name = self.file_name();
        let text = TomlText::named(&file_name, text);
        let saved = library.save_toml(author, *kind, name, text, *scope, Some(expected), message.clone());
        Ok(saved.await?)
    }

    fn file_name(&self) -> String {
        format!("{}.{}.toml", self.name, self.kind)
    }

    /// A message about a place in the text, with the line that this has once the message stands
    /// above it, and the name of the file that is open.
    async fn placed(&self, report: &Report, text: &str, session: &Session) -> String {
        let message = report.sentence(wording::remedy);
        if report.subject.place.is_none() {
            return message;
        }
        let moved = format!("{}{text}", "\n".repeat(draft::lines_above(&message)));
        // A text that cannot be read is not saved either, however often it is tried.
        match self.save(&moved, session).await {
            Err(failure) => failure.sentence().unwrap_or(message),
            Ok(_) => message,
        }
    }
}

/// Whether the text is wrong, rather than the moment or the place.
fn is_mistake(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::Missing)
}

/// What was written is worth keeping where it could not be saved.
fn keep(draft: Draft, original: &str, failure: Failure) -> Failure {
    match (draft.keep_if_changed(original), failure) {
        (Some(path), Failure::Told(report)) => {
            let message = format!("{}\nyour text is kept in {}", report.message, path.display());
            Report { message, ..*report }.into()
        }
        (_, failure) => failure,
    }
}

fn unchanged(subject: &Subject, why: &str, output: &mut Output) -> Result<Findings> {
    let Subject { kind, name, found, revision, .. } = subject;
    let written = Written::unchanged(*kind, name.clone(), *found, *revision);
    written::tell(&written, "", why, output)?;
    Ok(Findings::Untold)
}

/// Tells what was saved, and what lint thinks of it.
async fn saved(
    subject: &Subject,
    written: &Written,
    session: &Session,
    output: &mut Output,
) -> Result<Findings> {
    let Subject { kind, name, found, .. } = subject;
    let kind = kind.spoken();
    let copy = if *found == Scope::Builtin { ", a copy of the builtin" } else { "" };
    let done = format!("saved {kind} {name}{copy}");
    let idle = format!("{kind} {name} says the same");
    written::tell_with_pieces(written, &done, &idle, output)?;
    lint::tell_of(written, session, output).await
}
