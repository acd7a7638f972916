//! The writes of a writer's loop, and what must be true of each once it was acknowledged.

use app::Library;
use app::inputs::GetPersona;
use persona::{Guardrail, Name, Part, Trait};
use serde_json::{Value, json};

use crate::wire::Client;

/// One write. Each name is written by one writer alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    Part(String),
    /// Another content for the part.
    Change(String),
    /// A persona with all its pieces, in one transaction.
    Persona(String),
    Delete(String),
}

/// What a writer knows when its server is gone.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) acknowledged: Vec<Deed>,
    /// Sent, but never answered: it may have happened or not.
    pub(super) in_flight: Option<Deed>,
}

const CONTENT: &str = "Written once.";
const CHANGED: &str = "Written twice.";

/// The pieces that come with a persona.
fn pieces(persona: &str) -> ([String; 3], String, String) {
    let parts = ["a", "b", "c"].map(|letter| format!("{persona}-{letter}"));
    (parts, format!("{persona}-trait"), format!("{persona}-guardrail"))
}

impl Deed {
    /// The writes of a loop: a part, its change, a persona, and the end of every other part.
    pub(super) fn next(writer: &str, number: u64) -> Self {
        let name = format!("w-{writer}-{}", number / 4);
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
                let all = json!({ "name": name, "parts": parts, "traits": [trait_], "guardrails": [guardrail] });
                ("create_agent_persona", all)
            }
        }
    }

    /// Asserts that another process sees what was acknowledged.
    pub(super) fn seen_by(&self, reader: &mut dyn Client) {
        let (tool, name) = match self {
            Self::Part(name) | Self::Change(name) | Self::Delete(name) => ("get_agent_part", name),
            Self::Persona(name) => ("get_agent_persona", name),
        };
        let seen = reader.call(tool, json!({ "name": name })).unwrap();
        assert_eq!(seen.is_ok(), !matches!(self, Self::Delete(_)), "{self:?}: {seen:?}");
    }
}

impl Log {
    fn has(&self, deed: &Deed) -> bool {
        self.acknowledged.contains(deed)
    }

    /// Whether it was acknowledged; `None` where nobody can know.
    fn happened(&self, deed: &Deed) -> Option<bool> {
        if self.in_flight.as_ref() == Some(deed) { None } else { Some(self.has(deed)) }
    }
}

/// Asserts that the library holds what was acknowledged, and nothing by halves.
pub(super) async fn check(library: &Library, logs: &[Log]) {
    for log in logs {
        for deed in log.acknowledged.iter().chain(&log.in_flight) {
            match deed {
                Deed::Part(name) => check_part(library, log, name).await,
                Deed::Persona(name) => check_persona(library, log, name).await,
                // Checked with the part that they are about.
                Deed::Change(_) | Deed::Delete(_) => {}
            }
        }
    }
}

async fn check_part(library: &Library, log: &Log, name: &str) {
    let held = part(library, name).await;
    let of = |deed: fn(String) -> Deed| log.happened(&deed(name.to_owned()));
    let lives = match (of(Deed::Part), of(Deed::Delete)) {
        (None, _) | (_, None) => held.is_some(),
        (Some(created), Some(deleted)) => created && !deleted,
    };
    assert_eq!(held.is_some(), lives, "part {name} of {log:?}");
    let Some(content) = held else { return };
    let wanted: &[&str] = match of(Deed::Change) {
        None => &[CONTENT, CHANGED],
        Some(true) => &[CHANGED],
        Some(false) => &[CONTENT],
    };
    assert!(wanted.contains(&content.as_str()), "part {name} says {content:?} after {log:?}");
}

async fn check_persona(library: &Library, log: &Log, name: &str) {
    let (parts, trait_, guardrail) = pieces(name);
    let loaded = library.get_persona(&plain(name)).await;
    if let Some(happened) = log.happened(&Deed::Persona(name.to_owned())) {
        assert_eq!(loaded.is_ok(), happened, "persona {name} of {log:?}");
    }
    if let Ok(loaded) = &loaded {
        let view = loaded.view();
        let linked: Vec<&str> = view.parts.iter().flatten().map(|part| part.name.as_str()).collect();
        assert_eq!(linked, parts, "the parts of {name}");
        assert_eq!(view.traits.as_ref().map(Vec::len), Some(1), "the traits of {name}");
        assert_eq!(view.guardrails.as_ref().map(Vec::len), Some(1), "the guardrails of {name}");
    }
    // A persona that did not come to be left none of its pieces behind.
    for piece in &parts {
        assert_eq!(part(library, piece).await.is_some(), loaded.is_ok(), "part {piece}");
    }
    let found = library.get::<Trait>(&parsed(&trait_)).await;
    assert_eq!(found.is_ok(), loaded.is_ok(), "trait {trait_}");
    let found = library.get::<Guardrail>(&parsed(&guardrail)).await;
    assert_eq!(found.is_ok(), loaded.is_ok(), "guardrail {guardrail}");
}

/// The content of a part, if the part is there; any other failure is one of the test.
async fn part(library: &Library, name: &str) -> Option<String> {
    match library.get::<Part>(&parsed(name)).await {
        Ok(document) => document.entity.content,
        Err(error) if error.kind() == app::ErrorKind::Missing => None,
        Err(error) => panic!("part {name} cannot be read: {error}"),
    }
}

fn parsed(name: &str) -> Name {
    Name::parse(name).unwrap()
}

fn plain(name: &str) -> GetPersona {
    serde_json::from_value(json!({ "name": name })).unwrap()
}
