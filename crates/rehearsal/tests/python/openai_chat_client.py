"""What the official OpenAI library makes of a rehearsal's chat completions."""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="sk-rehearsal", max_retries=0)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Reads a file",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
]
SCHEMA = {
    "type": "object",
    "properties": {"evidence": {"type": "string"}, "verdict": {"type": "string", "enum": ["held", "broken"]}},
    "required": ["evidence", "verdict"],
    "additionalProperties": False,
}
OPEN_SCHEMA = {**SCHEMA, "additionalProperties": True}
VERDICT = '{"evidence": "x", "verdict": "held"}'
GREETING = 'Hello, "hello" — größer\n\tthan 🦀.'


def messages(text):
    return text if isinstance(text, list) else [{"role": "user", "content": text}]


def whole(text, **more):
    return client.chat.completions.create(model="model-1", messages=messages(text), **more)


def streamed(text, **more):
    more.setdefault("stream_options", {"include_usage": True})
    with client.chat.completions.stream(model="model-1", messages=messages(text), **more) as stream:
        for _ in stream:
            pass
        return stream.get_final_completion()


for ask in (whole, streamed):
    plain = ask("hello")
    assert plain.choices[0].message.content == GREETING, plain
    assert plain.choices[0].finish_reason == "stop" and plain.model == "model-1"
    assert plain.id.startswith("chatcmpl-") and plain.created == 1_700_000_000
    assert (plain.usage.prompt_tokens, plain.usage.completion_tokens, plain.usage.total_tokens) == (12, 8, 20)

    both = ask("two files", tools=TOOLS)
    message = both.choices[0].message
    assert message.content == "I read both.And the other.", message
    assert message.reasoning_content == "Both are needed.", message
    assert both.choices[0].finish_reason == "tool_calls"
    call, other = message.tool_calls
    assert call.function.arguments == '{"lines":[1,2],"path":"a.rs"}', call
    assert other.function.arguments == '{"path":"ü/b.rs"}' and call.id != other.id
    assert both.usage.prompt_tokens_details.cached_tokens == 60
    assert both.usage.completion_tokens_details.reasoning_tokens == 4

    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
        for call in message.tool_calls
    ]
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "two files"},
        {"role": "assistant", "content": message.content, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": call["id"], "content": f"result {n}"} for n, call in enumerate(calls)),
    ]
    after = ask(history, tools=TOOLS)
    assert after.choices[0].message.content == "They say: result 0\nresult 1", after

    form = {"type": "json_schema", "json_schema": {"name": "vote", "schema": SCHEMA, "strict": True}}
    assert ask("judge", response_format=form, seed=7).choices[0].message.content == VERDICT
    try:
        ask("judge", response_format={"type": "json_schema", "json_schema": {**form["json_schema"], "schema": OPEN_SCHEMA}})
        raise AssertionError("an open schema passed")
    except openai.BadRequestError as error:
        assert error.param == "response_format.json_schema.schema", error

    try:
        ask("busy")
        raise AssertionError("a 429 passed")
    except openai.RateLimitError as error:
        assert error.response.headers["retry-after"] == "7" and error.code == "rate_limit_exceeded"

for text, reason in (("short", "length"), ("bad", "content_filter"), ("pause", "stop")):
    assert whole(text).choices[0].finish_reason == reason
    chunks = list(client.chat.completions.create(model="model-1", messages=messages(text), stream=True))
    assert chunks[-1].choices[0].finish_reason == reason and chunks[-1].usage is None
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole(text).choices[0].message.content

with_usage = {"stream": True, "stream_options": {"include_usage": True}}
chunks = list(whole("two files", tools=TOOLS, **with_usage))
assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens == 120
for value in [*chunks, whole("two files", tools=TOOLS), whole("bad")]:
    # Building a value never checks it; this does.
    type(value).model_validate(value.model_dump(by_alias=True, exclude_unset=True))

try:
    list(client.chat.completions.create(model="model-1", messages=messages("break"), stream=True))
    raise AssertionError("an error in a stream passed")
except openai.APIError as error:
    assert error.code == "overloaded_error", error
print("understood")
