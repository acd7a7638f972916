"""Bad input is normal input: a refusal that says what to do, and nothing half written."""

from connection import INVALID_PARAMS, Connection, same


async def are_answered_with_advice(masque: Connection) -> None:
    refused = masque.refused
    await refused("get_agent_persona", "no persona", "pilot", name="pilto")
    await refused("get_agent_persona", "name", "missing")
    await refused("get_agent_persona", "name", "text", name=7)
    await refused("get_agent_persona", "letters, digits", name="no spaces allowed")
    await refused("get_agent_persona", "empty", name="")
    await refused("get_agent_persona", "64", name="n" * 65)
    await refused("get_agent_persona", "unknown field", "overrides", name="pilot", override={"tone": "dry-tone"})
    await refused("get_agent_persona", "types", "tone", name="pilot", types=["tune"])
    await refused("get_agent_persona", "limit", name="pilot", limit=-1)
    await refused("get_agent_persona", "limit", name="pilot", limit="many")
    await refused("create_agent_part", "part_type", "missing", name="typeless", content="c")
    await refused("create_agent_part", "part_type", "tone", name="mistyped", part_type="tune", content="c")
    await refused("create_agent_part", "content", name="silent", part_type="tone")
    await refused("create_agent_part", "NUL", name="nul", part_type="tone", content="a\0b")
    await refused("create_agent_part", "content", "bytes", name="huge", part_type="tone", content="x" * 300_000)
    await refused("create_agent_part", "tags", name="tagged", part_type="tone", content="c", tags=["t"] * 100)
    await refused("create_agent_guardrail", "severity", "critical", name="g", content="c", severity="terrible")
    await refused("create_agent_trait", "trait_type", name="t", trait_type="weird", instruction="i")
    await refused("add_persona_part", "dock-goal", persona="pilot", part="dock-gaol")
    await refused("add_persona_skill", "pilot", persona="pilto", skill="tie-knots")
    await refused("add_persona_trait", "watchful", persona="pilot", **{"trait": "wachtful"})
    await refused("add_persona_guardrail", "missing", persona="pilot")
    await refused("assign_persona_arc", "voyage", persona="pilot", arc="voyages")
    await refused("create_agent_persona", "already exists", "update", name="pilot", summary="Another.")
    await refused("update_agent_part", "already exists", name="dry-tone", new_name="calm-tone")
    await refused("compile_persona", "pilot", name="pilto")
    await refused("get_persona_manifest", "pilot", name="pilto")
    await refused("search_library", "query", "missing")
    nothing = await masque.call("list_agent_parts", query="huge")
    same("nothing of it was written", nothing["items"], [])


async def are_protocol_errors_only_for_unknown_tools(masque: Connection) -> None:
    call = masque.client.call_tool
    await masque.fails("an unknown tool", call("get_agent_prat", {}), INVALID_PARAMS, "get_agent_part")
    await masque.fails("another unknown tool", call("x" * 300, {}), INVALID_PARAMS, "tools/list")


async def leave_the_server_well(masque: Connection) -> None:
    loaded = await masque.call("get_agent_persona", name="pilot")
    same("it answers as before", loaded["name"], "pilot")
