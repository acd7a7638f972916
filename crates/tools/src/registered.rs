//! A tool with its handler.

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use agent::{Annotations, Concern, Refusal, Tool, ToolCall};
use futures::FutureExt;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::limits;
use crate::text::{presentable, shortened};
use crate::{Handler, Invocation, Outcome};

/// A tool that can be called. Cloning it shares everything.
#[derive(Clone)]
pub struct Registered {
    pub tool: Arc<Tool>,
    handler: Arc<dyn Handler>,
    /// Compiled with the first call: most tools of a session are never called. None for tools that
    /// check their input themselves.
    validator: Option<Arc<OnceLock<Result<Validator, String>>>>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("tool", &self.tool.name).field("handler", &self.handler).finish()
    }
}

impl Registered {
    pub fn new(tool: impl Into<Arc<Tool>>, handler: Arc<dyn Handler>) -> Self {
        Self { tool: tool.into(), handler, validator: Some(Arc::default()) }
    }

    /// A tool of the runtime itself. Its handler checks its input, ends by itself when it is
    /// cancelled, and does not panic: nothing guards it.
    pub fn trusted(tool: impl Into<Arc<Tool>>, handler: Arc<dyn Handler>) -> Self {
        Self { tool: tool.into(), handler, validator: None }
    }

    /// The tool's hints now: a server may have announced others since it was listed.
    pub async fn hints(&self) -> Annotations {
        self.handler.hints().await.unwrap_or(self.tool.annotations)
    }

    /// The reasons to ask the user about this very call. It blocks, if only shortly.
    pub fn concerns(&self, call: &ToolCall) -> Vec<Concern> {
        self.handler.concerns(call)
    }

    /// Runs the tool: checks the input, turns a panic into an error, cuts output that is too long.
    ///
    /// Returns within [`limits::CANCEL_GRACE`] of the call's cancellation.
    pub async fn call(&self, mut invocation: Invocation) -> Outcome {
        let Some(validator) = &self.validator else { return self.handler.call(invocation).await };
        if invocation.cancelled.is_cancelled() {
            return Outcome::refused(Refusal::Cancelled, "cancelled before it began");
        }
        let input = Value::Object(std::mem::take(&mut invocation.call.input));
        if let Err(message) = self.check(validator, &input) {
            return Outcome::refused(Refusal::InvalidArguments, message);
        }
        if let Value::Object(input) = input {
            invocation.call.input = input;
        }
        let cancelled = invocation.cancelled.clone();
        let overdue = async {
            cancelled.cancelled().await;
            tokio::time::sleep(limits::CANCEL_GRACE).await;
        };
        let called = AssertUnwindSafe(async { self.handler.call(invocation).await }).catch_unwind();
        let mut outcome = tokio::select! {
            biased;
            outcome = called => outcome.unwrap_or_else(|panic| self.of_panic(panic.as_ref())),
            () = overdue => Outcome::error("cancelled; the work may be done in part"),
        };
        if outcome.is_error && cancelled.is_cancelled() {
            outcome.refusal.get_or_insert(Refusal::Cancelled);
        }
        outcome.text = presentable(outcome.text);
        outcome
    }

    fn check(&self, validator: &OnceLock<Result<Validator, String>>, input: &Value) -> Result<(), String> {
        let name = &self.tool.name;
        let validator = match validator.get_or_init(|| compile(&self.tool.input_schema)) {
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

    fn of_panic(&self, panic: &(dyn Any + Send)) -> Outcome {
        let name = &self.tool.name;
        let message = panic.downcast_ref::<&str>().copied();
        let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        tracing::error!(tool = %name, message = message.unwrap_or("no message"), "a tool panicked");
        Outcome::error(format!(
            "{name} broke down. That is a fault of the tool, not of its input; the work may be done in part."
        ))
    }
}

fn compile(schema: &Value) -> Result<Validator, String> {
    // A server's schema is not ours: bound its patterns, and resolve no references.
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

/// The names that the schema has, so that the model need not guess again.
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
