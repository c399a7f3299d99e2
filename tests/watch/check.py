"""Compares monitoring files with a running server: the metrics and the events that docs/operations.md
lists, the dashboard, the alerts, and fail2ban's filter.

    python3 tests/watch/check.py --server callsignd --root .

Exit status 0: they agree. Prometheus' promtool and fail2ban-regex are run, too, if they are installed.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import yaml

WAIT = 30
# Prometheus adds these labels itself, or derives them from a histogram.
OWN_LABELS = {"instance", "job", "le"}
CONFIG = """
[backup]
directory = "{folder}/backups"
every = "1h"
[api]
account_requests_per_minute = 30
"""


class Server:
    def __init__(self, program, folder, form):
        folder.mkdir()
        (folder / "backups").mkdir()
        self.folder = folder
        (folder / "callsign.toml").write_text(CONFIG.format(folder=folder) + f'[log]\nformat = "{form}"\n')
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [program, "--config", folder / "callsign.toml", "--data-dir", folder / "data", "--listen",
                 "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            if line.startswith("callsignd listening on "):
                self.url = line.split()[-1]
                break
            if "TOKEN=" in line:
                self.token = line.strip().removeprefix("TOKEN=")

    def ask(self, path, token=None, method="GET", body=None, **headers):
        request = urllib.request.Request(self.url + path, method=method, data=body)
        if token:
            request.add_header("Authorization", "Bearer " + token)
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            with urllib.request.urlopen(request, timeout=WAIT) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read().decode()

    def stop(self):
        self.process.terminate()
        self.process.wait(WAIT)
        self.process.stdout.close()
        return (self.folder / "log").read_text()


class Metrics:
    """The content of /metrics: the labels of each metric, by its name."""

    def __init__(self, text):
        self.kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
        self.labels = {name: set() for name in self.kinds}
        self.values = {}
        for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? ", text, re.M):
            known = self.labels[self.of(name)]
            for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
                known.add(label)
                self.values.setdefault((self.of(name), label), set()).add(value)

    def of(self, sample):
        """Returns the metric that a sample of this name belongs to, or None."""
        if sample in self.kinds:
            return sample
        family = re.sub(r"_(bucket|sum|count)$", "", sample)
        return family if self.kinds.get(family) == "histogram" else None


def visit(server):
    """Sends requests so that each metric has a sample, including the common kinds of rejections."""
    task = {"Content_Type": "application/json", "Idempotency_Key": '"key"'}
    assert server.ask("/v1/tasks", server.token, "POST", b'{"description":"x"}', **task)[0] == 201
    assert server.ask("/v1/tasks/TASK-1", server.token)[0] == 200
    for _ in range(3):
        assert server.ask("/v1/tasks/TASK-1", "cs_wrong")[0] == 401
    assert server.ask("/v1/tasks/TASK-1")[0] == 401
    assert server.ask("/v1/admin/accounts", server.token)[0] == 403
    nobody = "11111111-2222-4333-8444-555555555555"
    for _ in range(2):
        assert server.ask(f"/v1/client/get-child-version/{nobody}", X_Client_Id=nobody)[0] == 404
    assert server.ask("/nothing")[0] == 404
    while server.ask("/v1/account", server.token)[0] != 429:
        pass
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        text = server.ask("/metrics")[1]
        if 'callsign_backups_total{outcome="made"} 1' in text:
            return text
    raise RuntimeError("no backup was made")


def table(document, title):
    """Returns the rows of the section's tables as cells."""
    section = document.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    assert section, f"there is no section called {title}"
    rows = [re.split(r"(?<!\\) *\| *", line.strip("| ")) for line in section.splitlines() if line.startswith("|")]
    return [row for row in rows if not set("".join(row)) <= set("- |")]


def words(cell):
    return re.findall(r"`([^`]+)`", cell)


def check_documented(metrics, document, faults):
    documented = {word for row in table(document, "Metrics and alerts") for word in words(row[0])}
    for name in documented - metrics.kinds.keys():
        faults.append(f"{name}: is in the document, and the server does not export it")
    for name in metrics.kinds.keys() - documented:
        faults.append(f"{name}: is exported, and not in the document")


def check_expression(metrics, where, text, faults):
    """Verifies that only exported metrics are named, with existing labels, and with existing values
    where they are few."""
    seen = set()
    for sample, selector in re.findall(r"\b((?:callsign|process)_[a-z_]+)(?:\{([^}]*)\})?", text):
        name = metrics.of(sample)
        if not name:
            faults.append(f"{where}: names {sample}, which the server does not export")
            continue
        seen.add(name)
        for label, operator, value in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', selector):
            if label not in metrics.labels[name] | OWN_LABELS:
                faults.append(f"{where}: {name} has no label {label}")
            elif label not in OWN_LABELS | {"route", "status"} and operator in ("=", "=~"):
                for each in value.split("|"):
                    if each not in metrics.values[(name, label)]:
                        faults.append(f"{where}: {name} has no {label} {each}")
    for by in re.findall(r"\bby \(([^)]*)\)", text):
        known = OWN_LABELS.union(*(metrics.labels[name] for name in seen))
        for label in by.replace(" ", "").split(","):
            if label not in known:
                faults.append(f"{where}: no metric there has a label {label}")
    return seen


def check_dashboard(metrics, file, faults):
    board = json.loads(file.read_text())
    shown, ids = set(), set()
    for panel in board["panels"]:
        if panel["id"] in ids:
            faults.append(f"{file.name}: two panels are number {panel['id']}")
        ids.add(panel["id"])
        if panel["type"] == "row":
            continue
        if not panel["targets"]:
            faults.append(f"{file.name}: {panel['title']} shows nothing")
        for target in panel["targets"]:
            shown |= check_expression(metrics, f"{file.name}: {panel['title']}", target["expr"], faults)
    for variable in board["templating"]["list"]:
        shown |= check_expression(metrics, f"{file.name}: {variable['name']}", str(variable["query"]), faults)
    for name in metrics.kinds.keys() - shown - {"callsign_retry_samples", "callsign_reaper_window_changes_total",
                                                "callsign_reaper_slots_failed", "callsign_reaper_sweep_seconds",
                                                "callsign_reaper_slots_failed_retried"}:
        faults.append(f"{file.name}: does not show {name}")


def check_rules(metrics, file, faults):
    for group in yaml.safe_load(file.read_text())["groups"]:
        for rule in group["rules"]:
            check_expression(metrics, f"{file.name}: {rule['alert']}", rule["expr"], faults)
            for text in rule["annotations"].values():
                check_expression(metrics, f"{file.name}: {rule['alert']}", text, faults)


def check_events(root, document, faults):
    """Events and reasons of the document must equal those of the sources."""
    rows = [row for row in table(document, "Logs") if len(row) == 4 and words(row[0])]
    documented = {words(row[0])[0]: set(words(row[2])) for row in rows}
    api = "".join(file.read_text() for file in sorted((root / "src/api").rglob("*.cpp")))
    net = (root / "src/net/session.cpp").read_text()
    main = "".join((root / "src/main" / name).read_text() for name in ("request_log.hpp", "logging_probes.hpp"))
    log = (root / "src/platform/log.cpp").read_text()
    sources = {
        "auth-failed": set(re.findall(r'auth_failed,\s*"([a-z-]+)"', api))
        | set(re.findall(r'\? "([a-z-]+)" : "(?:[a-z-]+-token)"', api))
        | set(re.findall(r'\? "[a-z-]+-token" : "([a-z-]+-token)"', api)),
        "sync-trimmed": {"task-too-large"} if '"sync-trimmed", problems::task_too_large.code' in api else set(),
        "sync-rejected": set(re.findall(r'reject_(?:sync\(\s*\d+,|for_now\()\s*(?:(?:"[^"]*"\s*)+|[\w.]+),\s*"([a-z-]+)"\)', api))
        | {code.replace("_", "-") for code in re.findall(r"reject_(?:sync|for_now)\([^;]*?problems::(\w+)\.code\)", api)},
        "rate-limited": set(re.findall(r'"rate-limited",\s*"([a-z-]+)"', api))
        | set(re.findall(r'\{503, "([a-z-]+)",(?:\s*"[^"]*")+,\s*rate_limited\}', net)),
        "writes-rejected": set(re.findall(r'store_failure::kind::\w+: return "([a-z-]+)"', main)),
    }
    for event in re.findall(r'"((?:[a-z]+-)+lines-dropped)"', main + log) + re.findall(r'"(writes-resumed)"', main):
        sources.setdefault(event, set())
    for event in sources.keys() ^ documented.keys():
        faults.append(f"{event}: is an event of the sources or of the document, and not of both")
    for event in sources.keys() & documented.keys():
        for reason in sources[event] ^ documented[event]:
            faults.append(f"{event} {reason}: is a reason in the sources or in the document, and not in both")
    complaints = {word for row in table(document, "Taskwarrior sync errors") for word in words(row[1])}
    for reason in (sources["sync-rejected"] | {"sync-trimmed"}) - complaints:
        faults.append(f"{reason}: has no row in Taskwarrior sync errors")


def ask_promtool(root, text, faults):
    promtool = shutil.which("promtool")
    if not promtool:
        print("promtool is not installed: the rules were not tested")
        return
    folder = root / "config/prometheus"
    for what, given in ((["check", "metrics"], text), (["check", "rules", "callsign.rules.yml"], None),
                        (["test", "rules", "callsign.rules.test.yml"], None)):
        done = subprocess.run([promtool, *what], cwd=folder, input=given, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            faults.append(f"promtool {' '.join(what)}: {done.stdout}{done.stderr}")


def ask_fail2ban(root, log, form, folder, faults):
    """The filter finds each failed attempt with a token or client ID once, and nothing else."""
    regex = shutil.which("fail2ban-regex")
    if not regex:
        print("fail2ban-regex is not installed: the filter was not tested")
        return
    forged = {"text": 'warn auth-failed client=203.0.113.66 reason=unknown-token route=',
              "json": '"level":"warn","event":"auth-failed","client":"203.0.113.66","reason":"unknown-token","route":'}
    # Text chosen by clients comes later in a line, and must not be mistaken for its beginning.
    line = {"text": f'2026-11-23T09:11:32.931Z info session failed error="{forged["text"]}"\n',
            "json": '{"time":"2026-11-23T09:11:32.931Z","level":"error","event":"session failed","error":'
                    + json.dumps(forged["json"]) + "}\n"}[form]
    file = folder / f"fail2ban-{form}.log"
    file.write_text(log + line)
    done = subprocess.run([regex, "--print-all-matched", str(file), str(root / "config/fail2ban/filter.d/callsign.conf")],
                          capture_output=True, text=True, check=False)
    found = re.search(r"Lines: (\d+) lines, (\d+) ignored, (\d+) matched", done.stdout)
    wanted = 5  # three tokens, two client IDs
    if not found or int(found[3]) != wanted:
        faults.append(f"fail2ban-regex ({form}): {wanted} lines should match\n{done.stdout}{done.stderr}")
    if "[203.0.113.66]" in done.stdout or "Date template hits" not in done.stdout:
        faults.append(f"fail2ban-regex ({form}): a forged line matched, or no date\n{done.stdout}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("server", "root"):
        arguments.add_argument(f"--{name}", type=Path, required=True)
    given = arguments.parse_args()
    root = given.root.resolve()
    document = (root / "docs/operations.md").read_text()
    faults = []
    with tempfile.TemporaryDirectory() as temporary:
        for form in ("text", "json"):
            server = Server(given.server.resolve(), Path(temporary) / form, form)
            try:
                text = visit(server)
            finally:
                log = server.stop()
            ask_fail2ban(root, log, form, Path(temporary), faults)
    metrics = Metrics(text)
    check_documented(metrics, document, faults)
    check_dashboard(metrics, root / "config/grafana/callsign.json", faults)
    check_rules(metrics, root / "config/prometheus/callsign.rules.yml", faults)
    check_events(root, document, faults)
    ask_promtool(root, text, faults)
    for fault in sorted(faults):
        print(fault)
    print(f"{len(metrics.kinds)} metrics; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
