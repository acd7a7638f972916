//! Turns edits into splices of one text, and reads the result of each back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use persona::{AnyEntity, Kind, Name};

use super::bracket::Bracketed;
use super::change::{Before, Changes};
use super::field_value::{Fields, fields_of};
use super::names::field_names;
use super::outline::{Outline, Section};
use super::render::{self, Newline};
use super::splice::{Splice, splice};
use super::syntax::Shape;
use super::tree::{self, Shared, Written, gather};
use super::{Batch, Edit, EditError, Id, Now, Result};
use crate::document::{self, FileEntry, Overlay};

/// The effect of a group of edits on the text.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) splices: Vec<Splice>,
    pub(super) appended: Vec<String>,
    pub(super) files: Vec<(PathBuf, String)>,
    pub(super) changed: Vec<(Id, Now)>,
    /// The texts of the included files of changed entries.
    pub(super) overlay: Overlay,
    /// Set if only reading the whole text can confirm the edits: the entry that needs it.
    pub(super) read_all: Option<Id>,
}

/// Plans edits that are all about different entries.
pub(super) fn plan(batch: &Batch<'_>, text: &str, edits: &[Edit<'_>]) -> Result<Plan> {
    let outline = Outline::new(text).ok_or(EditError::NotToml)?;
    let sections = Sections::of(&outline, edits);
    let shared = BTreeMap::new();
    let mut planner = Planner { batch, outline: &outline, sections, shared, plan: Plan::default() };
    edits.iter().try_for_each(|edit| planner.edit(edit))?;
    Ok(planner.plan)
}

/// The sections of each edited entry.
struct Sections(BTreeMap<(Kind, String), Vec<usize>>);

impl Sections {
    fn of(outline: &Outline<'_>, edits: &[Edit<'_>]) -> Self {
        let ids = edits.iter().map(|edit| match edit {
            Edit::Put { entity } => (entity.kind(), entity.name().to_string()),
            Edit::Remove { kind, name } => (*kind, name.to_string()),
            Edit::Rename { kind, old, .. } => (*kind, old.to_string()),
        });
        let mut sections: BTreeMap<(Kind, String), Vec<usize>> = ids.map(|id| (id, Vec::new())).collect();
        let kinds: BTreeSet<Kind> = sections.keys().map(|(kind, _)| *kind).collect();
        for (index, section) in outline.sections.iter().enumerate().filter(|(_, section)| section.keys >= 2) {
            let kind = outline.key(section, 0).and_then(|table| Kind::of_table(&table));
            if let Some(kind) = kind.filter(|kind| kinds.contains(kind))
                && let Some(name) = outline.key(section, 1)
                && let Some(found) = sections.get_mut(&(kind, name.into_owned()))
            {
                found.push(index);
            }
        }
        Self(sections)
    }

    fn get(&self, kind: Kind, name: &Name) -> &[usize] {
        self.0.get(&(kind, name.to_string())).map_or(&[], Vec::as_slice)
    }
}

/// Turns edits into splices of one text.
struct Planner<'p> {
    batch: &'p Batch<'p>,
    outline: &'p Outline<'p>,
    sections: Sections,
    shared: BTreeMap<Kind, Arc<Shared>>,
    plan: Plan,
}

impl Planner<'_> {
    fn edit(&mut self, edit: &Edit<'_>) -> Result<()> {
        match *edit {
            Edit::Put { entity } => self.put(entity),
            Edit::Remove { kind, name } => self.remove(kind, name),
            Edit::Rename { kind, old, new } => self.rename(kind, old, new),
        }
    }

    fn shared(&mut self, kind: Kind) -> Result<Arc<Shared>> {
        if let Some(shared) = self.shared.get(&kind) {
            return Ok(Arc::clone(shared));
        }
        let shared = Arc::new(Shared::new(self.outline, kind).ok_or(EditError::NotToml)?);
        self.shared.insert(kind, Arc::clone(&shared));
        Ok(shared)
    }

    fn gather(&mut self, kind: Kind, name: &Name) -> Result<tree::Entry> {
        let shared = self.shared(kind)?;
        gather(self.outline, self.sections.get(kind, name), &shared, name.as_str())
            .ok_or_else(|| EditError::ByHand { kind, name: name.clone() })
    }

    fn put(&mut self, entity: &AnyEntity) -> Result<()> {
        let (kind, name) = (entity.kind(), entity.name());
        let by_hand = || EditError::ByHand { kind, name: name.clone() };
        if let Err(invalid) = entity.check() {
            return Err(EditError::Invalid { kind, name: name.clone(), invalid });
        }
        let old = self.batch.entry(kind, name);
        if old.as_ref().is_some_and(|old| old.entity == *entity) {
            return Ok(());
        }
        let new = fields_of(entity).map_err(|_| by_hand())?;
        let entry = Arc::new(FileEntry::new(entity.clone()));
        if self.batch.has(kind, name) {
            let old = old.map(|old| fields_of(&old.entity)).transpose().map_err(|_| by_hand())?;
            let known = if old.is_some() { &[][..] } else { field_names(kind) };
            let before = Before { fields: old.as_ref(), known };
            let written = self.gather(kind, name)?;
            let changed = self.change(&written, before, &new, &entry, false)
                || self.change(&written, before, &new, &entry, true)
                || self.write_again(&written, &new, &entry);
            if !changed {
                return Err(by_hand());
            }
        } else {
            self.add(kind, name, &new, &entry)?;
        }
        self.plan.changed.push(((kind, name.clone()), Now::Is(entry)));
        Ok(())
    }

    /// Plans the change of an existing entry. False if it would not read back as intended.
    fn change(
        &mut self,
        written: &tree::Entry,
        before: Before<'_>,
        new: &Fields,
        entry: &FileEntry,
        coarse: bool,
    ) -> bool {
        let (kind, name) = (entry.entity.kind(), entry.entity.name());
        let mut changes = Changes::new(self.outline, self.batch.current, coarse);
        changes.put(written, &format!("{}.{name}", kind.table()), name.as_str(), before, new);
        let (splices, files, overlay) = changes.into_parts();
        if written.is_apart() {
            let sections: Vec<usize> = written.parts.iter().map(|part| part.section).collect();
            let Some(fragment) = self.fragment(sections, &splices) else { return false };
            if !is_only(&self.batch.current.path, &fragment, overlay.clone(), entry) {
                return false;
            }
        } else {
            let text = self.outline.text;
            let changed = splice(text, 0..text.len(), &splices).and_then(|changed| {
                let read = document::read_over(&self.batch.current.path, &changed, overlay.clone()).ok()?;
                read.get(kind, name.as_str()).cloned()
            });
            if changed.as_deref() != Some(entry) {
                return false;
            }
            self.plan.read_all = Some((kind, name.clone()));
        }
        self.plan.splices.extend(splices);
        self.plan.files.extend(files);
        self.plan.overlay.extend(overlay);
        true
    }

    /// Plans to write an entry again if nothing is left of its old form: a table that exists only through
    /// its content is gone with the last of it. False if more would be lost.
    fn write_again(&mut self, written: &tree::Entry, new: &Fields, entry: &FileEntry) -> bool {
        let (kind, name) = (entry.entity.kind(), entry.entity.name());
        let known = field_names(kind);
        let Written::Table(table) = &written.written else { return false };
        if table.header.is_some() || !table.fields.iter().all(|(key, _)| known.contains(&key.as_str())) {
            return false;
        }
        let newline = Newline::of(self.outline.text);
        let text = render::entry(kind, name, new, newline);
        if !is_only(&self.batch.current.path, &text, Overlay::new(), entry) {
            return false;
        }
        let mut changes = Changes::new(self.outline, self.batch.current, true);
        changes.remove_entry(written);
        if !(written.is_apart() && changes.in_its_place(written, &text)) {
            self.plan.appended.push(text);
            self.plan.read_all = Some((kind, name.clone()));
        }
        self.plan.splices.extend(changes.into_parts().0);
        true
    }

    /// The text of an entry's own sections after its changes.
    fn fragment(&self, mut sections: Vec<usize>, splices: &[Splice]) -> Option<String> {
        sections.sort_unstable();
        let mut text = String::new();
        let mut used = 0;
        for run in sections.chunk_by(|a, b| a + 1 == *b) {
            let range = self.outline.floor(*run.first()?)..self.outline.next_start(*run.last()?);
            let inside =
                |splice: &&Splice| range.start <= splice.range.start && splice.range.end <= range.end;
            let inside: Vec<Splice> = splices.iter().filter(inside).cloned().collect();
            used += inside.len();
            text.push_str(&splice(self.outline.text, range, &inside)?);
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
        (used == splices.len()).then_some(text)
    }

    /// Plans a new entry.
    fn add(&mut self, kind: Kind, name: &Name, new: &Fields, entry: &FileEntry) -> Result<()> {
        let by_hand = || EditError::ByHand { kind, name: name.clone() };
        let newline = Newline::of(self.outline.text);
        let listed = |section: &Section| {
            section.array
                && section.keys == 1
                && self.outline.key(section, 0).is_some_and(|key| key == kind.table())
        };
        if self.outline.sections.iter().any(listed) {
            return Err(by_hand());
        }
        let shared = self.shared(kind)?;
        if let Some(whole) = shared.whole_kind() {
            // `personas = { … }` cannot be added to from outside.
            let value = &whole.assign.value;
            let Shape::Table(assigns) = &value.shape else { return Err(by_hand()) };
            let spans: Vec<_> = assigns.iter().map(|assign| assign.start()..assign.end()).collect();
            let item = format!("{name} = {}", render::inline_table(new));
            let text = if spans.is_empty() {
                format!("{{ {item} }}")
            } else {
                let mut items = Bracketed::new(self.outline.text, &value.span, &spans, newline.as_str());
                items.insert(spans.len(), item);
                items.render()
            };
            self.plan.splices.push(Splice::replace(value.span.clone(), text));
            self.plan.read_all = Some((kind, name.clone()));
            return Ok(());
        }
        let text = render::entry(kind, name, new, newline);
        if !is_only(&self.batch.current.path, &text, Overlay::new(), entry) {
            return Err(by_hand());
        }
        self.plan.appended.push(text);
        Ok(())
    }

    fn remove(&mut self, kind: Kind, name: &Name) -> Result<()> {
        if !self.batch.has(kind, name) {
            return Ok(());
        }
        let written = self.gather(kind, name)?;
        let mut changes = Changes::new(self.outline, self.batch.current, false);
        if !changes.remove_entry(&written) {
            return Err(EditError::ByHand { kind, name: name.clone() });
        }
        if !written.is_apart() {
            self.plan.read_all = Some((kind, name.clone()));
        }
        self.plan.splices.extend(changes.into_parts().0);
        self.plan.changed.push(((kind, name.clone()), Now::Gone));
        Ok(())
    }

    fn rename(&mut self, kind: Kind, old: &Name, new: &Name) -> Result<()> {
        if !self.batch.has(kind, old) {
            return Err(EditError::Missing { kind, name: old.clone() });
        }
        if old == new {
            return Ok(());
        }
        if self.batch.has(kind, new) {
            return Err(EditError::Exists { kind, name: new.clone() });
        }
        let written = self.gather(kind, old)?;
        let mut changes = Changes::new(self.outline, self.batch.current, false);
        changes.rename(&written, new.as_str());
        if !written.is_apart() {
            self.plan.read_all = Some((kind, old.clone()));
        }
        self.plan.splices.extend(changes.into_parts().0);
        let renamed = self.batch.entry(kind, old).map_or(Now::Broken, |entry| {
            let mut entity = entry.entity.clone();
            entity.set_name(new.clone());
            Now::Is(Arc::new(FileEntry { entity, hash: entry.hash.clone() }))
        });
        self.plan.changed.push(((kind, old.clone()), Now::Gone));
        self.plan.changed.push(((kind, new.clone()), renamed));
        Ok(())
    }
}

/// True if a text has exactly this entry.
fn is_only(path: &Path, text: &str, overlay: Overlay, entry: &FileEntry) -> bool {
    let Ok(read) = document::read_over(path, text, overlay) else { return false };
    let mut all = read.all();
    all.next().is_some_and(|found| **found == *entry) && all.next().is_none() && read.broken.is_empty()
}
