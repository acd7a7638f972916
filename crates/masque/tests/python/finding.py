"""Lists, pages, search and completion."""

from typing import Any

import mcp_types as types
from connection import INVALID_PARAMS, Connection, names, same


async def lists(masque: Connection) -> None:
    async def listed(tool: str, **filters: Any) -> list[str]:
        return names((await masque.call(tool, **filters))["items"])

    personas = await listed("list_agent_personas")
    same("builtin personas beside our own", {"pilot", "mentor", "critic"} <= set(personas), True)
    same("personas of the crew at sea", await listed("list_agent_personas", tags=["crew", "sea"]), ["pilot"])
    same("all tags must fit", await listed("list_agent_personas", tags=["crew", "builtin"]), [])
    tones = await listed("list_agent_parts", part_type="tone")
    same("our tones among the tones", {"calm-tone", "dry-tone", "storm-tone"} <= set(tones), True)
    same("no goal among the tones", "dock-goal" in tones, False)
    same("tones at sea", await listed("list_agent_parts", part_type="tone", tags=["sea"]), ["calm-tone"])
    same("parts by a word", await listed("list_agent_parts", query="scratch"), ["dock-goal"])
    same("traits by type", "watchful" in await listed("list_agent_traits", trait_type="cognitive"), True)
    same("traits by another type", "watchful" in await listed("list_agent_traits", trait_type="social"), False)
    same("skills by tag", await listed("list_agent_skills", tags=["sea"]), ["Read_Charts"])
    same("guardrails by tag", await listed("list_agent_guardrails", tags=["sea"]), ["no-night-entry"])
    nulls = await listed("list_agent_skills", tags=["sea"], query=None, cursor=None, limit=None)
    same("optional fields may be null", nulls, ["Read_Charts"])


async def turns_pages(masque: Connection) -> None:
    whole = await masque.call("list_agent_parts", limit=200)
    assert len(whole["items"]) > 30, f"too few parts to turn pages: {len(whole['items'])}"
    assert "next_cursor" not in whole, "one page holds them all"
    pages = await every_page(masque, "list_agent_parts", limit=7)
    same("entries on every page but the last", {len(page) for page in pages[:-1]}, {7})
    same("all pages together", [name for page in pages for name in page], names(whole["items"]))
    await masque.refused("list_agent_parts", "cursor", cursor="not-one-of-yours")
    pages = await every_page(masque, "search_library", query="harbour", scope="shared", limit=1)
    found = sorted(name for page in pages for name in page)
    # The arc has a stage of that name.
    same("all pages of a search together", found, ["harbour-identity", "pilot", "voyage"])


async def every_page(masque: Connection, tool: str, **query: Any) -> list[list[str]]:
    page = await masque.call(tool, **query)
    pages = [names(page["items"])]
    while "next_cursor" in page:
        assert len(pages) < 100, f"{tool} has no last page: {pages}"
        page = await masque.call(tool, **query, cursor=page["next_cursor"])
        pages.append(names(page["items"]))
    return pages


async def searches(masque: Connection) -> None:
    page = await masque.call("search_library", query="harbour pilot")
    kinds = {(item["kind"], item["name"]) for item in page["items"]}
    same("all that speaks of harbour pilots", {("persona", "pilot"), ("part", "harbour-identity")} <= kinds, True)
    page = await masque.call("search_library", query="harbour", kinds=["part"])
    same("parts alone", names(page["items"]), ["harbour-identity"])
    page = await masque.call("search_library", query="bowline")
    same("a word in a skill's content", names(page["items"]), ["tie-knots"])
    page = await masque.call("search_library", query="zzzznothing")
    same("nothing", page["items"], [])
    await masque.refused("search_library", "kinds", query="harbour", kinds=["parts"])
    # What means something to a search engine is only text here.
    for odd in ('"', "*", "a AND", "NEAR(", "pilot'", "-", "(", "tone:calm", "\\", "%", "🙂"):
        await masque.call("search_library", query=f"pilot {odd}")


async def completes(masque: Connection) -> None:
    wear = types.PromptReference(name="wear")

    async def offered(ref: Any, argument: str, typed: str) -> list[str]:
        return (await masque.client.complete(ref, {"name": argument, "value": typed})).completion.values

    same("personas", await offered(wear, "name", "pil"), ["pilot"])
    same("part types", await offered(wear, "overrides", "ton"), ["tone="])
    same("parts of a type", await offered(wear, "overrides", "tone=d"), ["tone=dry-tone"])
    same("a second override", await offered(wear, "overrides", "tone=dry-tone,go"), ["tone=dry-tone,goal="])
    same("nothing", await offered(wear, "name", "zzz"), [])
    part = types.ResourceTemplateReference(uri="part://{name}")
    same("parts by name", await offered(part, "name", "storm-"), ["storm-protocol", "storm-tone"])
    skill = types.ResourceTemplateReference(uri="skill://{name}/SKILL.md")
    same("skills by name", await offered(skill, "name", "Read"), ["Read_Charts"])
    other = types.ResourceTemplateReference(uri="file://{name}")
    asked = masque.client.complete(other, {"name": "name", "value": ""})
    await masque.fails("completing an unknown template", asked, INVALID_PARAMS)
