//! A request as Gemini takes it.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use llm::{Block, Failure, Message, Request, Schema, ToolCall, ToolResult};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::wire::{Element, Target, push_kept};

/// Newer models refuse a call of theirs without its signature. For calls that another model made,
/// Google gives this word to put in its place.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body<'a> {
    contents: Vec<Element<'a, Content<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig<'a>,
}

#[derive(Serialize)]
struct Instruction {
    parts: [InstructionPart; 1],
}

#[derive(Serialize)]
struct InstructionPart {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    /// Takes JSON Schema as it is; `parameters` is a dialect with fewer words.
    parameters_json_schema: &'a Schema,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    /// Signed on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    /// Takes JSON Schema as it is; `responseSchema` is a dialect with fewer words.
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Schema>,
}

impl GenerationConfig<'_> {
    fn is_empty(&self) -> bool {
        let Self { temperature, top_p, max_output_tokens, seed, response_mime_type, response_json_schema } =
            self;
        temperature.is_none()
            && top_p.is_none()
            && max_output_tokens.is_none()
            && seed.is_none()
            && response_mime_type.is_none()
            && response_json_schema.is_none()
    }
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Output<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Output<'a> {
    Output(&'a str),
    Error(&'a str),
}

impl<'a> Body<'a> {
    pub(crate) fn new(request: &'a Request, target: Target<'_>) -> Result<Self, Failure> {
        let system = request.system.text();
        let said = !system.trim().is_empty();
        let declarations: Vec<_> = request
            .tools
            .iter()
            .map(|tool| Declaration {
                name: &tool.name,
                description: &tool.description,
                parameters_json_schema: &tool.input_schema,
            })
            .collect();
        Ok(Self {
            contents: contents(request, target)?,
            system_instruction: said.then_some(Instruction { parts: [InstructionPart { text: system }] }),
            tools: if declarations.is_empty() {
                Vec::new()
            } else {
                vec![Tools { function_declarations: declarations }]
            },
            generation_config: GenerationConfig {
                temperature: request.sampling.temperature,
                top_p: request.sampling.top_p,
                max_output_tokens: request.sampling.max_output_tokens.or(target.max_output_tokens),
                seed: request.sampling.seed.map(|seed| seed & 0x7fff_ffff),
                response_mime_type: request.output.as_ref().map(|_| "application/json"),
                response_json_schema: request.output.as_ref().map(|output| &output.schema),
            },
        })
    }
}

fn contents<'a>(request: &'a Request, target: Target<'_>) -> Result<Vec<Element<'a, Content<'a>>>, Failure> {
    let signed = wants_signatures(&request.model);
    let form = Arc::from(format!("gemini {} {signed}", target.provider));
    // Ids that Gemini gave, by what the calls are called here, so that the results repeat them. A message
    // depends on those before it alone, which stay the same.
    let mut given = HashMap::new();
    let mut contents = Vec::with_capacity(request.messages.len());
    for (at, message) in request.messages.iter().enumerate() {
        if let Message::Assistant(blocks) = &**message {
            note_given(blocks, target, &mut given);
        }
        let write = || Ok(content(message, target, signed, &given).into_iter().collect::<Vec<_>>());
        if at + 1 == request.messages.len() {
            contents.extend(write()?.into_iter().map(Element::New));
        } else {
            push_kept(&mut contents, message, &form, write)?;
        }
    }
    Ok(contents)
}

/// Notes the ids that Gemini gave to the calls of a message.
fn note_given<'a>(blocks: &'a [Block], target: Target<'_>, given: &mut HashMap<&'a str, &'a str>) {
    for block in blocks {
        let Block::ToolCall(block) = block else { continue };
        match given_id(target.own(block.state.as_ref())) {
            Some(id) => given.insert(&block.call.id, id),
            None => given.remove(block.call.id.as_str()),
        };
    }
}

fn given_id(state: Option<&Value>) -> Option<&str> {
    state.and_then(|state| state.get("id")).and_then(Value::as_str)
}

/// A message, unless it has nothing to say.
fn content<'a>(
    message: &'a Message,
    target: Target<'_>,
    signed: bool,
    given: &HashMap<&'a str, &'a str>,
) -> Option<Content<'a>> {
    let (role, parts): (_, Vec<Part<'a>>) = match message {
        Message::User { results, texts } => {
            let results = results.iter().map(|result| response(result, given));
            let texts = texts.iter().filter(|text| !text.is_empty()).map(|text| text_part(text));
            ("user", results.chain(texts).collect())
        }
        Message::Assistant(blocks) => ("model", model_parts(blocks, target, signed)),
    };
    (!parts.is_empty()).then_some(Content { role, parts })
}

/// Gemini 3 and whatever comes after it.
fn wants_signatures(model: &str) -> bool {
    let name = model.strip_prefix("models/").unwrap_or(model);
    name.strip_prefix("gemini-").is_some_and(|version| !version.starts_with(['1', '2']))
}

fn text_part(text: &str) -> Part<'_> {
    Part { text: Some(text), ..Part::default() }
}

fn response<'a>(result: &'a ToolResult, given: &HashMap<&str, &'a str>) -> Part<'a> {
    let function_response = FunctionResponse {
        id: given.get(result.call_id.as_str()).copied(),
        name: &result.tool_name,
        response: if result.is_error {
            Output::Error(&result.output)
        } else {
            Output::Output(&result.output)
        },
    };
    Part { function_response: Some(function_response), ..Part::default() }
}

fn model_parts<'a>(blocks: &'a [Block], target: Target<'_>, signed: bool) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(blocks.len());
    let mut first_call = true;
    for block in blocks {
        match block {
            Block::Text { text, state } => push_text(text, target.own(state.as_ref()), &mut parts),
            Block::ToolCall(block) => {
                let state = target.own(block.state.as_ref());
                let mut part = call_part(&block.call, state);
                // Of calls in parallel only the first one is signed.
                if signed && mem::take(&mut first_call) && part.thought_signature.is_none() {
                    part.thought_signature = Some(NO_SIGNATURE);
                }
                parts.push(part);
            }
        }
    }
    parts
}

/// A text in the parts in which it was signed: the text before the signed part stays separate.
fn push_text<'a>(text: &'a str, state: Option<&'a Value>, parts: &mut Vec<Part<'a>>) {
    let signature = state.and_then(|state| state.get("thoughtSignature")).and_then(Value::as_str);
    let after = state.and_then(|state| state.get("after")).and_then(Value::as_u64).unwrap_or(0);
    let (before, rest) =
        usize::try_from(after).ok().and_then(|after| text.split_at_checked(after)).unwrap_or(("", text));
    if !before.is_empty() {
        parts.push(text_part(before));
    }
    if !rest.is_empty() || signature.is_some() {
        parts.push(Part { thought_signature: signature, ..text_part(rest) });
    }
}

fn call_part<'a>(call: &'a ToolCall, state: Option<&'a Value>) -> Part<'a> {
    Part {
        function_call: Some(FunctionCall { id: given_id(state), name: &call.name, args: &call.input }),
        thought_signature: state.and_then(|state| state.get("thoughtSignature")).and_then(Value::as_str),
        ..Part::default()
    }
}
