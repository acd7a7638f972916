"""First contact: what the server says it is, and the tools of each kind of connection."""

from connection import INVALID_PARAMS, Connection, Place, connect, contains, same
from mcp import Client

LOAD = """
    list_agent_personas get_agent_persona get_persona_manifest compile_persona search_library
    get_agent_part get_agent_trait get_agent_skill get_agent_guardrail
""".split()

AUTHOR = """
    list_library get_entity save_entity delete_entity
    create_agent_persona update_agent_persona delete_agent_persona
    create_agent_part update_agent_part delete_agent_part list_agent_parts
    create_agent_trait update_agent_trait delete_agent_trait list_agent_traits
    create_agent_skill update_agent_skill delete_agent_skill list_agent_skills
    create_agent_guardrail update_agent_guardrail delete_agent_guardrail list_agent_guardrails
    add_persona_part remove_persona_part add_persona_skill remove_persona_skill
    add_persona_guardrail remove_persona_guardrail add_persona_trait remove_persona_trait
    test_persona compare_persona
""".split()

ARCS = """
    create_character_arc list_character_arcs get_character_arc update_character_arc delete_character_arc
    add_arc_stage remove_arc_stage add_stage_part remove_stage_part
    assign_persona_arc unassign_persona_arc advance_persona_stage reset_persona_stage
""".split()

ALL_HINTS = {
    "get_agent_part(name)",
    "get_agent_trait(name)",
    "get_agent_skill(name)",
    "get_agent_guardrail(name)",
    "get_agent_persona(name, compiled: true)",
}


async def introduces_itself(masque: Connection) -> None:
    client = masque.client
    assert client.server_info is not None, "the server does not say who it is"
    same("the server's name", client.server_info.name, "masque")
    contains("the instructions", client.instructions, "get_persona_manifest", "get_agent_persona")
    offered = client.server_capabilities
    assert offered.tools is not None and offered.completions is not None
    assert offered.prompts is not None and offered.prompts.list_changed
    assert offered.resources is not None and offered.resources.list_changed and offered.resources.subscribe


async def lists_every_tool(masque: Connection) -> None:
    same("the tools", set(masque.tools), {*LOAD, *AUTHOR, *ARCS})
    again = await masque.client.list_tools()
    same("the order of the tools, asked twice", [tool.name for tool in again.tools], list(masque.tools))
    for name, tool in masque.tools.items():
        assert tool.description, f"{name} has no description"
        same(f"{name}: the type of its input", tool.input_schema["type"], "object")
        assert tool.output_schema is not None, f"{name} has no output schema"
        hints = tool.annotations
        assert hints is not None, f"{name} has no annotations"
        reads = name.startswith(("get_", "list_", "search_"))
        same(f"{name}: read-only", hints.read_only_hint, reads)
        if name.startswith(("delete_", "remove_", "update_")):
            same(f"{name}: destructive", hints.destructive_hint, True)
        if reads or name.startswith("create_"):
            same(f"{name}: destructive", hints.destructive_hint, False)
        if name.startswith("create_") or name == "advance_persona_stage":
            same(f"{name}: idempotent", hints.idempotent_hint, False)
        if name.startswith(("add_persona_", "remove_", "delete_")) or reads:
            same(f"{name}: idempotent", hints.idempotent_hint, True)
        same(f"{name}: open world", hints.open_world_hint, False)


async def offers_fewer_tools(place: Place, era: str) -> None:
    async with connect(place, era, "load") as few:
        same("the set `load`", set(few.tools), set(LOAD))
        await few.call("get_agent_persona", name="mentor")
        hidden = few.client.call_tool("create_agent_part", {"name": "p", "part_type": "tone", "content": "c"})
        await few.fails("a tool outside the set", hidden, INVALID_PARAMS, "create_agent_part", "tools=all")
        manifest = await few.call("get_persona_manifest", name="mentor")
        same("the hints of `load`", set(manifest["on_demand_tools"]), ALL_HINTS)
    async with connect(place, era, "author") as more:
        same("the set `author`", set(more.tools), {*LOAD, *AUTHOR})
    async with connect(place, era, "get_persona_manifest,get_agent_part") as two:
        same("two tools by name", set(two.tools), {"get_persona_manifest", "get_agent_part"})
        manifest = await two.call("get_persona_manifest", name="mentor")
        same("the hints of two tools", set(manifest["on_demand_tools"]), {"get_agent_part(name)"})


async def needs_no_greeting(place: Place) -> None:
    """In the modern era a client that knows the version asks for what it wants, and nothing before."""
    async with Client(place.server(), mode="2026-07-28", cache=None) as client:
        loaded = await client.call_tool("get_agent_persona", {"name": "mentor"})
        same("the first answer", (loaded.structured_content or {}).get("name"), "mentor")
