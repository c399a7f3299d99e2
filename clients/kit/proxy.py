"""A bad network between clients and a server: passes requests on, with faults."""

import collections
import contextlib
import gzip
import http.client
import io
import random
import select
import socket
import socketserver
import sys
import threading
import time

# The probability of each fault, per request. `hold` applies to event streams only.
FAULTS = {"reset": 0.03, "drop": 0.03, "lose": 0.06, "cut": 0.04, "double": 0.05, "delay": 0.05,
          "html": 0.05, "interim": 0.05, "down": 0.02, "hold": 0.2}
DELAY_MAX, HOLD_MAX, DOWN = 2.0, 5.0, 1.5  # seconds
BODY_MAX = 1 << 20  # larger bodies are not recorded
FIELDS = "Idempotency-Key", "If-Match", "Last-Event-ID", "Content-Type", "Accept"  # recorded
OF_A_CONNECTION = {"keep-alive", "transfer-encoding", "content-length", "expect"}  # not passed on
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
PAGE = b"<html>Bad gateway</html>"
HTML = (b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nConnection: close\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(PAGE), PAGE))


class Proxy:
    """Has one upstream. Each client has a line, so that its requests can be told apart."""

    def __init__(self, upstream, probabilities=None, seed=0):
        self.upstream = upstream  # (host, port); changes when the server restarts
        self.probabilities, self.seed = dict(probabilities or {}), seed
        self.records, self.counts, self.large = [], collections.Counter(), 0
        self.calm = threading.Event()  # no more faults
        self._lines, self._open, self._changed = [], 0, threading.Condition()

    def add_line(self, client):
        """Returns the URL of a new line."""
        line = Line(self, client)
        self._lines.append(line)
        threading.Thread(target=line.serve_forever, args=(0.05,), daemon=True).start()
        return f"http://127.0.0.1:{line.server_address[1]}"

    @contextlib.contextmanager
    def connection(self):
        with self._changed:
            self._open += 1
        try:
            yield
        finally:
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def wait_idle(self, seconds):
        """Returns whether all requests have ended, those of killed clients included."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, seconds)

    def count(self, fault):
        with self._changed:
            self.counts[fault] += 1

    def text(self, body):
        """A body as it is recorded."""
        if len(body) <= BODY_MAX:
            return body.decode(errors="replace")
        with self._changed:
            self.large += 1
        return None

    def close(self):
        self.calm.set()
        for line in self._lines:
            line.shutdown()
            line.server_close()


class Line(socketserver.ThreadingTCPServer):
    daemon_threads, block_on_close, request_queue_size = True, False, 128

    def __init__(self, proxy, client):
        super().__init__(("127.0.0.1", 0), Connection)
        self.proxy, self.client, self.down_until = proxy, client, 0.0
        self.random = random.Random(f"{proxy.seed} {client}")

    def is_drawn(self, fault):
        probability = self.proxy.probabilities.get(fault, 0)
        return not self.proxy.calm.is_set() and self.random.random() < probability

    def draw(self, is_stream):
        if time.monotonic() < self.down_until:
            return "drop"
        applicable = [fault for fault in FAULTS if fault != "reset" and (is_stream or fault != "hold")]
        return next(filter(self.is_drawn, applicable), None)

    def handle_error(self, *connection):
        """If the client or the server was killed, the other end sees a closed connection."""
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(*connection)


class Request:
    """One request, read in full."""

    def __init__(self, reader, writer):
        self.method, self.target, _ = reader.readline(65537).decode("latin-1").split()
        self.fields = http.client.parse_headers(reader)
        if "100-continue" in self.fields.get("Expect", "").lower():
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.body = read_body(self.fields, reader)
        self.is_stream = "/stream" in self.target or "/socket" in self.target

    def to_bytes(self):
        is_upgrade = "Upgrade" in self.fields
        kept = [(name, value) for name, value in self.fields.items() if name.lower() not in OF_A_CONNECTION
                and (is_upgrade or name.lower() != "connection")]
        if not is_upgrade:
            kept.append(("Connection", "close"))
        if self.body or self.method != "GET":
            kept.append(("Content-Length", len(self.body)))
        head = f"{self.method} {self.target} HTTP/1.1\r\n" + "".join(f"{n}: {v}\r\n" for n, v in kept)
        return head.encode("latin-1") + b"\r\n" + self.body


def read_body(fields, reader):
    if "chunked" not in fields.get("Transfer-Encoding", "").lower():
        length = int(fields.get("Content-Length", 0))
        body = reader.read(length)
        if len(body) < length:
            raise ConnectionError("the client has gone")
        return body
    body = b""
    while size := int(reader.readline(100).partition(b";")[0], 16):
        body += reader.read(size)
        reader.readline(3)
    reader.readline(3)
    return body


def parse_answer(answer, method):
    """Returns (status, body), or None if the answer is not complete."""
    class Source:
        @staticmethod
        def makefile(_):
            return io.BytesIO(answer)
    response = http.client.HTTPResponse(Source, method=method)
    try:
        response.begin()
        body = response.read()
    except (http.client.HTTPException, ValueError):
        return None
    if response.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    return response.status, body


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        self.line, self.proxy = self.server, self.server.proxy
        with self.proxy.connection():
            if self.line.is_drawn("reset"):
                self.proxy.count("reset")
                return
            self.request_read = Request(self.rfile, self.wfile)
            fault = self.line.draw(self.request_read.is_stream)
            self.record = self.new_record(fault)
            self.proxy.records.append(self.record)
            if fault:
                self.proxy.count(fault)
            getattr(self, fault or "pass_on")()

    def new_record(self, fault):
        fields = {name.lower(): self.request_read.fields[name] for name in FIELDS
                  if name in self.request_read.fields}
        return {"client": self.line.client, "at": time.monotonic(), "method": self.request_read.method,
                "target": self.request_read.target, "fields": fields, "fault": fault,
                "body": self.proxy.text(self.request_read.body), "answers": [], "delivered": False}

    # ---- faults ----

    def pass_on(self):
        for piece in self.forward():
            self.send(piece)
        self.record["delivered"] = not self.is_gone

    def drop(self):
        pass

    def lose(self):
        self.read()

    def cut(self):
        if self.request_read.is_stream:
            left = self.line.random.randrange(100, 3000)
            for piece in self.forward():
                self.send(piece[:left])
                left -= len(piece)
                if left <= 0:
                    return
        else:
            answer = self.read()
            self.send(answer[:self.line.random.randrange(len(answer) or 1)])

    def double(self):
        self.read()
        self.pass_on()

    def delay(self):
        seconds = self.line.random.uniform(0, DELAY_MAX)
        if self.request_read.is_stream or self.line.random.random() < 0.5:
            self.proxy.calm.wait(seconds)
            self.pass_on()
        else:
            answer = self.read()
            self.proxy.calm.wait(seconds)
            self.send(answer)
            self.record["delivered"] = not self.is_gone

    def html(self):
        if self.line.random.random() < 0.5:
            self.read()
        self.send(HTML)

    def interim(self):
        self.send(INTERIM)
        self.pass_on()

    def down(self):
        if self.line.random.random() < 0.5:
            self.read()
        self.line.down_until = time.monotonic() + DOWN

    def hold(self):
        self.send(b"".join(self.forward(HOLD_MAX)))

    # ---- transport ----

    is_gone = False  # the client closed the connection

    def send(self, data):
        try:
            if not self.is_gone:
                self.wfile.write(data)
        except OSError:
            self.is_gone = True

    def read(self):
        """Returns the whole answer; of a stream, its beginning."""
        answer = b""
        for piece in self.forward():
            answer += piece
            if self.request_read.is_stream:
                break
        return answer

    def forward(self, seconds=None):
        """Yields the answer as it comes. That of a write is recorded even if the client has gone."""
        answer, end = b"", seconds and time.monotonic() + seconds
        with socket.create_connection(self.proxy.upstream) as upstream:
            upstream.sendall(self.request_read.to_bytes())
            watched = [upstream, self.connection]
            while not end or time.monotonic() < end:
                ready = select.select(watched, [], [], end and max(0, end - time.monotonic()))[0]
                if self.connection in ready and not self.hear_client(upstream):
                    if self.request_read.method == "GET":
                        return
                    watched.remove(self.connection)
                if upstream in ready:
                    piece = upstream.recv(1 << 16)
                    if not piece:
                        break
                    if len(answer) <= 2 * BODY_MAX:
                        answer += piece
                    yield piece
        self.record_answer(answer)

    def hear_client(self, upstream):
        """Passes on what a client sends after its request. Returns False if the client has gone."""
        try:
            data = self.connection.recv(1 << 16)
        except OSError:
            data = b""
        self.is_gone = not data
        if data:
            upstream.sendall(data)
        return data

    def record_answer(self, answer):
        """The bodies of lists and feeds are large and not judged: they are not recorded."""
        if parsed := parse_answer(answer, self.request_read.method):
            status, body = parsed
            is_judged = self.request_read.method != "GET" or status >= 400
            text = self.proxy.text(body) if is_judged else ""
            self.record["answers"].append({"status": status, "body": text})
