"""Scenarios: each operation with each of its successes, and with problems that need a preparation."""

import base64
import hashlib
import hmac
import json
import re
import threading
import time
import uuid

import seal
from client import UPGRADE, WAIT, Client, Events, Socket
from document import PROTOBUF

NIL = str(uuid.UUID(int=0))
SEGMENT = "application/vnd.taskchampion.history-segment"
SNAPSHOT = "application/vnd.taskchampion.snapshot"
FEEDS = ("/v1/changes", "/v1/changes/stream", "/v1/changes/socket")
MARK = "0123456789ab"  # of a version that never existed

MAIN = """
[http]
body_bytes_max = "8MiB"
[feed]
heartbeat = "100ms"
[remote]
poll_interval = "100ms"
retry_min = "10ms"
[accounts]
tokens_max = 4
former_prefixes_max = 1
[webhooks]
account_max = 2
retry_min = "10ms"
allow_addresses = ["127.0.0.0/8"]
[log]
level = "error"
"""
# The server of remote accounts.
FAR = """
[log]
level = "error"
"""


class World:
    """A server with its clients."""

    def __init__(self, checker, server):
        self.checker, self.server, self.document = checker, server, checker.document
        self.api = Client(checker, server.port)
        self.ask, self.expect = self.api.ask, checker.expect
        self.operator = server.operator

    def account(self, name, prefix, **said):
        """Creates an account with tokens of each scope."""
        made = self.ask("POST /v1/admin/accounts", 201, self.operator, {"name": name, "prefix": prefix, **said}).json()
        made["write"] = made["token"]
        for scope in ("read", "admin"):
            path = f"/v1/admin/accounts/{name}/tokens"
            made[scope] = self.ask(f"POST {path}", 201, self.operator, {"name": scope, "scope": scope}).json()["token"]
        return made

    def create(self, token, wanted=201, key=None, **task):
        fields = {"Idempotency-Key": key or str(uuid.uuid4())}
        return self.ask("POST /v1/tasks", wanted, token, {"description": "Say its number", **task}, **fields)


# ---- the server itself ----

def json_alone(node):
    """Returns a part of the document as GET /openapi.json has it."""
    if isinstance(node, list):
        return [json_alone(each) for each in node]
    if not isinstance(node, dict):
        return node
    node = dict(node)
    bodies = node.get("content")
    if isinstance(bodies, dict):
        one = "application/json"
        node["content"] = ({one: bodies[one]} if one in bodies else
                           {name: body for name, body in bodies.items() if name != "application/x-protobuf"})
    return {str(name): json_alone(each) for name, each in node.items()}


def server_itself(w):
    for path in ("/", "/livez", "/readyz", "/metrics", "/v1"):
        w.ask(f"GET {path}", 200)
    again = w.ask("GET /openapi.yaml", 200).body
    w.expect("GET /openapi.yaml: is another document now", again == w.document.text)
    w.expect("GET /openapi.json: is another document",
             json.loads(w.ask("GET /openapi.json", 200).body) == json_alone(w.document.root))
    w.ask("GET /callsign.proto", 200)
    for path in ("/openapi.yaml", "/openapi.json", "/callsign.proto"):
        for coding in ("gzip", "identity"):
            tag = w.ask(f"GET {path}", 200, Accept_Encoding=coding).headers["ETag"]
            w.ask(f"GET {path}", 304, Accept_Encoding=coding, If_None_Match=tag)
    page_for_people(w)
    w.ask("HEAD /livez", 200)
    w.ask("GET /v1/nothing", "no-such-path")
    w.ask("GET /v1/tasks/", "no-such-path")
    allowed = w.ask("PUT /v1/tasks", "method-not-allowed").headers["Allow"]
    w.expect("PUT /v1/tasks: Allow is not what there is", set(allowed.split(", ")) == {"GET", "HEAD", "POST"})
    w.ask("POST /", 404)
    w.ask("PUT /v1/client/snapshot", 404)
    w.ask("GET /v1/client/nothing", 404)


def page_for_people(w):
    page = w.ask("GET /", 200, Accept="text/html,*/*;q=0.8")
    w.expect("GET /SYN-42: is not the page", w.ask("GET /SYN-42", 200).body == page.body)
    named = re.findall(r'(?:href|src)="(assets/[^"]+)"', page.body.decode())
    w.expect("GET /: names no files", len(named) > 2)
    for path in [*named, "SYN-42"]:
        etag = w.ask(f"GET /{path}", 200).headers["ETag"]
        w.ask(f"GET /{path}", 304, If_None_Match=etag)
    w.ask("GET /", 304, Accept="text/html", If_None_Match=page.headers["ETag"])
    w.ask("GET /assets/none/app.js", "no-such-path")
    w.ask("GET /nothing", "no-such-path")


# ---- accounts, tokens, series ----

def accounts(w):
    w.anna = w.account("anna", "SYN")
    w.ben = w.account("ben", "BEN", mode="opaque", clientId=str(uuid.uuid4()))
    w.ask("POST /v1/admin/accounts", "name-taken", w.operator, {"name": "anna", "prefix": "ANN"})
    w.ask("POST /v1/admin/accounts", "client-id-taken", w.operator,
          {"name": "carl", "prefix": "CAR", "mode": "opaque", "clientId": w.ben["clientId"]})
    w.ask("POST /v1/admin/accounts", "validation-failed", w.operator, {"name": "-", "prefix": "x", "mode": "no"})
    page = w.ask("GET /v1/admin/accounts?pageSize=1", 200, w.operator).json()
    w.ask(f"GET /v1/admin/accounts?pageToken={page['nextPageToken']}", 200, w.operator)
    w.ask("GET /v1/admin/accounts?pageToken=x", "validation-failed", w.operator)
    w.ask("GET /v1/account", 200, w.anna["read"])
    w.ask("GET /v1/account", 200, w.ben["read"])
    w.account("dora", "DOR")
    dora = "/v1/admin/accounts/dora"
    w.ask(f"PATCH {dora}", "name-taken", w.operator, {"name": "anna"})
    w.ask(f"PATCH {dora}", "validation-failed", w.operator, {"name": "-"})
    w.ask(f"PATCH {dora}", 200, w.operator, {"disabled": True})
    w.ask(f"DELETE {dora}", 200, w.operator)
    w.ask(f"PATCH {dora}", 200, w.operator, {"disabled": False, "name": "dora-m"})
    w.ask(f"DELETE {dora}", "account-not-found", w.operator)
    w.ask(f"PATCH {dora}", "account-not-found", w.operator, {"disabled": True})
    dora = w.account("dorian", "DOR")
    w.ask("PATCH /v1/admin/accounts/dorian", 200, w.operator, {"disabled": True})
    w.ask("GET /v1/account", "account-disabled", dora["read"])


def tokens(w):
    for path, token in (("/v1/tokens", w.anna["admin"]), ("/v1/admin/accounts/anna/tokens", w.operator)):
        made = w.ask(f"POST {path}", 201, token, {"expiresAt": "2100-01-01T00:00:00Z"}).json()
        w.ask(f"GET {path}", 200, token)
        w.ask(f"POST {path}", "validation-failed", token, {"scope": "all", "expiresAt": "2000-01-01T00:00:00Z"})
        w.ask(f"POST {path}", "too-many-tokens", token, {"scope": "read"})
        revoking = "/v1/tokens" if token == w.anna["admin"] else "/v1/admin/tokens"
        w.ask(f"DELETE {revoking}/{made['tokenId']}", 200, token)
        w.ask("GET /v1/account", "invalid-token", made["token"])
    w.ask("POST /v1/admin/tokens", 201, w.operator, {"name": "deputy"})
    w.ask("POST /v1/admin/tokens", "validation-failed", w.operator, {"scope": "read"})
    w.ask("GET /v1/admin/tokens", 200, w.operator)


def series(w):
    for path, token in (("/v1/series", w.anna["write"]), ("/v1/admin/accounts/anna/series", w.operator)):
        name = "INC" if token == w.operator else "DAY"
        made = {"prefix": name, "reset": "daily", "timeZone": "Europe/Berlin", "project": name}
        w.ask(f"POST {path}", 201, token, made)
        w.ask(f"POST {path}", "prefix-taken", token, {"prefix": name})
        w.ask(f"POST {path}", "project-taken", token, {"prefix": "NEW", "project": name})
        wrong = {"prefix": "x", "reset": "no", "timeZone": "Moon", "next": -1}
        w.ask(f"POST {path}", "validation-failed", token, wrong)
        w.ask(f"GET {path}", 200, token)
        w.ask(f"PATCH {path}/{name.lower()}", 200, token, {"project": None, "next": 8})
        w.ask(f"PATCH {path}/{name}", "prefix-taken", token, {"prefix": "SYN"})
        w.ask(f"PATCH {path}/SYN", 200, token, {"project": "taken"}, Content_Type="application/merge-patch+json")
        w.ask(f"PATCH {path}/{name}", "project-taken", token, {"project": "taken"})
        w.ask(f"PATCH {path}/SYN", "series-in-use", token, {"archived": True})
        w.ask(f"PATCH {path}/SYN", "validation-failed", token, {"prefix": None, "next": 0})
    w.ask("POST /v1/series", 201, w.anna["write"], {"prefix": "OLD"})
    w.ask("PATCH /v1/series/OLD", 200, w.anna["write"], {"archived": True, "prefix": "OLDER"})
    w.ask("PATCH /v1/series/OLD", "too-many-prefixes", w.anna["write"], {"prefix": "OLDEST"})
    w.ask("PATCH /v1/series/OLDER", 200, w.anna["write"], {"prefix": "OLD"})


# ---- backups ----

def backups(w, folder):
    directory = str(folder / "backup")
    w.ask("GET /v1/admin/backups", 200, w.operator)
    w.ask("POST /v1/admin/backups", 201, w.operator, {"directory": directory})
    w.ask("POST /v1/admin/backups", "backup-failed", w.operator, {"directory": directory})
    w.ask("POST /v1/admin/backups", "validation-failed", w.operator, {"directory": "backup"})
    w.ask("POST /v1/admin/backups", "validation-failed", w.operator, {})
    last = w.ask("GET /v1/admin/backups", 200, w.operator).json()["last"]
    w.expect("GET /v1/admin/backups: does not say the last", last["directory"] == directory)
    w.ask("POST /v1/admin/accounts/anna/series/SYN/resume", "series-not-held", w.operator, {})
    return directory


def restored(before, w):
    """`w`: the server restored from the backup, with the tokens of `before`."""
    anna, ben = before.anna, before.ben
    series = w.ask("GET /v1/admin/accounts/anna/series", 200, w.operator).json()["series"]
    w.expect("a restored series is not held", all(s["held"] for s in series))
    w.create(anna["write"], "series-held")
    w.ask("POST /v1/tasks:batchCreate", 200, anna["write"],
          {"items": [{"idempotencyKey": "held", "task": {"description": "One of many"}}]})
    w.ask("POST /v1/keys", "series-held", ben["write"], {"uuid": str(uuid.uuid4())})
    w.ask("POST /v1/admin/accounts/anna/import", "series-held", w.operator,
          {"tasks": [{"uuid": str(uuid.uuid4()), "attributes": {"description": "x"}}]})
    resume = "POST /v1/admin/accounts/anna/series/SYN/resume"
    w.ask(resume, "series-in-use", w.operator, {"at": 1})
    w.ask(resume, "validation-failed", w.operator, {"at": -1})
    w.ask(resume, 200, w.operator, {"at": 5000})
    made = w.create(anna["write"]).json()
    w.expect("a resumed series goes on elsewhere", made["number"] == 5000)


# ---- tasks ----

def creations(w):
    token, task = w.anna["write"], {"prefix": "syn", "project": "Home.Garden", "tags": ["x"], "priority": "H",
                                    "due": "2100-01-01T18:00:00+01:00", "attributes": {"estimate": "3h"},
                                    "annotations": [{"entry": "2026-11-20T12:48:00Z", "description": "a note"}]}
    first = w.create(token, key="k-1", **task)
    again = w.create(token, key='"k-1"', **task)
    w.expect("POST /v1/tasks: a repeat is not the same", first.body == again.body)
    w.expect("POST /v1/tasks: a repeat does not say so", again.headers["Idempotent-Replayed"] == "true")
    w.create(token, "idempotency-key-reused", key="k-1")
    w.create(token, "series-archived", prefix="OLD")
    w.create(token, "validation-failed", prefix="NONE")
    w.create(token, "validation-failed", prefix="-", status="no", due="soon", depends=["x", "SYN-999"], tags=[""],
             uuid=NIL, unknown=1)
    w.create(token, project="DAY", prefix="DAY", depends=["SYN-1"])
    w.ask("POST /v1/tasks", "idempotency-key-missing", token, task)
    w.create(token, "idempotency-key-malformed", key='"k')
    protobuf = {"Content-Type": PROTOBUF, "Idempotency-Key": "k-2"}
    made = w.ask("POST /v1/tasks", 201, token, b"\x0a\x05Bytes", **protobuf)
    w.expect("POST /v1/tasks: answers bytes otherwise", made.form == PROTOBUF)
    w.ask("POST /v1/tasks", 400, token, b"\x0a", **protobuf)
    w.ask("GET /v1/slots/k-1", 200, token)
    w.ask("GET /v1/slots/%20", "idempotency-key-malformed", token)
    w.ask("GET /v1/admin/slots?state=committed&account=anna&pageSize=1", 200, w.operator)
    w.ask("GET /v1/admin/slots?state=lost", "validation-failed", w.operator)
    w.ask("GET /v1/admin/slots?account=nobody", "account-not-found", w.operator)

    items = [{"idempotencyKey": key, "task": {"description": "One of many"}} for key in ("k-1", "k-4")]
    results = w.ask("POST /v1/tasks:batchCreate", 200, token, {"items": items}).json()["results"]
    w.expect("POST /v1/tasks:batchCreate: other outcomes", ["problem" in r for r in results] == [True, False])
    edits = [{"ref": "SYN-1", "task": {"priority": None}}, {"ref": "SYN-1", "ifMatch": '"1"'}, {"ref": "SYN-999"},
             {"ref": "NONE-1"}, {"ref": "?"}]
    results = w.ask("POST /v1/tasks:batchUpdate", 200, token, {"items": edits}).json()["results"]
    w.expect("POST /v1/tasks:batchUpdate: other outcomes", ["problem" in r for r in results] == [False] + [True] * 4)
    for path in ("/v1/tasks:batchCreate", "/v1/tasks:batchUpdate"):
        w.ask(f"POST {path}", "validation-failed", token, {"items": []})


def changes_of_tasks(w):
    token, at = w.anna["write"], "/v1/tasks/SYN-1"
    etag = w.ask(f"GET {at}", 200, token).headers["ETag"]
    w.ask(f"GET {at}", 304, token, If_None_Match=etag)
    w.ask(f"PATCH {at}", 200, token, {"tags": ["said"], "due": None, "attributes": {"estimate": None}}, If_Match=etag,
          Content_Type="application/merge-patch+json")
    wrong = {"description": None, "status": "no", "until": "2000-01-01T00:00:00Z"}
    w.ask(f"PATCH {at}", "validation-failed", token, wrong)
    for verb in ("start", "stop", "complete", "reopen"):
        w.ask(f"POST {at}:{verb}", 200, token)
    note = {"entry": "2026-11-20T12:48:00Z", "description": "Nobody there"}
    w.ask(f"POST {at}:annotate", 200, token, note)
    w.ask(f"POST {at}:denotate", 200, token, note)
    w.ask(f"DELETE {at}", 200, token)
    w.ask(f"DELETE {at}?purge=maybe", "validation-failed", token)
    large = {f"a{n}": "x" * 65_000 for n in range(64)}
    w.create(token, key="large")
    last = w.ask("GET /v1/slots/large", 200, token).json()["receipt"]["key"]
    w.ask(f"PATCH /v1/tasks/{last}", 200, token, {"attributes": large})
    w.ask(f"PATCH /v1/tasks/{last}", "task-too-large", token, {"attributes": {"b": "x" * 65_000}})
    w.ask(f"POST /v1/tasks/{last}:annotate", "task-too-large", token, {"description": "x" * 65_000})
    w.ask(f"DELETE /v1/tasks/{last}?purge=true", 204, token)
    w.purged = last


def lists(w):
    token = w.anna["read"]
    etag = w.ask("GET /v1/tasks?status=pending&status=deleted&pageSize=500", 200, token).headers["ETag"]
    w.ask("GET /v1/tasks?status=pending&status=deleted&pageSize=500", 304, token, If_None_Match=etag)
    w.ask("GET /v1/tasks?project=Home&tag=said&notTag=x&is=ready&prefix=SYN&text=say&changedAfter=1"
          "&dueAfter=2000-01-01T00:00:00Z&endBefore=2100-01-01T00:00:00Z", 200, token)
    for order in ("key", "-urgency"):
        page = w.ask(f"GET /v1/tasks?sort={order}&pageSize=1", 200, token).json()
        w.ask(f"GET /v1/tasks?sort={order}&pageSize=1&pageToken={page['nextPageToken']}", 200, token)
    old = base64.urlsafe_b64decode(page["nextPageToken"] + "==")
    old = base64.urlsafe_b64encode(old[:8] + b"o1-1").decode().rstrip("=")
    w.ask(f"GET /v1/tasks?sort=-urgency&pageToken={old}", "page-token-expired", token)
    w.ask("GET /v1/tasks?sort=size&pageSize=0&status=no&is=no&dueAfter=soon&prefix=-", "validation-failed", token)
    w.ask("GET /v1/tasks?prefix=NONE", "validation-failed", token)


# ---- the feed ----

def feed(w):
    token = w.anna["read"]
    page = w.ask("GET /v1/changes?limit=2", 200, token).json()
    w.ask(f"GET /v1/changes?after={page['cursor']}&limit=1000&wait=1s&status=completed", 200, token)
    w.ask("GET /v1/changes?after=now&wait=1ms", 200, token)
    w.ask("GET /v1/changes?after=x&limit=0&wait=long&is=blocked", "validation-failed", token)
    w.ask("GET /v1/changes/socket", "upgrade-required", token)
    for path in FEEDS:
        w.ask(f"GET {path}?after={MARK}.1", "cursor-unknown", token, **UPGRADE)
    brief = w.ask("POST /v1/tokens", 201, w.anna["admin"], {"scope": "read"}).json()
    followed = (w.checker, w.server.port, brief["token"])
    stream = Events(*followed, "?after=now&status=pending")
    json_socket = Socket(*followed, "callsign.feed.v1+json", "?after=now")
    bytes_socket = Socket(*followed, "callsign.feed.v1+proto")
    w.expect("socket: no bytes", bytes_socket.read())
    w.create(w.anna["write"], key="followed")
    seq = w.ask("GET /v1/slots/followed", 200, token).json()["receipt"]["seq"]
    w.expect("stream: another change", stream.next("change")["seq"] == seq)
    w.expect("socket: another change", json_socket.next("change")["seq"] == seq)
    stream.next("heartbeat")
    json_socket.next("heartbeat")
    w.ask(f"DELETE /v1/tokens/{brief['tokenId']}", 200, w.anna["admin"])
    w.expect("stream: another end", stream.next("end").get("code") == "invalid-token")
    w.expect("socket: another end", json_socket.next("end").get("code") == "invalid-token")


# ---- devices and TaskChampion ----

def devices(w):
    for path, token in (("/v1/devices", w.anna["admin"]), ("/v1/admin/accounts/anna/devices", w.operator)):
        w.device = w.ask(f"POST {path}", 201, token, {"name": "laptop"}).json()
        w.ask(f"POST {path}", "name-taken", token, {"name": "laptop"})
        w.ask(f"POST {path}", "validation-failed", token, {"name": "a b"})
        w.ask(f"GET {path}?pageSize=1", 200, token)
        if token != w.operator:
            w.ask(f"DELETE {path}/{w.device['deviceId']}", 200, token)


def managed_sync(w):
    me = {"X-Client-Id": w.device["clientId"]}
    key, task = seal.derive_key(w.device["encryptionSecret"], me["X-Client-Id"]), str(uuid.uuid4())
    segment = lambda parent: seal.seal_version(key, parent, [
        {"Create": {"uuid": task}}, {"Update": {"uuid": task, "property": "description", "value": "From afar",
                                                "timestamp": "2026-11-20T12:48:00Z"}}])
    adding = {**me, "Content-Type": SEGMENT}
    head = w.ask("GET /v1/client/snapshot", 200, **me).headers["X-Version-Id"]
    w.ask(f"GET /v1/client/get-child-version/{NIL}", 200, **me)
    w.ask(f"GET /v1/client/get-child-version/{head}", 404, **me)
    w.ask(f"POST /v1/client/add-version/{head}", 200, body=segment(head), **adding)
    w.create(w.anna["write"], 200, uuid=task)
    w.ask(f"POST /v1/client/add-version/{head}", 403, body=segment(NIL), **adding)
    w.ask(f"POST /v1/client/add-version/{uuid.uuid4()}", 403, body=segment(head), **adding)
    unknown = str(uuid.uuid4())
    w.ask(f"POST /v1/client/add-version/{unknown}", 410, body=segment(unknown), **adding)
    w.ask(f"POST /v1/client/add-version/{head}", 400, body=seal.seal(key, head, b"no operations"), **adding)
    w.ask(f"POST /v1/client/add-snapshot/{head}", 200, body=b"left alone", **me, Content_Type=SNAPSHOT)
    w.ask(f"DELETE /v1/admin/accounts/anna/devices/{w.device['deviceId']}", 200, w.operator)
    w.ask(f"POST /v1/client/add-version/{head}", 403, body=segment(head), **adding)
    w.ask(f"POST /v1/client/add-snapshot/{head}", 403, body=b"left alone", **me, Content_Type=SNAPSHOT)
    for path in (f"get-child-version/{head}", "snapshot"):
        w.ask(f"GET /v1/client/{path}", 403, **me)


def opaque_sync(w):
    me, nobody = {"X-Client-Id": w.ben["clientId"]}, {"X-Client-Id": str(uuid.uuid4())}
    adding, snapping = {**me, "Content-Type": SEGMENT}, {**me, "Content-Type": SNAPSHOT}
    w.ask("GET /v1/client/snapshot", 404, **me)
    added = w.ask(f"POST /v1/client/add-version/{NIL}", 200, body=b"sealed", **adding).headers["X-Version-Id"]
    w.ask(f"POST /v1/client/add-version/{NIL}", 409, body=b"sealed", **adding)
    w.ask(f"GET /v1/client/get-child-version/{NIL}", 200, **me)
    w.ask(f"GET /v1/client/get-child-version/{added}", 404, **me)
    w.ask(f"GET /v1/client/get-child-version/{uuid.uuid4()}", 410, **me)
    w.ask(f"POST /v1/client/add-snapshot/{added}", 200, body=b"sealed", **snapping)
    w.ask("GET /v1/client/snapshot", 200, **me)
    for path, form in ((f"add-version/{added}", SEGMENT), (f"add-snapshot/{added}", SNAPSHOT)):
        w.ask(f"POST /v1/client/{path}", 400, body=b"", **me, Content_Type=form)
        w.ask(f"POST /v1/client/{path}", 400, body=b"sealed", **me, Content_Type="text/plain")
        w.ask(f"POST /v1/client/{path}", 404, body=b"sealed", **nobody, Content_Type=form)
    for path in (f"get-child-version/{added}", "snapshot"):
        w.ask(f"GET /v1/client/{path}", 404, **nobody)
        w.ask(f"GET /v1/client/{path}", 400)
    w.ask("GET /v1/client/get-child-version/x", 404, **me)


def keys(w):
    task = {"uuid": str(uuid.uuid4()), "project": "Home"}
    first = w.ask("POST /v1/keys", 201, w.ben["write"], task)
    again = w.ask("POST /v1/keys", 201, w.ben["write"], task, Idempotency_Key=f'"{task["uuid"]}"')
    w.expect("POST /v1/keys: a repeat is not the same", first.body == again.body)
    w.expect("POST /v1/keys: a repeat does not say so", again.headers["Idempotent-Replayed"] == "true")
    w.ask("POST /v1/keys", "validation-failed", w.ben["write"], task, Idempotency_Key="another")
    w.ask("POST /v1/keys", "validation-failed", w.ben["write"], {"uuid": NIL})
    w.ask("POST /v1/keys", "validation-failed", w.ben["write"], {"uuid": str(uuid.uuid4()), "prefix": "NONE"})
    w.ask("POST /v1/keys", "account-managed", w.anna["write"], task)
    w.ask("POST /v1/series", 201, w.ben["write"], {"prefix": "GONE"})
    w.ask("PATCH /v1/series/GONE", 200, w.ben["write"], {"archived": True})
    w.ask("POST /v1/keys", "series-archived", w.ben["write"], {"uuid": str(uuid.uuid4()), "prefix": "GONE"})


# ---- imports ----

def histories(w):
    """Imports histories from another server; then converts one account to managed."""
    client, version, secret = str(uuid.uuid4()), str(uuid.uuid4()), "open sesame"
    me, other = {"X-Client-Id": client}, {"X-Client-Id": str(uuid.uuid4())}
    mine, others = {**me, "Content-Type": SEGMENT}, {**other, "Content-Type": SEGMENT}
    versions, snapshots = "/v1/admin/client/versions", "/v1/admin/client/snapshot"
    snapping, taken = {"Content-Type": SNAPSHOT}, "takenAt=2026-11-20T12:48:00Z&versionsSince=0"
    account = w.ask("PUT /v1/admin/client", 200, w.operator, **me).json()["account"]
    manage = f"/v1/admin/accounts/{account}/manage"
    w.ask("PUT /v1/admin/client", "validation-failed", w.operator)
    w.ask(f"POST {manage}", "no-history", w.operator, {"encryptionSecret": secret})
    key, task = seal.derive_key(secret, client), str(uuid.uuid4())
    sealed = seal.seal_version(key, NIL, [{"Create": {"uuid": task}}, {"Update": {
        "uuid": task, "property": "description", "value": "From before", "timestamp": "2026-11-20T12:48:00Z"}}])
    w.ask(f"POST {versions}/{version}?parent={NIL}", 200, w.operator, sealed, **mine)
    w.ask(f"POST {versions}/{version}?parent={NIL}", 200, w.operator, sealed, **mine)
    w.ask(f"POST {versions}/{uuid.uuid4()}?parent={NIL}", "history-differs", w.operator, sealed, **mine)
    w.ask(f"POST {versions}/{version}?parent={NIL}", "client-not-found", w.operator, sealed, **others)
    w.ask(f"POST {versions}/x?parent=x", "validation-failed", w.operator, b"")
    w.ask(f"POST {snapshots}/{version}?{taken}", 200, w.operator, b"sealed", **{**me, **snapping})
    w.ask(f"POST {snapshots}/{uuid.uuid4()}?{taken}", "history-differs", w.operator, b"sealed", **{**me, **snapping})
    w.ask(f"POST {snapshots}/{version}?{taken}", "client-not-found", w.operator, b"sealed", **{**other, **snapping})
    w.ask(f"POST {snapshots}/x?takenAt=x", "validation-failed", w.operator, b"")

    w.ask(f"GET {manage}", 200, w.operator)
    w.ask(f"DELETE {manage}", "no-conversion", w.operator)
    w.ask(f"POST {manage}", "wrong-secret", w.operator, {"encryptionSecret": "open barley"})
    cancel_conversion(w, manage, secret)
    w.ask(f"POST {manage}", 200, w.operator, {"encryptionSecret": secret})
    w.ask(f"POST {manage}", "account-managed", w.operator, {"encryptionSecret": secret})
    w.ask(f"POST {manage}", "validation-failed", w.operator, {})
    reader = w.ask(f"POST /v1/admin/accounts/{account}/tokens", 201, w.operator, {"scope": "admin"}).json()["token"]
    cursor = w.ask("GET /v1/changes", "cursor-expired", reader).json()["cursor"]
    hook = {"url": "https://board.example", "after": "0"}
    w.ask("POST /v1/webhooks", "cursor-expired", reader, hook)
    hook = w.ask("POST /v1/webhooks", 201, reader, {**hook, "after": cursor}).json()["webhookId"]
    w.ask(f"PATCH /v1/webhooks/{hook}", "cursor-expired", reader, {"after": "0"})
    w.ask(f"GET /v1/changes?after={cursor}", 200, reader)
    w.ask("GET /v1/tasks", 200, reader)
    w.ask("PUT /v1/admin/client", 200, w.operator, **me)

    bad = w.ask("PUT /v1/admin/client", 200, w.operator, **other).json()["account"]
    sealed = seal.seal(seal.derive_key(secret, other["X-Client-Id"]), NIL, b"no operations")
    w.ask(f"POST {versions}/{version}?parent={NIL}", 200, w.operator, sealed, **others)
    w.ask(f"POST /v1/admin/accounts/{bad}/manage", "history-unreadable", w.operator, {"encryptionSecret": secret})


def cancel_conversion(w, manage, secret):
    """Key derivation takes long enough for another request."""
    asking = threading.Thread(target=lambda: Client(w.checker, w.server.port).ask(
        f"POST {manage}", "cancelled", w.operator, {"encryptionSecret": secret}))
    asking.start()
    while asking.is_alive() and not w.ask(f"GET {manage}", 200, w.operator).json()["running"]:
        pass
    w.ask(f"DELETE {manage}", 204, w.operator)
    asking.join(WAIT)


def imports(w):
    tasks, numbers = "/v1/admin/accounts/anna/import", "/v1/admin/accounts/anna/numbers"
    task = {"uuid": str(uuid.uuid4()), "attributes": {"description": "From elsewhere", "tag_x": "", "key": "X-1"}}
    w.ask(f"POST {tasks}", 200, w.operator, {"tasks": [task]})
    w.ask(f"POST {tasks}", 200, w.operator, {"tasks": [task]})
    w.ask(f"POST {tasks}", "validation-failed", w.operator, {"tasks": [{"uuid": "x"}]})
    over = {"uuid": str(uuid.uuid4()), "attributes": {"status": "completed", "end": "1000000000", "until": "1000000000"}}
    w.ask(f"POST {tasks}", 200, w.operator, {"tasks": [over]})
    for verb in ("start", "reopen"):
        w.ask(f"POST /v1/tasks/{over['uuid']}:{verb}", "validation-failed", w.anna["write"])
    w.ask(f"POST {tasks}", "task-too-large", w.operator,
          {"tasks": [{"uuid": str(uuid.uuid4()), "attributes": {"x": "x" * (4 << 20)}}]})
    keyed = {"uuid": str(uuid.uuid4()), "attributes": {"key": "NOWHERE-1"}}
    w.ask(f"POST {tasks}", "numbers-rejected", w.operator, {"tasks": [keyed], "withKeys": True})
    w.ask(f"POST {tasks}", 200, w.operator, {"tasks": [], "withKeys": True, "checkOnly": True})
    w.ask(f"POST {tasks}", "validation-failed", w.operator, {"tasks": [task], "checkOnly": True})
    w.ask("POST /v1/series", 201, w.anna["write"], {"prefix": "NUM"})
    row = {"prefix": "NUM", "number": 1, "uuid": str(uuid.uuid4()), "title": "It has one",
           "createdAt": "2026-01-01T00:00:00Z"}
    w.ask(f"POST {numbers}", 200, w.operator, {"rows": [row], "checkOnly": True})
    w.ask(f"POST {numbers}", 200, w.operator, {"rows": [row]})
    others = [{**row, "uuid": str(uuid.uuid4())}, {**row, "prefix": "OLD"}, {**row, "prefix": "NONE"},
              {**row, "number": 9, "uuid": str(uuid.uuid4())}]
    w.ask(f"POST {numbers}", "numbers-rejected", w.operator, {"rows": others})
    w.ask(f"POST {numbers}", "validation-failed", w.operator, {"rows": [{"number": 0}]})


def reaper(w):
    w.ask("POST /v1/admin/reaper/sweep", 200, w.operator)
    w.ask("GET /v1/admin/reaper", 200, w.operator)


# ---- the audit log ----

# All actions; earlier scenarios caused each of them.
ACTIONS = {"account-created", "account-renamed", "account-disabled", "account-enabled", "account-deleted",
           "account-managed", "account-moves", "account-moved-here", "backup-begun", "client-imported",
           "conversion-cancelled", "device-created", "device-revoked", "numbers-imported", "remote-changed",
           "secrets-resealed", "series-changed", "series-created", "swept", "tasks-imported", "token-created",
           "token-revoked", "webhook-changed", "webhook-created", "webhook-removed"}


def audit(w):
    w.ask("POST /v1/admin/master-key/reseal", 200, w.operator)
    w.ask("GET /v1/admin/audit?account=nobody", "account-not-found", w.operator)
    w.ask("GET /v1/admin/audit?pageToken=x", "validation-failed", w.operator)
    entries, token = [], ""
    while True:
        page = w.ask(f"GET /v1/admin/audit?pageSize=50{token}", 200, w.operator).json()
        entries += page["entries"]
        if "nextPageToken" not in page:
            break
        token = f"&pageToken={page['nextPageToken']}"
    seen = {entry["action"] for entry in entries}
    w.expect(f"GET /v1/admin/audit: {sorted(seen ^ ACTIONS)} differ", seen == ACTIONS)
    ids = [int(entry["entryId"]) for entry in entries]
    w.expect("GET /v1/admin/audit: not the latest first", ids == sorted(set(ids), reverse=True))
    w.expect("GET /v1/admin/audit: by nobody", all(entry["client"] == "127.0.0.1" for entry in entries
                                                    if "tokenId" in entry))
    of_anna = w.ask("GET /v1/admin/audit?account=anna", 200, w.operator).json()["entries"]
    w.expect("GET /v1/admin/audit: of others", {entry["account"] for entry in of_anna} == {"anna"})
    w.expect("GET /v1/admin/audit: not what her own token did", any(entry["byAccount"] for entry in of_anna))


# ---- webhooks ----

def webhooks(w, receiver):
    w.ask("POST /v1/changes/tickets", 201, w.anna["read"])
    token, at = w.anna["admin"], "/v1/webhooks"
    secret = base64.b64encode(bytes(range(32))).decode()
    wanted = {"url": receiver.url, "filter": "project=hooked", "secret": f"whsec_{secret}", "after": "now"}
    made = w.ask(f"POST {at}", 201, token, wanted).json()
    w.expect(f"POST {at}: another secret", made["secret"] == wanted["secret"])
    own = f"{at}/{made['webhookId']}"
    for status in (500, 204, 410):
        receiver.statuses.put(status)
    w.create(w.anna["write"], project="hooked")
    first, body = receiver.posts.get(timeout=WAIT)
    again, _ = receiver.posts.get(timeout=WAIT)
    w.expect("webhook: another id when it is tried again", first["webhook-id"] == again["webhook-id"])
    said = w.document.webhooks[0]
    for parameter in said.takes("header"):
        w.checker.matches(f"webhook: {parameter['name']}", parameter["schema"], first[parameter["name"]])
    w.expect("webhook: another form", first["Content-Type"] in said.body["content"])
    signed = f"{first['webhook-id']}.{first['webhook-timestamp']}.".encode() + body
    mac = base64.b64encode(hmac.digest(bytes(range(32)), signed, hashlib.sha256)).decode()
    w.expect("webhook: another signature", first["webhook-signature"] == f"v1,{mac}")
    w.checker.matches("webhook", said.body["content"]["application/json"]["schema"], json.loads(body))
    w.create(w.anna["write"], project="hooked")
    receiver.posts.get(timeout=WAIT)
    until = time.monotonic() + WAIT
    while w.ask(f"GET {own}", 200, token).json()["state"] == "active" and time.monotonic() < until:
        pass
    tried = w.ask(f"GET {own}/deliveries", 200, token).json()["deliveries"]
    w.expect("webhook: other attempts", [each["status"] for each in tried] == [410, 204, 500])
    receiver.statuses.put(204)
    outcome = w.ask(f"POST {own}:test", 200, token).json()
    w.expect("webhook: a test is posted", outcome["delivered"])
    sent, body = receiver.posts.get(timeout=WAIT)
    w.expect("webhook: the test's id", sent["webhook-id"] == outcome["deliveryId"])
    w.checker.matches("webhook test", said.body["content"]["application/json"]["schema"], json.loads(body))
    rotated = w.ask(f"POST {own}:rotateSecret", 200, token, {}, Idempotency_Key="rotation").json()
    again = w.ask(f"POST {own}:rotateSecret", 200, token, {}, Idempotency_Key="rotation").json()
    w.expect("webhook: a retried rotation returns its secret", again["secret"] == rotated["secret"])
    w.ask(f"POST {own}:rotateSecret", "idempotency-key-reused", token, {"secret": wanted["secret"]}, Idempotency_Key="rotation")
    w.ask(f"POST {own}:rotateSecret", "validation-failed", token, {"secret": "x"})
    w.ask(f"PATCH {own}", 200, token, {"filter": None, "url": receiver.url})
    w.ask(f"PATCH {own}", "idempotency-key-malformed", token, {"enabled": False}, Idempotency_Key="\"")
    w.ask(f"PATCH {own}", 200, token, {"enabled": False, "after": made["cursor"]})
    w.ask(f"PATCH {own}", 200, token, {"enabled": True}, Content_Type="application/merge-patch+json")
    w.ask(f"PATCH {own}", "validation-failed", token, {"after": "x"})
    w.ask(f"PATCH {own}", "cursor-unknown", token, {"after": f"{MARK}.1"})
    w.ask(f"POST {at}", "cursor-unknown", token, {**wanted, "after": f"{MARK}.1"})
    wrong = {"url": "http://10.0.0.1/", "filter": "is=blocked&x=1", "secret": "x"}
    w.ask(f"POST {at}", "validation-failed", token, wrong)
    w.ask(f"POST {at}", 201, token, {"url": receiver.url})
    w.ask(f"POST {at}", "too-many-webhooks", token, wanted)
    page = w.ask(f"GET {at}?pageSize=1", 200, token).json()
    w.ask(f"GET {at}?pageToken={page['nextPageToken']}", 200, token)
    w.ask(f"DELETE {own}", 204, token)
