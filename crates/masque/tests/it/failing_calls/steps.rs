//! Writes to a scope, and the library that they produce.

use std::collections::{BTreeMap, BTreeSet};

use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::home::Home;

const CONTENT: &str = "Written once.";
const CHANGED: &str = "Written twice.";

/// One write to one scope.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) scope: Scope,
    pub(crate) deed: Deed,
}

/// Names carry the first letter of their scope, so that none hides another.
#[derive(Debug, Clone)]
pub(crate) enum Deed {
    Part(String),
    /// Another content for a part.
    Change(String),
    /// A persona with two parts, in one write.
    Persona(String),
    Link {
        persona: String,
        part: String,
    },
    Delete(String),
    /// Takes a part back to its first revision.
    RollBack(String),
    /// Several parts from a file.
    Import(Vec<String>),
}

/// An entity of the library: its text or links, and the number of its revisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) text: String,
    pub(crate) revision: i64,
}

/// The entities whose names begin with a scope's letter.
pub(crate) type State = BTreeMap<(Kind, String), Held>;

/// A name that a step creates or finds in a scope.
pub(crate) fn named(scope: Scope, name: &str) -> String {
    format!("{}-{name}", &scope.as_str()[..1])
}

fn parts_of(persona: &str) -> [String; 2] {
    ["a", "b"].map(|letter| format!("{persona}-{letter}"))
}

impl Step {
    pub(crate) fn new(scope: Scope, deed: Deed) -> Self {
        Self { scope, deed }
    }

    /// The MCP tool and its arguments. The command line alone rolls back and imports.
    pub(crate) fn request(&self) -> Option<(&'static str, Value)> {
        let scope = self.scope.as_str();
        Some(match &self.deed {
            Deed::Part(name) => (
                "create_agent_part",
                json!({ "name": name, "part_type": "tone", "content": CONTENT, "scope": scope }),
            ),
            Deed::Change(name) => {
                ("update_agent_part", json!({ "name": name, "content": CHANGED, "scope": scope }))
            }
            Deed::Persona(name) => {
                let part = |name| json!({ "name": name, "part_type": "goal", "content": CONTENT });
                let parts = parts_of(name).map(part);
                ("create_agent_persona", json!({ "name": name, "parts": parts, "scope": scope }))
            }
            Deed::Link { persona, part } => {
                ("add_persona_part", json!({ "persona": persona, "part": part, "scope": scope }))
            }
            Deed::Delete(name) => ("delete_agent_part", json!({ "name": name, "scope": scope })),
            Deed::RollBack(_) | Deed::Import(_) => return None,
        })
    }

    /// The arguments of the command. The command line does not create a persona with its parts at once.
    pub(crate) fn arguments(&self, home: &Home) -> Option<Vec<String>> {
        let words: Vec<&str> = match &self.deed {
            Deed::Part(name) => vec!["create", "part", name, "--part-type", "tone", "--content", CONTENT],
            Deed::Change(name) => vec!["update", "part", name, "--content", CHANGED],
            Deed::Link { persona, part } => vec!["link", persona, "part", part],
            Deed::Delete(name) => vec!["delete", "part", name],
            Deed::RollBack(name) => vec!["rollback", "part", name, "1"],
            Deed::Import(names) => {
                let entry = |name| format!("[parts.{name}]\npart_type = \"tone\"\ncontent = \"{CONTENT}\"\n");
                home.write("import.toml", &names.iter().map(entry).collect::<String>());
                vec!["import", "import.toml", "--yes"]
            }
            Deed::Persona(_) => return None,
        };
        let scope = ["--scope", self.scope.as_str(), "--project", "project"];
        Some(words.into_iter().chain(scope).map(str::to_owned).collect())
    }

    /// The entities that this write changes.
    fn touches(&self) -> Vec<(Kind, String)> {
        let part = |name: &String| (Kind::Part, name.clone());
        match &self.deed {
            Deed::Part(name) | Deed::Change(name) | Deed::Delete(name) | Deed::RollBack(name) => {
                vec![part(name)]
            }
            Deed::Import(names) => names.iter().map(part).collect(),
            Deed::Persona(name) => {
                parts_of(name).iter().map(part).chain([(Kind::Persona, name.clone())]).collect()
            }
            Deed::Link { persona, .. } => vec![(Kind::Persona, persona.clone())],
        }
    }

    /// The library after this write, or `None` if this write is refused there.
    fn apply(&self, state: &State) -> Option<State> {
        let mut state = state.clone();
        let part = |name: &str| (Kind::Part, name.to_owned());
        let mut create = |key: (Kind, String), text: &str| {
            state.insert(key, Held { text: text.to_owned(), revision: 1 }).is_none().then_some(())
        };
        match &self.deed {
            Deed::Part(name) => create(part(name), CONTENT)?,
            Deed::Import(names) => names.iter().try_for_each(|name| create(part(name), CONTENT))?,
            Deed::Persona(name) => {
                let parts = parts_of(name);
                parts.iter().try_for_each(|name| create(part(name), CONTENT))?;
                create((Kind::Persona, name.clone()), &parts.join(" "))?;
            }
            Deed::Change(name) => state.get_mut(&part(name))?.change(CHANGED),
            Deed::RollBack(name) => state.get_mut(&part(name))?.change(CONTENT),
            Deed::Link { persona, part: name } => {
                state.get(&part(name))?;
                let held = state.get_mut(&(Kind::Persona, persona.clone()))?;
                held.change(format!("{} {name}", held.text).trim_start());
            }
            Deed::Delete(name) => drop(state.remove(&part(name))?),
        }
        Some(state)
    }
}

impl Held {
    fn change(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.revision += 1;
    }
}

/// The answer to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is there.
    Acknowledged,
    /// It is there as a whole, or not.
    Unknown,
}

impl Answer {
    pub(crate) fn of(is_acknowledged: bool) -> Self {
        if is_acknowledged { Self::Acknowledged } else { Self::Unknown }
    }
}

/// Asserts that the answers explain the library that was found.
#[track_caller]
pub(crate) fn check(before: &State, answers: &[(Step, Answer)], found: &State) {
    let mut possible = vec![before.clone()];
    for (at, (step, answer)) in answers.iter().enumerate() {
        let done = possible.iter().filter_map(|state| step.apply(state)).collect();
        let not_done = std::mem::replace(&mut possible, done);
        if *answer == Answer::Unknown {
            possible.extend(not_done);
        }
        // No later step changes these, so they are as they stay. Without this, the number of states doubles
        // with each unknown answer.
        let later: BTreeSet<_> = answers[at + 1..].iter().flat_map(|(step, _)| step.touches()).collect();
        let settled: Vec<_> = step.touches().into_iter().filter(|key| !later.contains(key)).collect();
        possible.retain(|state| settled.iter().all(|key| state.get(key) == found.get(key)));
        assert!(!possible.is_empty(), "step {at} of {answers:#?}\nis not in {found:#?}");
    }
    assert!(possible.contains(found), "after {answers:#?}\nthere is {found:#?}");
}
