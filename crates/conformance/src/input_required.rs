//! Tools that need the client's input before they can finish, without a session to keep it in.

use std::collections::BTreeMap;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::content::text;

type Outcome = Result<CallToolResponse, ErrorData>;

/// The fixtures' questions, as sent over the wire.
fn elicit(message: &str, property: &str, kind: &str) -> Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": { property: { "type": kind } },
                "required": [property],
            },
        },
    })
}

fn sample(prompt: &str, max_tokens: u32) -> Value {
    json!({
        "method": "sampling/createMessage",
        "params": {
            "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
            "maxTokens": max_tokens,
        },
    })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// Asks the client for input. The client returns the sealed state with its answers.
pub(crate) fn require(
    questions: impl IntoIterator<Item = (&'static str, Value)>,
    state: Option<String>,
) -> Result<InputRequiredResult, ErrorData> {
    let parse = |(key, question): (&str, Value)| {
        let request: Result<InputRequest, _> = serde_json::from_value(question);
        request.map(|request| (key.to_owned(), request))
    };
    let requests: Result<InputRequests, _> = questions.into_iter().map(parse).collect();
    let requests = requests.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(requests), state))
}

/// The value of one field of an accepted form.
pub(crate) fn accepted<'a>(
    responses: Option<&'a InputResponses>,
    key: &str,
    field: &str,
) -> Option<&'a Value> {
    let response = responses?.get(key)?;
    (response["action"] == "accept").then(|| response["content"].get(field)).flatten()
}

pub(crate) fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    states: &RequestStateCodec,
) -> Option<Outcome> {
    let fixture = request.name.strip_prefix("test_input_required_result_")?;
    let given = Given { request, states };
    Some(match fixture {
        "elicitation" => given.elicitation(),
        "sampling" => given.sampling(),
        "list_roots" => given.list_roots(),
        "request_state" | "tampered_state" => given.confirmed(),
        "multiple_inputs" => given.multiple_inputs(),
        "multi_round" => given.multi_round(),
        "capabilities" => by_capabilities(context),
        _ => return None,
    })
}

/// One round of a call, and the key to its sealed state.
struct Given<'a> {
    request: &'a CallToolRequestParams,
    states: &'a RequestStateCodec,
}

impl Given<'_> {
    fn responses(&self) -> Option<&InputResponses> {
        self.request.input_responses.as_ref()
    }

    fn response(&self, key: &str) -> Option<&Value> {
        self.responses()?.get(key).filter(|response| response.is_object())
    }

    /// State is bound to its tool: no other accepts it.
    fn seal(&self, step: &str) -> String {
        let options = SealOptions::new().associated_data(self.request.name.as_bytes());
        self.states.seal_with(step.as_bytes(), &options)
    }

    /// The step that the client returns, if any; fails if it is forged.
    fn step(&self) -> Result<Option<String>, ErrorData> {
        let Some(sealed) = &self.request.request_state else { return Ok(None) };
        let opened = self.states.open_with(sealed, self.request.name.as_bytes());
        let step = opened.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let forged =
            || ErrorData::invalid_params("this requestState is not one of ours; call again without", None);
        step.ok_or_else(forged).map(Some)
    }

    fn elicitation(&self) -> Outcome {
        match accepted(self.responses(), "user_name", "name").and_then(Value::as_str) {
            Some(name) => Ok(text(&format!("Hello, {name}!")).into()),
            None => {
                Ok(require([("user_name", elicit("What is your name?", "name", "string"))], None)?.into())
            }
        }
    }

    fn sampling(&self) -> Outcome {
        match self.response("capital_question") {
            Some(response) => Ok(text(response["content"]["text"].as_str().unwrap_or_default()).into()),
            None => {
                Ok(require([("capital_question", sample("What is the capital of France?", 100))], None)?
                    .into())
            }
        }
    }

    fn list_roots(&self) -> Outcome {
        match self.response("client_roots") {
            Some(response) => Ok(text(&format!("Roots: {}", response["roots"])).into()),
            None => Ok(require([("client_roots", roots())], None)?.into()),
        }
    }

    fn confirmed(&self) -> Outcome {
        let step = self.step()?;
        match (step, accepted(self.responses(), "confirm", "ok")) {
            (Some(_), Some(_)) => Ok(text("state-ok").into()),
            _ => {
                let question = elicit("Please confirm", "ok", "boolean");
                Ok(require([("confirm", question)], Some(self.seal("confirm")))?.into())
            }
        }
    }

    fn multiple_inputs(&self) -> Outcome {
        let step = self.step()?;
        let answers = ["user_name", "greeting", "client_roots"].map(|key| self.response(key));
        if step.is_some() && answers.iter().all(Option::is_some) {
            return Ok(text("All inputs received").into());
        }
        let questions = [
            ("user_name", elicit("What is your name?", "name", "string")),
            ("greeting", sample("Generate a greeting", 50)),
            ("client_roots", roots()),
        ];
        Ok(require(questions, Some(self.seal("all")))?.into())
    }

    fn multi_round(&self) -> Outcome {
        let step = self.step()?;
        let first = accepted(self.responses(), "step1", "name");
        let second = accepted(self.responses(), "step2", "color");
        match (step.as_deref(), first, second) {
            (Some("step2"), _, Some(color)) => Ok(text(&format!("Your favourite color is {color}")).into()),
            (Some("step1"), Some(_), _) => {
                let question = elicit("Step 2: What is your favorite color?", "color", "string");
                Ok(require([("step2", question)], Some(self.seal("step2")))?.into())
            }
            _ => {
                let question = elicit("Step 1: What is your name?", "name", "string");
                Ok(require([("step1", question)], Some(self.seal("step1")))?.into())
            }
        }
    }
}

/// Asks only for input that the client supports.
fn by_capabilities(context: &RequestContext<RoleServer>) -> Outcome {
    let client = context.client_capabilities().unwrap_or_default();
    let mut questions = BTreeMap::new();
    if client.sampling.is_some() {
        questions.insert("sample_input", sample("Sample request", 50));
    }
    if client.elicitation.is_some() {
        questions.insert("elicit_input", elicit("Elicitation input", "value", "string"));
    }
    if questions.is_empty() {
        return Ok(text("There is nothing to ask this client").into());
    }
    Ok(require(questions, None)?.into())
}
