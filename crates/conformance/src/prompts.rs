//! The fixture prompts.

use rmcp::model::{
    ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt,
    PromptArgument, PromptMessage, ResourceContents, Role,
};
use serde_json::{Value, json};

use crate::content::PNG;
use crate::input_required::{accepted, require};

pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str, description: &str| {
        PromptArgument::new(name).with_required(true).with_description(description)
    };
    let prompt = |name: &str, description: &str, arguments: Vec<PromptArgument>| {
        Prompt::new(name, Some(description), (!arguments.is_empty()).then_some(arguments))
    };
    vec![
        prompt("test_simple_prompt", "Answers with text", vec![]),
        prompt(
            "test_prompt_with_arguments",
            "Answers with its arguments",
            vec![argument("arg1", "First test argument"), argument("arg2", "Second test argument")],
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            "Answers with a resource",
            vec![argument("resourceUri", "The resource to embed")],
        ),
        prompt("test_prompt_with_image", "Answers with an image", vec![]),
        prompt("test_input_required_result_prompt", "Needs a context", vec![]),
    ]
}

pub(crate) fn get(request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
    let said = |text: &str| PromptMessage::new_text(Role::User, text);
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value.and_then(Value::as_str).unwrap_or_default()
    };
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![said(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let text = "Embedded resource content for testing.";
            let contents = ResourceContents::text(text, argument("resourceUri"));
            let embedded = PromptMessage::new(Role::User, ContentBlock::resource(contents));
            vec![embedded, said("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let image = PromptMessage::new(Role::User, ContentBlock::image(PNG, "image/png"));
            vec![image, said("Please analyze the image above.")]
        }
        "test_input_required_result_prompt" => return Some(with_context(request)),
        _ => return None,
    };
    Some(Ok(GetPromptResult::new(messages).into()))
}

fn with_context(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let given = accepted(request.input_responses.as_ref(), "user_context", "context");
    if let Some(context) = given.and_then(Value::as_str) {
        let text = format!("Prompt with context: {context}");
        return Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into());
    }
    let question = json!({
        "method": "elicitation/create",
        "params": {
            "message": "What context should the prompt use?",
            "requestedSchema": {
                "type": "object",
                "properties": { "context": { "type": "string" } },
                "required": ["context"],
            },
        },
    });
    Ok(require([("user_context", question)], None)?.into())
}
