"""Compares the OpenAPI document that a server returns with the sources and with running servers.

    python3 tests/openapi/drive.py --server callsignd --cli callsign
        --proto schema/proto/callsign/v1/callsign.proto --routes src/api/front/routes.cpp --problems src/api/shared/problem.hpp

Exit status 0: the document is correct, and each operation returned each of its successes. Needs the Debian
packages python3-yaml and python3-jsonschema.
"""

import argparse
import subprocess
import sys
import tempfile
import traceback
import urllib.request
from pathlib import Path

import yaml

sys.dont_write_bytecode = True  # creates no files beside the sources

import remote
import scenarios
import sweeps
from client import WAIT, Checker
from document import Document
from server import Receiver, Server


def read_arguments():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, what in (("server", "callsignd"), ("cli", "callsign"), ("proto", "callsign.proto"),
                       ("routes", "routes.cpp"), ("problems", "problem.hpp")):
        arguments.add_argument(f"--{name}", type=Path, required=True, help=f"path of {what}")
    arguments.add_argument("--list", action="store_true", help="also list codes that were not seen")
    return arguments.parse_args()


def read_document(server):
    """Returns the document that a new server returns."""
    with tempfile.TemporaryDirectory() as folder:
        started = Server(server, Path(folder), "")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{started.port}/openapi.yaml", timeout=WAIT) as answer:
                return answer.read()
        finally:
            started.stop()
            started.status()


def compare_with_sources(document, given):
    document.check()
    document.compare_routes(given.routes.read_text())
    # Rejections before routing are in the net module.
    net = sorted((given.problems.parent.parent / "net").glob("*.cpp"))
    document.compare_problems(given.problems.read_text(), "".join(source.read_text() for source in net))
    document.compare_messages(given.proto.read_text())


def drive(checker, given, folder):
    master_key = folder / "master.key"
    subprocess.run([given.cli, "master-key", "new", master_key], check=True, stdout=subprocess.DEVNULL)
    servers = []
    try:
        servers.append(Server(given.server, folder / "main", scenarios.MAIN, master_key))
        servers.append(Server(given.server, folder / "small", sweeps.SMALL))
        servers.append(Server(given.server, folder / "far", scenarios.FAR))
        w = scenarios.World(checker, servers[0])
        for story in (scenarios.server_itself, scenarios.accounts, scenarios.tokens, scenarios.series, scenarios.creations,
                      scenarios.changes_of_tasks, scenarios.lists, scenarios.feed, scenarios.devices,
                      scenarios.managed_sync, scenarios.opaque_sync, scenarios.keys, scenarios.histories,
                      scenarios.imports, scenarios.reaper):
            story(w)
        remote.remotes(w, scenarios.World(checker, servers[2]))
        scenarios.webhooks(w, Receiver())
        backup = scenarios.backups(w, folder)
        scenarios.audit(w)
        subprocess.run([given.cli, "restore", backup, "--data-dir", folder / "restored" / "data", "--yes"],
                       check=True, stdout=subprocess.DEVNULL)
        servers.append(Server(given.server, folder / "restored", scenarios.MAIN, master_key))
        scenarios.restored(w, scenarios.World(checker, servers[3]))
        sweeps.all_alike(w)
        sweeps.small_server(scenarios.World(checker, servers[1]))
    except Exception:  # errors found before it are reported as well
        checker.fault(traceback.format_exc())
    finally:
        for server in servers:
            server.stop()
    for server in servers:
        checker.expect(f"callsignd ended with {server.status()}", server.status() == 0)


def unseen(document, checker):
    """Returns successes and codes that no response had."""
    statuses = [(o.name, status) for o in document.operations for status in o.responses if int(status) < 400]
    codes = [(o.name, code) for o in document.operations for some in o.codes.values() for code in some]
    return sorted(set(statuses) - checker.statuses), sorted(set(codes) - checker.codes), len(set(codes))


def main():
    given = read_arguments()
    try:
        document = Document(read_document(given.server))
    except yaml.YAMLError as wrong:
        sys.exit(f"openapi.yaml: {wrong}")
    if not document.faults:
        compare_with_sources(document, given)
    faults = document.faults
    if not faults:
        checker = Checker(document)
        with tempfile.TemporaryDirectory() as folder:
            drive(checker, given, Path(folder))
        successes, codes, count = unseen(document, checker)
        faults = checker.faults + [f"{name}: was never answered {status}" for name, status in successes]
        for name, code in codes if given.list else []:
            print(f"not seen: {name}: {code}")
    if faults:
        print(*faults, sep="\n")
        sys.exit(f"{len(faults)} faults")
    print(f"{len(document.operations)} operations, {checker.count} answers, {count - len(codes)} of {count} "
          "(operation, code) pairs: all as the document says")


if __name__ == "__main__":
    main()
