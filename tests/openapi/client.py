"""An HTTP client that compares each response with the document."""

import base64
import gzip
import http.client
import json
import os
import socket
import threading
from urllib.parse import parse_qsl

from document import JSON_FORMS, PROTOBUF

WAIT = 10  # timeout of every wait, in seconds
# Headers of a WebSocket handshake (RFC 6455).
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode()}
# Headers that HTTP defines, which the document omits.
OF_HTTP = {"server", "date", "content-type", "content-length", "connection", "transfer-encoding"}


class Answer:
    def __init__(self, response, body):
        self.status, self.headers = response.status, response.headers
        self.body = gzip.decompress(body) if body and self.headers.get("Content-Encoding") == "gzip" else body
        self.form = response.headers.get("Content-Type", "").partition(";")[0]

    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json().get("code", "") if self.form == "application/problem+json" else ""


class Checker:
    """Collects errors and the statuses and codes seen."""

    def __init__(self, document):
        self.document, self.faults, self.count = document, [], 0
        self.statuses, self.codes = set(), set()  # (operation, status), (operation, code)
        self.asked_both_ways = set()  # paths
        self.others = {name: document.resolve(said) for name, said in document.root["x-other-requests"].items()}
        headers = document.root["components"]["headers"]
        self.anywhere = {name.lower() for name, said in headers.items() if said.get("x-on-any-answer")}
        self._lock = threading.Lock()

    def fault(self, what):
        with self._lock:
            if what not in self.faults:
                self.faults.append(what)

    def expect(self, what, is_so):
        if not is_so:
            self.fault(what)

    def matches(self, what, schema, value):
        for error in self.document.errors(schema, value):
            self.fault(f"{what}: {error}")

    def judge(self, method, target, fields, sent, answer):
        """Verifies that the document describes this response to this request."""
        self.count += 1
        path, _, query = target.partition("?")
        found = self.document.find("GET" if method == "HEAD" else method, path)
        if isinstance(found, list):  # no operation for the request
            is_sync = path == "/" or path.startswith("/v1/client/")
            kind = "no-such-sync-path" if is_sync else "method-not-allowed" if found else "no-such-path"
            name, said = f"{method} {path} ({kind})", self.others[kind]
            self.expect(f"{name}: answered {answer.status} {answer.code}",
                        answer.status == {"method-not-allowed": 405}.get(kind, 404))
        else:
            name, said = f"{method} {found.path}", found.responses.get(str(answer.status))
            self.statuses.add((found.name, str(answer.status)))
            if said is None:
                return self.fault(f"{name}: answered {answer.status} {answer.code}, which is not in the document")
            if answer.code:
                self.codes.add((found.name, answer.code))
                if answer.code not in found.codes[str(answer.status)]:
                    self.fault(f"{name}: answered {answer.status} with the code {answer.code}, which is not in "
                               "the document")
            if answer.status < 300:
                self._judge_request(name, found, query, fields, sent)
        self._judge_headers(f"{name}: {answer.status}", said, answer)
        if method != "HEAD" and answer.body is not None:
            self._judge_body(f"{name}: {answer.status}", said, answer)

    def _judge_request(self, name, operation, query, fields, sent):
        """Verifies that the document allows everything that the server accepts."""
        known = {p["name"]: p for p in operation.takes("query")}
        for parameter, value in parse_qsl(query, keep_blank_values=True):
            if parameter not in known:
                self.fault(f"{name}: takes the parameter {parameter}, which is not in the document")
                continue
            schema = self.document.resolve(known[parameter]["schema"])
            kind = schema.get("type")
            value = (int(value) if kind == "integer" else value == "true" if kind == "boolean" else
                     [value] if kind == "array" else value)
            self.matches(f"{name}: takes {parameter}={value}", schema, value)
        form = fields.get("Content-Type", "application/json")
        taken = (operation.body or {}).get("content", {})
        if sent and form not in taken:
            self.fault(f"{name}: takes {form}, which is not in the document")
        elif sent and form in JSON_FORMS:
            self.matches(f"{name}: takes", taken[form]["schema"], json.loads(sent))

    def _judge_headers(self, name, said, answer):
        documented = {field.lower(): self.document.resolve(h) for field, h in said.get("headers", {}).items()}
        for field, header in documented.items():
            if field in answer.headers:
                self.matches(f"{name}: {field}", header["schema"], answer.headers[field])
            elif header.get("required"):
                self.fault(f"{name}: has no {field}")
        for field in answer.headers:
            if field.lower() not in documented.keys() | self.anywhere | OF_HTTP:
                self.fault(f"{name}: has {field}, which is not in the document")

    def _judge_body(self, name, said, answer):
        content = said.get("content", {})
        if not content:
            return self.expect(f"{name}: has a body, which is not in the document", not answer.body)
        if answer.form not in content:
            return self.fault(f"{name}: is {answer.form or 'of no form'}, which is not in the document")
        if answer.form in JSON_FORMS:
            self.matches(name, content[answer.form]["schema"], answer.json())
        elif answer.form.startswith("text/"):
            self.matches(name, content[answer.form]["schema"], answer.body.decode())
        elif answer.form != PROTOBUF:
            self.expect(f"{name}: is empty", answer.body)


class Client:
    """A client with one connection."""

    def __init__(self, checker, port):
        self.checker, self.port = checker, port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)

    def ask(self, request, wanted, token=None, body=None, **fields):
        """`wanted`: the expected status or code; None: any in the document. `body`: bytes, or a
        value to encode as JSON."""
        method, target = request.split(" ", 1)
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        if token:
            fields["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            fields.setdefault("Content-Type", "application/json")
        answer = self.exchange(method, target, body, fields)
        self.checker.judge(method, target, fields, body, answer)
        said = answer.code if isinstance(wanted, str) else answer.status
        if wanted not in (said, None):
            self.checker.fault(f"{request}: answered {answer.status} {answer.body[:300]}, where {wanted} was expected")
        if method == "GET" and answer.form == "application/json" and answer.status == 200:
            self._ask_in_protobuf(target, fields, answer)
        return answer

    def exchange(self, method, target, body, fields):
        self._connection.request(method, target, body, fields)
        response = self._connection.getresponse()
        return Answer(response, response.read())

    def _ask_in_protobuf(self, target, fields, answer):
        """Once for each path; a missing member in protobuf equals false, 0 or an empty value in JSON."""
        path = target.partition("?")[0]
        operation = self.checker.document.find("GET", path)
        if path in self.checker.asked_both_ways or PROTOBUF not in operation.responses["200"]["content"]:
            return
        self.checker.asked_both_ways.add(path)
        other = self.exchange("GET", target, None, {**fields, "Accept": PROTOBUF})
        self.checker.judge("GET", target, fields, None, other)
        self.checker.expect(f"GET {path}: has no answer in protobuf", other.status == 200 and other.form == PROTOBUF)
        self.checker.expect(f"GET {path}: is empty in protobuf", other.body or not any(answer.json().values()))


class Events:
    """GET /v1/changes/stream, event by event."""

    SCHEMAS = {"change": "Change", "heartbeat": "Heartbeat", "end": "FarewellProblem"}

    def __init__(self, checker, port, token, query="", **fields):
        self.checker = checker
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
        target, fields = f"/v1/changes/stream{query}", {"Authorization": f"Bearer {token}", **fields}
        self._connection.request("GET", target, headers=fields)
        self._response = self._connection.getresponse()
        checker.judge("GET", target, fields, None, Answer(self._response, None))

    def next(self, kind):
        """Returns the next event of this kind; verifies those before it, too."""
        event = {}
        for line in iter(self._response.readline, b""):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                event[name] = value
                continue
            said = event.get("event")
            if said:
                data = json.loads(event["data"])
                self.checker.matches(f"stream: {said}", self.checker.document.schema(self.SCHEMAS[said]), data)
                self.checker.expect(f"stream: the id of {event}", event.get("id") == data.get("cursor"))
            if said == kind:
                return data
            event = {}
        self.checker.fault(f"stream: ended without {kind}")
        return {}


class Socket:
    """GET /v1/changes/socket, message by message (RFC 6455)."""

    def __init__(self, checker, port, token, protocol, query=""):
        self.checker = checker
        self._socket = socket.create_connection(("127.0.0.1", port), WAIT)
        target = f"/v1/changes/socket{query}"
        fields = {"Host": "callsign", "Authorization": f"Bearer {token}", "Sec-WebSocket-Protocol": protocol, **UPGRADE}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._socket.sendall(f"GET {target} HTTP/1.1\r\n{head}\r\n".encode())
        self._response = http.client.HTTPResponse(self._socket)
        self._response.begin()
        checker.judge("GET", target, fields, None, Answer(self._response, b""))
        checker.expect("socket: not opened", self._response.status == 101)

    def next(self, kind):
        """Returns the next message of this kind; verifies those before it, too."""
        while text := self.read():
            event = json.loads(text)
            self.checker.matches("socket", self.checker.document.schema("FeedEvent"), event)
            if kind in event:
                return event[kind]
        self.checker.fault(f"socket: closed without {kind}")
        return {}

    def read(self):
        """Returns the next message's bytes; none if the socket is closed."""
        read = self._response.fp.read
        first, size = read(2)
        if size == 126:
            size = int.from_bytes(read(2), "big")
        elif size == 127:
            size = int.from_bytes(read(8), "big")
        payload = read(size)
        return payload if first & 0x0F in (1, 2) else b""
