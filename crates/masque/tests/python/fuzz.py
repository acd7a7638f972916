"""Runs schemathesis against a server that has `../it/schemathesis/library.toml` and a model that wants to write.

Usage: MASQUE_TOKEN=… MASQUE_REACHED=FILE fuzz.py URL EXAMPLES. Exits with schemathesis's code.
"""

import json
import os
import sys
import time
from pathlib import Path

import requests

# Streams that never end. Their lines are tested with clients of their own.
ENDLESS = ("watch_library", "watch_session")
# They ask for more than the document says: a body that fits its schema may still name what is not there, and what
# one request needs another one may have deleted.
UNUSED_CHECKS = ("positive_data_acceptance", "use_after_free", "ensure_resource_availability",
                 "object_level_authorization")
# schemathesis takes the schema of a stream for that of a whole event; `event_conformance` reads it as meant.
STREAMS = ("send_message", "watch_test", "chat_with_editor")
KINDS = ("persona", "part", "trait", "skill", "guardrail", "arc", "tool_preset", "bias_profile", "context_preset",
         "test_input")
# What the library keeps about an entity.
META = ("scope", "revision", "guid", "created_at", "updated_at")
PATIENCE_S = 30
# Longer than the server lets a request run.
REQUEST_TIMEOUT_S = 70


class Server:
    def __init__(self, url, token):
        self.url = url
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method, path, body=None, **options):
        response = self.http.request(method, self.url + path, json=body, timeout=PATIENCE_S, **options)
        assert response.ok, f"{method} {path}: {response.status_code}"
        return response

    def get(self, path):
        return self.ask("GET", path).json()

    def session(self, message=None):
        """A new session, after the run of its first message ended or waits for permission."""
        session = self.ask("POST", "/api/sessions", {"persona": "sample"}).json()["id"]
        if message:
            # The stream stays open while a call waits.
            body = {"content": message, "approve": "ask", "detached": True}
            self.ask("POST", f"/api/sessions/{session}/messages", body, stream=True).close()
            self.settle(f"/api/sessions/{session}", "status")
        return session

    def entity(self, kind):
        fields = self.get(f"/api/library/{kind}/sample")
        return {field: value for field, value in fields.items() if field not in META}

    def call(self):
        """A session and its call that waits for permission."""
        session = self.session("Write it.")
        [waiting] = self.get(f"/api/sessions/{session}")["approvals"]
        return session, waiting["call_id"]

    def settle(self, path, field):
        deadline = time.monotonic() + PATIENCE_S
        while self.get(path)[field] == "running":
            assert time.monotonic() < deadline, f"{path} still runs"
            time.sleep(0.1)

    def samples(self):
        """One of everything that a request may be about."""
        entities = {kind: self.entity(kind) for kind in KINDS}
        for kind, entity in entities.items():
            for name in ("spare", "changed"):
                self.ask("PUT", f"/api/library/{kind}/{name}", {"entity": {**entity, "name": name}})
        # A comparison is with the version in production.
        for tag in ("kept", "production"):
            self.ask("PUT", f"/api/library/persona/sample/tags/{tag}", {"revision": 1})
        test = self.ask("POST", "/api/tests", {"persona": "sample"}).json()["id"]
        self.settle(f"/api/tests/{test}", "state")
        return {
            "sessions": [self.session("Hello.") for _ in range(2)],
            "spare_sessions": [self.session() for _ in range(3)],
            "tests": [test],
            "calls": [self.call() for _ in range(2)],
            "templates": [item["name"] for item in self.get("/api/templates")["items"]],
            "entities": entities,
        }


def configuration():
    """schemathesis.toml. A check on the command line would count for every operation."""
    lines = [f"checks.{check}.enabled = false" for check in UNUSED_CHECKS]
    for name in STREAMS:
        lines += ["[[operations]]", f'include-operation-id = "{name}"',
                  "checks.response_schema_conformance.enabled = false"]
    return "\n".join(lines)


def main(url, examples):
    token = os.environ["MASQUE_TOKEN"]
    os.environ["MASQUE_SAMPLES"] = json.dumps(Server(url, token).samples())
    os.environ["SCHEMATHESIS_HOOKS"] = "fuzzing"
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    excluded = [word for name in ENDLESS for word in ("--exclude-operation-id", name)]
    arguments = ["run", f"{url}/api/openapi.json", "--header", f"Authorization: Bearer {token}",
                 "--phases", "coverage,fuzzing", "--max-examples", examples, "--generation-deterministic",
                 "--continue-on-failure", "--no-shrink", "--warnings", "off",
                 "--request-timeout", str(REQUEST_TIMEOUT_S), *excluded]
    Path("schemathesis.toml").write_text(configuration())
    python = [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "--no-color"]
    os.execv(sys.executable, [*python, *arguments])


main(*sys.argv[1:])
