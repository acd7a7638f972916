//! The writes of a writer's loop, and the library that they produce.

use std::collections::BTreeMap;

use app::Library;
use app::inputs::ByName;
use persona::{Kind, Name, Part, Persona};
use serde_json::{Value, json};

use crate::wire::Client;

/// One write. Each name is written by one writer alone.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    Part(String),
    /// Another content for the part.
    Change(String),
    Delete(String),
    /// A persona with all its pieces, in one transaction.
    Persona(String),
}

/// The writes of a writer when its server is gone.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) writer: String,
    pub(super) acknowledged: Vec<Deed>,
    /// Sent, but never answered: either done or not, never half done.
    pub(super) in_flight: Option<Deed>,
}

/// The content of the library: for each entity, the text that proves it complete.
type State = BTreeMap<(Kind, String), String>;

const CONTENT: &str = "Written once.";
const CHANGED: &str = "Written twice.";

/// The names of the pieces that come with a persona: three parts, a trait and a guardrail.
fn pieces(persona: &str) -> ([String; 3], String, String) {
    let parts = ["a", "b", "c"].map(|letter| format!("{persona}-{letter}"));
    (parts, format!("{persona}-trait"), format!("{persona}-guardrail"))
}

impl Deed {
    /// The writes of a loop: a part, its change, a persona, and sometimes a deletion.
    pub(super) fn next(writer: &str, number: u64) -> Self {
        let name = format!("{writer}-{}", number / 4);
        match number % 4 {
            0 => Self::Part(name),
            1 => Self::Change(name),
            2 => Self::Persona(name),
            _ if number % 8 == 3 => Self::Delete(name),
            _ => Self::Part(format!("{name}-too")),
        }
    }

    pub(super) fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Part(name) => {
                ("create_agent_part", json!({ "name": name, "part_type": "tone", "content": CONTENT }))
            }
            Self::Change(name) => ("update_agent_part", json!({ "name": name, "content": CHANGED })),
            Self::Delete(name) => ("delete_agent_part", json!({ "name": name })),
            Self::Persona(name) => {
                let (parts, trait_, guardrail) = pieces(name);
                let parts =
                    parts.map(|name| json!({ "name": name, "part_type": "goal", "content": CONTENT }));
                let trait_ = json!({ "name": trait_, "trait_type": "social", "instruction": CONTENT });
                let guardrail = json!({ "name": guardrail, "content": CONTENT });
                let all =
                    json!({ "name": name, "parts": parts, "traits": [trait_], "guardrails": [guardrail] });
                ("create_agent_persona", all)
            }
        }
    }

    /// Applies the write to a library.
    fn apply(&self, state: &mut State) {
        let mut put = |kind: Kind, name: &str, text: &str| {
            state.insert((kind, name.to_owned()), text.to_owned());
        };
        match self {
            Self::Part(name) => put(Kind::Part, name, CONTENT),
            Self::Change(name) => put(Kind::Part, name, CHANGED),
            Self::Delete(name) => drop(state.remove(&(Kind::Part, name.clone()))),
            Self::Persona(name) => {
                let (parts, trait_, guardrail) = pieces(name);
                parts.iter().for_each(|part| put(Kind::Part, part, CONTENT));
                put(Kind::Trait, &trait_, "");
                put(Kind::Guardrail, &guardrail, "");
                put(Kind::Persona, name, &format!("{} {trait_} {guardrail}", parts.join(" ")));
            }
        }
    }

    /// Asserts that another, older process sees the write too.
    pub(super) fn seen_by(&self, reader: &mut dyn Client) {
        let (tool, name) = match self {
            Self::Part(name) | Self::Change(name) | Self::Delete(name) => ("get_agent_part", name),
            Self::Persona(name) => ("get_agent_persona", name),
        };
        let seen = reader.call(tool, json!({ "name": name })).unwrap();
        assert_eq!(seen.is_ok(), !matches!(self, Self::Delete(_)), "{self:?}: {seen:?}");
    }
}

/// Asserts that the library has every acknowledged write, and each other one completely or not.
pub(super) async fn check(library: &Library, logs: &[Log]) {
    for log in logs {
        let mut without = State::new();
        log.acknowledged.iter().for_each(|deed| deed.apply(&mut without));
        let mut with = without.clone();
        log.in_flight.iter().for_each(|deed| deed.apply(&mut with));
        let held = read(library, &log.writer).await;
        assert!(
            held == without || held == with,
            "after {log:#?}\nthere is {held:#?}\nbut there should be {without:#?}\nor {with:#?}"
        );
    }
}

/// Every entity of one writer.
async fn read(library: &Library, writer: &str) -> State {
    let mut state = State::new();
    for kind in [Kind::Part, Kind::Trait, Kind::Guardrail, Kind::Persona] {
        for name in library.complete_names(kind, &format!("{writer}-"), 10_000).await.unwrap() {
            let input = ByName { name: name.clone(), scope: None };
            let text = match kind {
                Kind::Part => library.get::<Part>(&input).await.unwrap().entity.content.unwrap(),
                Kind::Persona => links(&library.get::<Persona>(&input).await.unwrap().entity),
                _ => String::new(),
            };
            state.insert((kind, name.to_string()), text);
        }
    }
    state
}

fn links(persona: &Persona) -> String {
    let parts = persona.parts.iter().map(|link| &link.name);
    let names = parts.chain(&persona.traits).chain(&persona.guardrails);
    names.map(Name::as_str).collect::<Vec<_>>().join(" ")
}
