//! The runtime's own tools: `load_skill`, `delegate` and `plan_exit`.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use agent::{Annotations, PLAN_EXIT, Refusal, Tool, limits};
use futures::future::BoxFuture;
use llm::Schema;
use persona::Name;
use serde_json::{Map, Value, json};
use tools::{Handler, Invocation, Outcome, Registered, RunEffect};

pub(super) const LOAD_SKILL: &str = "load_skill";
pub const DELEGATE: &str = "delegate";

fn own(name: &str, set: &'static str, description: &str, properties: &Value, required: &[&str]) -> Tool {
    Tool {
        name: name.to_owned(),
        set,
        description: description.to_owned(),
        input_schema: Schema::new(json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        })),
        annotations: Annotations::READ_ONLY,
    }
}

/// Loads the content of a persona's skills; none if it has none.
pub(super) fn load_skill(skills: &Arc<BTreeMap<Name, String>>) -> Option<Registered> {
    if skills.is_empty() {
        return None;
    }
    let names: Vec<&str> = skills.keys().map(Name::as_str).collect();
    let description = "Loads the content of one of your skills. Load a skill before you do what it is for.";
    let properties = json!({ "name": { "type": "string", "enum": names, "description": "The skill." } });
    let tool = own(LOAD_SKILL, "skills", description, &properties, &["name"]);
    Some(Registered::trusted(tool, Arc::new(LoadSkill { skills: Arc::clone(skills) })))
}

#[derive(Debug)]
struct LoadSkill {
    skills: Arc<BTreeMap<Name, String>>,
}

impl Handler for LoadSkill {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        let outcome = match text(&invocation.call.input, "name") {
            Ok(name) => match self.skills.iter().find(|(skill, _)| skill.as_str() == name) {
                Some((_, content)) => Outcome::text(content.clone()),
                None => {
                    let known: Vec<&str> = self.skills.keys().map(Name::as_str).collect();
                    let message = format!("Unknown skill {name:?} (expected {}).", known.join(", "));
                    Outcome::refused(Refusal::InvalidArguments, message)
                }
            },
            Err(outcome) => outcome,
        };
        Box::pin(std::future::ready(outcome))
    }
}

/// Hands a plan to the user.
pub(super) fn plan_exit() -> Registered {
    static TOOL: LazyLock<Arc<Tool>> = LazyLock::new(|| {
        let description = "Hands the finished plan to the user, who decides whether it is carried out. Call it once the \
                           plan is complete, and not before.";
        let properties =
            json!({ "plan": { "type": "string", "description": "The whole plan, in markdown." } });
        Arc::new(own(PLAN_EXIT, "plan", description, &properties, &["plan"]))
    });
    Registered::trusted(Arc::clone(&TOOL), Arc::new(PlanExit))
}

#[derive(Debug)]
struct PlanExit;

impl Handler for PlanExit {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        let outcome = match text(&invocation.call.input, "plan") {
            Ok(plan) if plan.len() <= limits::PLAN_BYTES => Outcome {
                effect: Some(RunEffect::HandOver { plan: plan.to_owned() }),
                ..Outcome::text("The plan was handed to the user, who decides what happens with it.")
            },
            Ok(_) => {
                let most = limits::PLAN_BYTES / 1024;
                let message = format!("The plan is too long: at most {most} KiB. Shorten it.");
                Outcome::refused(Refusal::InvalidArguments, message)
            }
            Err(outcome) => outcome,
        };
        Box::pin(std::future::ready(outcome))
    }
}

/// Gives a task to another persona, by a handler that can start sessions.
pub(super) fn delegate(handler: Arc<dyn Handler>) -> Registered {
    static TOOL: LazyLock<Arc<Tool>> = LazyLock::new(|| {
        let description = "Gives a task to another persona, which works on it by itself and reports back. It sees nothing \
                           of this conversation: say everything that it needs to know.";
        let properties = json!({
            "persona": { "type": "string", "description": "The persona's name." },
            "task": { "type": "string", "description": "The task, and what to report." },
        });
        Arc::new(own(DELEGATE, "delegate", description, &properties, &["persona", "task"]))
    });
    Registered::trusted(Arc::clone(&TOOL), handler)
}

/// A required text of a tool's input, or an outcome that explains the error to the model.
pub(super) fn text<'a>(input: &'a Map<String, Value>, field: &str) -> Result<&'a str, Outcome> {
    let problem = match input.get(field) {
        Some(Value::String(text)) if !text.trim().is_empty() => return Ok(text),
        Some(Value::String(_)) => "must not be empty",
        Some(_) => "must be a string",
        None => "is missing",
    };
    Err(Outcome::refused(Refusal::InvalidArguments, format!("{field} {problem}; nothing was done.")))
}
