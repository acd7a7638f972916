//! Changing values in place: lists item by item, inline tables key by key.

use super::lists::longest_common;
use super::*;
use crate::edit::bracket::Bracketed;

/// The fate of a list item.
#[derive(Debug)]
enum Step {
    Keep,
    Replace(String),
    Delete,
    Insert(String),
}

impl Changes<'_> {
    /// The text of a value that has a line to itself.
    pub(super) fn line_value(
        &mut self,
        value: &Value,
        key: &str,
        old: Option<&FieldValue>,
        new: &FieldValue,
    ) -> String {
        let finer = self.finer(value, old, new);
        finer.unwrap_or_else(|| render::line_value(key, new, self.newline))
    }

    fn inner_value(&mut self, value: &Value, old: Option<&FieldValue>, new: &FieldValue) -> String {
        if old == Some(new) {
            return self.text[value.span.clone()].to_owned();
        }
        self.finer(value, old, new).unwrap_or_else(|| render::inline(new))
    }

    /// The text of a value that changes in places only.
    fn finer(&mut self, value: &Value, old: Option<&FieldValue>, new: &FieldValue) -> Option<String> {
        match (&value.shape, old?, new) {
            _ if self.coarse => None,
            (Shape::List(items), FieldValue::List(old), FieldValue::List(new)) => {
                self.list(value, items, old, new)
            }
            (Shape::Table(_), FieldValue::Table(old), FieldValue::Table(new)) => {
                self.inline_table(value, Before { fields: Some(old), known: &[] }, new, None)
            }
            _ => None,
        }
    }

    /// An inline table that is a whole entry.
    pub(super) fn whole_inline(
        &mut self,
        value: &Value,
        name: &str,
        before: Before<'_>,
        new: &Fields,
    ) -> String {
        let finer = self.inline_table(value, before, new, Some(name));
        finer.unwrap_or_else(|| render::inline_table(new))
    }

    fn inline_table(
        &mut self,
        value: &Value,
        before: Before<'_>,
        new: &Fields,
        name: Option<&str>,
    ) -> Option<String> {
        let Shape::Table(assigns) = &value.shape else { return None };
        if assigns.is_empty() || assigns.iter().any(|assign| assign.keys.len() > 1) {
            return None;
        }
        let spans: Vec<_> = assigns.iter().map(|assign| assign.start()..assign.end()).collect();
        let mut items = Bracketed::new(self.text, &value.span, &spans, self.newline.as_str());
        let mut written: Vec<&str> = Vec::new();
        let mut at = 0;
        for assign in assigns {
            let key = assign.keys[0].text.as_str();
            if let (Some(name), "name") = (name, key) {
                items.replace(at, render::inline_field("name", &FieldValue::Text(name.to_owned())));
                at += 1;
                continue;
            }
            let (field, is_file) = match field_of_file_key(key) {
                Some(field) if before.owns(field) || new.get(field).is_some() => (field, true),
                _ => (key, false),
            };
            let old = before.value(field);
            match new.get(field) {
                Some(new) if written.contains(&field) || new.implied && old != Some(&new.value) => {
                    items.delete(at);
                }
                Some(new) => {
                    written.push(&new.key);
                    if !(is_file && self.file_takes(&assign.value, old, &new.value)) {
                        let text = self.inner_value(&assign.value, old.filter(|_| !is_file), &new.value);
                        let before_value = &self.text[assign.start()..assign.value.span.start];
                        let body = if is_file {
                            format!("{} = {text}", render::key(field))
                        } else {
                            format!("{before_value}{text}")
                        };
                        items.replace(at, body);
                    }
                    at += 1;
                }
                None if before.owns(field) => items.delete(at),
                None => at += 1,
            }
        }
        for field in new.written().filter(|field| !written.contains(&field.key.as_str())) {
            items.insert(at, render::inline_field(&field.key, &field.value));
            at += 1;
        }
        if items.is_empty() { Some("{}".to_owned()) } else { Some(items.render()) }
    }

    fn list(
        &mut self,
        value: &Value,
        items: &[Value],
        old: &[FieldValue],
        new: &[FieldValue],
    ) -> Option<String> {
        if items.len() != old.len() || items.is_empty() || new.is_empty() {
            return None;
        }
        let steps = self.steps(items, old, new);
        let spans: Vec<_> = items.iter().map(|item| item.span.clone()).collect();
        let mut list = Bracketed::new(self.text, &value.span, &spans, self.newline.as_str());
        let mut at = 0;
        for step in steps {
            match step {
                Step::Keep => at += 1,
                Step::Replace(text) => {
                    list.replace(at, text);
                    at += 1;
                }
                Step::Delete => list.delete(at),
                Step::Insert(text) => {
                    list.insert(at, text);
                    at += 1;
                }
            }
        }
        // A list that loses all of its items before it gets new ones has no manner to keep.
        (!list.is_empty()).then(|| list.render())
    }

    /// The fate of each item: the longest run of items stays, and between them items change, go or come.
    fn steps(&mut self, items: &[Value], old: &[FieldValue], new: &[FieldValue]) -> Vec<Step> {
        let stays = |i: usize, j: usize| match (&old[i], &new[j]) {
            (FieldValue::Table(old), FieldValue::Table(new)) => old.equals_at(new, writes_order(&items[i])),
            (old, new) => old == new,
        };
        let kept = longest_common(old.len(), new.len(), stays);
        let mut steps = Vec::new();
        let (mut i, mut j) = (0, 0);
        for (next_i, next_j) in kept.into_iter().chain([(old.len(), new.len())]) {
            while i < next_i && j < next_j {
                steps.push(Step::Replace(self.inner_item(&items[i], &old[i], &new[j])));
                (i, j) = (i + 1, j + 1);
            }
            steps.extend((i..next_i).map(|_| Step::Delete));
            steps.extend((j..next_j).map(|j| Step::Insert(render::inline(&new[j]))));
            if next_i < old.len() {
                steps.push(Step::Keep);
            }
            (i, j) = (next_i + 1, next_j + 1);
        }
        steps
    }

    /// An item that becomes another one.
    fn inner_item(&mut self, item: &Value, old: &FieldValue, new: &FieldValue) -> String {
        match (old, new) {
            // The same thing with other fields keeps what else is written about it.
            (FieldValue::Table(before), FieldValue::Table(after)) if before.name() == after.name() => {
                self.finer(item, Some(old), new).unwrap_or_else(|| render::inline(new))
            }
            _ => render::inline(new),
        }
    }
}

/// True if a list item writes its order.
fn writes_order(item: &Value) -> bool {
    match &item.shape {
        Shape::Table(assigns) => assigns.iter().any(|assign| assign.keys[0].text == "order"),
        _ => false,
    }
}
