"""A client of a Callsign server: notes changes durably, sends each exactly once, and keeps a copy of the account's
tasks up to date. Standard library only.

Two rules make it safe to stop a program at any instant:
  1. A change is in the storage before add(), edit() ... return, with its idempotency key.
  2. It leaves the storage only when its outcome is there.
So a request may be sent twice; its key makes that harmless.
"""

import base64
import contextlib
import copy
import hashlib
import hmac
import http.client
import json
import pathlib
import random
import re
import socket
import sqlite3
import threading
import time
import urllib.parse
import uuid

__all__ = ["Client", "FileStorage", "MemoryStorage", "Problem", "Server", "Unavailable", "verify_webhook"]

BATCH_MAX = 500  # creations in one request
PAUSE_FIRST, PAUSE_LONGEST = 0.1, 60.0  # seconds; exponential back-off
CONNECT_TIMEOUT = 10.0
ANSWER_TIMEOUT = 70.0  # a long poll takes up to 55 s
SILENCE_MAX = 60.0  # a stream without an event for this long is dead
SILENT_STREAMS_MAX = 2  # then a proxy holds them back: polls instead
WAIT_MIN = 2.0  # from one wait for changes to the next
LOOK = 0.1  # how long a stop or a noted change may go unnoticed in a wait
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
    """No answer, or a temporary one: nothing is lost; try again later, after `retry_in` seconds. is_lasting: it does not
    pass by itself."""

    def __init__(self, why, retry_in=0.0, is_lasting=False):
        super().__init__(why)
        self.retry_in, self.is_lasting = retry_in, is_lasting


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
        if not re.fullmatch(r"[\x21-\x7e]+", self._token):
            raise ValueError("The token has characters that no token has")
        self.stop = threading.Event()  # no request is sent, and no pause made, while it is set
        self._waits = {}  # open sockets; true: of a request that waits for changes
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def send(self, method, path, body=None, headers=None, *, timeout=ANSWER_TIMEOUT, is_wait=False):
        """Gives the connection of a request whose response is still to be read. OSError, HTTPException: there is none.
        `is_wait`: end_waits() ends it."""
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        fields = {"Authorization": "Bearer " + self._token, **(headers or {})}
        if body is not None:
            fields["Content-Type"] = "application/json"
            body = json.dumps(body).encode()
        connection = kind(self.url.hostname, self._port, timeout=min(timeout, CONNECT_TIMEOUT))
        with contextlib.closing(connection):
            connection.connect()
            opened = connection.sock
            opened.settimeout(timeout)
            with self._lock:
                self._waits[opened] = is_wait
            try:
                connection.request(method, self.url.path.rstrip("/") + path, body, fields)
                yield connection
            finally:
                with self._lock:
                    del self._waits[opened]

    def end_waits(self, every=False):
        """Ends requests that wait for changes; `every`: all requests."""
        with self._lock:
            for opened, is_wait in self._waits.items():
                if is_wait or every:
                    with contextlib.suppress(OSError):
                        opened.shutdown(socket.SHUT_RDWR)

    def ask(self, is_ours, method, path, body=None, headers=None, *, is_wait=False):
        """Returns the answer to a request that may be repeated: a read, or a write with a key. Raises Problem and
        Unavailable. `is_ours`: whether it is an answer of Callsign to this request. `is_wait`: one attempt."""
        for attempt in range(1 if is_wait else self.attempts):
            if attempt:
                self.stop.wait(_pause_after(attempt - 1, wait))
            if self.stop.is_set():
                raise Unavailable("The request was cancelled.")
            answer, problem, wait = self._ask_once(is_ours, method, path, body, headers, is_wait)
            if problem is None:
                return answer
            if not _is_passing(problem):
                raise Problem(problem)
            if not _is_brief(problem):
                break
        why = f"The server is temporarily unavailable: {_words(problem)}"
        raise Unavailable(why, wait, not _is_brief(problem))

    def _ask_once(self, is_ours, method, path, body, headers, is_wait):
        """Answers of proxies and other programs count as no answer."""
        try:
            with self.send(method, path, body, headers, is_wait=is_wait) as connection:
                response = connection.getresponse()
                answer = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = str(error) or type(error).__name__
            return None, {"status": 503, "detail": f"no answer from Callsign ({why})"}, 0.0
        if 200 <= response.status < 300 and is_ours(answer):
            return answer, None, 0.0
        kind = response.headers.get("Content-Type", "")
        if response.status >= 400 and kind.startswith("application/problem+json") and isinstance(answer.get("code"), str):
            return None, {**answer, "status": response.status}, _wait_of(response)
        return None, {"status": 503, "detail": f"no answer from Callsign (status {response.status})"}, 0.0


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


def _changed_by(entry, now):
    """The task after a change, as far as a client knows."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(entry["id"][:15]) / 1000))
    if "edit" in entry:
        patch = _patch_of(entry["edit"], now)
        if patch.get("attributes"):
            patch = {**patch, "attributes": {**now.get("attributes", {}), **patch["attributes"]}}
    elif entry["op"] == "annotate":
        patch = {"annotations": [*now.get("annotations", []), {"entry": at, **entry["body"]}]}
    else:
        patch = {"complete": {"status": "completed", "start": None}, "reopen": {"status": "pending"},
                 "delete": {"status": "deleted"}, "start": {"start": now.get("start", at)},
                 "stop": {"start": None}}[entry["op"]]
    return {name: value for name, value in {**now, **patch}.items() if value is not None}


def _is_page(answer):
    return isinstance(answer, dict) and isinstance(answer.get("cursor"), str)


def _depends_on(fields, uuids, own=None):
    """Whether fields of a task name one of `uuids` that it depends on."""
    return any(each != own and str(each).lower() in uuids for each in fields.get("depends") or ())


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
        waiting = {entry["id"] for entry in self.outbox}
        # A program that ended between two writes has left an entry in both.
        self.rejected = [entry for _, entry in self._storage.load("rejected/") if entry["id"] not in waiting]
        self.tasks = {task["uuid"]: task for _, task in self._storage.load("task/")}
        self._cursor = next((value for _, value in self._storage.load("cursor")), None)
        self._last = max((int(entry["id"][:15]) for entry in self.outbox), default=0)
        self._state, self._syncing = threading.RLock(), threading.Lock()
        self._syncer = None  # the thread that syncs
        self._noted = threading.Event()  # there is something to send
        self._silent = 0  # streams in a row in which nothing came
        self._waited_at = -WAIT_MIN  # when the last wait for changes began

    # ---- noting changes; each is durable on return ----

    def add(self, description, **fields):
        """Returns the new task's UUID. `fields`: of CreateTask (docs/api.md)."""
        task = {"uuid": str(uuid.uuid4()), "entry": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **fields,
                "description": description}
        task["uuid"] = str(uuid.UUID(task["uuid"]))
        self._note(op="create", uuid=task["uuid"], task=task)
        return task["uuid"]

    # `ref`: the task's UUID, or the key of a task of this copy. ValueError: there is none.

    def edit(self, ref, set_=None, add_tags=(), remove_tags=()):
        """`set_`: a merge patch (RFC 7396); None removes a field. Tags that others add or remove stay so."""
        self._note(op="edit", uuid=self._uuid_of(ref),
                   edit={"set": set_ or {}, "addTags": list(add_tags), "removeTags": list(remove_tags)})

    def complete(self, ref):
        self._note(op="complete", uuid=self._uuid_of(ref))

    def reopen(self, ref):
        self._note(op="reopen", uuid=self._uuid_of(ref))

    def start(self, ref):
        self._note(op="start", uuid=self._uuid_of(ref))

    def stop(self, ref):
        self._note(op="stop", uuid=self._uuid_of(ref))

    def annotate(self, ref, description):
        self._note(op="annotate", uuid=self._uuid_of(ref), body={"description": description})

    def remove(self, ref):
        """Sets the status `deleted`."""
        self._note(op="delete", uuid=self._uuid_of(ref))

    def _uuid_of(self, ref):
        if re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", ref):
            return ref.lower()
        with self._state:
            found = [task for task in self.tasks.values() if task.get("key", "").lower() == ref.lower()]
        if not found:
            raise ValueError(f"There is no task {ref} here.")
        return found[0]["uuid"]

    def _note(self, **change):
        with self._state:
            self._last = max(int(time.time() * 1000), self._last + 1)  # in order, even if the clock was set back
            entry = {"id": f"{self._last:015}-{uuid.uuid4()}", "key": str(uuid.uuid4()), **copy.deepcopy(change)}
            self._storage.write([("outbox/" + entry["id"], entry)])
            self.outbox = [*self.outbox, entry]
        self._noted.set()

    def view(self):
        """The tasks as the user sees them: the server's, with the noted changes."""
        with self._state:
            every, entries = dict(self.tasks), self.outbox
        for entry in entries:
            now = every.get(entry["uuid"])
            if entry["op"] == "create":
                every.setdefault(entry["uuid"], {"status": "pending", **entry["task"]})
            elif now:
                every[entry["uuid"]] = _changed_by(entry, now)
        return every

    def retry(self, id_, change=lambda entry: None):
        """Sends a rejected change again, after `change` has edited it."""
        with self._state:
            entry = next((each for each in self.rejected if each["id"] == id_), None)
            if entry is None:
                return
            kept = {name: value for name, value in entry.items() if name not in ("problem", "sent")}
            again = {**copy.deepcopy(kept), "key": str(uuid.uuid4())}
            change(again)
            self._storage.write([("outbox/" + id_, again), ("rejected/" + id_, None)])
            self.rejected = [each for each in self.rejected if each is not entry]
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
        server denies access. Not to be called in on_change."""
        if self._syncer == threading.get_ident():
            raise RuntimeError("sync() was called in on_change")
        with self._syncing:
            self._syncer = threading.get_ident()
            try:
                self._sync_once()
            finally:
                self._syncer = None

    def _sync_once(self):
        self._noted.clear()
        with self._state:
            entries = self.outbox
        creations = [entry for entry in entries if entry["op"] == "create"]
        made = self._send_creations(creations)
        with self._state:
            left = {entry["id"] for entry in self.outbox}
        # Tasks whose next change has to wait, so that changes of a task stay in order.
        blocked = {entry["uuid"] for entry in creations if entry["id"] in left - made}
        trouble = Unavailable("Some tasks were not created yet; they are sent again.") if blocked else None
        for entry in entries:
            if entry["op"] == "create":
                continue
            if entry["uuid"] in blocked or _depends_on(entry.get("edit", {}).get("set", {}), blocked):
                blocked.add(entry["uuid"])
                continue
            try:
                self._send_change(entry)
            except Unavailable as error:
                if not error.is_lasting:
                    raise
                trouble = error  # a lasting trouble of one task must not stop the others
                blocked.add(entry["uuid"])
        self._read_feed()
        self._settle(made)  # only now does the storage have their tasks
        if trouble:
            raise trouble

    def _send_creations(self, entries):
        """Returns the IDs of the entries whose tasks exist."""
        made, waiting, attempt = set(), entries, 0
        while waiting and attempt < self._server.attempts:
            uuids = {entry["uuid"] for entry in waiting}  # first the tasks that others depend on
            first = [entry for entry in waiting if not _depends_on(entry["task"], uuids, entry["uuid"])]
            ready, again = first or waiting, set()
            for at in range(0, len(ready), BATCH_MAX):
                again |= self._send_batch(ready[at:at + BATCH_MAX], made)
            sent = {entry["id"] for entry in ready}
            waiting = [entry for entry in waiting if entry["id"] not in sent or entry["id"] in again]
            if again:
                self._server.stop.wait(_pause_after(attempt, 0))
                attempt += 1
        return made

    def _send_batch(self, batch, made):
        """Returns the IDs of the entries that have to be sent again."""
        items = [{"idempotencyKey": entry["key"], "task": entry["task"]} for entry in batch]

        def is_ours(answer):
            return isinstance(answer, dict) and len(answer.get("results", ())) == len(items)

        try:
            results = self._server.ask(is_ours, "POST", "/v1/tasks:batchCreate", {"items": items})["results"]
        except Unavailable as error:
            if not error.is_lasting:
                raise
            return set()
        except Problem as problem:
            if _is_denied(problem):
                raise
            if len(batch) > 1:  # too large, or one item is invalid
                half = len(batch) // 2
                return self._send_batch(batch[:half], made) | self._send_batch(batch[half:], made)
            results = [{"problem": problem.body}]
        again = set()
        for entry, result in zip(batch, results, strict=True):
            problem = result.get("problem")
            if problem is None:
                made.add(entry["id"])
            elif _is_passing(problem):
                again |= {entry["id"]} if _is_brief(problem) else set()
            elif problem["code"] == "slot-failed":  # definite: only now is a new key allowed
                self._update(entry, key=str(uuid.uuid4()))
                again.add(entry["id"])
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
            self._storage.write([*self._put(now), ("outbox/" + entry["id"], None)])
            self.outbox = [each for each in self.outbox if each is not entry]

    def _send_once(self, entry):
        """Returns the task after the change."""
        def ask(*request):
            return self._server.ask(lambda answer: isinstance(answer, dict) and answer.get("uuid") == entry["uuid"],
                                    *request)

        path, fields = "/v1/tasks/" + entry["uuid"], {"Idempotency-Key": entry["key"]}
        if entry["op"] == "delete":
            return ask("DELETE", path, None, fields)
        if "edit" not in entry:
            return ask("POST", f"{path}:{entry['op']}", entry.get("body"), fields)
        for attempt in range(self._server.attempts):
            if not entry.get("sent"):
                known = self.tasks.get(entry["uuid"]) if attempt == 0 else None
                task = known or ask("GET", path)
                # Stored first: a key belongs to one body.
                self._update(entry, sent={"etag": task["etag"], "body": _patch_of(entry["edit"], task)})
            try:
                return ask("PATCH", path, entry["sent"]["body"], fields | {"If-Match": entry["sent"]["etag"]})
            except Problem as problem:
                # The task has changed, and this edit was not made before: make it on the task as it is.
                if problem.status != 412:
                    raise
                entry["sent"] = None
        raise Unavailable(f"{entry['uuid']} changes too often; the edit is sent again.")

    def _update(self, entry, **changes):
        self._storage.write([("outbox/" + entry["id"], {**entry, **changes})])
        entry.update(changes)

    def _read_feed(self):
        """Reads to the end of the feed; each page is stored before the next request."""
        if not self._cursor:  # a new storage needs the tasks, not their history
            self._list_again(self._server.ask(_is_page, "GET", "/v1/changes?after=now")["cursor"])
        while self._read_page():
            pass

    def _read_page(self, more="", is_wait=False):
        """Returns whether there was anything."""
        path = f"/v1/changes?after={urllib.parse.quote(self._cursor)}&limit=1000{more}"
        try:
            page = self._server.ask(_is_page, "GET", path, is_wait=is_wait)
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
            page = self._server.ask(lambda answer: isinstance(answer, dict) and isinstance(answer.get("tasks"), list),
                                    "GET", "/v1/tasks?" + query)
            tasks |= {task["uuid"]: task for task in page["tasks"]}
            token = page.get("nextPageToken") or None
        with self._state:
            before = self.tasks
            gone = before.keys() - tasks.keys()
            self._storage.write([*(("task/" + each, task) for each, task in tasks.items()),
                                 *(("task/" + each, None) for each in gone), ("cursor", cursor)])
            self.tasks, self._cursor = tasks, cursor
        self._tell([{"task": {"uuid": each}, "purged": True, "cursor": cursor} for each in gone])
        self._tell([{"seq": task["seq"], "task": task, "cursor": cursor} for each, task in tasks.items()
                    if before.get(each, {}).get("etag") != task.get("etag")])

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
        self._tell(changes)

    def _tell(self, changes):
        errors = []
        for change in changes:
            try:
                self.on_change(change)
            except Exception as error:  # noqa: BLE001: the program's, raised after the others are told
                errors.append(error)
        if errors:
            raise errors[0]

    def _put(self, task):
        """Returns what is to be stored. The response to an edit is ahead of the feed, whose older changes must not
        overwrite it."""
        known = self.tasks.get(task["uuid"])
        if known and known["seq"] > task["seq"]:
            return []
        self.tasks[task["uuid"]] = task
        return [("task/" + task["uuid"], task)]

    def _settle(self, ids):
        with self._state:
            self._storage.write([("outbox/" + each, None) for each in ids])
            self.outbox = [entry for entry in self.outbox if entry["id"] not in ids]

    def _set_aside(self, entry, problem):
        with self._state:
            kept = {**entry, "problem": problem}
            self._storage.write([("rejected/" + entry["id"], kept), ("outbox/" + entry["id"], None)])
            self.outbox = [each for each in self.outbox if each is not entry]
            self.rejected = [*self.rejected, kept]

    # ---- following ----

    def follow(self, stop=None):
        """Syncs, and goes on with each change as it comes, until the event `stop`. Raises Problem if the server denies
        access, and what on_change and the storage raise."""
        stop, failures = stop or threading.Event(), 0
        self._server.stop = stop
        with self._watched(stop):
            while not stop.is_set():
                try:
                    self.sync()
                    if failures:
                        self.on_state(None)
                    failures = 0
                    self._wait(stop)
                except Unavailable as error:
                    failures += 1
                    if failures == 1 and not stop.is_set():
                        self.on_state(error)
                    stop.wait(_pause_after(failures, error.retry_in))
        self._server.stop = threading.Event()

    def _wait(self, stop):
        """Receives changes until `stop`, or until there is something to send."""
        def is_over():
            return stop.is_set() or self._noted.is_set()

        if self._silent < SILENT_STREAMS_MAX:
            self._begin_wait(is_over)
            if is_over():
                return
            self._silent = 0 if self._read_stream() or is_over() else self._silent + 1
            return  # the next sync finds why it ended
        while not is_over():
            self._begin_wait(is_over)
            try:
                # Changes may go on at once, and a proxy or a busy server may end a poll early.
                if self._read_page("&wait=50s", is_wait=True):
                    self._waited_at = -WAIT_MIN
            except Unavailable:
                if not is_over():
                    raise

    def _begin_wait(self, is_over):
        while time.monotonic() < self._waited_at + WAIT_MIN and not is_over():
            time.sleep(LOOK)
        self._waited_at = time.monotonic()

    def _read_stream(self):
        """Returns whether an event came: some proxies hold streams back."""
        heard = False
        headers = {"Last-Event-ID": self._cursor, "Accept": "text/event-stream"}
        lost = (OSError, http.client.HTTPException, ValueError)
        with contextlib.ExitStack() as opened:
            try:
                stream = self._server.send("GET", "/v1/changes/stream", None, headers, timeout=SILENCE_MAX, is_wait=True)
                response = opened.enter_context(stream).getresponse()
                events = _events(response)
            except lost:
                return False
            if response.status in (429, 503):
                raise Unavailable(f"The stream is not available (status {response.status}).", _wait_of(response))
            while response.status == 200:
                try:
                    kind, data = next(events)
                except (StopIteration, *lost):  # the connection was lost
                    break
                heard = True
                if kind == "end":
                    break
                if kind == "change":
                    self._hear([data], data["cursor"])
                elif data["cursor"] != self._cursor:  # of a heartbeat
                    self._hear([], data["cursor"])
        return heard

    @contextlib.contextmanager
    def _watched(self, stop):
        """Ends requests on `stop`, and waits when something is noted."""
        done = threading.Event()

        def watch():
            while not done.wait(LOOK):
                if stop.is_set() or self._noted.is_set():
                    self._server.end_waits(every=stop.is_set())

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
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
        wanted = base64.b64encode(hmac.new(key, f"{id_}.{at}.".encode() + body, hashlib.sha256).digest())
        if any(hmac.compare_digest(wanted, each.encode()) for each in given):
            return json.loads(body)
    raise ValueError("The signature is wrong.")
