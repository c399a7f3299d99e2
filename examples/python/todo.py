#!/usr/bin/env python3
"""An offline-capable to-do list that syncs with a Callsign server; see ../README.md.

Two rules make it safe to kill this program at any instant:
  1. Files are replaced atomically, and are durable before they count.
  2. An entry leaves the outbox only when its outcome is in the store.
So an entry may be sent twice; its idempotency key makes that harmless.
"""

import argparse
import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import random
import socket
import sys
import threading
import time
import urllib.parse
import uuid

ATTEMPTS = 6  # per request, before it is postponed
PAUSE, PAUSE_MAX = 0.1, 60.0  # seconds; exponential back-off
ANSWER_TIMEOUT = 30.0
SILENCE_MAX = 60.0  # a stream without a heartbeat for this long is dead
BATCH_MAX = 500
NOT_ITS_FAULT = {"no-such-path", "account-opaque"}  # rejections not caused by an entry
STATUSES = ["pending", "completed", "deleted", "recurring"]


class Sorry(Exception):
    """An error for the user, as a sentence."""
    exit_code = 1


class TryLater(Sorry):
    """A temporary failure; nothing is lost, and the same request is to be sent later."""
    exit_code = 3

    def __init__(self, text, wait=0.0):
        super().__init__(text)
        self.wait = wait


# ---- files ----

def sync_folder(path):
    """A directory entry is durable only after a sync of the directory."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def make_folder(path):
    if not path.is_dir():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_folder(path.parent)


def write_file(path, value):
    """Atomic: readers find the old file or the new one, even after a power cut."""
    temp = path.with_name(path.name + ".tmp")
    with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(to_json(value))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temp, path)
    sync_folder(path.parent)


def read_file(path, otherwise):
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return otherwise
    except ValueError:
        raise Sorry(f"{path} is damaged; please move it away.") from None


def to_json(value):
    return json.dumps(value, ensure_ascii=False).encode()


class Outbox:
    """Local changes that are not settled yet: one file per entry, named by its time.

    Adding one needs no lock, so `add` works while `follow` runs.
    """

    def __init__(self, folder):
        self.path, self.rejected, self.rejections = folder / "outbox", folder / "rejected", 0
        for each in folder, self.path, self.rejected:
            make_folder(each)

    def files(self):
        return sorted(self.path.glob("*.json"))

    def entries(self):
        """(file, entry), in the order of their creation."""
        read = [(file, read_file(file, None)) for file in self.files()]
        return [each for each in read if each[1]]  # a concurrent sync may have settled an entry

    def note(self, entry):
        last = max((int(file.name[:15]) for file in self.files()), default=0)
        now = max(int(time.time() * 1000), last + 1)  # in order, even if the clock was set back
        write_file(self.path / f"{now:015}-{uuid.uuid4()}.json", entry)

    def settle(self, files):
        for file in files:
            file.unlink(missing_ok=True)
        sync_folder(self.path)

    def set_aside(self, file, entry, problem):
        self.rejections += 1
        write_file(file, {**entry, "problem": problem})
        os.rename(file, self.rejected / file.name)  # atomic: neither lost nor duplicated
        sync_folder(self.rejected)
        sync_folder(self.path)
        say(f"Rejected, and kept in {self.rejected / file.name}: {words(problem)}")


class Store:
    """The server's tasks and the cursor of the feed: one file, so they are consistent."""

    def __init__(self, folder):
        self.path = folder / "store.json"
        saved = read_file(self.path, {"cursor": None, "tasks": {}})
        self.cursor, self.tasks = saved["cursor"], saved["tasks"]

    def save(self):
        write_file(self.path, {"cursor": self.cursor, "tasks": self.tasks})

    def put(self, task):
        """The response to an edit is ahead of the feed; older changes must not overwrite it."""
        known = self.tasks.get(task["uuid"])
        if known is None or known["seq"] <= task["seq"]:
            self.tasks[task["uuid"]] = task


def patch_of(entry, task):
    """An edit as a merge patch. It replaces lists as a whole, so it depends on the current task."""
    if not entry["addTags"] and not entry["removeTags"]:
        return entry["set"]
    tags = dict.fromkeys(task.get("tags", []) + entry["addTags"])
    return {**entry["set"], "tags": [tag for tag in tags if tag not in entry["removeTags"]]}


def view(folder):
    """The tasks as the user sees them: the store's, with unsettled entries applied."""
    entries = Outbox(folder).entries()  # first: settled entries are in the store
    tasks = Store(folder).tasks
    for _, entry in entries:
        if entry["op"] == "create":
            tasks.setdefault(entry["task"]["uuid"], {"status": "pending", **entry["task"]})
        elif task := tasks.get(entry["uuid"]):
            changed = {**task, **patch_of(entry, task)}
            tasks[task["uuid"]] = {k: v for k, v in changed.items() if v is not None}
    return tasks


# ---- server ----

def pause(attempt, at_least=0.0):
    """Exponential back-off with jitter, so that clients do not retry at the same time."""
    usual = PAUSE * 2 ** min(attempt, 10) * random.uniform(0.5, 1)
    time.sleep(min(at_least + usual, PAUSE_MAX))


def is_passing(status, problem):
    """No response, or one that is unrelated to the request: the same request is sent again."""
    passing = status == 0 or status >= 500 or status in (408, 429)
    return passing or problem["code"] == "request-in-progress"


def seconds_to_wait(response):
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else 0.0


def words(problem):
    faults = [f"{each.get('field', '')}: {each['detail']}" for each in problem.get("errors", [])]
    return " ".join(faults) or problem.get("detail") or problem.get("title") or "no reason given"


class Server:
    def __init__(self, url, token):
        self.url, self.token = urllib.parse.urlsplit(url), token
        self.port = self.url.port  # ValueError: invalid port
        if self.url.scheme not in ("http", "https") or not self.url.hostname:
            raise Sorry(f"{url} is not the URL of a server.")

    def send(self, method, path, body=None, headers=None, timeout=ANSWER_TIMEOUT):
        secure = self.url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self.url.hostname, self.port, timeout=timeout)
        fields = {"Authorization": "Bearer " + self.token.strip(), **(headers or {})}
        if body is not None:
            fields["Content-Type"] = "application/json"
            body = to_json(body)
        connection.request(method, self.url.path.rstrip("/") + path, body, fields)
        return connection

    def ask(self, *request):
        """Returns (status, JSON) of a definite response: 200, or the reason of the rejection."""
        for attempt in range(ATTEMPTS):
            status, answer, wait = self.ask_once(*request)
            if status in (401, 403) or answer.get("code") in NOT_ITS_FAULT:
                raise Sorry(f"The server denies access: {words(answer)}")
            if status == 200 or not is_passing(status, answer):
                return status, answer
            if attempt + 1 < ATTEMPTS:
                pause(attempt, wait)
        raise TryLater(f"The server is temporarily unavailable: {words(answer)}", wait)

    def ask_once(self, *request):
        """Responses of proxies or other programs count as no response."""
        try:
            with contextlib.closing(self.send(*request)) as connection:
                response = connection.getresponse()
                answer = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = str(error) or type(error).__name__
            return 0, {"detail": f"no response from Callsign ({why})."}, 0
        is_known = response.status == 200 or "code" in answer
        return response.status if is_known else 0, answer, seconds_to_wait(response)


# ---- syncing ----

def events(lines):
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


class Syncer:
    def __init__(self, folder, server):
        self.outbox, self.store, self.server = Outbox(folder), Store(folder), server
        self.failures = 0

    def sync(self):
        entries = self.outbox.entries()
        made, waiting = self.send_creations([e for e in entries if e[1]["op"] == "create"])
        for file, entry in entries:
            if entry["op"] == "edit" and entry["uuid"] not in waiting:
                self.send_edit(file, entry)
        self.read_feed()
        self.outbox.settle(made)  # only now does the store have them
        if waiting:
            raise TryLater("Some new tasks were not created yet; they are sent again.")

    def send_creations(self, entries):
        """Returns the files of successful creations, and the UUIDs of unsettled ones."""
        made = []
        for attempt in range(ATTEMPTS):
            if not entries:
                break
            if attempt:
                pause(attempt)
            batches = [entries[i:i + BATCH_MAX] for i in range(0, len(entries), BATCH_MAX)]
            entries = [again for batch in batches for again in self.send_batch(batch, made)]
        return made, {entry["task"]["uuid"] for _, entry in entries}

    def send_batch(self, batch, made):
        """Returns the entries that have to be sent again."""
        items = [{"idempotencyKey": entry["key"], "task": entry["task"]} for _, entry in batch]
        status, answer = self.server.ask("POST", "/v1/tasks:batchCreate", {"items": items})
        if status != 200 and len(batch) > 1:  # too large, or one item is invalid
            half = len(batch) // 2
            return self.send_batch(batch[:half], made) + self.send_batch(batch[half:], made)
        results = answer["results"] if status == 200 else [{"problem": answer}]
        again = []
        for (file, entry), result in zip(batch, results, strict=True):
            problem = result.get("problem")
            if problem is None:
                made.append(file)
            elif is_passing(problem["status"], problem):
                again.append((file, entry))
            elif problem["code"] == "slot-failed":  # definite: only now is a new key allowed
                entry["key"] = str(uuid.uuid4())
                write_file(file, entry)
                again.append((file, entry))
            else:
                self.outbox.set_aside(file, entry, problem)
        return again

    def send_edit(self, file, entry):
        path = "/v1/tasks/" + entry["uuid"]
        task = self.store.tasks.get(entry["uuid"])
        for _ in range(ATTEMPTS):
            if task is None:
                status, task = self.server.ask("GET", path)
                if status != 200:
                    return self.outbox.set_aside(file, entry, task)
            condition = {"If-Match": task["etag"]}
            status, answer = self.server.ask("PATCH", path, patch_of(entry, task), condition)
            if status == 200:
                self.store.put(answer)
                self.store.save()
                return self.outbox.settle([file])
            if status != 412:
                return self.outbox.set_aside(file, entry, answer)
            task = None  # a conflict: repeat the edit on the current task
        raise TryLater(f"{entry['uuid']} changes too often; the edit is sent again.")

    def read_feed(self):
        """Reads to the end of the feed; each page is stored before the next request."""
        if self.store.cursor is None:  # a new store needs the tasks, not their history
            self.list_anew(self.server.ask("GET", "/v1/changes?after=now")[1]["cursor"])
        while True:
            after = urllib.parse.quote(self.store.cursor)
            status, page = self.server.ask("GET", f"/v1/changes?after={after}&limit=1000")
            if status == 410:  # the cursor has expired, or the server was restored from a backup
                self.list_anew(page["cursor"])
                continue
            if status != 200:
                raise Sorry(f"The feed cannot be read: {words(page)}")
            if not page.get("changes") and page["cursor"] == self.store.cursor:
                return
            for change in page.get("changes", []):
                self.hear(change)
            self.store.cursor = page["cursor"]
            self.store.save()

    def list_anew(self, cursor):
        """The cursor is older than the list: the feed repeats changes made since."""
        tasks, token = {}, ""
        while token is not None:
            query = urllib.parse.urlencode(
                {"status": STATUSES, "pageSize": 500, "pageToken": token}, doseq=True)
            status, page = self.server.ask("GET", "/v1/tasks?" + query)
            if status != 200:
                raise Sorry(f"The tasks cannot be listed: {words(page)}")
            tasks |= {task["uuid"]: task for task in page.get("tasks", [])}
            token = page.get("nextPageToken") or None
        self.store.tasks, self.store.cursor = tasks, cursor
        self.store.save()

    def hear(self, change):
        task, by = change["task"], change.get("by") or "the server"
        if change.get("purged"):
            self.store.tasks.pop(task["uuid"], None)
        else:
            self.store.put(task)
        what = f"{task.get('status', 'purged')}  {task.get('description', '')}"
        say(f"{task.get('key', '-')}  {what}  (by {by})", sys.stdout)

    def follow(self):
        while True:
            try:
                self.sync()
                self.read_stream()
            except TryLater as why:
                say(f"{why}")
                pause(self.failures, why.wait)
                self.failures += 1

    def read_stream(self):
        """Returns when there is something to send. TryLater: the stream has ended."""
        headers = {"Last-Event-ID": self.store.cursor, "Accept": "text/event-stream"}
        done = threading.Event()
        try:
            stream = self.server.send("GET", "/v1/changes/stream", None, headers, SILENCE_MAX)
            with contextlib.closing(stream):
                threading.Thread(target=self.watch, args=(stream.sock, done), daemon=True).start()
                response = stream.getresponse()
                if response.status != 200:  # the next sync also handles 410
                    raise TryLater(f"The feed is not available (status {response.status}).",
                                   seconds_to_wait(response))
                self.failures = 0
                for kind, data in events(response):
                    self.take_event(kind, data)
        except (OSError, http.client.HTTPException):
            pass
        finally:
            done.set()
        if not self.outbox.files():
            raise TryLater("The connection was lost.")

    def watch(self, sock, done):
        """Ends the stream when there is something to send; the next one resumes from the cursor."""
        while not done.wait(0.5):
            if self.outbox.files():
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)
                return

    def take_event(self, kind, data):
        if kind == "end":
            raise TryLater(f"The server ended the stream: {words(data)}")
        if kind == "change":
            self.hear(data)
        if data["cursor"] != self.store.cursor:  # heartbeats have a cursor, too
            self.store.cursor = data["cursor"]
            self.store.save()


# ---- commands ----

def say(text, to=sys.stderr):
    """Other users write the tasks' texts: no control characters may reach the terminal."""
    print("".join(c if c.isprintable() else " " for c in text), file=to, flush=True)


def account(folder, args):
    saved = read_file(folder / "config.json", {})
    server = args.server or os.environ.get("CALLSIGN_SERVER") or saved.get("server")
    token = args.token or os.environ.get("CALLSIGN_TOKEN") or saved.get("token")
    if not server or not token:
        raise Sorry("No server yet: todo --dir DIR init --server URL --token TOKEN")
    return Server(server, token)


def init(folder, args):
    server = account(folder, args)
    write_file(folder / "config.json", {"server": server.url.geturl(), "token": server.token})


def fields(args, *names):
    """Returns the given fields. "" removes one: null in a merge patch."""
    return {name: vars(args)[name] or None for name in names if vars(args)[name] is not None}


def add(folder, args):
    task = {"uuid": str(uuid.uuid4()), "description": " ".join(args.words), "tags": args.tag,
            "entry": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    Outbox(folder).note({"op": "create", "key": str(uuid.uuid4()),
                         "task": task | fields(args, "project", "due")})
    say(task["uuid"], sys.stdout)


def edit(folder, args):
    changes = fields(args, "description", "project", "due")
    if args.command == "done":
        changes = {"status": "completed"}
    tasks, ref = view(folder).values(), " ".join(args.words).lower()
    found = [task for task in tasks if ref in (task["uuid"], task.get("key", "").lower())]
    found = found or [task for task in tasks if len(ref) >= 4 and task["uuid"].startswith(ref)]
    if len(found) != 1:
        raise Sorry(f"{'More than one' if found else 'No'} task here is called {ref}.")
    Outbox(folder).note({"op": "edit", "uuid": found[0]["uuid"], "set": changes,
                         "addTags": args.tag, "removeTags": args.untag})


def show_list(folder, _):
    pending = [task for task in view(folder).values() if task["status"] == "pending"]
    for task in sorted(pending, key=lambda task: task.get("number", sys.maxsize)):
        more = [task.get("project"), *task.get("tags", []), task.get("due")]
        say(f"{task.get('key', '-'):<10} {task['uuid'][:8]}  {task.get('description', '')}"
            f"  {' '.join(filter(None, more))}", sys.stdout)
    for file in sorted((folder / "rejected").glob("*.json")):
        say(f"Rejected: {file}: {words(read_file(file, {}).get('problem', {}))}", sys.stdout)


def show(folder, _):
    tasks = Store(folder).tasks
    print(json.dumps([tasks[each] for each in sorted(tasks)], ensure_ascii=False, indent=1))


def sync(folder, args):
    with open(folder / "lock", "w", encoding="utf-8") as file:
        try:  # one at a time; the kernel releases the lock when the process ends
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TryLater(f"Another todo is syncing {folder} and sends your entries.") from None
        syncer = Syncer(folder, account(folder, args))
        if args.command == "follow":
            syncer.follow()
        syncer.sync()
        return 1 if syncer.outbox.rejections else 0


COMMANDS = {"init": init, "add": add, "edit": edit, "done": edit, "list": show_list, "show": show,
            "sync": sync, "follow": sync}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="todo", description="Commands: add TEXT, done REF, "
                                     "edit REF, list, sync, follow, show; and init, which saves "
                                     "--server and --token in DIR. REF is a key or a UUID.")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("words", nargs="*", metavar="TEXT | REF")
    parser.add_argument("--dir", default="~/.callsign-todo")
    for name in "--server", "--token", "--description", "--project", "--due":
        parser.add_argument(name)
    for name in "--tag", "--untag":
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("--json", action="store_true", help="no effect: show always prints JSON")
    return parser.parse_intermixed_args(arguments)


def main(arguments):
    args = parse(arguments)
    try:
        " ".join(arguments).encode()  # otherwise it could not be sent
        folder = pathlib.Path(args.dir).expanduser()
        make_folder(folder)
        return COMMANDS[args.command](folder, args) or 0
    except Sorry as sorry:
        say(f"todo: {sorry}")
        return sorry.exit_code
    except (OSError, ValueError) as error:
        say(f"todo: {error}")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
