"""Presets and test inputs go through four tools that take every kind; revisions can be asked for."""

from connection import Connection, names, same


async def come_and_go(masque: Connection) -> None:
    listed = await masque.call("list_library", kind="tool_preset")
    same("the builtin tool presets", names(listed["items"]), ["editor", "full", "read_only"])
    kept = await masque.call(
        "save_entity",
        kind="tool_preset",
        name="harbour-tools",
        entity={"description": "Looks, never touches", "categories": {"read": [{"name": "read_file", "approval": "auto"}]}},
        message="for the pilot",
    )
    same("a preset that was saved", (kept["scope"], kept["revision"], kept["changed"]), ("shared", 1, True))
    await masque.refused(
        "save_entity",
        "weight",
        kind="tool_preset",
        name="harbour-tools",
        entity={"categories": {"read": [{"name": "read_file", "weight": 9}]}},
    )
    got = await masque.call("get_entity", kind="tool_preset", name="harbour-tools")
    same("a preset that was read", (got["scope"], got["categories"]["read"][0]["name"]), ("shared", "read_file"))
    again = await masque.call("save_entity", kind="tool_preset", name="harbour-tools", entity={"description": "Looks"})
    same("the second revision", again["revision"], 2)
    first = await masque.call("get_entity", kind="tool_preset", name="harbour-tools", revision=1)
    same("the first one is still there", first["description"], "Looks, never touches")
    await masque.refused("get_entity", "revision", kind="tool_preset", name="harbour-tools", revision="production")
    gone = await masque.call("delete_entity", kind="tool_preset", name="harbour-tools")
    same("a preset that was deleted", (gone["deleted"], gone["scope"]), (True, "shared"))
