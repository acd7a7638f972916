"""Pieces and personas come into being, change, and are linked."""

from typing import Any

from connection import Connection, contains, names, same

# Everything that the life of one persona, a harbour pilot, is made of.
PIECES: dict[str, list[dict[str, Any]]] = {
    "part": [
        {
            "name": "harbour-identity",
            "part_type": "identity",
            "description": "Who brings ships in",
            "summary": "You are a harbour pilot.",
            "content": "You are a harbour pilot with thirty years on this coast.",
            "tags": ["sea", "harbour"],
        },
        {"name": "calm-tone", "part_type": "tone", "content": "Speak calmly. Always.", "tags": ["sea"]},
        {"name": "dry-tone", "part_type": "tone", "summary": "Be dry.", "content": "Be dry, and be brief."},
        {"name": "storm-tone", "part_type": "tone", "content": "Short orders, loud."},
        {"name": "storm-protocol", "part_type": "protocol", "content": "Close the hatches, then report."},
    ],
    "trait": [
        {
            "name": "watchful",
            "trait_type": "cognitive",
            "description": "Sees the weather turn",
            "instruction": "Name the next risk before you answer.",
            "tags": ["sea"],
        },
        {"name": "stubborn", "trait_type": "personality", "instruction": "Change course only for a reason."},
    ],
    "skill": [
        {
            "name": "Read_Charts",
            "description": "Use when a route is asked for",
            "content": "Find the depth first, then the tide.",
            "tags": ["sea"],
        },
    ],
    "guardrail": [
        {
            "name": "no-night-entry",
            "severity": "critical",
            "description": "Never enter at night",
            "content": "Never bring a ship in between dusk and dawn.",
            "deny_tools": ["engine_*"],
            "tags": ["sea"],
        },
        {"name": "speak-plainly", "content": "No jargon to passengers."},
    ],
}


async def makes_pieces(masque: Connection) -> None:
    for kind, pieces in PIECES.items():
        for piece in pieces:
            written = await masque.call(f"create_agent_{kind}", **piece, message="the first draft")
            same(f"what was written for {piece['name']}", written["kind"], kind)
            same(f"{piece['name']}: changed", written["changed"], True)
            held = await masque.call(f"get_agent_{kind}", name=piece["name"])
            same(f"{piece['name']}, read back", {key: held[key] for key in piece}, piece)
            same(f"{piece['name']}: the revision", held["revision"], written["revision"])
            same(f"{piece['name']}: the scope", held["scope"], "shared")
            await masque.refused(f"create_agent_{kind}", "already exists", piece["name"], **piece)
    guardrail = await masque.call("get_agent_guardrail", name="speak-plainly")
    same("a severity that nobody gave", guardrail["severity"], "medium")


async def changes_pieces(masque: Connection) -> None:
    change = {"part": "content", "trait": "instruction", "skill": "content", "guardrail": "content"}
    for kind, text in change.items():
        piece = {**PIECES[kind][0], "name": f"passing-{kind}"}
        first = await masque.call(f"create_agent_{kind}", **piece)
        second = await masque.call(f"update_agent_{kind}", name=piece["name"], **{text: "Anew."})
        assert second["revision"] > first["revision"], f"{kind}: no new revision: {first} {second}"
        again = await masque.call(f"update_agent_{kind}", name=piece["name"], **{text: "Anew."})
        same(f"{kind}: an update that changes nothing", again, {**second, "action": "unchanged", "changed": False})
        held = await masque.call(f"get_agent_{kind}", name=piece["name"])
        same(f"{kind}: the new text", held[text], "Anew.")
        same(f"{kind}: what was not named stays", held["description"], piece["description"])
        moved = {"new_name": f"moved-{kind}", "description": "", "tags": []}
        await masque.call(f"update_agent_{kind}", name=piece["name"], **moved)
        await masque.refused(f"get_agent_{kind}", "no", piece["name"], name=piece["name"])
        held = await masque.call(f"get_agent_{kind}", name=f"moved-{kind}")
        same(f"{kind}: what was cleared", (held.get("description"), held["tags"]), (None, []))
        stale = {"if_revision": first["revision"], text: "Never."}
        await masque.refused(f"update_agent_{kind}", "revision", "read it again", name=f"moved-{kind}", **stale)
        await masque.refused(f"delete_agent_{kind}", "revision", name=f"moved-{kind}", if_revision=first["revision"])
        gone = await masque.call(f"delete_agent_{kind}", name=f"moved-{kind}", if_revision=held["revision"])
        same(f"{kind}: deleted", gone["deleted"], True)


async def makes_a_persona_at_once(masque: Connection) -> None:
    written = await masque.call(
        "create_agent_persona",
        name="pilot",
        display_name="Pilot Olsen ⚓",
        description="Brings ships in",
        summary="A harbour pilot.",
        detail="Olsen has never lost a ship.",
        system_prompt="You bring ships into the harbour.",
        tags=["sea", "crew"],
        preferred_models=[{"provider": "anthropic", "model": "large"}, {"provider": "local", "model": "small"}],
        parts=[
            "harbour-identity",
            {"name": "calm-tone", "part_order": 5, "priority": 3},
            {"name": "dock-goal", "part_type": "goal", "content": "Dock without a scratch.", "priority": 9},
        ],
        traits=["watchful", {"name": "patient-waiter", "trait_type": "emotional", "instruction": "Wait for the tide."}],
        skills=["Read_Charts", {"name": "tie-knots", "description": "Use at the quay", "content": "A bowline."}],
        guardrails=["no-night-entry", {"name": "log-all", "severity": "low", "content": "Write the log."}],
    )
    created = sorted((piece["kind"], piece["name"]) for piece in written["created"])
    wanted = [("guardrail", "log-all"), ("part", "dock-goal"), ("skill", "tie-knots"), ("trait", "patient-waiter")]
    same("what came into being with the persona", created, wanted)
    loaded = await masque.call("get_agent_persona", name="pilot")
    same("its parts", names(loaded["parts"]), ["harbour-identity", "dock-goal", "calm-tone"])
    same("its traits", names(loaded["traits"]), ["watchful", "patient-waiter"])
    same("its skills", names(loaded["skills"]), ["Read_Charts", "tie-knots"])
    same("its guardrails, the worst first", names(loaded["guardrails"]), ["no-night-entry", "log-all"])
    same("its display name", loaded["display_name"], "Pilot Olsen ⚓")
    same("its models", [model["model"] for model in loaded["preferred_models"]], ["large", "small"])


async def writes_all_or_nothing(masque: Connection) -> None:
    half = {
        "parts": [{"name": "orphan-part", "part_type": "tone", "content": "Alone."}, "harbor-identity"],
        "traits": [{"name": "orphan-trait", "trait_type": "social", "instruction": "Alone."}],
    }
    await masque.refused("create_agent_persona", "harbor-identity", "harbour-identity", name="half", **half)
    await masque.refused("get_agent_persona", "half", name="half")
    await masque.refused("get_agent_part", "orphan-part", name="orphan-part")
    await masque.refused("get_agent_trait", "orphan-trait", name="orphan-trait")


async def changes_a_persona(masque: Connection) -> None:
    before = await masque.call("get_agent_persona", name="pilot", detail=True)
    written = await masque.call(
        "update_agent_persona",
        name="pilot",
        new_name="harbour_pilot",
        summary="The harbour's pilot.",
        if_revision=before["revision"],
        message="a better name",
    )
    same("the new name", written["name"], "harbour_pilot")
    assert written["revision"] > before["revision"], f"no new revision: {written}"
    after = await masque.call("get_agent_persona", name="harbour_pilot", detail=True)
    same("its parts go along", after["parts"], before["parts"])
    same("its system prompt goes along", after["system_prompt"], before["system_prompt"])
    await masque.refused("get_agent_persona", "no persona", "pilot", name="pilot")
    await masque.refused(
        "update_agent_persona", "is at revision", name="harbour_pilot", detail="Lost.", if_revision=before["revision"]
    )
    await masque.call("update_agent_persona", name="harbour_pilot", new_name="pilot")


async def links_and_unlinks(masque: Connection) -> None:
    revision = (await masque.call("get_agent_persona", name="pilot"))["revision"]
    for kind, piece in [("trait", "stubborn"), ("guardrail", "speak-plainly"), ("skill", "premortem")]:
        linked = await masque.call(f"add_persona_{kind}", persona="pilot", **{kind: piece}, if_revision=revision)
        assert linked["changed"] and linked["revision"] > revision, f"linking {piece} made no revision: {linked}"
        again = await masque.call(f"add_persona_{kind}", persona="pilot", **{kind: piece})
        same(f"linking {piece} twice", (again["changed"], again["revision"]), (False, linked["revision"]))
        loaded = await masque.call("get_agent_persona", name="pilot")
        assert piece in names(loaded[f"{kind}s"]), f"{piece} is not in {loaded}"
        unlinked = await masque.call(f"remove_persona_{kind}", persona="pilot", **{kind: piece})
        same(f"unlinking {piece}", unlinked["changed"], True)
        gone = await masque.call(f"remove_persona_{kind}", persona="pilot", **{kind: piece})
        same(f"unlinking {piece} twice", gone["changed"], False)
        loaded = await masque.call("get_agent_persona", name="pilot")
        assert piece not in names(loaded[f"{kind}s"]), f"{piece} is still in {loaded}"
        revision = loaded["revision"]
    copied = await masque.call("get_agent_skill", name="premortem")
    same("a builtin that was linked is copied", copied["scope"], "shared")


async def places_parts(masque: Connection) -> None:
    await masque.call("add_persona_part", persona="pilot", part="dry-tone", part_order=-1, priority=7)
    loaded = await masque.call("get_agent_persona", name="pilot")
    same("a part that goes first", names(loaded["parts"])[0], "dry-tone")
    await masque.call("add_persona_part", persona="pilot", part="dry-tone", part_order=99)
    loaded = await masque.call("get_agent_persona", name="pilot")
    last = loaded["parts"][-1]
    same("a part that moved to the end", (last["name"], last["part_order"], last["priority"]), ("dry-tone", 99, 7))
    await masque.call("remove_persona_part", persona="pilot", part="dry-tone")
    copied = await masque.call("add_persona_part", persona="pilot", part="plain-tone")
    contains("what was copied", str(copied["copied"]), "plain-tone")
    await masque.call("remove_persona_part", persona="pilot", part="plain-tone")
    loaded = await masque.call("get_agent_persona", name="pilot")
    same("its parts in the end", names(loaded["parts"]), ["harbour-identity", "dock-goal", "calm-tone"])
