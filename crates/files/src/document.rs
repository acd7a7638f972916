//! Reading a personas.toml: its text becomes checked entities, each with a content hash.
//!
//! One bad entry does not hide its neighbours: it is left out and reported as a [`Problem`] with its
//! place. Only a text that is not TOML is refused as a whole.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use persona::{AnyEntity, AsReport as _, Code, Kind, Name, limits, says_nothing, with_kind};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::hint::{self, SyntaxError};
use super::problem::{self, Finding, Mistake, Problem, ProblemLevel};
use super::settle::Stamp;

mod context;
mod fault;
mod hash;
mod include;
mod locate;
mod short;
mod value;

use context::{Context, near};
use fault::Fault;
use hash::Canonical;
pub use hash::entity_hash;
pub(crate) use hash::hex;
use include::Place;
pub use include::directory_of;
pub(crate) use include::{Overlay, relative_path};
use locate::{End, offset_of_field};
pub use locate::{Locator, TextPlace, locate};
pub use short::spell_out;
use value::Node;
pub(crate) use value::field_of_file_key;
pub(crate) use value::long_fields;

/// Tables of a project's file that configure connections instead of defining entities. They are ignored
/// unless the user trusts the project.
pub const CONNECTIONS: [&str; 2] = ["mcp_servers", "providers"];

/// The number of mistakes that are reported of one entry.
const MISTAKES: usize = 20;

/// A definition that a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct FileEntry {
    pub entity: AnyEntity,
    /// See [`entity_hash`].
    pub hash: String,
}

impl FileEntry {
    pub fn new(entity: AnyEntity) -> Self {
        let hash = entity_hash(&entity);
        Self { entity, hash }
    }
}

/// A parsed personas.toml.
#[derive(Debug, Clone)]
pub struct Document {
    /// The path as given.
    pub path: PathBuf,
    pub entries: BTreeMap<Kind, BTreeMap<Name, Arc<FileEntry>>>,
    /// Entries of the file that cannot be read, each with an entry in `problems`.
    pub broken: Vec<(Kind, Name)>,
    /// The readable fields of such entries, unchecked. They are not in force; lint looks at their
    /// references.
    pub readable: Vec<AnyEntity>,
    /// Tables that it has and that define nothing; see [`CONNECTIONS`].
    pub connections: Vec<&'static str>,
    /// By place.
    pub problems: Vec<Problem>,
    /// The number of further problems.
    pub more_problems: usize,
    /// Every included file, missing ones too.
    pub included: Vec<PathBuf>,
    /// The state of the readable included files when they were read.
    pub seen: BTreeMap<PathBuf, Stamp>,
    /// SHA-256 of the text and of any included texts.
    pub hash: String,
    /// How many fields take their text from a file, by its canonical path.
    uses: BTreeMap<PathBuf, usize>,
    /// Identifies the text that this was read from.
    pub fingerprint: u64,
}

impl Document {
    /// True if this was read from the text.
    pub fn is_of(&self, text: &str) -> bool {
        self.fingerprint == fingerprint(text)
    }

    /// An empty document.
    pub fn empty(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            entries: BTreeMap::new(),
            broken: Vec::new(),
            readable: Vec::new(),
            connections: Vec::new(),
            problems: Vec::new(),
            more_problems: 0,
            included: Vec::new(),
            seen: BTreeMap::new(),
            hash: hex(&Sha256::digest("")),
            uses: BTreeMap::new(),
            fingerprint: fingerprint(""),
        }
    }

    /// Takes on another text of a file that includes no others.
    pub(crate) fn set_text(&mut self, text: &str) {
        self.hash = hex(&Sha256::digest(text));
        self.fingerprint = fingerprint(text);
    }

    pub fn get(&self, kind: Kind, name: &str) -> Option<&Arc<FileEntry>> {
        self.entries.get(&kind)?.get(name)
    }

    /// True if a field may change the text of an included file: no other field includes it.
    pub(crate) fn may_change(&self, included: &Path) -> bool {
        let file = Place::of(&self.path).reach(included);
        file.is_ok_and(|file| self.uses.get(&file).copied().unwrap_or_default() <= 1)
    }

    /// True if the file defines the entry, readable or not.
    pub fn has(&self, kind: Kind, name: &str) -> bool {
        self.get(kind, name).is_some() || self.is_broken(kind, name)
    }

    /// True if the file has the entry, with an error that hides it.
    pub fn is_broken(&self, kind: Kind, name: &str) -> bool {
        self.broken.iter().any(|(broken, key)| *broken == kind && key.as_str() == name)
    }

    /// The problem of an entry that cannot be read.
    pub fn mistake(&self, kind: Kind, name: &str) -> Option<Problem> {
        if !self.is_broken(kind, name) {
            return None;
        }
        let is_of = |problem: &&Problem| {
            problem.level == ProblemLevel::Error
                && problem.entry.as_ref().is_some_and(|(of, entry)| *of == kind && entry == name)
        };
        // Only the first of very many problems are listed.
        let unlisted = || {
            let message = format!("{} {name} has a mistake", kind.spoken());
            Problem::of_file(&self.path, Code::FileHasErrors, message, Some("fix it first".to_owned()))
        };
        Some(self.problems.iter().find(is_of).cloned().unwrap_or_else(unlisted))
    }

    /// Every entry, kind by kind.
    pub fn all(&self) -> impl Iterator<Item = &Arc<FileEntry>> {
        self.entries.values().flat_map(BTreeMap::values)
    }
}

/// Reads the text of a personas.toml. The path is for messages and for included texts.
///
/// Fails if the text is not TOML or too long.
pub fn read(path: &Path, text: &str) -> Result<Document, Problem> {
    read_over(path, text, Overlay::new())
}

/// As [`read`], with texts that take the place of files on disk.
pub(crate) fn read_over(path: &Path, text: &str, overlay: Overlay) -> Result<Document, Problem> {
    if text.len() > limits::FILE_BYTES {
        return Err(too_large(path));
    }
    let table = DeTable::parse(text).map_err(|error| not_toml(path, text, &error))?;
    let context = Context::new(path, overlay);
    let canonical = Canonical::default();
    let mut reader = Reader { context: &context, canonical, broken: Vec::new(), readable: Vec::new() };
    let (mut entries, mut connections) = (BTreeMap::new(), Vec::new());
    for (key, value) in table.get_ref() {
        let name = key.get_ref().as_ref();
        match Kind::of_table(name) {
            Some(kind) => {
                let read = reader.kind(kind, value);
                if !read.is_empty() {
                    entries.insert(kind, read);
                }
            }
            None => match CONNECTIONS.into_iter().find(|known| *known == name) {
                // The user decides if they are used; this reader does not know.
                Some(known) => connections.push(known),
                None => reader.unknown_table(name, key.span().start),
            },
        }
    }
    let Reader { broken, readable, .. } = reader;
    let (findings, more_problems, includes) = context.into_parts();
    let hash = document_hash(text, &includes.read);
    Ok(Document {
        path: path.to_owned(),
        entries,
        broken,
        readable,
        connections,
        problems: problem::place(path, text, findings),
        more_problems,
        included: includes.read.into_keys().collect(),
        seen: includes.seen,
        hash,
        uses: includes.uses,
        fingerprint: fingerprint(text),
    })
}

/// The bytes of a file as text. Fails if they are not UTF-8.
pub fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, Problem> {
    String::from_utf8(bytes).map_err(|error| {
        let good = str::from_utf8(&error.as_bytes()[..error.utf8_error().valid_up_to()]).unwrap_or_default();
        let mistake = Mistake {
            cause: Code::NotUtf8,
            message: "not UTF-8 text".to_owned(),
            hint: Some("save the file as UTF-8".to_owned()),
        };
        let finding = Finding { offset: good.len(), mistake, entry: None, level: ProblemLevel::Error };
        problem::place(path, good, vec![finding]).remove(0)
    })
}

pub(crate) fn too_large(path: &Path) -> Problem {
    let message = format!("the file has more than {} bytes", limits::FILE_BYTES);
    let hint = "split it, or keep the library in the database";
    Problem::of_file(path, Code::FileTooLarge, message, Some(hint.to_owned()))
}

fn not_toml(path: &Path, text: &str, error: &toml::de::Error) -> Problem {
    let offset = error.span().map_or(0, |span| span.start);
    let message = format!("not valid TOML: {}", error.message());
    let mistake = Mistake { cause: Code::NotToml, message, hint: None };
    let finding = Finding { offset, mistake, entry: None, level: ProblemLevel::Error };
    let problem = problem::place(path, text, vec![finding]).remove(0);
    let hint = hint::of_syntax(SyntaxError::of(error), &problem, text);
    Problem { hint, ..problem }
}

fn document_hash(text: &str, included: &BTreeMap<PathBuf, Option<[u8; 32]>>) -> String {
    let digest = Sha256::digest(text);
    if included.is_empty() {
        return hex(&digest);
    }
    let mut whole = Sha256::new_with_prefix(digest);
    for (path, digest) in included {
        whole.update(path.as_os_str().as_encoded_bytes());
        whole.update([0]);
        whole.update(digest.unwrap_or_default());
    }
    hex(&whole.finalize())
}

pub fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

struct Reader<'a> {
    context: &'a Context,
    canonical: Canonical,
    broken: Vec<(Kind, Name)>,
    readable: Vec<AnyEntity>,
}

/// An entry that cannot be used.
struct BrokenEntry {
    faults: Vec<Fault>,
    /// The entity without the values that have a mistake, if that can be read.
    readable: Option<Box<AnyEntity>>,
}

impl Reader<'_> {
    /// All entries of a kind that can be read.
    fn kind(&mut self, kind: Kind, value: &Spanned<DeValue<'_>>) -> BTreeMap<Name, Arc<FileEntry>> {
        let Some(table) = value.get_ref().as_table() else {
            let mistake = Mistake {
                cause: Code::InvalidDocument,
                message: format!("{} must be a table of entries", kind.table()),
                hint: Some(format!("write [{}.NAME] and the fields below it", kind.table())),
            };
            self.context.report(ProblemLevel::Error, None, value.span().start, mistake);
            return BTreeMap::new();
        };
        let entries = table.iter().filter_map(|(key, value)| {
            let name = match Name::parse(key.get_ref()) {
                Ok(name) => name,
                Err(error) => {
                    let mistake = Mistake { cause: error.code(), message: error.to_string(), hint: None };
                    let entry = Some((kind, key.get_ref().as_ref()));
                    self.context.report(ProblemLevel::Error, entry, key.span().start, mistake);
                    return None;
                }
            };
            match self.entry(kind, &name, value) {
                Ok(entry) => {
                    self.context.settle_includes(None);
                    self.check_speaks(&entry.entity, key.span().start);
                    Some((name, Arc::new(entry)))
                }
                Err(BrokenEntry { faults, readable }) => {
                    for fault in faults {
                        let offset = fault.offset().unwrap_or(value.span().start);
                        let entry = Some((kind, name.as_str()));
                        self.context.report(ProblemLevel::Error, entry, offset, fault.into_mistake());
                    }
                    let mut included = Vec::new();
                    names_of_files(value, &mut included);
                    self.context.settle_includes(Some(included));
                    self.broken.push((kind, name));
                    self.readable.extend(readable.map(|entity| *entity));
                    None
                }
            }
        });
        entries.collect()
    }

    /// An entry, or all of its mistakes.
    fn entry(&self, kind: Kind, name: &Name, value: &Spanned<DeValue<'_>>) -> Result<FileEntry, BrokenEntry> {
        let Some(table) = value.get_ref().as_table() else {
            let hint = format!("write [{}.{name}] and its fields below it", kind.table());
            let fault = Fault::new(Code::InvalidDocument, "an entry must be a table", Some(hint));
            return Err(BrokenEntry { faults: vec![fault], readable: None });
        };
        let left = self.context.included_left();
        let mut faults = Vec::new();
        let node = Node::entry(value, kind, name, self.context);
        // A value with a mistake is left out, and the rest is read again.
        let entity = loop {
            let fault = match with_kind!(kind, T => T::deserialize(node).map(AnyEntity::from)) {
                Ok(entity) => break Some(entity),
                Err(fault) => fault,
            };
            let goes_on = self.context.skip(&fault) && fault.offset() != Some(value.span().start);
            if !self.context.is_consequence(&fault) {
                faults.push(fault);
            }
            if !goes_on || faults.len() >= MISTAKES {
                break None;
            }
            self.context.go_back(left);
        };
        self.context.skip_nothing();
        let is_whole = faults.is_empty();
        let most = MISTAKES - faults.len();
        for invalid in entity.iter().flat_map(|entity| entity.mistakes(most)) {
            let message = format!("{}: {}", invalid.field, invalid.rule.description());
            let hint = invalid.rule.advice().map(str::to_owned);
            let fault = Fault::new(Code::InvalidField, message, hint);
            let offset = offset_of_field(table, &invalid.field, End::Value);
            // Without the values that were left out, a rule across fields says little.
            if is_whole || offset.is_some() {
                faults.push(fault.at(offset.unwrap_or(value.span().start)));
            }
        }
        match entity {
            Some(entity) if faults.is_empty() => {
                let hash = self.canonical.hash(&entity);
                Ok(FileEntry { entity, hash })
            }
            readable => Err(BrokenEntry { faults, readable: readable.map(Box::new) }),
        }
    }

    /// Warns of a persona that says nothing. A base may be in another file, so an heir is left to lint.
    fn check_speaks(&self, entity: &AnyEntity, offset: usize) {
        let AnyEntity::Persona(persona) = entity else { return };
        if persona.extends.is_none() && says_nothing([persona]) {
            let mistake = Mistake {
                cause: Code::SaysNothing,
                message: "the persona says nothing".to_owned(),
                hint: Some("give it a system_prompt, a summary or parts".to_owned()),
            };
            let entry = Some((Kind::Persona, persona.name.as_str()));
            self.context.report(ProblemLevel::Warning, entry, offset, mistake);
        }
    }

    fn unknown_table(&self, key: &str, offset: usize) {
        let (message, hint) = if key == "env" {
            let message =
                "the [env] allow list is read from your own config.toml only, never from a personas.toml";
            (message.to_owned(), Some("move it there".to_owned()))
        } else {
            let hint = near(key, Kind::ALL.iter().map(|kind| kind.table()).chain(CONNECTIONS));
            (format!("unknown table {key:?}"), hint)
        };
        let mistake = Mistake { cause: Code::UnknownField, message, hint };
        self.context.report(ProblemLevel::Warning, None, offset, mistake);
    }
}

/// The files that a broken entry names: a change of one of them may fix the entry.
fn names_of_files<'v>(value: &'v Spanned<DeValue<'_>>, names: &mut Vec<&'v str>) {
    match value.get_ref() {
        DeValue::Table(table) => {
            for (key, value) in table {
                match value.get_ref().as_str() {
                    Some(path) if field_of_file_key(key.get_ref()).is_some() => names.push(path),
                    _ => names_of_files(value, names),
                }
            }
        }
        DeValue::Array(array) => array.iter().for_each(|value| names_of_files(value, names)),
        _ => {}
    }
}
