"""A persona goes through an arc, stage by stage."""

from connection import Connection, contains, names, same


async def makes_an_arc(masque: Connection) -> None:
    await masque.call(
        "create_character_arc",
        name="voyage",
        description="From calm to storm",
        summary="Calm, then storm.",
        tags=["sea"],
        stages=[{"name": "calm", "order": 1, "description": "A quiet sea", "condition": "The wind rises"}],
    )
    home = {"stage_order": 30, "description": "Home", "condition": "Never"}
    await masque.call("add_arc_stage", arc="voyage", name="harbour", **home)
    storm = {"stage_order": 20, "description": "Wind", "condition": "It is over"}
    await masque.call("add_arc_stage", arc="voyage", name="storm", **storm)
    await masque.call("add_arc_stage", arc="voyage", name="storm", condition="The wind falls")
    await masque.call("add_stage_part", arc="voyage", stage="storm", part="storm-tone")
    await masque.call("add_stage_part", arc="voyage", stage="storm", part="storm-protocol")
    await masque.call("add_stage_part", arc="voyage", stage="calm", part="dry-tone")
    await masque.call("remove_stage_part", arc="voyage", stage="calm", part="dry-tone")
    arc = await masque.call("get_character_arc", name="voyage")
    stages = [(stage["name"], stage["order"], stage["parts"]) for stage in arc["stages"]]
    wanted = [("calm", 1, []), ("storm", 20, ["storm-tone", "storm-protocol"]), ("harbour", 30, [])]
    same("its stages", stages, wanted)
    changed = arc["stages"][1]
    same("a stage that was changed", (changed["description"], changed["condition"]), ("Wind", "The wind falls"))
    await masque.call("update_character_arc", name="voyage", summary="Calm, storm, home.", if_revision=arc["revision"])
    listed = await masque.call("list_character_arcs", tags=["sea"])
    same("arcs about the sea", names(listed["items"]), ["voyage"])
    await masque.refused("add_stage_part", "stage", "storm", arc="voyage", stage="strom", part="dry-tone")
    await masque.refused("add_stage_part", "dry-tone", arc="voyage", stage="storm", part="dry-tome")


async def goes_through_it(masque: Connection) -> None:
    await masque.call("compile_persona", name="pilot")
    state = await masque.call("assign_persona_arc", persona="pilot", arc="voyage")
    same("where it starts", (state["stage"], state["position"], state["of"]), ("calm", 1, 3))
    same("when to move on", state["condition"], "The wind rises")
    same("in a quiet stage", await parts(masque), ["harbour-identity", "dock-goal", "calm-tone"])

    state = await masque.call("advance_persona_stage", persona="pilot")
    same("the second stage", (state["stage"], state["position"]), ("storm", 2))
    stormy = await masque.call("get_agent_persona", name="pilot")
    same(
        "the stage's tone takes the place of its own",
        [(part["name"], part["from"]) for part in stormy["parts"]],
        [("harbour-identity", "own"), ("dock-goal", "own"), ("storm-tone", "stage"), ("storm-protocol", "stage")],
    )
    same("the priority of what was replaced", stormy["parts"][2]["priority"], 3)
    same("the stage in the answer", stormy["arc"]["stage"], "storm")
    same("the compiled text", stormy["compiled_stale"], True)
    text = await masque.call("compile_persona", name="pilot")
    contains("its prompt in a storm", text["compiled_detail"], "Short orders", "Close the hatches")
    assert "softly" not in text["compiled_detail"], f"its own tone is still there: {text}"
    manifest = await masque.call("get_persona_manifest", name="pilot")
    same("the manifest's stage", (manifest["arc"]["name"], manifest["arc"]["stage"]), ("voyage", "storm"))
    over = await masque.call("get_agent_persona", name="pilot", overrides={"tone": "dry-tone"})
    beaten = ["harbour-identity", "dock-goal", "dry-tone", "storm-protocol"]
    same("an override beats the stage", names(over["parts"]), beaten)

    await masque.call("advance_persona_stage", persona="pilot")
    await masque.refused("advance_persona_stage", "last stage", "reset", persona="pilot")
    state = await masque.call("reset_persona_stage", persona="pilot")
    same("back at the start", (state["stage"], state["position"]), ("calm", 1))
    state = await masque.call("assign_persona_arc", persona="pilot", arc="voyage", stage="storm")
    same("put into a stage by name", state["stage"], "storm")
    await masque.refused("assign_persona_arc", "stage", "storm", persona="pilot", arc="voyage", stage="strom")


async def comes_out_of_it(masque: Connection) -> None:
    await masque.refused("remove_arc_stage", "pilot", "force", arc="voyage", stage="storm")
    await masque.refused("delete_character_arc", "pilot", "force", name="voyage")
    await masque.call("remove_arc_stage", arc="voyage", stage="storm", force=True)
    state = (await masque.call("get_agent_persona", name="pilot"))["arc"]
    same("who stood in a removed stage starts again", (state["stage"], state["of"]), ("calm", 2))
    left = await masque.call("unassign_persona_arc", persona="pilot")
    same("the arc was taken away", left["changed"], True)
    loaded = await masque.call("get_agent_persona", name="pilot")
    assert "arc" not in loaded, f"it still has an arc: {loaded}"
    await masque.refused("advance_persona_stage", "no arc", "assign", persona="pilot")
    mentor = await masque.call("advance_persona_stage", persona="mentor")
    same("a builtin persona moves too", (mentor["stage"], mentor["scope"]), ("coach", "builtin"))
    await masque.call("reset_persona_stage", persona="mentor")


async def parts(masque: Connection) -> list[str]:
    return names((await masque.call("get_agent_persona", name="pilot"))["parts"])
