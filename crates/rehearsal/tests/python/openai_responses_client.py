"""What the official OpenAI library makes of a rehearsal's responses."""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="sk-rehearsal", max_retries=0)
TOOLS = [
    {
        "type": "function",
        "name": "read_file",
        "description": "Reads a file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        "strict": False,
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


def whole(text, /, **more):
    return client.responses.create(model="model-1", input=text, **more)


def streamed(text, /, **more):
    events = []
    with client.responses.stream(model="model-1", input=text, **more) as stream:
        for event in stream:
            events.append(event)
        # The library's own accessor knows only of responses that were completed.
        response = events[-1].response
        assert events[-1].type == "response.incomplete" or response == stream.get_final_response()
    assert events[0].type == "response.created", events[0]
    numbers = [event.sequence_number for event in events]
    assert numbers == sorted(numbers) and numbers[0] == 0, numbers
    return response


assert [model.id for model in client.models.list()] == ["model-1", "model-2"]

for ask in (whole, streamed):
    plain = ask("hello")
    assert plain.output_text == GREETING and plain.status == "completed", plain
    assert plain.id.startswith("resp_") and plain.model == "model-1" and plain.created_at == 1_700_000_000
    assert (plain.usage.input_tokens, plain.usage.output_tokens, plain.usage.total_tokens) == (12, 8, 20)

    both = ask("two files", tools=TOOLS, include=["reasoning.encrypted_content"])
    kinds = [item.type for item in both.output]
    assert kinds == ["reasoning", "message", "function_call", "message", "function_call"], kinds
    reasoning, first, call, second, other = both.output
    assert reasoning.summary[0].text == "Both are needed." and reasoning.encrypted_content
    assert first.content[0].text == "I read both." and second.content[0].text == "And the other."
    assert call.arguments == '{"lines":[1,2],"path":"a.rs"}' and other.arguments == '{"path":"ü/b.rs"}'
    assert call.call_id != other.call_id and call.name == "read_file"
    assert both.usage.input_tokens_details.cached_tokens == 60
    assert both.usage.input_tokens_details.cache_write_tokens == 10
    assert both.usage.output_tokens_details.reasoning_tokens == 4

    results = [
        {"type": "function_call_output", "call_id": item.call_id, "output": f"result {number}"}
        for number, item in enumerate([call, other])
    ]
    fields = lambda item: item.model_dump(include=set(type(item).model_fields), exclude_none=True, exclude={"parsed_arguments"})
    history = [{"role": "user", "content": "two files"}, *(fields(item) for item in both.output), *results]
    after = ask(history, tools=TOOLS)
    assert after.output_text == "They say: result 0\nresult 1", after

    short = ask("short")
    assert short.status == "incomplete" and short.incomplete_details.reason == "max_output_tokens", short
    bad = ask("bad")
    assert bad.output[0].content[0].refusal == "I will not.", bad
    assert ask("pause").status == "completed"

    form = {"type": "json_schema", "name": "vote", "schema": SCHEMA, "strict": True}
    assert ask("judge", text={"format": form}).output_text == VERDICT
    try:
        ask("judge", text={"format": {**form, "schema": OPEN_SCHEMA}})
        raise AssertionError("an open schema passed")
    except openai.BadRequestError as error:
        assert error.param == "text.format.schema", error

    try:
        ask("busy")
        raise AssertionError("a 429 passed")
    except openai.RateLimitError as error:
        assert error.response.headers["retry-after"] == "7" and error.code == "rate_limit_exceeded"
        assert error.request_id

raw = list(client.responses.create(model="model-1", input="two files", tools=TOOLS, stream=True))
assert [event.sequence_number for event in raw] == list(range(len(raw)))
assert [event.type for event in raw[:3]] == ["response.created", "response.in_progress", "response.output_item.added"]
assert raw[-1].type == "response.completed" and len(raw[-1].response.output) == 5
assert all(type(event).__name__.startswith("Response") for event in raw), {type(event) for event in raw}
for value in [*raw, whole("two files", tools=TOOLS), whole("short"), whole("bad")]:
    # Building a value never checks it; this does.
    type(value).model_validate(value.model_dump(by_alias=True, exclude_unset=True))
broken = []
try:
    for event in client.responses.create(model="model-1", input="break", stream=True):
        broken.append(event.type)
except openai.APIError as error:
    broken.append("error")
assert "error" in broken and "response.completed" not in broken, broken
print("understood")
