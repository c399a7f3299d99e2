"""Scenarios with remote accounts."""

import threading
import time
import uuid

import seal
from client import WAIT, Client
from scenarios import NIL, SEGMENT

NOWHERE = "http://127.0.0.1:1/"  # no listener


def remotes(w, far):
    """`far`: the remote server with the opaque account."""
    secret, at = "b4a4e6b7b811eda1dc1a2693ded", str(uuid.uuid4())
    far.account("far", "FAR", mode="opaque", clientId=at)
    there = {"url": f"http://127.0.0.1:{far.server.port}/", "clientId": at, "encryptionSecret": secret}
    near, path = w.account("near", "NEAR", remote=there), "/v1/admin/accounts/near"
    made = w.create(near["write"]).json()
    w.ask(f"PATCH /v1/tasks/{made['key']}", 200, near["write"], {"description": "Say it there"})
    until_settled(w, path)
    far.ask(f"GET /v1/client/get-child-version/{NIL}", 200, X_Client_Id=at)
    rejected_connections(w, far, there)
    rejected_of_one_elsewhere(w, near, path)
    w.ask(f"PATCH {path}/remote", 200, w.operator, {"url": there["url"]})
    w.ask(f"PATCH {path}/remote", 200, w.operator, {"encryptionSecret": secret, "insecure": True})
    w.ask(f"PATCH {path}/remote", "wrong-secret", w.operator, {"encryptionSecret": "another"})
    w.ask(f"PATCH {path}/remote", "validation-failed", w.operator, {"url": "nowhere"})
    out_of_reach(w, near, path, there)
    history_lost(w, near, path, there)
    w.ask(f"POST {path}/move", "validation-failed", w.operator, {})
    w.ask(f"POST {path}/move", 200, w.operator, {"here": True})
    shown = w.ask(f"GET {path}", 200, w.operator).json()
    w.expect(f"GET {path}: still elsewhere", "remote" not in shown)
    w.create(near["write"])
    laptop = w.ask(f"POST {path}/devices", 201, w.operator, {"name": "laptop"}).json()
    moves_there(w, far, there, path, laptop)


def moves_there(w, far, there, path, laptop):
    empty = {**there, "clientId": str(uuid.uuid4())}
    far.account("empty", "EMP", mode="opaque", clientId=empty["clientId"])
    for code, wanted in (("has-devices", {"remote": empty}), ("remote-not-empty", {"remote": there}),
                         ("remote-unavailable", {"remote": {**empty, "url": NOWHERE}}),
                         ("wrong-secret", {"remote": {**there, "encryptionSecret": "another"}}),
                         ("validation-failed", {"here": True, "remote": empty}),
                         ("validation-failed", {"remote": {**empty, "clientId": "x"}})):
        w.ask(f"POST {path}/move", code, w.operator, wanted)
    w.ask("POST /v1/admin/accounts/ben/move", "account-opaque", w.operator, {"remote": empty})
    w.ask(f"DELETE {path}/devices/{laptop['deviceId']}", 200, w.operator)
    w.ask(f"POST {path}/move", 200, w.operator, {"remote": empty})
    until(w, "moved there", lambda: not remote_of(w, path)["moving"])
    w.ask(f"POST {path}/move", 200, w.operator, {"remote": empty})
    w.ask(f"POST {path}/move", "account-remote", w.operator, {"remote": there})


def remote_of(w, path):
    return w.ask(f"GET {path}", 200, w.operator).json()["remote"]


def until(w, what, is_so):
    end = time.monotonic() + WAIT
    while not (so := is_so()) and time.monotonic() < end:
        time.sleep(0.05)
    w.expect(f"never {what}", so)


def until_settled(w, path):
    def is_settled():
        now = remote_of(w, path)
        return now["creationsWaiting"] + now["keysWaiting"] == 0 and now.get("state") == "up_to_date"
    until(w, f"up to date: {path}", is_settled)


def rejected_connections(w, far, there):
    wanted = {"name": "other", "prefix": "O"}
    broken = {**there, "clientId": str(uuid.uuid4())}
    far.account("broken", "BRO", mode="opaque", clientId=broken["clientId"])
    break_history(far, broken)
    for code, remote in (("wrong-secret", {**there, "encryptionSecret": "another"}), ("history-unreadable", broken),
                         ("remote-unavailable", {**there, "url": NOWHERE}),
                         ("validation-failed", {**there, "url": "http://192.0.2.1/"}), ("validation-failed", {})):
        w.ask("POST /v1/admin/accounts", code, w.operator, {**wanted, "remote": remote})
    w.ask("POST /v1/admin/accounts", "name-taken", w.operator, {**wanted, "name": "near", "remote": there})
    w.ask("POST /v1/admin/accounts", "client-id-taken", w.operator, {**wanted, "remote": there})
    w.ask("POST /v1/admin/accounts", "validation-failed", w.operator, {**wanted, "mode": "opaque", "remote": there})
    w.ask("PATCH /v1/admin/accounts/anna/remote", "account-local", w.operator, {})
    w.ask("POST /v1/admin/accounts/anna/move", "account-local", w.operator, {"here": True})
    w.ask("GET /v1/admin/accounts/nobody", "account-not-found", w.operator)


def break_history(w, remote):
    """A segment that can be decrypted, but is not what clients write."""
    body = seal.seal(seal.derive_key(remote["encryptionSecret"], remote["clientId"]), NIL, b"no operations")
    w.ask(f"POST /v1/client/add-version/{NIL}", 200, body=body, X_Client_Id=remote["clientId"], Content_Type=SEGMENT)


def rejected_of_one_elsewhere(w, near, path):
    row = {"prefix": "NEAR", "number": 9, "uuid": str(uuid.uuid4()), "title": "x", "createdAt": "2026-01-01T00:00:00Z"}
    w.ask("POST /v1/devices", "account-remote", near["admin"], {"name": "laptop"})
    w.ask(f"POST {path}/devices", "account-remote", w.operator, {"name": "laptop"})
    w.ask(f"POST {path}/import", "account-remote", w.operator, {"tasks": []})
    w.ask(f"POST {path}/numbers", "account-remote", w.operator, {"rows": [row]})
    w.ask(f"POST {path}/manage", "account-managed", w.operator, {"encryptionSecret": "x"})
    w.create(near["write"], "task-too-large", attributes={f"x{n}": "x" * (1 << 16) for n in range(65)})


def out_of_reach(w, near, path, there):
    """A creation waits for the remote server, and completes once that is reachable again."""
    w.ask(f"PATCH {path}/remote", "remote-unavailable", w.operator, {"url": NOWHERE, **secret_of(there)})
    w.ask(f"PATCH {path}/remote", 200, w.operator, {"url": NOWHERE})
    body, fields = {"description": "It waits"}, {"Idempotency-Key": "waits"}
    asking = threading.Thread(target=lambda: Client(w.checker, w.server.port).ask(
        "POST /v1/tasks", 201, near["write"], body, **fields))
    asking.start()
    until(w, "in flight", lambda: any(w.ask("GET /v1/admin/slots?state=in_flight&account=near", 200,
                                            w.operator).json()["slots"]))
    slot = w.ask("GET /v1/slots/waits", 200, near["read"]).json()
    w.expect("GET /v1/slots/waits: not in flight", slot["state"] == "in_flight")
    until(w, "waiting", lambda: remote_of(w, path).get("state") == "waiting")
    now = remote_of(w, path)
    w.expect(f"GET {path}: no error, or nothing waits",
             now.get("lastError") and now["creationsWaiting"] == 1 and "oldestWaiting" in now)
    waiting = w.ask("GET /v1/admin/reaper", 200, w.operator).json()["inFlight"]
    w.expect("GET /v1/admin/reaper: others are in flight", [(each["account"], each["creations"]) for each in waiting]
             == [("near", 1)])
    w.ask(f"POST {path}/move", "remote-unavailable", w.operator, {"here": True})
    w.ask(f"PATCH {path}/remote", 200, w.operator, {"url": there["url"]})
    asking.join(WAIT)
    until_settled(w, path)


def history_lost(w, near, path, there):
    """This server knows the client ID, too, but has no history, as after a complete loss."""
    w.account("lost", "LOST", mode="opaque", clientId=there["clientId"])
    emptied = f"http://127.0.0.1:{w.server.port}/"
    w.ask(f"PATCH {path}/remote", 200, w.operator, {"url": emptied})
    until(w, "halted", lambda: remote_of(w, path).get("halted") == "history-lost")
    w.create(near["write"], "remote-halted")
    for o in w.document.operations:
        if "{ref}" in o.path and o.scope == "write":
            target, fields, body = w.document.request_of(o, ref="NEAR-1")
            w.ask(f"{o.method} {target}", "remote-unavailable", near["write"], body, **fields)
    for verb, item, code in (
            ("batchCreate", {"idempotencyKey": "one", "task": {"description": "One of many"}}, "remote-halted"),
            ("batchUpdate", {"ref": "NEAR-1", "task": {"priority": "H"}}, "remote-unavailable")):
        result = w.ask(f"POST /v1/tasks:{verb}", 200, near["write"], {"items": [item]}).json()["results"][0]
        w.expect(f"POST /v1/tasks:{verb}: is not {code}", result["problem"]["code"] == code)
    w.ask("GET /v1/tasks/NEAR-1", 200, near["read"])
    w.ask(f"POST {path}/move", "remote-unavailable", w.operator, {"here": True})
    w.ask(f"PATCH {path}/remote", "remote-history-lost", w.operator, {})
    break_history(w, there)
    w.ask(f"PATCH {path}/remote", "history-unreadable", w.operator, {"acceptLoss": True, **secret_of(there)})
    w.ask(f"PATCH {path}/remote", 200, w.operator, {"acceptLoss": True, "url": there["url"]})
    until_settled(w, path)


def secret_of(there):
    return {"encryptionSecret": there["encryptionSecret"]}
