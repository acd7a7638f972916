"""A connection to the server under test, through the official SDK, that takes nothing on trust.

Every answer of a tool is checked against the schema that the tool was listed with, every text
against the structured content beside it.
"""

import json
import os
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated

INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND_BEFORE_2026 = -32002

# What the SDK calls the two eras: a handshake, or a question to `server/discover`.
ERAS = {"legacy": ("legacy", "2025-11-25"), "modern": ("auto", "2026-07-28")}

# Long enough for a slow machine; nothing here measures time.
PATIENCE_SECONDS = 20


def same(what: str, actual: Any, wanted: Any) -> None:
    assert actual == wanted, f"{what}:\n  is     {actual!r}\n  wanted {wanted!r}"


def contains(what: str, text: str | None, *words: str) -> None:
    for word in words:
        assert text is not None and word in text, f"{what} does not contain {word!r}:\n  {text!r}"


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["name"] for item in items]


def closed(schema: Any) -> Any:
    """The schema, but with every field that it does not name forbidden: schemas name every field."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if "properties" in result and "additionalProperties" not in result:
        result["unevaluatedProperties"] = False
    return result


@dataclass
class Place:
    """Where the server under test is: a program to start, or an address."""

    program: str | None
    database: str | None
    url: str | None

    def server(self, tools: str | None = None) -> Any:
        if self.url is not None:
            return over_http(self.url if tools is None else f"{self.url}?tools={tools}")
        assert self.program is not None and self.database is not None
        chosen = [] if tools is None else ["--tools", tools]
        return StdioServerParameters(command=self.program, args=["mcp", "--db", self.database, *chosen])


@asynccontextmanager
async def over_http(url: str) -> AsyncIterator[Any]:
    """The SDK's own transport, with the token of the server in every request."""
    headers = {"Authorization": f"Bearer {os.environ['MASQUE_TOKEN']}"}
    async with create_mcp_http_client(headers=headers) as client:
        async with streamable_http_client(url, http_client=client) as streams:
            yield streams


@dataclass
class Connection:
    """One connected client."""

    client: Client
    era: str
    tools: dict[str, types.Tool]
    called: set[str] = field(default_factory=set)
    news: list[Any] = field(default_factory=list)

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls a tool that must succeed, checks its answer in every way, and returns it."""
        shown = f"{tool}({json.dumps(arguments)})"
        listed = self.tools[tool]
        # Schemas leave out that null counts as absent: fifty tools would pay for it in every prompt.
        given = {key: value for key, value in arguments.items() if value is not None}
        for error in Draft202012Validator(listed.input_schema).iter_errors(given):
            raise AssertionError(f"{shown}: its own input schema refuses this: {error.message}")
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, f"{shown} was refused: {text_of(result)}"
        answer = result.structured_content
        assert isinstance(answer, dict), f"{shown} has no structured content: {result!r}"
        for error in Draft202012Validator(closed(listed.output_schema)).iter_errors(answer):
            place = "/".join(map(str, error.absolute_path))
            raise AssertionError(f"{shown}: the answer breaks its output schema at {place!r}: {error.message}")
        same(f"{shown}: the text beside the structured content", json.loads(text_of(result)), answer)
        self.called.add(tool)
        return answer

    async def refused(self, tool: str, /, *words: str, **arguments: Any) -> None:
        """Calls a tool that must refuse, with advice that holds these words."""
        result = await self.client.call_tool(tool, arguments)
        shown = f"{tool}({json.dumps(arguments)[:300]})"
        assert result.is_error, f"{shown} must be refused, but answered {text_of(result)}"
        same(f"{shown}: structured content beside a refusal", result.structured_content, None)
        contains(f"the refusal of {shown}", text_of(result), *words)

    async def fails(self, what: str, request: Awaitable[Any], code: int, *words: str) -> None:
        """Awaits a request that must end in a protocol error."""
        try:
            answer = await request
        except MCPError as error:
            same(f"{what}: the code of {error.error.message!r}", error.error.code, code)
            contains(f"{what}: the error", error.error.message, *words)
            return
        raise AssertionError(f"{what} must fail, but answered {answer!r}")

    @property
    def is_modern(self) -> bool:
        return self.era == "modern"

    @asynccontextmanager
    async def watching(self, uri: str) -> AsyncIterator["Watch"]:
        """Watches the lists and one resource, in the way of the connection's era."""
        if self.is_modern:
            async with self.client.listen(
                prompts_list_changed=True, resources_list_changed=True, resource_subscriptions=[uri]
            ) as stream:
                same("the watched resources", stream.honored.resource_subscriptions, [uri])
                yield Watch(stream=stream)
        else:
            await self.client.subscribe_resource(uri)
            yield Watch(news=self.news)
            await self.client.unsubscribe_resource(uri)


def text_of(result: types.CallToolResult) -> str:
    blocks = result.content
    assert len(blocks) == 1 and isinstance(blocks[0], types.TextContent), f"one text block, not {blocks!r}"
    return blocks[0].text


@dataclass
class Watch:
    """What was heard since the watch began, whatever the era brought it with."""

    news: list[Any] | None = None
    stream: Any = None

    def __post_init__(self) -> None:
        if self.news is not None:
            self.news.clear()

    async def hears(self, what: str, wanted: str) -> None:
        """Waits until the wanted news came: `prompts`, `resources`, or the address of a resource."""
        heard: list[str] = []
        with anyio.move_on_after(PATIENCE_SECONDS):
            while wanted not in heard:
                heard.append(await self._next())
        assert wanted in heard, f"{what}: {wanted!r} was not heard, only {heard!r}"

    async def _next(self) -> str:
        if self.stream is not None:
            return told(await anext(self.stream))
        assert self.news is not None
        while not self.news:
            await anyio.sleep(0.01)
        return told(self.news.pop(0))


def told(event: Any) -> str:
    """The news in one word, from an event of the new era or a notification of the old one."""
    match event:
        case PromptsListChanged() | types.PromptListChangedNotification():
            return "prompts"
        case ResourcesListChanged() | types.ResourceListChangedNotification():
            return "resources"
        case ResourceUpdated():
            return event.uri
        case types.ResourceUpdatedNotification():
            return str(event.params.uri)
    return repr(event)


@asynccontextmanager
async def connect(place: Place, era: str, tools: str | None = None) -> AsyncIterator[Connection]:
    """Connects and lists the tools."""
    news: list[Any] = []

    async def hear(message: Any) -> None:
        if isinstance(message, Exception):
            raise message
        news.append(message)

    mode, version = ERAS[era]
    info = types.Implementation(name="life", version="1")
    client = Client(
        place.server(tools),
        mode=mode,
        message_handler=hear,
        client_info=info,
        read_timeout_seconds=PATIENCE_SECONDS,
        # The lists are asked for right after they changed, sooner than their time to live allows.
        cache=None,
    )
    async with client:
        same("the negotiated version", client.protocol_version, version)
        listed = await client.list_tools()
        same("pages of tools", listed.next_cursor, None)
        yield Connection(client, era, {tool.name: tool for tool in listed.tools}, news=news)
