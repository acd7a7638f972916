"""What the official Anthropic library makes of a rehearsal."""

import sys

import anthropic

client = anthropic.Anthropic(base_url=sys.argv[1], api_key="sk-rehearsal", max_retries=0)
TOOLS = [
    {
        "name": "read_file",
        "description": "Reads a file",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
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


def request(text, **more):
    messages = more.pop("messages", [{"role": "user", "content": text}])
    return {"model": "model-1", "max_tokens": 100, "messages": messages, **more}


def whole(text, **more):
    return client.messages.create(**request(text, **more))


def streamed(text, **more):
    events = []
    with client.messages.stream(**request(text, **more)) as stream:
        for event in stream:
            events.append(event.type)
        message = stream.get_final_message()
    assert events[0] == "message_start" and events[-1] == "message_stop", events
    return message


assert [model.id for model in client.models.list()] == ["model-1", "model-2"]

for ask in (whole, streamed):
    plain = ask("hello")
    assert plain.content[0].text == GREETING, plain
    assert plain.stop_reason == "end_turn" and plain.role == "assistant" and plain.model == "model-1"
    assert (plain.usage.input_tokens, plain.usage.output_tokens) == (12, 8), plain.usage
    assert ask is streamed or plain._request_id

    both = ask("two files", tools=TOOLS)
    kinds = [block.type for block in both.content]
    assert kinds == ["thinking", "text", "tool_use", "text", "tool_use"], kinds
    thinking, first, call, second, other = both.content
    assert thinking.thinking == "Both are needed." and thinking.signature
    assert (first.text, second.text) == ("I read both.", "And the other.")
    assert call.input == {"path": "a.rs", "lines": [1, 2]} and other.input == {"path": "ü/b.rs"}
    assert call.name == other.name == "read_file" and call.id != other.id
    assert both.stop_reason == "tool_use"
    usage = both.usage
    assert (usage.input_tokens, usage.output_tokens) == (30, 20), usage
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (60, 10), usage

    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": f"result {number}"}
        for number, block in enumerate([call, other])
    ]
    history = [
        {"role": "user", "content": "two files"},
        {"role": "assistant", "content": [block.model_dump(include=set(type(block).model_fields), exclude_none=True) for block in both.content]},
        {"role": "user", "content": results},
    ]
    after = ask("", tools=TOOLS, messages=history)
    assert after.content[0].text == "They say: result 0\nresult 1", after
    assert after.usage.cache_read_input_tokens == 150

    form = {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert ask("judge", output_config=form).content[0].text == VERDICT
    try:
        ask("judge", output_config={"format": {"type": "json_schema", "schema": OPEN_SCHEMA}})
        raise AssertionError("an open schema passed")
    except anthropic.BadRequestError as error:
        assert "output_config.format.schema" in error.body["error"]["message"], error.body

    for text, reason in (("short", "max_tokens"), ("bad", "refusal"), ("pause", "pause_turn")):
        assert ask(text).stop_reason == reason

    try:
        ask("busy")
        raise AssertionError("a 429 passed")
    except anthropic.RateLimitError as error:
        assert error.response.headers["retry-after"] == "7"
        assert error.body["error"]["type"] == "rate_limit_error", error.body
        assert error.request_id

events = list(client.messages.create(**request("two files", tools=TOOLS, stream=True)))
for value in [*events, whole("two files", tools=TOOLS), whole("bad")]:
    # Building a value never checks it; this does.
    type(value).model_validate(value.model_dump(by_alias=True, exclude_unset=True))
raw = [event.type for event in events]
assert raw[:2] == ["message_start", "content_block_start"] and raw[-2:] == ["message_delta", "message_stop"], raw
try:
    streamed("break")
    raise AssertionError("an error event passed")
except anthropic.APIStatusError as error:
    assert "overloaded_error" in str(error.body), error.body
print("understood")
