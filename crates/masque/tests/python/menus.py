"""Prompts and resources: what a person picks from a client's menus, and news about them."""

import json
from typing import Any

import mcp_types as types
from connection import INVALID_PARAMS, RESOURCE_NOT_FOUND_BEFORE_2026, Connection, contains, same
from mcp_types import TextContent, TextResourceContents
from pydantic import ConfigDict


async def offers_prompts(masque: Connection) -> None:
    client = masque.client
    prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    same("the prompts that a menu must hold", {"wear", "pilot", "mentor", "critic"} <= set(prompts), True)
    arguments = {argument.name: argument.required for argument in prompts["wear"].arguments or []}
    optional = dict.fromkeys(["overrides", "detail", "types", "limit", "max_tokens"], False)
    same("the arguments of wear", arguments, {"name": True, **optional})
    same("a persona's title", prompts["pilot"].title, "Pilot Olsen ⚓")

    picked = await prompt(masque, "pilot")
    contains("a persona that was picked", picked, "You bring ships", "Speak softly. Always.", "dusk")
    worn = await prompt(masque, "wear", name="pilot", overrides="tone=dry-tone, protocol=storm-protocol")
    contains("a persona with other parts", worn, "Be dry, and be brief.", "Close the hatches")
    assert "softly" not in worn, f"the override left the old tone in: {worn}"
    brief = await prompt(masque, "wear", name="pilot", detail="false")
    contains("a persona in short", brief, "The harbour's pilot.", "Speak softly.")
    assert len(brief) < len(picked), "the short form is not shorter"

    await masque.fails("a prompt without its name", client.get_prompt("wear", {}), INVALID_PARAMS, "name")
    unknown = client.get_prompt("wear", {"name": "pilto"})
    await masque.fails("an unknown persona", unknown, INVALID_PARAMS, "pilot")
    wrong = client.get_prompt("wear", {"name": "pilot", "overrides": "tone=dry-tune"})
    await masque.fails("an unknown part", wrong, INVALID_PARAMS, "dry-tone")
    await masque.fails("an unknown prompt", client.get_prompt("no-such-prompt"), INVALID_PARAMS)
    names = [prompt.name for prompt in (await client.list_prompts()).prompts]
    same("wear comes first, then what was used last", names[:2], ["wear", "pilot"])


async def prompt(masque: Connection, name: str, /, **arguments: str) -> str:
    messages = (await masque.client.get_prompt(name, arguments)).messages
    same(f"{name}: messages", [(message.role, message.content.type) for message in messages], [("user", "text")])
    content = messages[0].content
    assert isinstance(content, TextContent)
    return content.text


async def offers_resources(masque: Connection) -> None:
    client = masque.client
    listed: list[types.Resource] = []
    page = await client.list_resources()
    listed += page.resources
    while page.next_cursor is not None:
        page = await client.list_resources(cursor=page.next_cursor)
        listed += page.resources
    uris = [resource.uri for resource in listed]
    same("no address twice", len(uris), len(set(uris)))
    for uri in ("persona://pilot", "persona://pilot/manifest", "persona://pilot/compiled", "persona://mentor"):
        assert uri in uris, f"{uri} is not listed: {uris}"
    await masque.fails("a forged cursor", client.list_resources(cursor="forged"), INVALID_PARAMS, "cursor")

    loaded = await masque.call("get_agent_persona", name="pilot", detail=True)
    same("a persona by address", json.loads(await read(masque, "persona://pilot")), loaded)
    manifest = await masque.call("get_persona_manifest", name="pilot")
    same("a manifest by address", json.loads(await read(masque, "persona://pilot/manifest")), manifest)
    compiled = await masque.call("get_agent_persona", name="pilot", compiled=True, detail=True)
    same("a prompt by address", await read(masque, "persona://pilot/compiled"), compiled["compiled_detail"])
    part = await masque.call("get_agent_part", name="dock-goal")
    same("a part by address", json.loads(await read(masque, "part://dock-goal")), part)
    contains("a trait by address", await read(masque, "trait://watchful"), "next risk")
    contains("a guardrail by address", await read(masque, "guardrail://no-night-entry"), "critical")
    # Everything that is listed can be read.
    for uri in uris:
        await read(masque, uri)

    templates = [template.uri_template for template in (await client.list_resource_templates()).resource_templates]
    for template in templates:
        contains("a template", template, "{name}")
    schemes = {template.split(":")[0] for template in templates}
    same("the kinds of templates", schemes, {"persona", "part", "trait", "skill", "guardrail"})
    missing = INVALID_PARAMS if masque.is_modern else RESOURCE_NOT_FOUND_BEFORE_2026
    await masque.fails("a persona that is not there", client.read_resource("persona://pilto"), missing, "pilot")
    await masque.fails("another kind of address", client.read_resource("file:///etc/passwd"), missing)


async def read(masque: Connection, uri: str) -> str:
    contents = (await masque.client.read_resource(uri)).contents
    same(f"{uri}: its contents", [(content.uri, type(content)) for content in contents], [(uri, TextResourceContents)])
    content = contents[0]
    assert isinstance(content, TextResourceContents) and content.text, f"{uri} is empty"
    return content.text


async def tells_what_changed(masque: Connection) -> None:
    uri = "persona://pilot"
    async with masque.watching(uri) as watch:
        await masque.call("update_agent_persona", name="pilot", detail="Olsen has lost one ship.")
        await watch.hears("a changed persona", uri)
        await masque.call("update_agent_part", name="calm-tone", content="Speak gently. Always.")
        await watch.hears("a changed part of it", uri)
        await masque.call("create_agent_persona", name="deckhand", summary="Lends a hand.")
        await watch.hears("a new persona, in the prompts", "prompts")
    async with masque.watching(uri) as watch:
        await masque.call("delete_agent_persona", name="deckhand")
        await watch.hears("a persona less, in the resources", "resources")


class SkillsRequest(types.Request[types.RequestParams | None, str]):
    """A request of the Skills extension, which the SDK sends though it does not know it."""

    params: types.RequestParams | None = None


class SkillsResult(types.Result):
    model_config = ConfigDict(extra="allow")


async def offers_skills(masque: Connection) -> None:
    extensions = masque.client.server_capabilities.extensions or {}
    assert "io.modelcontextprotocol/skills" in extensions, f"skills are not offered: {extensions}"
    listed = await masque.client.session.send_request(SkillsRequest(method="skills/list"), SkillsResult)
    skills: list[dict[str, Any]] = (listed.model_extra or {})["skills"]
    charts = [skill for skill in skills if skill["frontmatter"]["name"] == "read-charts"]
    same("our skill under its lawful name", len(charts), 1)
    text = await read(masque, charts[0]["uri"])
    contains("its file", text, "name:", "read-charts", "Use when a route is asked for", "Find the depth first")
    file = charts[0]["resources"][0]
    same("its size", file["size"], len(text.encode()))
