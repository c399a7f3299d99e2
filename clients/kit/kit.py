#!/usr/bin/env python3
"""Verifies a client: runs it behind a bad network, kills it, and judges the outcome; see README.md."""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True  # creates no files beside the sources

from judge import judge
from proxy import FAULTS, Proxy

ANSWER_MAX, SETTLE_MAX = 120, 60  # seconds
PROGRESS, TICK = 5, 0.05
SERVER_KILL_RATE, DOWN_MAX = 0.2, 1.0  # per second; seconds
SHOWN_MAX = 5  # violations of a rule
STATUSES = "status=pending&status=completed&status=deleted&status=recurring"
WEIGHTS = {"add": 8, "tag": 5, "annotate": 3, "project": 2, "complete": 1, "tasks": 2, "sync": 2}
HOT, HOT_SHARE = 2, 0.5  # tasks that several clients change at the same time; share of the changes
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("CALLSIGN_")}
# Kills the server when the standard input is closed, so also if this program is killed.
GUARD = '"$@" & exec > /dev/null; cat; kill -9 $!; wait'


class Failure(Exception):
    """The run cannot go on."""


class Killed(Exception):
    """The driver killed the adapter."""


class Api:
    """Reads the server directly."""

    def __init__(self, url, token):
        self.url, self.token = url, token

    def get(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + self.token})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def tasks(self):
        found, token = [], ""
        while token is not None:
            page = self.get(f"/v1/tasks?{STATUSES}&pageSize=500&pageToken={urllib.parse.quote(token)}")
            found += page.get("tasks", [])
            token = page.get("nextPageToken") or None
        return found

    def feed(self):
        found, cursor = [], "0"
        while True:
            page = self.get(f"/v1/changes?after={urllib.parse.quote(cursor)}&limit=1000")
            if not page.get("changes"):
                return found
            found, cursor = found + page["changes"], page["cursor"]


class OwnServer:
    """callsignd with a fresh store, on a free port."""

    SIGN = "callsignd listening on "

    def __init__(self, callsignd, callsign, folder):
        folder.mkdir(parents=True)
        self.folder, self.kills = folder, 0
        self.command = ["sh", "-c", GUARD, "sh", callsignd, "--listen", "127.0.0.1:0",
                        "--data-dir", folder / "data"]
        self.start()
        create = "--json", "account", "create", "kit", "--prefix", "KIT"
        account = subprocess.run([callsign, "--data-dir", folder / "data", *create], env=ENVIRONMENT,
                                 stdout=subprocess.PIPE, check=True)
        self.token = json.loads(account.stdout)["token"]  # of scope write

    def start(self):
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=ENVIRONMENT,
                text=True, start_new_session=True)
        for line in self.process.stdout:
            if line.startswith(self.SIGN):
                self.url = line.removeprefix(self.SIGN).strip()
                return
        raise Failure("callsignd did not start:\n" + (self.folder / "log").read_text())

    def kill(self):
        """SIGKILL, by the guard."""
        self.kills += 1
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Adapter:
    """The client under test, as a process that may be killed at any moment."""

    def __init__(self, name, command, folder, url, token):
        self.name, self.command, self.folder = name, command, folder
        self.environment = {**ENVIRONMENT, "CALLSIGN_DIR": str(folder), "CALLSIGN_SERVER": url,
                            "CALLSIGN_TOKEN": token}
        self.process, self.is_killed, self.is_closed = None, False, False
        self.lock = threading.Lock()
        folder.mkdir(parents=True)

    def start(self):
        with self.lock:
            if self.is_closed:
                raise Killed
            self.end()
            self.buffer, self.is_killed = b"", False
            with open(f"{self.folder}.log", "ab") as log:
                self.process = subprocess.Popen(
                    self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                    env=self.environment, bufsize=0, start_new_session=True)

    def kill(self):
        """Returns whether it ran."""
        with self.lock:
            is_running = self.process is not None and self.process.poll() is None
            if is_running:
                self.is_killed = True
                os.killpg(self.process.pid, signal.SIGKILL)
            return is_running

    def close(self):
        with self.lock:
            self.is_closed = self.is_killed = True
            self.end()

    def end(self):
        """Ends the process, if any, and its children."""
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()

    def ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            answer = json.loads(self.read_line())
        except (OSError, EOFError, ValueError) as error:
            if self.is_killed:
                raise Killed from None
            log = pathlib.Path(f"{self.folder}.log").read_text(errors="replace")[-2000:]
            raise Failure(f"no JSON line for {request}: {error}\n{log}") from None
        if not isinstance(answer, dict):
            raise Failure(f"not a JSON object for {request}: {answer!r}")
        return answer

    def read_line(self):
        output, until = self.process.stdout, time.monotonic() + ANSWER_MAX
        while b"\n" not in self.buffer:
            if not select.select([output], [], [], max(0, until - time.monotonic()))[0]:
                raise EOFError(f"no answer within {ANSWER_MAX} s")
            piece = output.read(1 << 16)
            if not piece:
                raise EOFError("it ended by itself")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line


class Client(threading.Thread):
    """Sends random operations to one adapter, one at a time."""

    def __init__(self, number, adapter, is_follower, run):
        super().__init__(daemon=True)
        self.number, self.adapter, self.is_follower, self.steps = number, adapter, is_follower, 0
        self.random, self.stopped = random.Random(f"{run.options.seed} {number}"), run.stopped
        self.operations, self.complaints = run.operations, run.complaints
        self.own, self.unfinished, self.known = [], [], []  # UUIDs; `known` are of its copy

    def run(self):
        try:
            while not self.stopped.is_set():
                with contextlib.suppress(Killed):
                    self.start_again()
                    while not self.stopped.wait(self.random.uniform(0, 0.15)):
                        self.step()
        except Exception as error:  # a broken client must end the run, not hang it
            self.complain(error if isinstance(error, Failure) else repr(error))

    def complain(self, sentence):
        """A run with a broken adapter ends early."""
        self.complaints.append(f"{self.adapter.name}: {sentence}")
        self.stopped.set()

    def start_again(self):
        self.adapter.start()
        self.known = []  # it may have lost its copy
        if self.is_follower:
            self.ask({"do": "follow"})

    def ask(self, request, *fields):
        """Returns the answer; None if it is an error."""
        answer = self.adapter.ask(request)
        if missing := [field for field in fields if field not in answer]:
            self.complain(f"{request} -> {answer}, without {missing[0]}")
        elif "error" in answer and request["do"] != "sync":
            self.complain(f"{request} -> {answer}")
        else:
            return answer
        return None

    def step(self):
        kinds = {**WEIGHTS, "sync": 0 if self.is_follower else WEIGHTS["sync"]}
        kind = self.random.choices(list(kinds), kinds.values())[0]
        if kind == "sync":
            self.ask({"do": "sync"}, "pending")
        elif kind == "tasks":
            answer = self.ask({"do": "tasks"}, "tasks") or {"tasks": []}
            self.known = [task["uuid"] for task in answer["tasks"]]
        else:
            self.operate(kind)

    def operate(self, kind):
        """The outcome of an operation is unknown until its answer arrives."""
        self.steps += 1
        uuids = self.unfinished if kind == "complete" else sorted({*self.own, *self.known})
        if kind != "complete" and self.random.random() < HOT_SHARE:
            uuids = uuids[:HOT]  # the same ones in each client
        uuid = self.random.choice(uuids) if uuids and kind != "add" else None
        request, text, tags = self.operation(kind, f"{self.number}x{self.steps}", uuid)
        op = {"client": self.adapter.name, "do": request["do"], "uuid": uuid, "text": text, "tags": tags,
              "isNoted": False}
        self.operations.append(op)
        if op["do"] == "complete":
            self.unfinished.remove(uuid)
        answer = self.ask(request, *(["uuid"] if op["do"] == "add" else []))
        if answer is not None:
            op["isNoted"] = True
            if op["do"] == "add":
                op["uuid"] = answer["uuid"]
                self.own.append(op["uuid"])
                self.unfinished.append(op["uuid"])

    def operation(self, kind, mark, uuid):
        """Returns (request, text, tags). Texts and tags are unique by their mark."""
        project = f"kit.{self.random.choice('abc')}"
        if uuid is None:
            more = {"project": project, "tags": [f"t{mark}"], "due": "2031-02-03T04:05:06Z", "priority": "H"}
            task = {name: value for name, value in more.items() if self.random.random() < 0.3}
            if self.own and self.random.random() < 0.15:
                task["depends"] = [self.own[-1]]  # which may not be sent yet
            task["description"] = f'Task {mark}: "Grüße" & <\\>'
            return {"do": "add", "task": task}, task["description"], task.get("tags", [])
        if kind == "annotate":
            return {"do": "annotate", "uuid": uuid, "text": f"Note {mark}: naïve"}, f"Note {mark}: naïve", []
        if kind == "complete":
            return {"do": "complete", "uuid": uuid}, "", []
        tags, fields = ([f"t{mark}"], {}) if kind == "tag" else ([], {"project": project})
        edit = {"do": "edit", "uuid": uuid, "set": fields, "addTags": tags, "removeTags": []}
        return edit, f"{fields} {tags}", tags

    def settle(self):
        """Syncs until nothing is pending."""
        until = time.monotonic() + SETTLE_MAX
        while True:
            answer = self.adapter.ask({"do": "sync"})
            if answer.get("pending") == 0 and "error" not in answer:
                return
            if time.monotonic() > until:
                raise Failure(f"still not in sync after {SETTLE_MAX} s without faults: {answer}")
            time.sleep(0.2)


class Run:
    """One run, in a folder."""

    def __init__(self, options, folder, stack):
        self.options, self.random = options, random.Random(f"{options.seed} driver")
        self.stopped, self.operations, self.complaints = threading.Event(), [], []
        self.server, self.kills = None, 0
        if options.callsignd:
            self.server = OwnServer(options.callsignd, options.callsign, folder / "server")
            stack.callback(self.server.kill)
        url, token = (self.server.url, self.server.token) if self.server else (options.url, options.token)
        self.api = Api(url.rstrip("/"), token)
        if self.api.feed() or self.api.tasks():
            raise Failure("The account has had tasks. A run needs an empty account.")
        self.proxy = Proxy(address(url), options.faults, options.seed)
        stack.callback(self.proxy.close)
        self.clients = []
        for number in range(options.clients):
            name, (turn, which) = f"client-{number}", divmod(number, len(options.commands))
            adapter = Adapter(name, options.commands[which], folder / name, self.proxy.add_line(name), token)
            stack.callback(adapter.close)
            is_follower = (turn + which) % 2 == 1  # half the clients of each command
            self.clients.append(Client(number, adapter, is_follower, self))

    def go(self):
        """Returns the run as the judge takes it."""
        for client in self.clients:
            client.start()
        self.disturb()
        self.stopped.set()
        self.proxy.calm.set()
        for client in self.clients:
            client.adapter.kill()
        for client in self.clients:
            client.join()
            client.adapter.kill()  # it may have been restarted
        if not self.proxy.wait_idle(SETTLE_MAX):
            raise Failure("Requests of killed clients did not end.")
        if self.options.kill_server:
            self.server.kill()
            self.start_server()
        run = {"operations": self.operations, "requests": self.proxy.records, "token": self.api.token,
               "adapter": self.complaints, "clients": [], "tasks": [], "feed": []}
        if not self.complaints:
            self.finish(run)
        run["tasks"], run["feed"] = self.api.tasks(), self.api.feed()
        return run

    def disturb(self):
        """Kills clients and the server until the time is over."""
        started = shown = time.monotonic()
        up_at = None
        until = started + self.options.seconds
        while (now := time.monotonic()) < until and not self.stopped.wait(TICK):
            for client in self.clients:
                if self.random.random() < self.options.kill_rate * TICK:
                    self.kills += client.adapter.kill()
            if up_at and now > up_at:
                up_at = self.start_server()
            elif not up_at and self.random.random() < self.options.kill_server * SERVER_KILL_RATE * TICK:
                self.server.kill()
                up_at = now + self.random.uniform(0, DOWN_MAX)
            if now > shown + PROGRESS:
                shown = now
                print(f"{now - started:4.0f} s: {self.counts()}", flush=True)
        if up_at:
            self.start_server()

    def start_server(self):
        self.server.start()
        self.api.url, self.proxy.upstream = self.server.url, address(self.server.url)

    def finish(self, run):
        """No faults any more: all clients get in sync, then their copies are read."""
        try:
            for client in self.clients:
                client.adapter.start()
                client.settle()
            for client in self.clients:  # now the server has the entries of all
                client.settle()
                copy, rejected = [client.ask({"do": what}, field) or {field: []}
                                  for what, field in (("tasks", "tasks"), ("rejected", "entries"))]
                run["clients"].append({"name": client.adapter.name, "tasks": copy["tasks"],
                                       "rejected": rejected["entries"]})
        except Failure as failure:
            client.complain(failure)

    def counts(self):
        noted = sum(op["isNoted"] for op in self.operations)
        of_server = self.server.kills if self.server else 0
        faults = ", ".join(f"{name} {count}" for name, count in sorted(self.proxy.counts.items())) or "none"
        unknown, requests = len(self.operations) - noted, len(self.proxy.records)
        return (f"{noted} operations noted, {unknown} unknown, {self.kills} kills of clients, "
                f"{of_server} of the server, {requests} requests; faults: {faults}")


def address(url):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "http" or not parts.hostname or parts.path.strip("/"):
        raise Failure(f"{url} is not a URL such as http://127.0.0.1:8080.")
    return parts.hostname, parts.port or 80


def report(run, counts, large, seed):
    """Returns the exit status."""
    by_rule = collections.defaultdict(list)
    for rule, evidence in judge(run):
        by_rule[rule].append(evidence)
    for rule, found in by_rule.items():
        for evidence in found[:SHOWN_MAX]:
            print(f"{rule}: {evidence.replace(run['token'], 'TOKEN')}")
        if len(found) > SHOWN_MAX:
            print(f"{rule}: {len(found) - SHOWN_MAX} more")
    if large:
        print(f"{large} bodies of more than 1 MiB were not recorded, so they were not judged.")
    print(counts)
    if by_rule:
        violated = ", ".join(f"{rule} ({len(found)})" for rule, found in by_rule.items())
        print(f"Violated: {violated}. Seed {seed}.")
        return 1
    print(f"All is right: {len(run['tasks'])} tasks, {len(run['feed'])} changes, "
          f"{len(run['clients'])} equal copies.")
    return 0


def faults(text):
    """Names, or NAME=PROBABILITY, separated by commas."""
    chosen = {}
    for each in [] if text == "none" else text.split(","):
        name, _, probability = each.partition("=")
        if name not in FAULTS:
            raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(FAULTS)}")
        chosen[name] = float(probability or FAULTS[name])
    return chosen


def read_options(arguments):
    parts = [[]]
    for each in arguments:
        if each == "--":
            parts.append([])
        else:
            parts[-1].append(each)
    parser = argparse.ArgumentParser(prog="kit.py", usage="kit.py [options] -- COMMAND [-- COMMAND2 ...]",
                                     description=__doc__)
    parser.add_argument("--clients", type=int, default=6, help="number of clients (6)")
    parser.add_argument("--seconds", type=float, default=20, help="duration of the faults (20)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**9), help="of the random choices")
    parser.add_argument("--faults", type=faults, default=FAULTS, metavar="LIST",
                        help=f"none, or some of {','.join(FAULTS)}; a probability may follow: lose=0.5")
    parser.add_argument("--kill-rate", type=float, default=0.2, help="kills of each client per second (0.2)")
    parser.add_argument("--url", help="of a running server, over http, with --token")
    parser.add_argument("--token", help="of scope write, of an empty account")
    parser.add_argument("--callsignd", help="program of a server to start, with --callsign")
    parser.add_argument("--callsign", help="program that makes its account")
    parser.add_argument("--kill-server", action="store_true", help="also kill and restart the started server")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep all files in this new folder")
    options = parser.parse_args(parts[0])
    options.commands = parts[1:]
    if not all(parts[1:] or [[]]):
        parser.error("a command is missing after --")
    if not (options.callsignd and options.callsign) and not (options.url and options.token):
        parser.error("needs --callsignd and --callsign, or --url and --token")
    if options.kill_server and not options.callsignd:
        parser.error("--kill-server needs --callsignd")
    return options


def main(arguments):
    options = read_options(arguments)
    print(f"seed {options.seed}", flush=True)
    for name in signal.SIGTERM, signal.SIGHUP:
        signal.signal(name, signal.default_int_handler)
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="callsign-kit-"))
    with contextlib.ExitStack() as stack:
        if not options.keep:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            run = Run(options, folder.absolute(), stack)
            stack.callback(run.stopped.set)
            history = run.go()
        except (Failure, OSError, subprocess.CalledProcessError) as failure:
            print(f"kit: {failure}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 130
        if options.keep:
            text = json.dumps(history, ensure_ascii=False, indent=1)
            (folder / "run.json").write_text(text.replace(history["token"], "TOKEN"))
        return report(history, run.counts(), run.proxy.large, options.seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
