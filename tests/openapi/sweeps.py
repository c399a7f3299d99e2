"""Requests to every operation in the same way; and to a server with minimal limits."""

import http.client
import json
import socket
import time
import uuid

from client import UPGRADE, WAIT, Answer, Events
from scenarios import FEEDS, NIL, SEGMENT

# No master key, and minimal limits.
ALLOWED = [str(uuid.UUID(int=n)) for n in (1, 2, 3)]
REQUESTS = 6
SMALL = f"""
[http]
header_timeout = "100ms"
connections_per_address_max = 1
body_bytes_max = "2MiB"
account_bodies_bytes_max = "1MiB"
[sync]
segment_bytes_max = "1MiB"
snapshot_bytes_max = "1MiB"
open_registration = true
registrations_per_hour = 1
allow_client_ids = {json.dumps(ALLOWED)}
[api]
cors_origins = ["https://board.example"]
account_requests_per_minute = {REQUESTS}
[feed]
retention = "1ms"
account_followers_max = 1
[log]
level = "error"
"""

EXAMPLE = object()


def ask(w, o, wanted, token=None, given=(), body=EXAMPLE, query="", **fields):
    """Sends the document's example request, with `given` parameters."""
    path, own, example = w.document.request_of(o, **dict(given))
    if o.is_feed:
        own.update(UPGRADE)
    body = example if body is EXAMPLE else body
    return w.ask(f"{o.method} {path}{query}", wanted, token, body, **{**own, **fields})


# ---- behaviour common to all operations ----
# Expectations follow from the kind of operation, not from the codes in the document.

def all_alike(w):
    anna, ben = w.anna, w.ben
    rights = {"read": (anna["read"], w.operator), "write": (anna["write"], anna["read"]),
              "admin": (anna["admin"], anna["write"]), "operator": (w.operator, anna["admin"])}
    for o in w.document.operations:
        token, too_little = rights.get(o.scope, (None, None))
        client = {"X-Client-Id": ben["clientId"]} if o.scope == "device" else {}
        ask(w, o, "malformed-request", token, body=None, Transfer_Encoding="gzip", **client)
        ask(w, o, "expectation-failed", token, body=None, Expect="much", **client)
        ask(w, o, "header-too-large", token, body=None, X_Filler="x" * 20_000, **client)
        too_large = 400 if client and o.body else "body-too-large"
        ask(w, o, too_large, token, body=None, Content_Length="300000000", **client)
        if token:
            ask(w, o, "unauthenticated")
            ask(w, o, "invalid-token", "nobody's")
            ask(w, o, "insufficient-scope", too_little)
            wrong_or_missing(w, o, token)
        if token and not o.is_feed:
            ask(w, o, "not-acceptable", token, Accept="text/html")
        if o.takes_message:
            ask(w, o, "unsupported-media-type", token, body=b"x", **{"Content-Type": "text/csv"})
            ask(w, o, "unsupported-media-type", token, body=b"x", **{"Content-Encoding": "gzip"})


def wrong_or_missing(w, o, token):
    missing = {"task-not-found": {"ref": "SYN-99999"}, "unknown-prefix": {"ref": "NONE-1", "prefix": "NONE"},
               "malformed-task-ref": {"ref": "no task"}, "task-deleted": {"ref": w.purged},
               "account-not-found": {"name": "nobody"}, "slot-not-found": {"key": "never-used"},
               "token-not-found": {"id": "99999"}, "device-not-found": {"id": "99999"},
               "webhook-not-found": {"id": "99999"}}
    in_path = {p["name"] for p in o.takes("path")}
    for code, given in missing.items():
        if in_path & given.keys():
            ask(w, o, code if o.has(code) else None, token, {"name": "anna", **given})
    if o.takes_message:
        ask(w, o, "validation-failed", token, {"name": "anna"}, body=b'{"nonsense": 1}')
    elif o.takes("query"):
        ask(w, o, "validation-failed", token, {"name": "anna"}, query="?nonsense=1")
    if any(p["name"] == "If-Match" for p in o.parameters):
        ask(w, o, "precondition-failed", token, {"ref": "SYN-1"}, If_Match='"99999"')
    wanted = "account-opaque" if o.has("account-opaque") else None
    ask(w, o, wanted, w.ben["admin"] if o.is_of_account else token, {"name": "ben", "id": "99999"})


# ---- a server with minimal limits ----

def small_server(w):
    anna = w.account("anna", "SYN")
    w.account("ben", "BEN", mode="opaque", clientId=ALLOWED[2])
    w.ask("POST /v1/devices", "no-master-key", anna["admin"], {"name": "laptop"})
    w.ask("POST /v1/admin/accounts/anna/devices", "no-master-key", w.operator, {"name": "laptop"})
    w.ask("POST /v1/webhooks", "no-master-key", anna["admin"], {"url": "https://board.example"})
    remote = {"url": "https://tasks.example", "clientId": ALLOWED[1], "encryptionSecret": "x"}
    w.ask("POST /v1/admin/accounts", "no-master-key", w.operator, {"name": "far", "prefix": "FAR", "remote": remote})
    w.ask("POST /v1/admin/accounts/ben/manage", "no-master-key", w.operator, {"encryptionSecret": "x"})
    for o in w.document.operations:
        if o.takes_message:  # more than the account's share
            ask(w, o, "overloaded", w.operator if o.scope == "operator" else anna["admin"], body=b" " * (3 << 19))
    registration(w)
    web_pages(w)
    forgotten_changes(w)
    too_many_requests(w)
    too_slow(w)
    too_many_followers_and_the_end(w)


def registration(w):
    for client, wanted in zip(ALLOWED, (200, 429)):
        w.ask(f"POST /v1/client/add-version/{NIL}", wanted, None, b"sealed", X_Client_Id=client, Content_Type=SEGMENT)
    for o in w.document.operations:
        if o.scope == "device":
            ask(w, o, 403, None, {"version": NIL}, **{"X-Client-Id": str(uuid.uuid4())})


def web_pages(w):
    page = {"Origin": "https://board.example"}
    asked = w.api.exchange("OPTIONS", "/v1/tasks", None, {**page, "Access-Control-Request-Method": "POST"})
    w.expect("OPTIONS /v1/tasks: is no preflight's answer",
             asked.status == 204 and "POST" in asked.headers.get("Access-Control-Allow-Methods", ""))
    answer = w.ask("GET /livez", 200, **page)
    w.expect("GET /livez: the page may not read it", answer.headers["Access-Control-Allow-Origin"] == page["Origin"])


def forgotten_changes(w):
    carl = w.account("carl", "CARL")
    w.create(carl["write"])
    w.ask("POST /v1/tasks/CARL-1:complete", 200, carl["write"])
    time.sleep(0.02)  # longer than feed.retention
    w.ask("POST /v1/admin/reaper/sweep", 200, w.operator)
    for path in FEEDS:
        w.ask(f"GET {path}?after=0", "cursor-expired", carl["read"], **UPGRADE)


def too_many_requests(w):
    dora = w.account("dora", "DORA")
    for _ in range(REQUESTS):
        w.ask("GET /v1/account", 200, dora["read"])
    for o in w.document.operations:
        if o.is_of_account:
            ask(w, o, "rate-limited", dora["admin"])


def too_slow(w):
    with socket.create_connection(("127.0.0.1", w.server.port), WAIT) as slow:
        slow.sendall(b"GET /livez HTTP/1.1\r\n")
        response = http.client.HTTPResponse(slow)
        response.begin()
        w.checker.judge("GET", "/livez", {}, None, Answer(response, response.read()))


def too_many_followers_and_the_end(w):
    emil, address = w.account("emil", "EMIL"), {"X-Forwarded-For": "192.0.2.1"}
    stream = Events(w.checker, w.server.port, emil["read"], "?after=now", **address)
    for o in w.document.operations:
        ask(w, o, 503 if o.scope == "device" else "too-many-connections", **address)
        if o.path in FEEDS:
            ask(w, o, "too-many-followers", emil["read"])
    w.server.stop()
    w.expect("stream: another end", stream.next("end").get("code") == "shutting-down")
