"""The client against scripted answers: what it sends, stores and repeats."""

import json
import pathlib
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import callsign_client
from callsign_client import Client, FileStorage, MemoryStorage, Problem, Unavailable, verify_webhook

U, V = "0192a000-0000-7000-8000-000000000001", "0192a000-0000-7000-8000-000000000002"
LOST = None  # the connection is closed instead of an answer
HTML = (502, b"<html>")
QUIET = {"GET /v1/changes": [(200, {"changes": [], "cursor": "c0"})], "GET /v1/tasks": [(200, {"tasks": []})]}


def task(seq, **more):
    return {"uuid": U, "seq": seq, "etag": f'"{seq}.0"', "key": "SYN-1", "status": "pending", **more}


def change(seq, **more):
    return {"seq": seq, "task": task(seq), "cursor": f"c{seq}", **more}


def page(changes, cursor):
    return 200, {"changes": changes, "cursor": cursor, "last": 9}


def problem(status, code, **more):
    return status, {"status": status, "code": code, "title": code, **more}


def made(count):
    return 200, {"results": [{"receipt": {}}] * count}


class Script:
    """A server whose answers are lists by "METHOD path", used in turn; the last one stays."""

    def __init__(self, answers):
        self.answers, self.asked, self.changed = {**QUIET, **answers}, [], threading.Condition()
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_any(self):
                script.answer(self)

            do_GET = do_POST = do_PATCH = do_DELETE = do_any

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, request):
        length = int(request.headers.get("Content-Length") or 0)
        body = json.loads(request.rfile.read(length)) if length else None
        path = request.path.replace(U, "U").replace(V, "V")
        name = f"{request.command} {path.partition('?')[0]}"
        with self.changed:
            self.asked.append((name, path, dict(request.headers), body))
            waiting = self.answers.get(name, [problem(404, "no-such-path")])
            given = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            self.changed.notify_all()
        if callable(given):
            return given(request)
        if given is LOST:
            return request.connection.close()
        status, answer = given
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        request.send_response(status)
        if status >= 400 and isinstance(answer, dict) and isinstance(answer.get("code"), str):
            request.send_header("Content-Type", "application/problem+json")
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)

    def sent(self, name):
        return [each for each in self.asked if each[0] == name]

    def wait_for(self, name, count):
        with self.changed:
            return self.changed.wait_for(lambda: len(self.sent(name)) >= count, 10)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class ClientTest(unittest.TestCase):
    def setUp(self):
        callsign_client.PAUSE_FIRST, callsign_client.WAIT_MIN, callsign_client.LOOK = 0.001, 0.2, 0.01

    def start(self, answers, storage=None):
        self.script = Script(answers)
        self.addCleanup(self.script.close)
        self.storage = storage or MemoryStorage()
        return self.open()

    def open(self):
        return Client(self.script.url, "t", self.storage)

    def test_a_creation_is_sent_again_with_its_key_and_uuid_until_there_is_an_answer(self):
        client = self.start({"POST /v1/tasks:batchCreate": [LOST, HTML, (404, {"code": 404}), (200, {"ok": True}), (204, b""), made(1)]})
        uuid = client.add("x")
        client.sync()
        bodies = [json.dumps(each[3]) for each in self.script.sent("POST /v1/tasks:batchCreate")]
        self.assertEqual((len(bodies), len(set(bodies))), (6, 1))
        self.assertEqual(json.loads(bodies[0])["items"][0]["task"]["uuid"], uuid)
        self.assertEqual(client.outbox, [])

    def test_what_was_noted_is_sent_by_the_next_program_as_it_was(self):
        client = self.start({"POST /v1/tasks:batchCreate": [made(1)]})
        client.add("x")
        self.open().sync()
        self.assertEqual(self.script.sent("POST /v1/tasks:batchCreate")[0][3]["items"][0]["idempotencyKey"],
                         client.outbox[0]["key"])
        self.assertEqual(self.open().outbox, [])

    def test_a_change_that_cannot_be_stored_is_not_noted(self):
        client = self.start({})

        def fail(_):
            raise OSError("disk full")

        self.storage.write = fail
        with self.assertRaisesRegex(OSError, "disk full"):
            client.add("x")
        self.assertEqual(client.outbox, [])

    def test_an_edit_is_made_again_on_the_task_as_it_is_with_the_tags_of_others(self):
        client = self.start({
            "GET /v1/tasks": [(200, {"tasks": [task(1, tags=["a"])]})],
            "GET /v1/tasks/U": [(200, task(2, tags=["a", "theirs"]))],
            "PATCH /v1/tasks/U": [problem(412, "precondition-failed"), (200, task(3))],
        })
        client.sync()
        client.edit(U, add_tags=["mine"], remove_tags=["a"])
        self.assertEqual(client.view()[U]["tags"], ["mine"])
        client.sync()
        first, second = self.script.sent("PATCH /v1/tasks/U")
        self.assertEqual((first[2]["If-Match"], second[2]["If-Match"]), ('"1.0"', '"2.0"'))
        self.assertEqual(second[3]["tags"], ["theirs", "mine"])
        self.assertEqual(client.tasks[U]["seq"], 3)

    def test_an_edit_whose_answer_was_lost_is_sent_again_with_the_same_body(self):
        client = self.start({"GET /v1/tasks": [(200, {"tasks": [task(1, tags=["a"])]})],
                             "PATCH /v1/tasks/U": [LOST] * 6 + [(200, task(2))]})
        client.sync()
        client.edit(U, add_tags=["b"])
        with self.assertRaises(Unavailable):
            client.sync()
        after = self.open()
        after.tasks[U]["tags"] = ["meanwhile"]
        after.sync()
        sent = [(json.dumps(each[3]), each[2]["Idempotency-Key"]) for each in self.script.sent("PATCH /v1/tasks/U")]
        self.assertEqual((len(sent), len(set(sent))), (7, 1))

    def test_actions_and_deletions_are_sent_once_each_in_order_with_a_key(self):
        client = self.start({"POST /v1/tasks/U:complete": [(200, task(2))],
                             "POST /v1/tasks/U:annotate": [(200, task(3))], "DELETE /v1/tasks/U": [(200, task(4))]})
        client.complete(U)
        client.annotate(U, "said")
        client.remove(U)
        client.sync()
        writes = [each for each in self.script.asked if not each[0].startswith("GET")]
        self.assertEqual([each[1] for each in writes],
                         ["/v1/tasks/U:complete", "/v1/tasks/U:annotate", "/v1/tasks/U"])
        self.assertEqual(writes[1][3], {"description": "said"})
        self.assertEqual(len({each[2]["Idempotency-Key"] for each in writes}), 3)

    def test_what_is_rejected_is_set_aside_and_can_be_sent_again_or_forgotten(self):
        invalid = problem(400, "validation-failed")
        client = self.start({"POST /v1/tasks:batchCreate": [invalid, invalid, made(1), made(1)],
                             "POST /v1/tasks/V:complete": [problem(404, "task-not-found")]})
        client.add("")
        client.add("good")
        client.complete(V)
        client.sync()
        self.assertEqual([each["problem"]["code"] for each in client.rejected],
                         ["validation-failed", "task-not-found"])
        after = self.open()
        entry, other = after.rejected
        after.retry(entry["id"], lambda again: again["task"].update(description="now good"))
        after.discard(other["id"])
        self.assertNotEqual(after.outbox[0]["key"], entry["key"])
        after.sync()
        self.assertEqual((after.outbox, after.rejected, self.open().rejected), ([], [], []))

    def test_a_denied_token_rejects_nothing(self):
        client = self.start({"POST /v1/tasks:batchCreate": [problem(401, "invalid-token")]})
        client.add("x")
        with self.assertRaises(Problem) as raised:
            client.sync()
        self.assertEqual(raised.exception.code, "invalid-token")
        self.assertEqual((len(client.outbox), client.rejected), (1, []))

    def test_a_change_of_a_task_waits_while_the_token_is_denied(self):
        client = self.start({"POST /v1/tasks/U:start": [problem(403, "insufficient-scope")]})
        client.start(U)
        with self.assertRaises(Problem):
            client.sync()
        self.assertEqual((len(client.outbox), client.rejected), (1, []))

    def test_a_creation_leaves_the_outbox_when_its_task_is_in_the_copy(self):
        client = self.start({"POST /v1/tasks:batchCreate": [made(1)],
                             "GET /v1/changes": [page([], "c0"), page([], "c0"), LOST]})
        client.sync()
        client.add("x")
        with self.assertRaises(Unavailable):
            client.sync()
        self.assertEqual((len(client.view()), len(self.open().view())), (1, 1))

    def test_an_older_change_does_not_overwrite_and_requests_are_repeated_after_a_pause(self):
        callsign_client.PAUSE_FIRST = 0.1
        client = self.start({"GET /v1/tasks": [(200, {"tasks": [task(5, description="five")]})],
                             "GET /v1/changes": [page([], "c0"), page([change(3)], "c3"), LOST, LOST, LOST,
                                                 page([], "c3")]})
        begun = time.monotonic()
        client.sync()
        self.assertGreaterEqual(time.monotonic() - begun, 0.05 + 0.1 + 0.2, "the least of three pauses")
        self.assertEqual(client.tasks[U]["description"], "five")

    def test_only_a_failed_slot_gets_another_key(self):
        def item(code):
            return 200, {"results": [{"problem": {"status": 409, "code": code}}]}

        client = self.start({"POST /v1/tasks:batchCreate": [item("request-in-progress"), item("slot-failed"), made(1)]})
        client.add("x")
        client.sync()
        keys = [each[3]["items"][0]["idempotencyKey"] for each in self.script.sent("POST /v1/tasks:batchCreate")]
        self.assertEqual(keys[0], keys[1])
        self.assertNotEqual(keys[1], keys[2])

    def test_what_a_person_must_fix_first_is_not_repeated_at_once_and_not_given_up(self):
        held = problem(503, "series-held", retryable=False)
        client = self.start({"POST /v1/tasks/U:stop": [held],
                             "POST /v1/tasks:batchCreate": [(200, {"results": [{"problem": held[1]}]})]})
        for note, name in ((lambda: client.add("x"), "POST /v1/tasks:batchCreate"),
                           (lambda: client.stop(U), "POST /v1/tasks/U:stop")):
            note()
            with self.assertRaises(Unavailable):
                client.sync()
            self.assertEqual((len(self.script.sent(name)), len(client.outbox), client.rejected), (1, 1, []))
            client.outbox.clear()

    def test_an_expired_cursor_lists_all_tasks_again(self):
        client = self.start({
            "GET /v1/tasks": [(200, {"tasks": [task(1), {**task(2), "uuid": "0192a000-0000-7000-8000-000000000003"}]}),
                              (200, {"tasks": [task(5)], "nextPageToken": "p"}),
                              (200, {"tasks": [{**task(6), "uuid": V}]})],
            "GET /v1/changes": [page([], "c0"), page([], "c0"), problem(410, "cursor-expired", cursor="c6"),
                                page([], "c6")],
        })
        client.sync()
        client.sync()
        for each in client, self.open():
            self.assertEqual(sorted(each.tasks), [U, V])
            self.assertEqual(each.tasks[U]["seq"], 5)

    def test_changes_are_stored_with_their_cursor_and_older_ones_do_not_overwrite(self):
        client = self.start({
            "GET /v1/tasks": [(200, {"tasks": [task(5)]})],
            "GET /v1/changes": [page([], "c0"), page([change(3), change(6)], "c6"), page([change(7, purged=True)], "c7"),
                                page([], "c7")],
        })
        heard = []
        client.on_change = lambda each: heard.append(each["seq"])
        client.sync()
        self.assertEqual((heard, client.tasks), ([5, 3, 6, 7], {}))
        after = self.open()
        self.assertEqual(after.tasks, {})
        after.sync()
        self.assertIn("after=c7&", self.script.asked[-1][1])

    def test_follow_receives_a_stream_and_sends_what_is_noted_meanwhile(self):
        stop, heard, over = threading.Event(), threading.Event(), threading.Event()
        self.addCleanup(over.set)

        def stream(request):
            request.send_response(200)
            request.end_headers()
            request.wfile.write(f"event: change\ndata: {json.dumps(change(4))}\n\n".encode())
            over.wait(10)

        client = self.start({"GET /v1/changes/stream": [stream], "POST /v1/tasks:batchCreate": [made(1)]})
        client.on_change = lambda _: heard.set()
        following = threading.Thread(target=client.follow, args=(stop,))
        following.start()
        self.assertTrue(heard.wait(10))
        client.add("x")
        self.assertTrue(self.script.wait_for("GET /v1/changes/stream", 2))
        self.assertEqual(client.outbox, [])
        stop.set()
        following.join(10)
        self.assertFalse(following.is_alive())

    def test_follow_polls_where_no_streams_come_through(self):
        stop, heard = threading.Event(), threading.Event()
        client = self.start({"GET /v1/changes/stream": [LOST],
                             "GET /v1/changes": [page([], "c0")] * 4 + [page([change(4)], "c4")]})
        client.on_change = lambda _: heard.set()
        following = threading.Thread(target=client.follow, args=(stop,))
        following.start()
        self.assertTrue(heard.wait(10))
        stop.set()
        following.join(10)
        self.assertFalse(following.is_alive())
        self.assertEqual(len(self.script.sent("GET /v1/changes/stream")), 2)

    def test_follow_sends_what_was_noted_during_a_sync(self):
        stop, noted, over = threading.Event(), threading.Event(), threading.Event()
        self.addCleanup(over.set)

        def stream(request):
            request.send_response(200)
            request.end_headers()
            request.wfile.write(b'event: heartbeat\ndata: {"cursor":"c0"}\n\n')
            over.wait(10)

        client = self.start({"GET /v1/changes/stream": [stream], "POST /v1/tasks:batchCreate": [made(1)]})
        client.on_state = lambda _: None
        answer = self.script.answer

        def note_first(request):
            if request.path.startswith("/v1/changes?") and not noted.is_set():
                noted.set()
                client.add("meanwhile")
            answer(request)

        self.script.answer = note_first
        following = threading.Thread(target=client.follow, args=(stop,))
        following.start()
        self.assertTrue(self.script.wait_for("POST /v1/tasks:batchCreate", 1))
        stop.set()
        following.join(5)
        self.assertFalse(following.is_alive())

    def test_follow_ends_though_the_server_is_silent(self):
        stop, over = threading.Event(), threading.Event()
        self.addCleanup(over.set)
        client = self.start({"GET /v1/changes": [lambda _: over.wait(10)]})
        following = threading.Thread(target=client.follow, args=(stop,))
        following.start()
        self.assertTrue(self.script.wait_for("GET /v1/changes", 1))
        stop.set()
        following.join(5)
        self.assertFalse(following.is_alive())

    def test_a_task_is_created_before_those_that_depend_on_it(self):
        client = self.start({"POST /v1/tasks:batchCreate": [made(2), made(1)]})
        parent = client.add("parent")
        client.add("child", depends=[parent])
        client.add("another")
        client.sync()
        sent = [[item["task"]["description"] for item in each[3]["items"]]
                for each in self.script.sent("POST /v1/tasks:batchCreate")]
        self.assertEqual(sent, [["parent", "another"], ["child"]])

    def test_a_lasting_trouble_of_one_task_stops_its_own_changes_only(self):
        client = self.start({"POST /v1/tasks/U:start": [problem(500, "record-damaged", retryable=False)],
                             "POST /v1/tasks/V:start": [(200, {**task(4), "uuid": V})]})
        client.start(U)
        client.complete(U)
        client.start(V)
        with self.assertRaises(Unavailable) as raised:
            client.sync()
        self.assertTrue(raised.exception.is_lasting)
        self.assertEqual([(each["op"], each["uuid"]) for each in client.outbox], [("start", U), ("complete", U)])
        self.assertIn("/v1/changes", self.script.asked[-1][1])

    def test_the_task_of_a_change_is_one_that_exists_here_and_the_caller_keeps_its_objects(self):
        client = self.start({"GET /v1/tasks": [(200, {"tasks": [task(1)]})],
                             "PATCH /v1/tasks/U": [(200, task(2)), (200, task(3))]})
        client.sync()
        for ref in ("SYN-9", U + "?purge=true", "ü"):
            with self.assertRaises(ValueError):
                client.complete(ref)
        changes = {"priority": "H"}
        client.edit("syn-1", changes)
        changes["priority"] = "L"
        client.edit(U.upper(), changes)
        client.sync()
        self.assertEqual([each[3]["priority"] for each in self.script.sent("PATCH /v1/tasks/U")], ["H", "L"])

    def test_a_failed_write_of_a_body_leaves_the_key_to_it(self):
        client = self.start({"GET /v1/tasks": [(200, {"tasks": [task(1, tags=["a"])]})],
                             "PATCH /v1/tasks/U": [(200, task(2))]})
        client.sync()
        client.edit(U, add_tags=["b"])
        write = self.storage.write

        def fail(_):
            raise OSError("disk full")

        self.storage.write = fail
        with self.assertRaisesRegex(OSError, "disk full"):
            client.sync()
        self.assertNotIn("sent", client.outbox[0])
        self.assertEqual(self.script.sent("PATCH /v1/tasks/U"), [])
        self.storage.write = write
        self.open().sync()

    def test_a_rejected_change_is_sent_again_once(self):
        client = self.start({"POST /v1/tasks/U:stop": [problem(404, "task-not-found"), (200, task(2))]})
        client.stop(U)
        client.sync()
        rejected = client.rejected[0]
        client.retry(rejected["id"])
        client.retry(rejected["id"])
        self.assertEqual(len(client.outbox), 1)
        # A program that ended between the two writes.
        self.storage.write([("rejected/" + rejected["id"], rejected)])
        after = self.open()
        self.assertEqual((len(after.outbox), after.rejected), (1, []))

    def test_a_new_list_tells_what_has_changed_and_an_error_of_on_change_hides_nothing(self):
        client = self.start({
            "GET /v1/tasks": [(200, {"tasks": [task(1), {**task(1), "uuid": V}]}), (200, {"tasks": [task(5)]})],
            "GET /v1/changes": [page([], "c0"), page([], "c0"), problem(410, "cursor-unknown", cursor="c6"),
                                page([], "c6")],
        })
        heard = []

        def hear(each):
            heard.append((each["task"]["uuid"], each.get("purged", False)))
            if len(heard) == 1:
                raise KeyError("of the program")

        client.on_change = hear
        with self.assertRaises(KeyError):
            client.sync()
        self.assertEqual(heard, [(U, False), (V, False)])
        client.sync()
        client.sync()
        self.assertEqual(heard[2:], [(V, True), (U, False)])
        client.on_change = lambda _: client.sync()
        self.script.answers["GET /v1/changes"] = [page([change(9)], "c9")]
        with self.assertRaises(RuntimeError):
            client.sync()

    def test_view_shows_every_noted_change(self):
        known = task(1, attributes={"size": "S"}, start="2026-01-01T00:00:00.000Z")
        client = self.start({"GET /v1/tasks": [(200, {"tasks": [known]})]})
        client.sync()
        client.edit(U, {"attributes": {"estimate": "3h"}, "due": None})
        client.annotate(U, "said")
        client.stop(U)
        shown = client.view()[U]
        self.assertEqual(shown["attributes"], {"size": "S", "estimate": "3h"})
        self.assertEqual(shown["annotations"][0]["description"], "said")
        self.assertNotIn("start", shown)
        client.complete(U)
        self.assertEqual(client.view()[U]["status"], "completed")

    def test_a_token_or_url_that_none_can_be_is_not_sent(self):
        for url, token in (("http://test", "cs_a\nb"), ("test", "t"), ("http://test", "")):
            with self.assertRaises(ValueError) as raised:
                Client(url, token)
            self.assertNotIn("cs_a", str(raised.exception))

    def test_a_file_keeps_everything(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "kept"
            storage = FileStorage(file)
            storage.write([("task/a", {"n": 1}), ("cursor", "c1"), ("outbox/2", {}), ("outbox/1", {"id": "1"})])
            storage.write([("outbox/2", None), ("task/a", None), ("task/b", {"n": 2})])
            with self.assertRaises(TypeError):
                storage.write([("task/c", 1), ("task/d", object())])  # together or not at all
            storage.close()
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)
            after = FileStorage(file)
            self.addCleanup(after.close)
            self.assertEqual([after.load(prefix) for prefix in ("outbox/", "task/", "cursor", "rejected/")],
                             [[("outbox/1", {"id": "1"})], [("task/b", {"n": 2})], [("cursor", "c1")], []])


class WebhookTest(unittest.TestCase):
    """With a request of the Standard Webhooks specification."""

    secret, body, now = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}', 1614265330
    headers = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
               "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}

    def test_a_signed_request_is_accepted(self):
        self.assertEqual(verify_webhook(self.secret, self.headers, self.body, self.now), {"test": 2432232314})
        two = {**self.headers, "webhook-signature": "v1,AAAA " + self.headers["webhook-signature"]}
        self.assertTrue(verify_webhook(["whsec_AAAA", self.secret], two, self.body, self.now))

    def test_another_request_is_not(self):
        other = [{"webhook-id": "other"}, {"webhook-id": ""}, {"webhook-timestamp": "1614265331"},
                 {"webhook-timestamp": "x"}, {"webhook-signature": ""},
                 {"webhook-signature": self.headers["webhook-signature"].replace("v1", "v2")}]
        cases = [({**self.headers, **each}, self.body, self.now) for each in other]
        cases += [(self.headers, self.body + b" ", self.now), (self.headers, self.body, self.now + 301),
                  (self.headers, self.body, self.now - 301)]
        for headers, body, now in cases:
            with self.assertRaises(ValueError):
                verify_webhook(self.secret, headers, body, now)
        with self.assertRaises(ValueError):
            verify_webhook("whsec_AAAA", self.headers, self.body, self.now)
        with self.assertRaises(ValueError):
            verify_webhook(self.secret, {**self.headers, "webhook-signature": "v1,ü"}, self.body, self.now)


if __name__ == "__main__":
    unittest.main()
