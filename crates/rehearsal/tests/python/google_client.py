"""What the official Google library makes of a rehearsal."""

import sys

from google import genai
from google.genai import errors, types

client = genai.Client(api_key="sk-rehearsal", http_options=types.HttpOptions(base_url=sys.argv[1]))
TOOLS = [
    types.Tool(
        function_declarations=[
            types.FunctionDeclaration(
                name="read_file",
                description="Reads a file",
                parameters={"type": "OBJECT", "properties": {"path": {"type": "STRING"}}},
            )
        ]
    )
]
WITH_TOOLS = types.GenerateContentConfig(
    tools=TOOLS,
    system_instruction="Be brief.",
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)
SCHEMA = {
    "type": "object",
    "properties": {"evidence": {"type": "string"}, "verdict": {"type": "string", "enum": ["held", "broken"]}},
    "required": ["evidence", "verdict"],
    "additionalProperties": False,
}
OPEN_SCHEMA = {**SCHEMA, "additionalProperties": True}
VERDICT = '{"evidence": "x", "verdict": "held"}'
GREETING = 'Hello, "hello" — größer\n\tthan 🦀.'


def whole(contents, config=None):
    response = client.models.generate_content(model="gem-1", contents=contents, config=config)
    parts = response.candidates[0].content.parts
    return parts, response


def streamed(contents, config=None):
    parts, last = [], None
    for chunk in client.models.generate_content_stream(model="gem-1", contents=contents, config=config):
        last = chunk
        for part in chunk.candidates[0].content.parts or []:
            joins = parts and part.text is not None and parts[-1].text is not None
            if joins and parts[-1].thought == part.thought:
                parts[-1] = types.Part(text=parts[-1].text + part.text, thought=part.thought)
            elif part.text != "":
                parts.append(part)
    return parts, last


assert [model.name for model in client.models.list()] == ["models/model-1", "models/model-2"]

for ask in (whole, streamed):
    parts, plain = ask("hello")
    assert parts[0].text == GREETING, parts
    assert plain.candidates[0].finish_reason == types.FinishReason.STOP
    assert plain.model_version == "gem-1" and plain.response_id
    usage = plain.usage_metadata
    assert (usage.prompt_token_count, usage.candidates_token_count, usage.total_token_count) == (12, 8, 20), usage

    parts, both = ask("two files", WITH_TOOLS)
    thought, first, call, second, other = parts
    assert thought.thought and thought.text == "Both are needed."
    assert (first.text, second.text) == ("I read both.", "And the other."), parts
    assert call.function_call.args == {"path": "a.rs", "lines": [1, 2]} and call.thought_signature
    assert other.function_call.args == {"path": "ü/b.rs"} and other.function_call.name == "read_file"
    usage = both.usage_metadata
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (100, 60), usage
    assert (usage.thoughts_token_count, usage.candidates_token_count) == (4, 16), usage

    answers = [
        types.Part.from_function_response(name="read_file", response={"output": f"result {number}"})
        for number in range(2)
    ]
    history = [
        types.Content(role="user", parts=[types.Part(text="two files")]),
        types.Content(role="model", parts=parts),
        types.Content(role="user", parts=answers),
    ]
    parts, after = ask(history, WITH_TOOLS)
    assert parts[0].text == "They say: result 0\nresult 1", parts
    assert after.usage_metadata.cached_content_token_count == 150

    form = {"response_mime_type": "application/json", "response_json_schema": SCHEMA, "seed": 7}
    parts, _ = ask("judge", types.GenerateContentConfig(**form))
    assert parts[0].text == VERDICT, parts

    for text, reason in (("short", "MAX_TOKENS"), ("bad", "SAFETY"), ("pause", "STOP")):
        _, response = ask(text)
        assert response.candidates[0].finish_reason.name == reason

    try:
        ask("busy")
        raise AssertionError("a 429 passed")
    except errors.ClientError as error:
        assert error.code == 429 and error.status == "RESOURCE_EXHAUSTED", error

try:
    streamed("break")
    raise AssertionError("an error in a stream passed")
except errors.APIError as error:
    assert error.code == 503, error
print("understood")
