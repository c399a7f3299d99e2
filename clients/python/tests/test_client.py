"""The client against scripted answers: what it sends, stores and repeats."""

import json
import pathlib
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import callsign_client
from callsign_client import Client, FileStorage, MemoryStorage, Problem, Unavailable, verify_webhook

LOST = None  # the connection is closed instead of an answer
HTML = (502, b"<html>")
QUIET = {"GET /v1/changes": [(200, {"changes": [], "cursor": "c0"})], "GET /v1/tasks": [(200, {"tasks": []})]}


def task(seq, **more):
    return {"uuid": "u", "seq": seq, "etag": f'"{seq}.0"', "key": "SYN-1", "status": "pending", **more}


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
        name = f"{request.command} {request.path.partition('?')[0]}"
        with self.changed:
            self.asked.append((name, request.path, dict(request.headers), body))
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
        callsign_client.PAUSE_FIRST = 0.001

    def start(self, answers, storage=None):
        self.script = Script(answers)
        self.addCleanup(self.script.close)
        self.storage = storage or MemoryStorage()
        return self.open()

    def open(self):
        return Client(self.script.url, "t", self.storage)

    def test_a_creation_is_sent_again_with_its_key_and_uuid_until_there_is_an_answer(self):
        client = self.start({"POST /v1/tasks:batchCreate": [LOST, HTML, (500, {}), made(1)]})
        uuid = client.add("x")
        client.sync()
        bodies = [json.dumps(each[3]) for each in self.script.sent("POST /v1/tasks:batchCreate")]
        self.assertEqual((len(bodies), len(set(bodies))), (4, 1))
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
            "GET /v1/tasks/u": [(200, task(2, tags=["a", "theirs"]))],
            "PATCH /v1/tasks/u": [problem(412, "precondition-failed"), (200, task(3))],
        })
        client.sync()
        client.edit("u", add_tags=["mine"], remove_tags=["a"])
        self.assertEqual(client.view()["u"]["tags"], ["mine"])
        client.sync()
        first, second = self.script.sent("PATCH /v1/tasks/u")
        self.assertEqual((first[2]["If-Match"], second[2]["If-Match"]), ('"1.0"', '"2.0"'))
        self.assertEqual(second[3]["tags"], ["theirs", "mine"])
        self.assertEqual(client.tasks["u"]["seq"], 3)

    def test_an_edit_whose_answer_was_lost_is_sent_again_with_the_same_body(self):
        client = self.start({"GET /v1/tasks": [(200, {"tasks": [task(1, tags=["a"])]})],
                             "PATCH /v1/tasks/u": [LOST] * 6 + [(200, task(2))]})
        client.sync()
        client.edit("u", add_tags=["b"])
        with self.assertRaises(Unavailable):
            client.sync()
        after = self.open()
        after.tasks["u"]["tags"] = ["meanwhile"]
        after.sync()
        sent = [(json.dumps(each[3]), each[2]["Idempotency-Key"]) for each in self.script.sent("PATCH /v1/tasks/u")]
        self.assertEqual((len(sent), len(set(sent))), (7, 1))

    def test_actions_and_deletions_are_sent_once_each_in_order_with_a_key(self):
        client = self.start({"POST /v1/tasks/u:complete": [(200, task(2))],
                             "POST /v1/tasks/u:annotate": [(200, task(3))], "DELETE /v1/tasks/u": [(200, task(4))]})
        client.complete("u")
        client.annotate("u", "said")
        client.remove("u")
        client.sync()
        writes = [each for each in self.script.asked if not each[0].startswith("GET")]
        self.assertEqual([each[1] for each in writes],
                         ["/v1/tasks/u:complete", "/v1/tasks/u:annotate", "/v1/tasks/u"])
        self.assertEqual(writes[1][3], {"description": "said"})
        self.assertEqual(len({each[2]["Idempotency-Key"] for each in writes}), 3)

    def test_what_is_rejected_is_set_aside_and_can_be_sent_again_or_forgotten(self):
        invalid = problem(400, "validation-failed")
        client = self.start({"POST /v1/tasks:batchCreate": [invalid, invalid, made(1), made(1)],
                             "POST /v1/tasks/gone:complete": [problem(404, "task-not-found")]})
        client.add("")
        client.add("good")
        client.complete("gone")
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
        client = self.start({"POST /v1/tasks/u:stop": [held],
                             "POST /v1/tasks:batchCreate": [(200, {"results": [{"problem": held[1]}]})]})
        for note, name in ((lambda: client.add("x"), "POST /v1/tasks:batchCreate"),
                           (lambda: client.stop("u"), "POST /v1/tasks/u:stop")):
            note()
            with self.assertRaises(Unavailable):
                client.sync()
            self.assertEqual((len(self.script.sent(name)), len(client.outbox), client.rejected), (1, 1, []))
            client.outbox.clear()

    def test_an_expired_cursor_lists_all_tasks_again(self):
        client = self.start({
            "GET /v1/tasks": [(200, {"tasks": [task(1), {**task(2), "uuid": "old"}]}),
                              (200, {"tasks": [task(5)], "nextPageToken": "p"}),
                              (200, {"tasks": [{**task(6), "uuid": "new"}]})],
            "GET /v1/changes": [page([], "c0"), page([], "c0"), problem(410, "cursor-expired", cursor="c6"),
                                page([], "c6")],
        })
        client.sync()
        client.sync()
        for each in client, self.open():
            self.assertEqual(sorted(each.tasks), ["new", "u"])
            self.assertEqual(each.tasks["u"]["seq"], 5)

    def test_changes_are_stored_with_their_cursor_and_older_ones_do_not_overwrite(self):
        client = self.start({
            "GET /v1/tasks": [(200, {"tasks": [task(5)]})],
            "GET /v1/changes": [page([], "c0"), page([change(3), change(6)], "c6"), page([change(7, purged=True)], "c7"),
                                page([], "c7")],
        })
        heard = []
        client.on_change = lambda each: heard.append(each["seq"])
        client.sync()
        self.assertEqual((heard, client.tasks), ([3, 6, 7], {}))
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


if __name__ == "__main__":
    unittest.main()
