//! Changes that a tool wanted to make and that the user has to decide: those that would halve a text.

use builtins::Builtins;
use persona::AnyEntity;
use scopes::ProposedChange;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::halving::{Halved, halved};
use super::journal::{Change, EditingEvent, ProposedEntity};
use super::tool::ToolOutput;

/// The outcome of a tool whose write became a question: the model learns that nothing was changed.
pub(super) fn settle(mut output: ToolOutput, asked: Vec<ProposedChange>, reason: &str) -> ToolOutput {
    if asked.is_empty() {
        return output;
    }
    let is_asked = |change: &Change| {
        asked.iter().any(|it| (it.scope, it.kind, &it.name) == (change.scope, change.kind, &change.name))
    };
    for event in &mut output.events {
        if let EditingEvent::EntitiesChanged { changes } = event {
            changes.retain(|change| !is_asked(change));
        }
    }
    let is_empty = |event: &EditingEvent| matches!(event, EditingEvent::EntitiesChanged { changes } if changes.is_empty());
    output.events.retain(|event| !is_empty(event));
    let cut: Vec<String> = asked.iter().flat_map(cuts).collect();
    output.text = format!(
        "Not changed yet: this would cut {}. The user sees both texts and decides. Go on with the rest, and do \
         not repeat this change.",
        cut.join(" and "),
    );
    let changes: Vec<ProposedEntity> = asked.into_iter().map(ProposedEntity::from).collect();
    let (question, message) = (Uuid::now_v7(), reason.to_owned());
    output.with(EditingEvent::QuestionAsked { question, message, changes })
}

/// The cuts of a change, in words for the model.
fn cuts(change: &ProposedChange) -> Vec<String> {
    let before = change.before.as_ref().map(|stored| stored.entity.clone());
    let before = before.or_else(|| Builtins::get().find(change.kind, &change.name));
    let (Some(before), Some(after)) = (before, &change.after) else { return Vec::new() };
    let of = format!("{} {}", change.kind.spoken(), change.name);
    let worded = |Halved { field, before, after }| {
        format!("{field} of {of} from {before} to {after} characters, less than half")
    };
    halved(&before.to_json(), &after.entity.to_json()).into_iter().map(worded).collect()
}

/// The definition that the changes of a question make of the present one. `None` if one of the fields has
/// another value by now.
pub(super) fn rebased(of: &ProposedEntity, current: &AnyEntity) -> Option<Map<String, Value>> {
    let Value::Object(mut current) = current.to_json() else { return None };
    let after = of.after.as_ref()?;
    let before = before_of(of);
    let none = Map::new();
    let before = before.as_ref().unwrap_or(&none);
    let mut fields: Vec<&String> = before.keys().chain(after.keys()).collect();
    fields.sort_unstable();
    fields.dedup();
    for field in fields {
        let (old, new, now) = (before.get(field), after.get(field), current.get(field));
        if old == new || now == new {
            continue;
        }
        if now != old {
            return None;
        }
        match new.cloned() {
            Some(new) => drop(current.insert(field.clone(), new)),
            None => drop(current.remove(field)),
        }
    }
    Some(current)
}

/// The definition that a change begins with: that of its scope, or a builtin.
pub(super) fn before_of(of: &ProposedEntity) -> Option<Map<String, Value>> {
    match &of.before {
        Some(before) => Some(before.clone()),
        None => match Builtins::get().find(of.kind, &of.name)?.to_json() {
            Value::Object(fields) => Some(fields),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use persona::{Kind, Name, Scope};
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(fields) => fields,
            other => panic!("{other} is not an object"),
        }
    }

    fn check(before: Value, after: Value, now: Value, expected: Option<Value>) {
        let name = Name::parse("calm").expect("a name");
        let of = ProposedEntity {
            kind: Kind::Part,
            name: name.clone(),
            scope: Scope::Shared,
            if_revision: 1,
            before: Some(map(before)),
            after: Some(map(after)),
        };
        let current = crate::entities::parse(Kind::Part, name.as_str(), map(now)).expect("a part");
        let found = rebased(&of, &current).map(Value::Object);
        let with_name = |mut value: Value| {
            value["name"] = "calm".into();
            value
        };
        assert_eq!(found.map(with_name), expected.map(with_name));
    }

    #[test]
    fn a_question_is_about_its_fields_alone() {
        let part = |content: &str, summary: &str| json!({ "part_type": "tone", "content": content, "summary": summary, "tags": [] });
        // Another field changed since.
        check(part("long", "a"), part("l", "a"), part("long", "b"), Some(part("l", "b")));
        // The same field did.
        check(part("long", "a"), part("l", "a"), part("other", "a"), None);
        // It has the wanted value already.
        check(part("long", "a"), part("l", "a"), part("l", "a"), Some(part("l", "a")));
    }
}
