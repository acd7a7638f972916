//! A tool together with what runs it.

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use agent::Tool;
use futures::FutureExt;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::limits;
use crate::text::{presentable, shortened};
use crate::{Answer, Call, Handler};

/// A tool that can be called. Cloning it shares everything.
#[derive(Clone)]
pub struct Registered {
    pub tool: Arc<Tool>,
    handler: Arc<dyn Handler>,
    /// Compiled with the first call: most tools of a session are never called.
    validator: Arc<OnceLock<Result<Validator, String>>>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("tool", &self.tool.name).field("handler", &self.handler).finish()
    }
}

impl Registered {
    pub fn new(tool: impl Into<Arc<Tool>>, handler: Arc<dyn Handler>) -> Self {
        Self { tool: tool.into(), handler, validator: Arc::default() }
    }

    /// Runs the tool: checks the input, turns a panic into an error, cuts what is too long.
    ///
    /// Answers within [`limits::CANCEL_GRACE`] of the call's cancellation.
    pub async fn call(&self, mut call: Call) -> Answer {
        if call.cancelled.is_cancelled() {
            return Answer::error("cancelled before it began");
        }
        let input = Value::Object(std::mem::take(&mut call.input));
        if let Err(message) = self.check(&input) {
            return Answer::error(message);
        }
        if let Value::Object(input) = input {
            call.input = input;
        }
        let cancelled = call.cancelled.clone();
        let overdue = async {
            cancelled.cancelled().await;
            tokio::time::sleep(limits::CANCEL_GRACE).await;
        };
        let mut answer = tokio::select! {
            biased;
            answer = AssertUnwindSafe(async { self.handler.call(call).await }).catch_unwind() => {
                answer.unwrap_or_else(|panic| self.of_panic(panic.as_ref()))
            }
            () = overdue => Answer::error("cancelled; what it had begun may be done in part"),
        };
        answer.text = presentable(answer.text);
        answer
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        let name = &self.tool.name;
        let validator = match self.validator.get_or_init(|| compile(&self.tool.input_schema)) {
            Ok(validator) => validator,
            Err(problem) => {
                return Err(format!(
                    "{name} cannot be called: its own input schema is not valid ({problem}). Use another tool."
                ));
            }
        };
        if validator.is_valid(input) {
            return Ok(());
        }
        let mut violations: Vec<String> =
            validator.iter_errors(input).take(limits::VIOLATIONS + 1).map(|error| describe(&error)).collect();
        if violations.len() > limits::VIOLATIONS {
            violations.truncate(limits::VIOLATIONS);
            violations.push("- and more".to_owned());
        }
        let expected = expected(&self.tool.input_schema);
        Err(format!(
            "The input of {name} does not fit its schema; nothing was done.\n{}\n{expected}",
            violations.join("\n")
        ))
    }

    fn of_panic(&self, panic: &(dyn Any + Send)) -> Answer {
        let name = &self.tool.name;
        let message = panic.downcast_ref::<&str>().copied();
        let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        tracing::error!(tool = %name, message = message.unwrap_or("no message"), "a tool panicked");
        Answer::error(format!(
            "{name} broke down. That is a fault of the tool, not of its input; what it had begun may be done in part."
        ))
    }
}

fn compile(schema: &Value) -> Result<Validator, String> {
    // A server's schema is somebody else's: its patterns are bounded, and its references reach nothing.
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(limits::PATTERN_BACKTRACKS)
        .size_limit(limits::PATTERN_BYTES)
        .dfa_size_limit(limits::PATTERN_BYTES);
    jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| shortened(&error.to_string(), limits::VIOLATION_CHARS))
}

fn describe(error: &jsonschema::ValidationError<'_>) -> String {
    let path = error.instance_path().as_str();
    let place =
        if path.is_empty() { "the input".to_owned() } else { shortened(path, limits::VIOLATION_CHARS) };
    format!("- {place}: {}", shortened(&error.to_string(), limits::VIOLATION_CHARS))
}

/// The names that the schema knows, so that a model need not guess a second time.
fn expected(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty())
    else {
        return "It takes an object.".to_owned();
    };
    let names: Vec<String> = properties
        .iter()
        .map(|(name, of)| {
            let kind = of["type"].as_str().map(|kind| format!(": {kind}")).unwrap_or_default();
            let optional = if required.contains(&name.as_str()) { "" } else { "?" };
            format!("{name}{optional}{kind}")
        })
        .collect();
    shortened(&format!("It takes {{{}}}.", names.join(", ")), 4 * limits::VIOLATION_CHARS)
}
