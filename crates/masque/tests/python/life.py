"""Leads a persona through a whole life with the official MCP SDK, a client that nobody here wrote.

    life.py --era legacy|modern (--stdio PROGRAM --db DATABASE | --http URL)

Each step prints its name before it begins, so that a failure stands below the name of its step.
"""

import argparse
import logging
import sys
import traceback
import warnings

import anyio
import arcs
import authoring
import ending
import finding
import loading
import meeting
import menus
import mistakes
import presets
from connection import ERAS, Place, connect, same
from mcp import MCPDeprecationWarning

STEPS = [
    meeting.introduces_itself,
    meeting.lists_every_tool,
    authoring.makes_pieces,
    authoring.changes_pieces,
    authoring.makes_a_persona_at_once,
    authoring.writes_all_or_nothing,
    authoring.changes_a_persona,
    authoring.links_and_unlinks,
    authoring.places_parts,
    loading.loads_two_views,
    loading.exchanges_parts,
    loading.keeps_to_a_budget,
    loading.compiles,
    loading.shows_a_manifest,
    arcs.makes_an_arc,
    arcs.goes_through_it,
    arcs.comes_out_of_it,
    finding.lists,
    finding.turns_pages,
    finding.searches,
    finding.completes,
    menus.offers_prompts,
    menus.offers_resources,
    menus.tells_what_changed,
    menus.offers_skills,
    presets.come_and_go,
    mistakes.are_answered_with_advice,
    mistakes.are_protocol_errors_only_for_unknown_tools,
    mistakes.leave_the_server_well,
    ending.deletes_what_is_used_only_by_force,
    ending.deletes_arcs_and_personas,
    ending.gives_builtins_back,
]


async def live(place: Place, era: str) -> None:
    async with connect(place, era) as masque:
        for step in STEPS:
            say(step)
            await step(masque)
        # Tests of personas need a model; other tests call them over MCP.
        untried = {"test_persona", "compare_persona"}
        same("tools that were never called", set(masque.tools) - masque.called, untried)
    say(meeting.offers_fewer_tools)
    await meeting.offers_fewer_tools(place, era)
    if era == "modern":
        say(meeting.needs_no_greeting)
        await meeting.needs_no_greeting(place)
    print(f"lived a whole life in the {era} era")


def say(step: object) -> None:
    print(f"{step.__module__}: {step.__name__.replace('_', ' ')}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--era", choices=ERAS, required=True)
    parser.add_argument("--stdio", metavar="PROGRAM")
    parser.add_argument("--db", metavar="DATABASE")
    parser.add_argument("--http", metavar="URL")
    given = parser.parse_args()
    if (given.http is None) == (given.stdio is None or given.db is None):
        parser.error("give either --stdio and --db, or --http")
    # The older era is exactly what is deprecated, and exactly what is tested.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    logging.getLogger("mcp.client.streamable_http").addFilter(is_no_closing_noise)
    try:
        anyio.run(live, Place(given.stdio, given.db, given.http), given.era)
    except BaseExceptionGroup as group:
        # The SDK's task groups wrap what went wrong; only that is of interest.
        for error in leaves(group):
            traceback.print_exception(error)
        sys.exit(1)


def is_no_closing_noise(record: logging.LogRecord) -> bool:
    """News that arrive while the SDK closes find its own streams gone, of which it complains."""
    return record.exc_info is None or not isinstance(record.exc_info[1], anyio.BrokenResourceError)


def leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [error]


if __name__ == "__main__":
    main()
