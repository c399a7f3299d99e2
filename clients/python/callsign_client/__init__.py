"""A client of a Callsign server: notes changes durably, sends each exactly once, and keeps a copy of the account's
tasks up to date. Standard library only.

Two rules make it safe to stop a program at any instant:
  1. A change is in the storage before add(), edit() ... return, with its idempotency key.
  2. It leaves the storage only when its outcome is there.
So a request may be sent twice; its key makes that harmless.
"""

import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import pathlib
import random
import socket
import sqlite3
import threading
import time
import urllib.parse
import uuid

__all__ = ["Client", "FileStorage", "MemoryStorage", "Problem", "Server", "Unavailable", "verify_webhook"]

BATCH_MAX = 500  # creations in one request
PAUSE_FIRST, PAUSE_LONGEST = 0.1, 60.0  # seconds; exponential back-off
ANSWER_TIMEOUT = 70.0  # a long poll takes up to 55 s
SILENCE_MAX = 60.0  # a stream without an event for this long is dead
SILENT_STREAMS_MAX = 2  # then a proxy holds them back: polls instead
STATUSES = ["pending", "completed", "deleted", "recurring"]
# Rejections that a change did not cause: of the token, the address, the account.
UNRELATED = {"no-such-path", "account-opaque", "account-disabled"}


class Problem(Exception):
    """The server's rejection of a request (RFC 9457). `code` does not change between versions."""

    def __init__(self, body):
        super().__init__(_words(body))
        self.body, self.status, self.code = body, body.get("status", 0), body.get("code", "")
        self.title, self.errors = body.get("title", ""), body.get("errors", [])


class Unavailable(Exception):
    """No answer, or a temporary one: nothing is lost; try again later, after `retry_in` seconds."""

    def __init__(self, why, retry_in=0.0):
        super().__init__(why)
        self.retry_in = retry_in


# ---- storages ----
#
# load(prefix): keys with this prefix, in the order of the keys, and their JSON values. write(changes): sets values (None:
# removes the key) in this order, together or one after the other, durable on return. Called by several threads.

class MemoryStorage:
    """Keeps everything until the program ends."""

    def __init__(self):
        self._all = {}

    def load(self, prefix):
        return [(key, json.loads(self._all[key])) for key in sorted(self._all) if key.startswith(prefix)]

    def write(self, changes):
        for key, value in changes:
            if value is None:
                self._all.pop(key, None)
            else:
                self._all[key] = json.dumps(value)


class FileStorage:
    """Keeps everything in a file (SQLite), created if it does not exist. One process at a time."""

    def __init__(self, file):
        pathlib.Path(file).touch(mode=0o600)
        self._lock = threading.Lock()
        self._file = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA synchronous = EXTRA")
        self._file.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")

    def load(self, prefix):
        with self._lock:
            rows = self._file.execute("SELECT key, value FROM kept WHERE key >= ? AND key < ? ORDER BY key",
                                      (prefix, prefix + "\U0010ffff")).fetchall()
        return [(key, json.loads(value)) for key, value in rows]

    def write(self, changes):
        with self._lock:
            self._file.execute("BEGIN IMMEDIATE")
            try:
                for key, value in changes:
                    if value is None:
                        self._file.execute("DELETE FROM kept WHERE key = ?", (key,))
                    else:
                        self._file.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (key, json.dumps(value)))
                self._file.execute("COMMIT")
            except BaseException:
                self._file.execute("ROLLBACK")
                raise

    def close(self):
        self._file.close()


# ---- requests ----

def _words(body):
    errors = [f"{each.get('field', '')}: {each['detail']}" for each in body.get("errors", [])]
    return " ".join(errors) or body.get("detail") or body.get("title") or "no reason given"


def _pause_after(attempt, at_least):
    """Exponential back-off with jitter: clients that failed together do not retry together."""
    usual = PAUSE_FIRST * 2 ** min(attempt, 10) * random.uniform(0.5, 1)
    return min(at_least + usual, PAUSE_LONGEST)


def _is_passing(problem):
    """Whether the request did not cause it: the same one is sent again."""
    status = problem.get("status", 0)
    return status >= 500 or status in (408, 429) or problem.get("code") == "request-in-progress"


def _is_brief(problem):
    """Whether it passes by itself; otherwise a person must act first."""
    return problem.get("retryable", True)


def _is_denied(problem):
    """Whether another change would be rejected, too."""
    return problem.status in (401, 403) or problem.code in UNRELATED


def _wait_of(response):
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else 0.0


class Server:
    """Sends requests of one account. `attempts`: of a request before Unavailable."""

    def __init__(self, url, token, attempts=6):
        self.url, self.attempts = urllib.parse.urlsplit(url), attempts
        if self.url.scheme not in ("http", "https") or not self.url.hostname:
            raise ValueError(f"{url} is not the URL of a server")
        self._port, self._token = self.url.port, token.strip()

    @contextlib.contextmanager
    def send(self, method, path, body=None, headers=None, timeout=ANSWER_TIMEOUT):
        """Gives the connection of a request whose response is still to be read. OSError, HTTPException: there is none."""
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        fields = {"Authorization": "Bearer " + self._token, **(headers or {})}
        if body is not None:
            fields["Content-Type"] = "application/json"
            body = json.dumps(body).encode()
        with contextlib.closing(kind(self.url.hostname, self._port, timeout=timeout)) as connection:
            connection.request(method, self.url.path.rstrip("/") + path, body, fields)
            yield connection

    def ask(self, method, path, body=None, headers=None, listen=None):
        """Returns the answer to a request that may be repeated: a read, or a write with a key. Raises Problem and
        Unavailable. `listen`: gets the socket, to end a wait; then there is one attempt."""
        attempts = 1 if listen else self.attempts
        for attempt in range(attempts):
            answer, problem, wait = self._ask_once(method, path, body, headers, listen)
            if problem is None:
                return answer
            if not _is_passing(problem):
                raise Problem(problem)
            if attempt + 1 == attempts or not _is_brief(problem):
                break
            time.sleep(_pause_after(attempt, wait))
        raise Unavailable(f"The server is temporarily unavailable: {_words(problem)}", wait)

    def _ask_once(self, method, path, body, headers, listen):
        """Answers of proxies and other programs count as no answer."""
        try:
            with self.send(method, path, body, headers) as connection:
                if listen:
                    listen(connection.sock)
                response = connection.getresponse()
                text = response.read()
                answer = json.loads(text) if response.status != 204 else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = str(error) or type(error).__name__
            return None, {"status": 503, "detail": f"no answer from Callsign ({why})"}, 0.0
        if 200 <= response.status < 300:
            return answer, None, 0.0
        if not isinstance(answer, dict) or "code" not in answer:
            return None, {"status": 503, "detail": f"no answer from Callsign (status {response.status})"}, 0.0
        return None, {"status": response.status, **answer}, _wait_of(response)


def _events(lines):
    """The part of the server-sent events format that the server uses."""
    kind = data = ""
    for line in lines:
        field, _, value = line.decode().rstrip("\r\n").partition(": ")
        if field == "event":
            kind = value
        elif field == "data":
            data = value
        elif not field and data:  # an empty line completes the event
            yield kind, json.loads(data)
            kind = data = ""


# ---- the client ----

def _patch_of(edit, task):
    """The patch replaces the whole list of tags."""
    if not edit["addTags"] and not edit["removeTags"]:
        return edit["set"]
    tags = dict.fromkeys(task.get("tags", []) + edit["addTags"])
    return {**edit["set"], "tags": [tag for tag in tags if tag not in edit["removeTags"]]}


class Client:
    """One account's tasks. Open one client for each storage at a time. Members may be called by any thread.

    tasks: the server's, by UUID. outbox: noted changes without an outcome, the oldest first. rejected: changes that the
    server rejected, each with its `problem`. on_change: called with each change of the account's tasks, own ones
    included. on_state: called with Unavailable when the server is not available, and with None when it is again.
    """

    def __init__(self, url, token, storage=None, attempts=6):
        self._server, self._storage = Server(url, token, attempts), storage or MemoryStorage()
        self.on_change = self.on_state = lambda _: None
        self.outbox = [entry for _, entry in self._storage.load("outbox/")]
        self.rejected = [entry for _, entry in self._storage.load("rejected/")]
        self.tasks = {task["uuid"]: task for _, task in self._storage.load("task/")}
        self._cursor = next((value for _, value in self._storage.load("cursor")), None)
        self._last = max((int(entry["id"][:15]) for entry in self.outbox), default=0)
        self._state, self._syncing = threading.RLock(), threading.Lock()
        self._noted = threading.Event()  # there is something to send
        self._silent = 0  # streams in a row in which nothing came

    # ---- noting changes; each is durable on return ----

    def add(self, description, **fields):
        """Returns the new task's UUID. `fields`: of CreateTask (docs/api.md)."""
        task = {"uuid": str(uuid.uuid4()), "entry": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **fields,
                "description": description}
        self._note(op="create", uuid=task["uuid"], task=task)
        return task["uuid"]

    def edit(self, uuid_, set_=None, add_tags=(), remove_tags=()):
        """`set_`: a merge patch (RFC 7396); None removes a field. Tags that others add or remove stay so."""
        self._note(op="edit", uuid=uuid_,
                   edit={"set": set_ or {}, "addTags": list(add_tags), "removeTags": list(remove_tags)})

    def complete(self, uuid_):
        self._note(op="complete", uuid=uuid_)

    def reopen(self, uuid_):
        self._note(op="reopen", uuid=uuid_)

    def start(self, uuid_):
        self._note(op="start", uuid=uuid_)

    def stop(self, uuid_):
        self._note(op="stop", uuid=uuid_)

    def annotate(self, uuid_, description):
        self._note(op="annotate", uuid=uuid_, body={"description": description})

    def remove(self, uuid_):
        """Sets the status `deleted`."""
        self._note(op="delete", uuid=uuid_)

    def _note(self, **change):
        with self._state:
            self._last = max(int(time.time() * 1000), self._last + 1)  # in order, even if the clock was set back
            entry = {"id": f"{self._last:015}-{uuid.uuid4()}", "key": str(uuid.uuid4()), **change}
            self._storage.write([("outbox/" + entry["id"], entry)])
            self.outbox.append(entry)
        self._noted.set()

    def view(self):
        """The tasks as the user sees them: the server's, with the noted changes."""
        with self._state:
            every, entries = dict(self.tasks), list(self.outbox)
        for entry in entries:
            now = every.get(entry["uuid"])
            if entry["op"] == "create":
                every.setdefault(entry["uuid"], {"status": "pending", **entry["task"]})
            elif now:
                status = {"complete": "completed", "reopen": "pending", "delete": "deleted"}.get(entry["op"])
                patch = _patch_of(entry["edit"], now) if "edit" in entry else {"status": status} if status else {}
                every[entry["uuid"]] = {k: v for k, v in {**now, **patch}.items() if v is not None}
        return every

    def retry(self, id_, change=lambda entry: None):
        """Sends a rejected change again, after `change` has edited it."""
        with self._state:
            entry = next(each for each in self.rejected if each["id"] == id_)
            again = {k: v for k, v in entry.items() if k not in ("problem", "sent")} | {"key": str(uuid.uuid4())}
            change(again)
            self._storage.write([("outbox/" + id_, again), ("rejected/" + id_, None)])
            self.rejected.remove(entry)
            self.outbox = sorted([*self.outbox, again], key=lambda each: each["id"])
        self._noted.set()

    def discard(self, id_):
        """Forgets a rejected change."""
        with self._state:
            self._storage.write([("rejected/" + id_, None)])
            self.rejected = [entry for entry in self.rejected if entry["id"] != id_]

    # ---- syncing ----

    def sync(self):
        """Sends what was noted and reads all changes. Raises Unavailable if something was left over, and Problem if the
        server denies access."""
        with self._syncing:
            self._noted.clear()
            with self._state:
                entries = list(self.outbox)
            creations = [entry for entry in entries if entry["op"] == "create"]
            made = self._send_creations(creations)
            waiting = {entry["uuid"] for entry in creations if entry in self.outbox and entry not in made}
            for entry in entries:
                if entry["op"] != "create" and entry["uuid"] not in waiting:
                    self._send_change(entry)
            self._read_feed()
            self._settle(made)  # only now does the storage have their tasks
            if waiting:
                raise Unavailable("Some tasks were not created yet; they are sent again.")

    def _send_creations(self, entries):
        """Returns the entries whose tasks exist."""
        made = []
        for attempt in range(self._server.attempts):
            if not entries:
                break
            if attempt:
                time.sleep(_pause_after(attempt, 0))
            batches = [entries[i:i + BATCH_MAX] for i in range(0, len(entries), BATCH_MAX)]
            entries = [again for batch in batches for again in self._send_batch(batch, made)]
        return made

    def _send_batch(self, batch, made):
        """Returns the entries that have to be sent again."""
        items = [{"idempotencyKey": entry["key"], "task": entry["task"]} for entry in batch]
        try:
            results = self._server.ask("POST", "/v1/tasks:batchCreate", {"items": items})["results"]
        except Problem as problem:
            if _is_denied(problem):
                raise
            if len(batch) > 1:  # too large, or one item is invalid
                half = len(batch) // 2
                return self._send_batch(batch[:half], made) + self._send_batch(batch[half:], made)
            results = [{"problem": problem.body}]
        again = []
        for entry, result in zip(batch, results, strict=True):
            problem = result.get("problem")
            if problem is None:
                made.append(entry)
            elif _is_passing(problem):
                if _is_brief(problem):
                    again.append(entry)
            elif problem["code"] == "slot-failed":  # definite: only now is a new key allowed
                entry["key"] = str(uuid.uuid4())
                self._storage.write([("outbox/" + entry["id"], entry)])
                again.append(entry)
            else:
                self._set_aside(entry, problem)
        return again

    def _send_change(self, entry):
        try:
            now = self._send_once(entry)
        except Problem as problem:
            if _is_denied(problem):
                raise
            self._set_aside(entry, problem.body)
            return
        with self._state:
            self._storage.write([*(self._put(now) if now else ()), ("outbox/" + entry["id"], None)])
            self.outbox.remove(entry)

    def _send_once(self, entry):
        """Returns the task after the change."""
        path, fields = "/v1/tasks/" + entry["uuid"], {"Idempotency-Key": entry["key"]}
        if entry["op"] == "delete":
            return self._server.ask("DELETE", path, None, fields)
        if "edit" not in entry:
            return self._server.ask("POST", f"{path}:{entry['op']}", entry.get("body"), fields)
        for attempt in range(self._server.attempts):
            if "sent" not in entry:
                known = self.tasks.get(entry["uuid"]) if attempt == 0 else None
                task = known or self._server.ask("GET", path)
                # Stored first: a key belongs to one body.
                entry["sent"] = {"etag": task["etag"], "body": _patch_of(entry["edit"], task)}
                self._storage.write([("outbox/" + entry["id"], entry)])
            try:
                condition = {"If-Match": entry["sent"]["etag"]}
                return self._server.ask("PATCH", path, entry["sent"]["body"], fields | condition)
            except Problem as problem:
                # The task has changed, and this edit was not made before: make it on the task as it is.
                if problem.status != 412:
                    raise
                del entry["sent"]
        raise Unavailable(f"{entry['uuid']} changes too often; the edit is sent again.")

    def _read_feed(self):
        """Reads to the end of the feed; each page is stored before the next request."""
        if not self._cursor:  # a new storage needs the tasks, not their history
            self._list_again(self._server.ask("GET", "/v1/changes?after=now")["cursor"])
        while self._read_page():
            pass

    def _read_page(self, more="", listen=None):
        """Returns whether there was anything."""
        after = urllib.parse.quote(self._cursor)
        try:
            page = self._server.ask("GET", f"/v1/changes?after={after}&limit=1000{more}", listen=listen)
        except Problem as problem:
            if problem.status != 410:  # the cursor has expired, or the server was restored from a backup
                raise
            self._list_again(problem.body["cursor"])
            return True
        changes = page.get("changes", [])
        if not changes and page["cursor"] == self._cursor:
            return False
        self._hear(changes, page["cursor"])
        return True

    def _list_again(self, cursor):
        """The cursor is older than the list: the feed repeats changes made since."""
        tasks, token = {}, ""
        while token is not None:
            query = urllib.parse.urlencode({"status": STATUSES, "pageSize": 500, "pageToken": token}, doseq=True)
            page = self._server.ask("GET", "/v1/tasks?" + query)
            tasks |= {task["uuid"]: task for task in page.get("tasks", [])}
            token = page.get("nextPageToken") or None
        with self._state:
            gone = self.tasks.keys() - tasks.keys()
            self._storage.write([*(("task/" + each, task) for each, task in tasks.items()),
                                 *(("task/" + each, None) for each in gone), ("cursor", cursor)])
            self.tasks, self._cursor = tasks, cursor

    def _hear(self, changes, cursor):
        """`cursor`: after the changes."""
        with self._state:
            writes = []
            for change in changes:
                task = change["task"]
                if change.get("purged"):
                    self.tasks.pop(task["uuid"], None)
                    writes.append(("task/" + task["uuid"], None))
                else:
                    writes += self._put(task)
            self._storage.write([*writes, ("cursor", cursor)])
            self._cursor = cursor
        for change in changes:
            self.on_change(change)

    def _put(self, task):
        """Returns what is to be stored. The response to an edit is ahead of the feed, whose older changes must not
        overwrite it."""
        known = self.tasks.get(task["uuid"])
        if known and known["seq"] > task["seq"]:
            return []
        self.tasks[task["uuid"]] = task
        return [("task/" + task["uuid"], task)]

    def _settle(self, entries):
        with self._state:
            self._storage.write([("outbox/" + entry["id"], None) for entry in entries])
            self.outbox = [entry for entry in self.outbox if entry not in entries]

    def _set_aside(self, entry, problem):
        with self._state:
            kept = {**entry, "problem": problem}
            self._storage.write([("rejected/" + entry["id"], kept), ("outbox/" + entry["id"], None)])
            self.outbox.remove(entry)
            self.rejected.append(kept)

    # ---- following ----

    def follow(self, stop=None):
        """Syncs, and goes on with each change as it comes, until the event `stop`. Raises Problem if the server denies
        access."""
        stop, failures = stop or threading.Event(), 0
        while not stop.is_set():
            try:
                self.sync()
                if failures:
                    self.on_state(None)
                failures = 0
                self._wait(stop)
            except Unavailable as error:
                failures += 1
                if failures == 1:
                    self.on_state(error)
                stop.wait(_pause_after(failures, error.retry_in))

    def _wait(self, stop):
        """Receives changes until `stop`, or until there is something to send."""
        if self._silent < SILENT_STREAMS_MAX:
            self._silent = 0 if self._read_stream(stop) else self._silent + 1
            return  # the next sync finds why it ended
        with self._watched(stop) as listen:
            while not stop.is_set() and not self._noted.is_set():
                try:
                    self._read_page("&wait=50s", listen)
                except Unavailable:
                    if not stop.is_set() and not self._noted.is_set():
                        raise

    def _read_stream(self, stop):
        """Returns whether an event came: some proxies hold streams back."""
        heard = False
        headers = {"Last-Event-ID": self._cursor, "Accept": "text/event-stream"}
        try:
            with self._watched(stop) as listen, \
                    self._server.send("GET", "/v1/changes/stream", None, headers, SILENCE_MAX) as connection:
                listen(connection.sock)
                response = connection.getresponse()
                if response.status != 200:
                    raise Unavailable(f"The stream is not available (status {response.status}).", _wait_of(response))
                for kind, data in _events(response):
                    heard = True
                    if kind == "end":
                        break
                    if kind == "change":
                        self._hear([data], data["cursor"])
                    elif data["cursor"] != self._cursor:  # of a heartbeat
                        self._hear([], data["cursor"])
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the connection was lost
        return heard or stop.is_set() or self._noted.is_set()

    @contextlib.contextmanager
    def _watched(self, stop):
        """Gives a function whose argument, a socket, is shut down when something is noted, or on `stop`."""
        done, current = threading.Event(), []

        def watch():
            while not done.is_set():
                if (self._noted.wait(0.1) or stop.is_set()) and current:
                    with contextlib.suppress(OSError):
                        current[-1].shutdown(socket.SHUT_RDWR)
                    return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield current.append
        finally:
            done.set()
            watcher.join()


# ---- webhooks ----

def verify_webhook(secrets, headers, body, now=None, tolerance=300):
    """Returns the body of a webhook's request, or raises ValueError, which says why it is not the server's
    (https://www.standardwebhooks.com). `secrets`: whsec_..., during a rotation both. `headers`: with names in lower case.
    `body`: the bytes as they came. `tolerance`: seconds that the clocks may differ."""
    id_, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not id_ or not at.isdecimal():
        raise ValueError("It is not signed.")
    if abs((time.time() if now is None else now) - int(at)) > tolerance:
        raise ValueError("It is too old, or a clock is wrong.")
    given = [each[3:] for each in headers.get("webhook-signature", "").split(" ") if each.startswith("v1,")]
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        wanted = base64.b64encode(hmac.new(key, f"{id_}.{at}.".encode() + body, hashlib.sha256).digest()).decode()
        if any(hmac.compare_digest(wanted, each) for each in given):
            return json.loads(body)
    raise ValueError("The signature is wrong.")
