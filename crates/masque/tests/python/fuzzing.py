"""Hooks of schemathesis. Most of its requests name what is there, so that they get past 404.

MASQUE_SAMPLES has what is there as JSON: `sessions`, `spare_sessions`, `tests` and `templates` are lists of ids and
names; `calls` has two pairs of a session and its call that waits for permission; `entities` has the definitions, by
kind. MASQUE_REACHED names a file for the ids of the operations that succeeded at least once.
"""

import atexit
import json
import os
import zlib

import jsonschema
import schemathesis
from schemathesis import GenerationMode

SAMPLES = json.loads(os.environ["MASQUE_SAMPLES"])
# These destroy an entity, as DELETE does.
DESTRUCTIVE = ("/rename", "/promote")
# Fields with the name of a piece or a persona.
NAMES = {"arc", "stage", "part", "persona", "personaId", "guardrail", "skill", "trait", "name", "names", "query",
         "tool_preset", "bias_profile", "context_preset", "parts", "traits", "skills", "guardrails", "test_inputs"}
# Requests with a name that must not exist yet, and the target that says so.
CREATING = ("/api/personas", "/api/templates/{template}")
NEW = None
# Texts that must not be empty.
TEXTS = {"message", "content"}
VALUES = {"mode": ["build", "plan"], "revision": [1, "kept"], "from": [1]}
# Optional fields and headers that most values make a request fail.
SELDOM = {"scope", "if_revision", "cursor", "model", "judge", "root", "stage", "types", "kinds", "overrides",
          "extends", "inputs", "a", "b", "samples", "max_calls", "max_cost", "max_tokens", "greeting", "plan",
          "approve", "reject", "If-Match", "If-None-Match", "Idempotency-Key"}
# One of so many generated values stays.
RAW = 8

REACHED = set()


def hashed(value, modulus):
    """A number that depends on the value alone."""
    return zlib.crc32(json.dumps(value, default=str, sort_keys=True).encode()) % modulus


def is_raw(value):
    return hashed(value, RAW) == 0


def pick(value, samples):
    return value if is_raw(value) or not samples else samples[hashed([value], len(samples))]


def named(key, value, target):
    """The value of a field, with the names in it replaced."""
    if isinstance(value, list):
        return [named(key, item, target) for item in value]
    if key == "new_name" or (key == "name" and target == NEW):
        return pick(value, [f"copy-{hashed(value, 1 << 32)}"])
    if key in TEXTS and value == "":
        return "Hello."
    if key in NAMES and target == NEW:
        return pick(value, ["sample"])
    if key in NAMES:
        return pick(value, [target])
    return pick(value, VALUES.get(key))


def definition(kind, generated, target):
    """A valid definition with one field of the generated one."""
    known = SAMPLES["entities"]
    base = dict(known[kind] if isinstance(kind, str) and kind in known else known["part"])
    fields = sorted(base.keys() - {"name"})
    for value in list(generated.values())[:1]:
        base[fields[hashed(value, len(fields))]] = value
    return {**base, "name": target or "sample"}


def path_of(case, target):
    path = case.path_parameters or {}
    sessions = SAMPLES["spare_sessions" if case.method == "DELETE" else "sessions"]
    ids = SAMPLES["tests"] if case.operation.path.startswith("/api/tests") else sessions
    calls = []
    if "call_id" in path:
        # A call can be looked at until it is decided.
        session, call = SAMPLES["calls"][case.method == "GET"]
        ids, calls = [session], [call]
    stage = "spare" if case.operation.path.endswith("/{stage}") and case.method == "DELETE" else "sample"
    lists = {"id": ids, "stage": [stage], "call_id": calls, "tag": ["kept"], "template": SAMPLES["templates"]}
    for key, value in path.items():
        if key != "kind":
            path[key] = pick(value, lists.get(key, [target]))


def fields_of(fields, kind, target):
    for key, value in list(fields.items()):
        if key in SELDOM and not is_raw(value):
            del fields[key]
        elif key == "entity" and isinstance(value, dict):
            fields[key] = value if is_raw(value) else definition(kind, value, target)
        elif key == "pieces" and isinstance(value, list):
            for piece in value:
                if isinstance(piece, dict):
                    fields_of(piece, piece.get("kind"), target)
        elif key == "toml" and isinstance(value, str):
            fields[key] = f'[parts.imported]\npart_type = "tone"\ncontent = {json.dumps(value)}\n'
        else:
            fields[key] = named(key, value, target)


@schemathesis.hook
def map_case(context, case):
    if case.meta and case.meta.generation.mode == GenerationMode.NEGATIVE:
        # Another value could make it valid.
        return case
    path = case.operation.path
    destroys = case.method == "DELETE" or path.endswith(DESTRUCTIVE)
    of_entities = path.startswith(("/api/library/", "/api/conflicts/")) or path == "/api/personas/{name}"
    target = "sample"
    if of_entities and case.method != "GET" and "/tags/" not in path:
        target = "spare" if destroys else "changed"
    path_of(case, target)
    kind = (case.path_parameters or {}).get("kind", "persona")
    if case.method == "POST" and path in CREATING:
        target = NEW
    for fields in (case.query, case.headers, case.body):
        # A body may be anything; a missing one is not a mapping.
        if hasattr(fields, "items"):
            fields_of(fields, kind, target)
    return case


@schemathesis.hook
def after_call(context, case, response):
    if 200 <= response.status_code < 300:
        REACHED.add(case.operation.definition.raw["operationId"])


@schemathesis.check
def event_conformance(context, response, case):
    """Each event of a stream has the documented data. The document gives the schema of the data alone."""
    if response.status_code != 200 or "text/event-stream" not in response.headers["content-type"][0]:
        return
    document = case.operation.schema.raw_schema
    described = case.operation.definition.raw["responses"]["200"]["content"]["text/event-stream"]["schema"]
    validator = jsonschema.Draft202012Validator({**described, "components": document["components"]})
    for line in response.content.decode().splitlines():
        if line.startswith("data: "):
            error = next(validator.iter_errors(json.loads(line.removeprefix("data: "))), None)
            assert error is None, f"{error.message} in {line}"


@atexit.register
def tell():
    with open(os.environ["MASQUE_REACHED"], "w") as file:
        json.dump(sorted(REACHED), file)
