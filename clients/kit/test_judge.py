#!/usr/bin/env python3
"""Verifies the judge by runs that break one rule each, and the proxy by its faults, one at a time."""

import http.server
import json
import select
import socket
import sys
import threading
import unittest
import urllib.parse

sys.dont_write_bytecode = True  # creates no files beside the sources

import judge
import proxy


def request(target, body, *answers, key=None, at=0.0):
    return {"client": "a", "at": at, "method": "POST", "target": target, "body": json.dumps(body),
            "fields": {"idempotency-key": f'"{key}"'} if key else {}, "fault": None, "delivered": True,
            "answers": [answered(*each) for each in answers]}


def answered(status, body):
    return {"status": status, "body": json.dumps(body)}


def operation(do, uuid, text, is_noted=True, tags=()):
    return {"client": "a", "do": do, "uuid": uuid, "text": text, "tags": list(tags), "isNoted": is_noted}


NOTE, OTHER = {"description": "note"}, {"description": "other"}


def legal():
    """Task u1 was noted, u2 is there although its outcome is unknown, a third task was not created."""
    def tasks():
        return [{"uuid": "u1", "key": "KIT-1", "prefix": "KIT", "number": 1, "description": "one",
                 "etag": '"4"', "status": "completed", "tags": ["t1", "t2"], "annotations": [NOTE]},
                {"uuid": "u2", "key": "KIT-2", "prefix": "KIT", "number": 2, "description": "two",
                 "etag": '"5"', "status": "pending"}]
    receipt = {"uuid": "u1", "key": "KIT-1", "number": 1}
    item = {"idempotencyKey": "k2", "task": {"uuid": "u2", "description": "two"}}
    result = {"receipt": {"uuid": "u2", "key": "KIT-2", "number": 2}, "replayed": False}
    return {
        "operations": [operation("add", "u1", "one", tags=["t1"]), operation("add", None, "two", False),
                       operation("add", None, "three", False), operation("edit", "u1", "", tags=["t2"]),
                       operation("annotate", "u1", "note"), operation("annotate", "u2", "other", False),
                       operation("complete", "u1", "")],
        "requests": [
            request("/v1/tasks", {"uuid": "u1"}, (201, receipt), (201, receipt), key="k1"),
            request("/v1/tasks:batchCreate", {"items": [item]}, (200, {"results": [result]}),
                    (200, {"results": [{**result, "replayed": True}]})),
            request("/v1/tasks/u1:annotate", NOTE, (200, tasks()[0]), key="k3")],
        "tasks": tasks(), "feed": [{"task": task} for task in tasks()], "token": "cs_secret", "adapter": [],
        "clients": [{"name": "a", "tasks": tasks()[::-1], "rejected": []}]}


def both(run, change):
    """Changes the server's tasks and the client's copy, so that only other rules are broken."""
    change(run["tasks"])
    run["clients"][0]["tasks"] = [dict(task) for task in run["tasks"]]


def hammer(run, count, within):
    run["requests"] += [request("/v1/changes", {}, at=10 + i * within / count) for i in range(count)]


ILLEGAL = [
    ("adapter", "a complaint", lambda r: r["adapter"].append("no JSON")),
    ("lost", "a noted add", lambda r: r["operations"].append(operation("add", "u9", "three"))),
    ("doubled", "a description", lambda r: both(r, lambda tasks: tasks.append(
        {**tasks[1], "uuid": "u3", "key": "KIT-3", "number": 3}))),
    ("doubled", "a uuid", lambda r: r["tasks"].append(r["tasks"][1])),
    ("phantom", "an unknown task", lambda r: both(r, lambda tasks: tasks.append(
        {**tasks[1], "uuid": "u3", "key": "KIT-3", "number": 3, "description": "four"}))),
    ("numbers", "a gap", lambda r: both(r, lambda tasks: tasks[1].update(number=3))),
    ("numbers", "twice", lambda r: both(r, lambda tasks: tasks[1].update(number=1))),
    ("receipt", "of a creation", lambda r: r["requests"].append(
        request("/v1/tasks", {"uuid": "u1"}, (201, {"uuid": "u1", "number": 7}), key="k1"))),
    ("receipt", "of an item", lambda r: r["requests"][1]["answers"].append(
        answered(200, {"results": [{"receipt": {"uuid": "u2", "number": 7}}]}))),
    ("receipt", "of an edit", lambda r: r["requests"][2]["answers"].append(answered(200, {"uuid": "u1"}))),
    ("key-reused", "by a request", lambda r: r["requests"][0]["answers"].append(
        answered(422, {"code": "idempotency-key-reused"}))),
    ("key-reused", "by an item", lambda r: r["requests"][1]["answers"].append(
        answered(200, {"results": [{"problem": {"code": "idempotency-key-reused"}}]}))),
    ("no-uuid", "in a task", lambda r: r["requests"].append(request("/v1/tasks", {"tags": []}, key="k4"))),
    ("no-uuid", "in an item", lambda r: r["requests"].append(
        request("/v1/tasks:batchCreate", {"items": [{"idempotencyKey": "k4", "task": {}}]}))),
    ("new-key", "at a retry", lambda r: r["requests"].append(request("/v1/tasks", {"uuid": "u1"}, key="k4"))),
    ("annotation", "missing", lambda r: both(r, lambda tasks: tasks[0].pop("annotations"))),
    ("annotation", "twice", lambda r: both(r, lambda tasks: tasks[0].update(annotations=[NOTE] * 2))),
    ("annotation", "unknown", lambda r: both(r, lambda tasks: tasks[1].update(annotations=[OTHER] * 2))),
    ("tag", "of an edit", lambda r: both(r, lambda tasks: tasks[0].update(tags=["t1"]))),
    ("tag", "of an add", lambda r: both(r, lambda tasks: tasks[0].update(tags=["t2"]))),
    ("status", "reopened", lambda r: both(r, lambda tasks: tasks[0].update(status="pending"))),
    ("copy", "less", lambda r: r["clients"][0]["tasks"].pop()),
    ("copy", "more", lambda r: r["clients"][0]["tasks"].append({**r["tasks"][0], "uuid": "u3"})),
    ("copy", "twice", lambda r: r["clients"][0]["tasks"].append(r["clients"][0]["tasks"][0])),
    ("copy", "older", lambda r: r["clients"][0]["tasks"][0].update(etag='"3"')),
    ("rejected", "an entry", lambda r: r["clients"][0]["rejected"].append({"problem": {}})),
    ("hammering", "21 times", lambda r: hammer(r, 21, 1.0)),
    ("secret", "in a query", lambda r: r["requests"].append(request("/v1/changes?token=cs%5Fsecret", {}))),
]


class Judge(unittest.TestCase):
    def test_accepts_what_is_legal(self):
        self.assertEqual(judge.judge(legal()), [])

    def test_accepts_a_new_key_after_a_failed_slot(self):
        run = legal()
        run["requests"][:0] = [request("/v1/tasks", {"uuid": "u1"}, (409, {"code": "slot-failed"}), key="k0")]
        self.assertEqual(judge.judge(run), [])

    def test_accepts_a_reused_key_of_a_late_copy(self):
        run = legal()
        late = request("/v1/tasks/u1:annotate", {}, (422, {"code": "idempotency-key-reused"}), key="k3")
        run["requests"].append({**late, "delivered": False})
        self.assertEqual(judge.judge(run), [])

    def test_accepts_twenty_requests_in_a_second(self):
        run = legal()
        hammer(run, 20, 0.5)
        self.assertEqual(judge.judge(run), [])

    def test_rejects_what_breaks_one_rule(self):
        for rule, what, change in ILLEGAL:
            with self.subTest(rule=rule, what=what):
                run = legal()
                change(run)
                self.assertEqual({name for name, _ in judge.judge(run)}, {rule})

    def test_knows_an_illegal_run_for_each_rule(self):
        self.assertEqual({rule for rule, *_ in ILLEGAL}, set(judge.RULES))


class Upstream(http.server.BaseHTTPRequestHandler):
    """Responds with the number of the request; a stream stays open until it is released."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.count += 1
        self.respond(b'{"number": %d}' % self.server.count)

    def do_GET(self):
        self.server.count += 1
        self.respond(b"event: heartbeat\n\n")
        self.server.sent.set()
        self.server.released.wait(10)

    def respond(self, body):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Proxy(unittest.TestCase):
    def setUp(self):
        self.upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        self.upstream.count = 0
        self.upstream.sent, self.upstream.released = threading.Event(), threading.Event()
        threading.Thread(target=self.upstream.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(self.upstream.server_close)
        self.addCleanup(self.upstream.shutdown)
        self.addCleanup(self.upstream.released.set)

    def start(self, **faults):
        self.proxy = proxy.Proxy(self.upstream.server_address, faults, seed=1)
        self.addCleanup(self.proxy.close)
        self.port = urllib.parse.urlsplit(self.proxy.add_line("a")).port

    def connect(self, method="POST", target="/v1/tasks", body=b"{}"):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        self.addCleanup(client.close)
        client.sendall(b"%b %b HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%b"
                       % (method.encode(), target.encode(), len(body), body))
        return client

    def rest(self, client):
        """What the client receives until the connection is closed."""
        received = b""
        try:
            while piece := client.recv(1 << 16):
                received += piece
        except ConnectionResetError:
            pass
        self.assertTrue(self.proxy.wait_idle(10))
        return received

    def talk(self, **request):
        return self.rest(self.connect(**request))

    def statuses(self):
        return [answer["status"] for record in self.proxy.records for answer in record["answers"]]

    def test_passes_on(self):
        self.start()
        self.assertTrue(self.talk().endswith(b'\r\n\r\n{"number": 1}'))
        record = self.proxy.records[0]
        self.assertEqual((record["client"], record["body"], record["delivered"]), ("a", "{}", True))
        self.assertEqual(record["answers"], [{"status": 200, "body": '{"number": 1}'}])

    def test_passes_a_stream_on_as_it_comes(self):
        self.start()
        client, received = self.connect("GET", "/v1/changes/stream", b""), b""
        while b"heartbeat" not in received:  # the stream is still open
            received += client.recv(1 << 16)
        client.close()
        self.assertTrue(self.proxy.wait_idle(10))

    def test_reset(self):
        self.start(reset=1)
        self.assertEqual((self.talk(), self.upstream.count, self.proxy.records), (b"", 0, []))

    def test_drop(self):
        self.start(drop=1)
        self.assertEqual((self.talk(), self.upstream.count, self.statuses()), (b"", 0, []))
        self.assertEqual(self.proxy.records[0]["fault"], "drop")

    def test_lose(self):
        self.start(lose=1)
        self.assertEqual((self.talk(), self.upstream.count, self.statuses()), (b"", 1, [200]))
        self.assertFalse(self.proxy.records[0]["delivered"])

    def test_cut(self):
        self.start(cut=1)
        for number in range(1, 6):
            self.assertFalse(self.talk().endswith(b"}"))
            self.assertEqual(self.upstream.count, number)

    def test_double(self):
        self.start(double=1)
        self.assertTrue(self.talk().endswith(b'{"number": 2}'))
        self.assertEqual(self.statuses(), [200, 200])

    def test_delay(self):
        self.start(delay=1)
        waits = []
        self.proxy.calm.wait = waits.append
        for _ in range(8):
            self.assertTrue(self.talk().endswith(b"}"))
        self.assertEqual(len(waits), 8)
        self.assertTrue(all(0 <= seconds <= proxy.DELAY_MAX for seconds in waits))

    def test_html(self):
        self.start(html=1)
        for _ in range(8):
            self.assertEqual(self.talk(), proxy.HTML)
        self.assertIn(self.upstream.count, range(1, 8))

    def test_interim(self):
        self.start(interim=1)
        answer = self.talk()
        self.assertTrue(answer.startswith(b"HTTP/1.1 103 ") and answer.endswith(b'{"number": 1}'))

    def test_down(self):
        self.start(down=1)
        self.assertEqual(self.talk(), b"")
        self.proxy.probabilities, count = {}, self.upstream.count
        self.assertEqual((self.talk(), self.upstream.count), (b"", count))

    def test_hold(self):
        self.start(hold=1)
        self.assertTrue(self.talk().endswith(b"}"))  # no stream: not held
        client = self.connect("GET", "/v1/changes/stream", b"")
        self.upstream.sent.wait(10)
        self.assertFalse(select.select([client], [], [], 0.1)[0])
        self.upstream.released.set()
        self.assertIn(b"heartbeat", self.rest(client))

    def test_hold_ends_an_open_stream(self):
        self.addCleanup(setattr, proxy, "HOLD_MAX", proxy.HOLD_MAX)
        proxy.HOLD_MAX = 0.2
        self.start(hold=1)
        self.assertIn(b"heartbeat", self.talk(method="GET", target="/v1/changes/stream", body=b""))
        self.assertFalse(self.upstream.released.is_set())

    def test_large_bodies_are_counted_only(self):
        self.start()
        self.talk(body=b" " * (proxy.BODY_MAX + 1))
        self.assertEqual((self.proxy.records[0]["body"], self.proxy.large, self.upstream.count), (None, 1, 1))

    def test_the_seed_repeats_the_draws(self):
        lines = [proxy.Line(proxy.Proxy(None, proxy.FAULTS, seed=7), "a") for _ in range(2)]
        drawn = [[line.draw(is_stream=True) for _ in range(100)] for line in lines]
        for line in lines:
            line.server_close()
        self.assertEqual(*drawn)


if __name__ == "__main__":
    unittest.main()
