//! Completion for shells: names, kinds, revisions, tags and sessions.
//!
//! The script of `masque completions` runs the binary with [`VARIABLE`] set. An answer reads what is there
//! and creates nothing. Errors end in fewer candidates, never in a message.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

use clap::builder::{Resettable, StyledStr};
use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, ValueCompleter};
use persona::{Kind, Name};

use crate::cli::{self, KindWord, LinkKind, kind_of, named_kind, without_leading_kind};

mod candidates;
mod typed;
use typed::Typed;

/// The variable that asks for completion. Its value is the shell.
pub(crate) const VARIABLE: &str = "MASQUE_COMPLETE";

/// Answers a request of a shell. Returns false if there is none.
pub(crate) fn answer() -> bool {
    if std::env::var_os(VARIABLE).is_none_or(|shell| shell.is_empty()) {
        return false;
    }
    let directory = std::env::current_dir().ok();
    let answer = CompleteEnv::with_factory(command).var(VARIABLE).bin("masque");
    // A shell has no place for an error.
    let _ = answer.try_complete(std::env::args_os(), directory.as_deref());
    true
}

/// The command line, with candidates for values that depend on the library.
fn command() -> Command {
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let plain = cli::command();
    let typed = Typed::read(&plain, &words, std::env::var("_CLAP_COMPLETE_INDEX").ok());
    let plain = if typed.command == "update" { with_fields(plain, &typed) } else { plain };
    with_candidates(plain, "", &typed)
}

/// Shows the fields of the entity that `update` names, which are hidden among those of all kinds.
fn with_fields(root: Command, typed: &Typed) -> Command {
    let [name] = typed.words.as_slice() else { return root };
    let Ok(name) = Name::parse(name) else { return root };
    let kinds = candidates::kinds_named(&name, typed);
    root.mut_subcommand("update", |update| {
        let mut fields: BTreeMap<String, Option<StyledStr>> = BTreeMap::new();
        for kind in kinds {
            let of_kind = update.find_subcommand(KindWord::from(kind).dashed());
            for flag in
                of_kind.into_iter().flat_map(Command::get_arguments).filter(|flag| !flag.is_hide_set())
            {
                fields.extend(flag.get_long().map(|long| (long.to_owned(), flag.get_help().cloned())));
            }
        }
        update.mut_args(|flag| match flag.get_long().and_then(|long| fields.get(long).cloned()) {
            Some(help) => flag.hide(false).help(help.map_or(Resettable::Reset, Resettable::Value)),
            None => flag,
        })
    })
}

fn with_candidates(command: Command, path: &str, typed: &Typed) -> Command {
    let command = if path.is_empty() { command.mut_subcommands(with_hidden_aliases) } else { command };
    let command = command.mut_args(|argument| match Subject::of(path, &argument) {
        Some(subject) => argument.add(ArgValueCompleter::new(Completer { subject, typed: typed.clone() })),
        None => argument,
    });
    command.mut_subcommands(|command| {
        let path = format!("{path} {}", command.get_name());
        with_candidates(command, path.trim_start(), typed)
    })
}

/// Completion offers one word for a command, and that is its name. The short ones still work.
fn with_hidden_aliases(command: Command) -> Command {
    match cli::SHORT_NAMES.into_iter().find(|(name, _)| *name == command.get_name()) {
        // This removes all aliases first.
        Some((_, short)) => command.visible_alias(Resettable::Reset).alias(short),
        None => command,
    }
}

/// The values that an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// `[KIND] NAME`.
    Entity,
    /// `[KIND] NAME`, then revisions or tags.
    EntityAndRevisions,
    /// `[KIND] NAME...`.
    Entities,
    /// `[persona] PERSONA [KIND] NAME`.
    PersonaAndPiece,
    Named(Kind),
    /// Names of these kinds, one after the other; the first may follow its kind. None has no candidates.
    Sequence(&'static [Option<Kind>]),
    /// A builtin persona.
    Template,
    /// A revision or tag of the entity that the words name.
    Revision,
    /// A tag of that entity.
    Tag,
    /// `[persona] PERSONA[@REVISION]`.
    Version,
    /// `[persona] PERSONA [REVISION] [REVISION]`.
    PersonaAndRevisions,
    /// `TYPE=PART`.
    Override,
    Session,
    Track,
}

impl Subject {
    fn of(path: &str, argument: &Arg) -> Option<Self> {
        let id = argument.get_id().as_str();
        Some(match (path, id) {
            (
                "show" | "edit" | "delete" | "history" | "rename" | "duplicate" | "promote" | "update",
                "words",
            )
            | ("conflicts", "name") => Self::Entity,
            ("diff" | "rollback" | "tag", "words") => Self::EntityAndRevisions,
            ("export", "words") => Self::Entities,
            ("link" | "unlink", "words") => Self::PersonaAndPiece,
            (
                "compile" | "manifest" | "chat" | "run" | "arc unassign" | "arc advance" | "arc reset",
                "words",
            ) => Self::Sequence(&[Some(Kind::Persona)]),
            ("arc add-stage" | "arc remove-stage", "words") => Self::Sequence(&[Some(Kind::Arc)]),
            ("arc add-part" | "arc remove-part", "words") => {
                Self::Sequence(&[Some(Kind::Arc), None, Some(Kind::Part)])
            }
            ("arc assign", "words") => Self::Sequence(&[Some(Kind::Persona), Some(Kind::Arc)]),
            ("sessions" | "sessions list", "persona") => Self::Named(Kind::Persona),
            ("test", "words") => Self::Version,
            ("compare", "words") => Self::PersonaAndRevisions,
            ("test" | "compare", "inputs") => Self::Named(Kind::TestInput),
            ("show" | "compile" | "chat" | "run", "overrides") => Self::Override,
            ("new", "template") => Self::Template,
            ("trust", "preset") => Self::Named(Kind::ToolPreset),
            ("show" | "compile", "revision") => Self::Revision,
            ("tag", "delete") => Self::Tag,
            ("chat" | "run" | "plan", "session") => Self::Session,
            (path, "id") if path.starts_with("conduct ") => Self::Track,
            ("conduct", "resume") => Self::Track,
            ("conduct retry", "persona") => Self::Named(Kind::Persona),
            ("context", "words") => Self::Named(Kind::ContextPreset),
            (path, "id") if path.starts_with("sessions ") => Self::Session,
            (path, "name") => Self::Named(kind_of(path.strip_prefix("update ")?).ok()?),
            // The kind may be open.
            ("update", flag) => Self::Named(Kind::ALL.iter().find_map(|kind| named_kind(*kind, flag))?),
            (path, flag) => {
                let kind = path.strip_prefix("create ").or_else(|| path.strip_prefix("update "))?;
                Self::Named(named_kind(kind_of(kind).ok()?, flag)?)
            }
        })
    }
}

#[derive(Debug)]
struct Completer {
    subject: Subject,
    typed: Typed,
}

impl ValueCompleter for Completer {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let Some(current) = current.to_str() else { return Vec::new() };
        let words: Vec<&str> = self.typed.words.iter().map(String::as_str).collect();
        let found = match self.subject {
            Subject::Named(kind) => candidates::names(&[kind], current, &self.typed),
            Subject::Session => candidates::sessions(current, &self.typed),
            Subject::Track => candidates::tracks(current, &self.typed),
            Subject::Sequence(kinds) => self.sequence(kinds, &words, current),
            Subject::Template => app::builtin_names(Kind::Persona).iter().map(ToString::to_string).collect(),
            Subject::Revision => self.recorded(&words, candidates::revisions),
            Subject::Tag => self.recorded(&words, candidates::tags),
            Subject::Entity => self.entity(Kind::ALL, &words, current, |_| Vec::new()),
            Subject::EntityAndRevisions => {
                self.entity(Kind::ALL, &words, current, |words| self.recorded(words, candidates::revisions))
            }
            Subject::Entities => match words.first().and_then(|word| kind_of(word).ok()) {
                Some(kind) => candidates::names(&[kind], current, &self.typed),
                None => self.entity(Kind::ALL, &[], current, |_| Vec::new()),
            },
            Subject::PersonaAndPiece => self.persona_and_piece(&words, current),
            Subject::Version => self.version(&words, current),
            Subject::PersonaAndRevisions => match without_persona(&words) {
                [] => candidates::names(&[Kind::Persona], current, &self.typed),
                [name, ..] => self.recorded(&["persona", name], candidates::revisions),
            },
            Subject::Override => candidates::overrides(current, &self.typed),
        };
        let found: BTreeSet<String> = found.into_iter().filter(|word| word.starts_with(current)).collect();
        found.into_iter().map(CompletionCandidate::new).collect()
    }
}

impl Completer {
    /// Kinds and names, then names of the kind, then what `after` gives.
    fn entity(
        &self,
        among: &[Kind],
        words: &[&str],
        current: &str,
        after: impl Fn(&[&str]) -> Vec<String>,
    ) -> Vec<String> {
        match words {
            [] => {
                let kinds = among.iter().map(|kind| KindWord::from(*kind).dashed().to_owned());
                kinds.chain(candidates::names(among, current, &self.typed)).collect()
            }
            [first] => match kind_of(first) {
                Ok(kind) if among.contains(&kind) => candidates::names(&[kind], current, &self.typed),
                Ok(_) => Vec::new(),
                Err(_) => after(words),
            },
            words => after(words),
        }
    }

    fn persona_and_piece(&self, words: &[&str], current: &str) -> Vec<String> {
        match words {
            [] => candidates::names(&[Kind::Persona], current, &self.typed),
            // A persona follows, unless one has this name.
            [first] if kind_of(first).is_ok_and(|kind| kind == Kind::Persona) => {
                candidates::names(&[Kind::Persona], current, &self.typed)
            }
            words => {
                // The word at the cursor decides what the others mean.
                let line: Vec<&str> = words.iter().copied().chain([current]).collect();
                let before = &line[..line.len() - 1];
                let skipped = line.len() - without_leading_kind(&line).len();
                let piece = before.get(skipped + 1..).unwrap_or_default();
                self.entity(LinkKind::ALL, piece, current, |_| Vec::new())
            }
        }
    }

    fn sequence(&self, kinds: &[Option<Kind>], words: &[&str], current: &str) -> Vec<String> {
        let is_first_kind = |word: &&str| kind_of(word).ok() == kinds.first().copied().flatten();
        let words = match words {
            [first, rest @ ..] if is_first_kind(first) => rest,
            words => words,
        };
        match kinds.get(words.len()).copied().flatten() {
            Some(kind) => candidates::names(&[kind], current, &self.typed),
            None => Vec::new(),
        }
    }

    fn version(&self, words: &[&str], current: &str) -> Vec<String> {
        match (without_persona(words), current.split_once('@')) {
            ([], None) => candidates::names(&[Kind::Persona], current, &self.typed),
            ([], Some((name, _))) => {
                let revisions = self.recorded(&["persona", name], candidates::revisions);
                revisions.into_iter().map(|revision| format!("{name}@{revision}")).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Entries of the history of the entity that the words name.
    fn recorded(&self, words: &[&str], find: fn(Option<Kind>, &Name, &Typed) -> Vec<String>) -> Vec<String> {
        let (kind, name) = match words {
            [] => return Vec::new(),
            [kind, name, ..] if kind_of(kind).is_ok() => (kind_of(kind).ok(), name),
            [name, ..] => (None, name),
        };
        let Ok(name) = Name::parse(name) else { return Vec::new() };
        find(kind, &name, &self.typed)
    }
}

/// The words after a kind `persona`.
fn without_persona<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    match words {
        [first, rest @ ..] if kind_of(first).is_ok_and(|kind| kind == Kind::Persona) => rest,
        words => words,
    }
}
