"""Real servers, and a receiver of webhooks."""

import http.server
import os
import queue
import subprocess
import threading

from client import WAIT


class Server:
    """callsignd with its own folder, on a free port."""

    SIGN = "callsignd listening on http://"

    def __init__(self, program, folder, config, master_key=None):
        self.is_stopping = False
        folder.mkdir(exist_ok=True)
        (folder / "callsign.toml").write_text(config)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CALLSIGN_")}
        if master_key:
            environment["CALLSIGN_SECRETS_MASTER_KEY_FILE"] = str(master_key)
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [program, "--config", folder / "callsign.toml", "--data-dir", folder / "data",
                 "--listen", "127.0.0.1:0"],
                stdout=subprocess.PIPE, stderr=log, env=environment, text=True)
        for line in self.process.stdout:
            if line.startswith(self.SIGN):
                self.port = int(line.rpartition(":")[2])
                self.operator = (folder / "data" / "admin.token").read_text().strip()
                return
        raise RuntimeError("callsignd did not start:\n" + (folder / "log").read_text())

    def stop(self):
        """Stops it as a service manager does; a second call would end it at once."""
        if not self.is_stopping:
            self.process.terminate()
        self.is_stopping = True

    def status(self):
        """The exit status, once the process has ended."""
        return self.process.wait(WAIT)


class Receiver:
    """Receives webhook posts; responds with the given statuses, then with 204."""

    def __init__(self):
        self.posts, self.statuses = queue.Queue(), queue.Queue()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(204 if receiver.statuses.empty() else receiver.statuses.get())
                self.send_header("Content-Length", "0")
                self.end_headers()
                receiver.posts.put((self.headers, body))

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
