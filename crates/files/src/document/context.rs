//! Findings and included texts, collected while one file is read.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::Path;

use persona::{Code, Kind, nearest};

use super::fault::Fault;
use super::include::{Includes, Overlay};
use super::value::long_fields;
use crate::problem::{Finding, Mistake, ProblemLevel};

/// The number of problems listed for one file.
pub(crate) const PROBLEMS: usize = 1000;

#[derive(Debug)]
pub(crate) struct Context {
    findings: RefCell<Vec<Finding>>,
    /// Findings beyond [`PROBLEMS`].
    unlisted: Cell<usize>,
    includes: RefCell<Includes>,
    skipped: RefCell<Skipped>,
    /// The offsets of the warnings so far: an entry with mistakes is read several times.
    warned: RefCell<BTreeSet<usize>>,
}

/// The values of an entry that are left out when it is read again for further mistakes.
#[derive(Debug, Default)]
struct Skipped {
    /// By the offset of the value, or of its key.
    offsets: BTreeSet<usize>,
    /// The offset of a table and its field that was left out.
    fields: BTreeSet<(usize, &'static str)>,
}

impl Context {
    pub(crate) fn new(path: &Path, overlay: Overlay) -> Self {
        let includes = RefCell::new(Includes::new(path, overlay));
        Self {
            findings: RefCell::default(),
            unlisted: Cell::default(),
            includes,
            skipped: RefCell::default(),
            warned: RefCell::default(),
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<Finding>, usize, Includes) {
        (self.findings.into_inner(), self.unlisted.get(), self.includes.into_inner())
    }

    /// Reports a mistake; `entry` is the one that it is in.
    pub(crate) fn report(
        &self,
        level: ProblemLevel,
        entry: Option<(Kind, &str)>,
        offset: usize,
        mistake: Mistake,
    ) {
        let mut findings = self.findings.borrow_mut();
        if findings.len() >= PROBLEMS {
            self.unlisted.set(self.unlisted.get() + 1);
            return;
        }
        let entry = entry.map(|(kind, name)| (kind, name.to_owned()));
        findings.push(Finding { offset, mistake, entry, level });
    }

    /// Warns of a key that is none of the known fields.
    pub(crate) fn unknown_key(
        &self,
        entry: (Kind, &str),
        key: &str,
        offset: usize,
        known: &'static [&'static str],
    ) {
        if !self.warned.borrow_mut().insert(offset) {
            return;
        }
        let file_keys = long_fields().iter().filter(|field| known.contains(field));
        let file_keys: Vec<String> = file_keys.map(|field| format!("{field}_file")).collect();
        let words = known.iter().copied().chain(file_keys.iter().map(String::as_str));
        let (message, hint) = (format!("unknown key {key:?}"), near(key, words));
        let mistake = Mistake { cause: Code::UnknownField, message, hint };
        self.report(ProblemLevel::Warning, Some(entry), offset, mistake);
    }

    /// Leaves out the value with a mistake from now on. False if that was tried before.
    pub(crate) fn skip(&self, fault: &Fault) -> bool {
        fault.offset().is_some_and(|offset| self.skipped.borrow_mut().offsets.insert(offset))
    }

    pub(crate) fn is_skipped(&self, offset: usize) -> bool {
        let skipped = self.skipped.borrow();
        !skipped.offsets.is_empty() && skipped.offsets.contains(&offset)
    }

    /// Notes that the table at an offset is read without a field.
    pub(crate) fn skip_field(&self, table: usize, field: &'static str) {
        self.skipped.borrow_mut().fields.insert((table, field));
    }

    /// True if a field is missing only because it was left out.
    pub(crate) fn is_consequence(&self, fault: &Fault) -> bool {
        let missing = fault.offset().zip(fault.missing());
        missing.is_some_and(|missing| self.skipped.borrow().fields.contains(&missing))
    }

    pub(crate) fn skip_nothing(&self) {
        *self.skipped.borrow_mut() = Skipped::default();
    }

    pub(crate) fn included_left(&self) -> usize {
        self.includes.borrow().left()
    }

    pub(crate) fn go_back(&self, left: usize) {
        self.includes.borrow_mut().go_back(left);
    }

    pub(crate) fn included(&self, path: &str) -> Result<String, Fault> {
        self.includes.borrow_mut().text(path)
    }

    /// Counts what the entry that was just read includes: for one that is broken, all of `names`.
    pub(crate) fn settle_includes(&self, broken: Option<Vec<&str>>) {
        let mut includes = self.includes.borrow_mut();
        if let Some(names) = broken {
            includes.forget();
            names.into_iter().for_each(|name| includes.note(name));
        }
        includes.settle();
    }
}

/// The near name as a hint.
pub(crate) fn near<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<String> {
    nearest(word, known).first().map(|near| format!("did you mean {near:?}?"))
}
