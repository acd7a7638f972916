"""Everything is deleted in the end, and what others use only by force."""

from connection import Connection, names, same


USED = {"part": "calm-tone", "trait": "watchful", "skill": "Read_Charts", "guardrail": "no-night-entry"}


async def deletes_what_is_used_only_by_force(masque: Connection) -> None:
    for kind, piece in USED.items():
        await masque.refused(f"delete_agent_{kind}", "used by", "pilot", "force", name=piece)
        before = await masque.call("get_agent_persona", name="pilot")
        assert piece in names(before[f"{kind}s"]), f"a refused delete unlinked {piece}: {before}"
        gone = await masque.call(f"delete_agent_{kind}", name=piece, force=True, message="no longer needed")
        same(f"{piece} by force", (gone["deleted"], gone["unlinked"]), (True, [{"kind": "persona", "name": "pilot"}]))
        after = await masque.call("get_agent_persona", name="pilot")
        assert piece not in names(after[f"{kind}s"]), f"{piece} is still linked: {after}"
        assert after["revision"] > before["revision"], f"unlinking {piece} made no revision"
        again = await masque.call(f"delete_agent_{kind}", name=piece)
        same(f"{piece}, deleted twice", again["deleted"], False)


async def deletes_arcs_and_personas(masque: Connection) -> None:
    await masque.call("assign_persona_arc", persona="pilot", arc="voyage")
    await masque.call("delete_character_arc", name="voyage", force=True)
    loaded = await masque.call("get_agent_persona", name="pilot")
    assert "arc" not in loaded, f"a deleted arc is still there: {loaded}"
    same("an arc, deleted twice", (await masque.call("delete_character_arc", name="voyage"))["deleted"], False)
    await masque.refused("delete_agent_persona", "revision", name="pilot", if_revision=loaded["revision"] - 1)
    gone = await masque.call("delete_agent_persona", name="pilot", if_revision=loaded["revision"])
    same("the persona", gone["deleted"], True)
    await masque.refused("get_agent_persona", "no persona", name="pilot")
    same("its parts stay", (await masque.call("get_agent_part", name="dock-goal"))["name"], "dock-goal")
    same("the persona, deleted twice", (await masque.call("delete_agent_persona", name="pilot"))["deleted"], False)


async def gives_builtins_back(masque: Connection) -> None:
    original = await masque.call("get_agent_persona", name="critic")
    changed = await masque.call("update_agent_persona", name="critic", summary="Mine now.")
    assert {"kind": "persona", "name": "critic"} in changed["copied"], f"nothing was copied: {changed}"
    mine = await masque.call("get_agent_persona", name="critic")
    same("a builtin that was changed", (mine["summary"], mine["scope"]), ("Mine now.", "shared"))
    gone = await masque.call("delete_agent_persona", name="critic")
    same("the builtin is in force again", (gone["deleted"], gone["in_force"]), (True, "builtin"))
    same("as it was", await masque.call("get_agent_persona", name="critic"), original)
