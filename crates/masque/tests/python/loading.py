"""A persona is loaded: short or in full, with other parts, within a budget, compiled, by manifest."""

from connection import Connection, contains, names, same
from meeting import ALL_HINTS


async def loads_two_views(masque: Connection) -> None:
    short = await masque.call("get_agent_persona", name="pilot")
    same("the summary", short["summary"], "The harbour's pilot.")
    for field in ("detail", "system_prompt", "compiled_summary", "compiled_stale", "budget"):
        assert field not in short, f"{field} is in the summary view: {short}"
    identity, _, tone = short["parts"]
    same("a part's own summary", identity["summary"], "You are a harbour pilot.")
    same("a part without a summary is whole", tone["content"], "Speak calmly. Always.")
    same("a part's content in the summary view", "content" in identity, False)
    same("a trait", short["traits"][0]["description"], "Sees the weather turn")
    same("a guardrail", short["guardrails"][0]["description"], "Never enter at night")

    full = await masque.call("get_agent_persona", name="pilot", detail=True)
    same("the detail", full["detail"], "Olsen has never lost a ship.")
    same("the system prompt", full["system_prompt"], "You bring ships into the harbour.")
    contains("a part's content", full["parts"][0]["content"], "thirty years")
    same("a trait's instruction", full["traits"][0]["instruction"], "Name the next risk before you answer.")
    same("a skill's content", full["skills"][0]["content"], "Find the depth first, then the tide.")
    same("a guardrail's severity", full["guardrails"][0]["severity"], "critical")


async def exchanges_parts(masque: Connection) -> None:
    plain = await masque.call("get_agent_persona", name="pilot")
    overrides = {"tone": "dry-tone", "protocol": "storm-protocol"}
    loaded = await masque.call("get_agent_persona", name="pilot", overrides=overrides)
    same(
        "with two overrides, one of a type that it has not",
        [(part["name"], part["from"]) for part in loaded["parts"]],
        [("harbour-identity", "own"), ("dock-goal", "own"), ("dry-tone", "override"), ("storm-protocol", "override")],
    )
    same("afterwards nothing is different", await masque.call("get_agent_persona", name="pilot"), plain)
    await masque.refused(
        "get_agent_persona", "overrides.tone", "dry-tone", name="pilot", overrides={"tone": "dry-tune"}
    )
    await masque.refused("get_agent_persona", "dry-tone", "tone", name="pilot", overrides={"goal": "dry-tone"})


async def keeps_to_a_budget(masque: Connection) -> None:
    some = await masque.call("get_agent_persona", name="pilot", types=["tone", "goal"])
    same("two types", names(some["parts"]), ["dock-goal", "calm-tone"])
    two = await masque.call("get_agent_persona", name="pilot", limit=2)
    same("the two most important parts", names(two["parts"]), ["dock-goal", "calm-tone"])
    same("what they leave out", list(two["budget"]["left_out"]["part"]), ["harbour-identity"])
    none = await masque.call("get_agent_persona", name="pilot", limit=0)
    same("no part at all", none["parts"], [])
    kept = await masque.call("get_agent_persona", name="pilot", limit=1, overrides={"tone": "dry-tone"})
    same("an override is always kept", names(kept["parts"]), ["dry-tone"])

    roomy = await masque.call("get_agent_persona", name="pilot", detail=True, max_tokens=100_000)
    budget = roomy["budget"]
    same("with room for all", ("left_out" in budget, budget["over_budget"]), (False, False))
    assert budget["tokens"] > 50 and budget["tokenizer"], f"nothing was counted: {budget}"
    tight = await masque.call("get_agent_persona", name="pilot", detail=True, max_tokens=budget["tokens"] - 20)
    cut = tight["budget"].keys() & {"left_out", "shortened"}
    assert cut, f"nothing was left out: {tight['budget']}"
    assert tight["budget"]["tokens"] <= budget["tokens"] - 20, f"it does not fit: {tight['budget']}"
    same("guardrails are never dropped", tight["guardrails"], roomy["guardrails"])
    tiny = await masque.call("get_agent_persona", name="pilot", detail=True, max_tokens=1)
    same("what cannot fit says so", tiny["budget"]["over_budget"], True)
    same("and keeps its guardrails", tiny["guardrails"], roomy["guardrails"])


async def compiles(masque: Connection) -> None:
    text = await masque.call("compile_persona", name="pilot")
    assert "compiled_summary" not in text, f"nobody asked for both texts: {text}"
    text = await masque.call("compile_persona", name="pilot", both=True)
    summaries = ["The harbour's pilot.", "You are a harbour pilot.", "Speak calmly. Always."]
    contains("the short text", text["compiled_summary"], *summaries)
    order = ["You bring ships", "thirty years", "without a scratch", "Speak calmly. Always.", "next risk", "dusk"]
    contains("the full text", text["compiled_detail"], *order)
    places = [text["compiled_detail"].index(words) for words in order]
    same("the order of the full text", places, sorted(places))

    loaded = await masque.call("get_agent_persona", name="pilot")
    same("the short text, with a plain load", loaded["compiled_summary"], text["compiled_summary"])
    same("and that it is fresh", loaded["compiled_stale"], False)
    full = await masque.call("get_agent_persona", name="pilot", detail=True)
    same("the full text, with a detailed load", full["compiled_detail"], text["compiled_detail"])
    other = await masque.call("get_agent_persona", name="pilot", overrides={"tone": "dry-tone"})
    assert "compiled_summary" not in other, f"a load with overrides has compiled text: {other}"

    await masque.call("update_agent_part", name="calm-tone", content="Speak softly. Always.")
    stale = await masque.call("get_agent_persona", name="pilot")
    same("after a part changed", stale["compiled_stale"], True)
    same("the old text is still there", stale["compiled_summary"], text["compiled_summary"])
    alone = await masque.call("get_agent_persona", name="pilot", compiled=True)
    same("the text alone", set(alone), {"name", "scope", "revision", "compiled_detail"})
    contains("it is brought up to date", alone["compiled_detail"], "Speak softly.")
    short = await masque.call("get_agent_persona", name="pilot", compiled=True, detail=False)
    same("the short text alone", set(short), {"name", "scope", "revision", "compiled_summary"})
    fresh = await masque.call("get_agent_persona", name="pilot")
    same("then it is fresh again", fresh["compiled_stale"], False)
    one = await masque.call("get_agent_persona", name="pilot", compiled=True, limit=1, max_tokens=2000)
    assert "Speak softly." not in one["compiled_detail"], f"one part is more important: {one}"
    assert one["budget"]["tokens"] <= 2000 and not one["budget"]["over_budget"], f"it fits: {one}"


async def shows_a_manifest(masque: Connection) -> None:
    manifest = await masque.call("get_persona_manifest", name="pilot")
    same(
        "its parts",
        [(part["name"], part["type"], part.get("description")) for part in manifest["parts"]],
        [
            ("harbour-identity", "identity", "Who brings ships in"),
            ("dock-goal", "goal", None),
            ("calm-tone", "tone", None),
        ],
    )
    same("its traits", names(manifest["traits"]), ["watchful", "patient-waiter"])
    same("its skills", names(manifest["skills"]), ["Read_Charts", "tie-knots"])
    same("its guardrails", names(manifest["guardrails"]), ["no-night-entry", "log-all"])
    same("its hints", set(manifest["on_demand_tools"]), ALL_HINTS)
    for secret in ("thirty years", "next risk", "depth first", "dusk", "bring ships into"):
        assert secret not in str(manifest), f"the manifest has contents: {secret!r} in {manifest}"
    # Every hint names a tool that answers.
    for hint in manifest["on_demand_tools"]:
        tool = hint.split("(")[0]
        first = {"get_agent_part": "parts", "get_agent_trait": "traits", "get_agent_skill": "skills"}
        kind = first.get(tool, "guardrails")
        await masque.call(tool, name="pilot" if tool == "get_agent_persona" else manifest[kind][0]["name"])
