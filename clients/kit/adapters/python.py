"""The Python client in the conformance kit."""

import json
import os
import sys
import threading

from callsign_client import Client, FileStorage, Problem, Unavailable

client = Client(os.environ["CALLSIGN_SERVER"], os.environ["CALLSIGN_TOKEN"],
                FileStorage(os.path.join(os.environ["CALLSIGN_DIR"], "tasks.db")))


def add(task):
    return {"uuid": client.add(**task)}


def edit(uuid, set, addTags, removeTags):  # noqa: A002, N803: the protocol's names
    client.edit(uuid, set, addTags, removeTags)
    return {}


def complete(uuid):
    client.complete(uuid)
    return {}


def annotate(uuid, text):
    client.annotate(uuid, text)
    return {}


def sync():
    error = None
    try:
        client.sync()
    except (Unavailable, Problem) as why:
        error = str(why)
    return {"pending": len(client.outbox)} | ({"error": error} if error else {})


def follow():
    threading.Thread(target=client.follow, daemon=True).start()
    return {}


def tasks():
    return {"tasks": list(client.tasks.values())}


def rejected():
    return {"entries": client.rejected}


for line in sys.stdin:
    request = json.loads(line)
    action = globals()[request.pop("do")]
    try:
        answer = action(**request)
    except (KeyError, TypeError, OSError) as why:
        answer = {"error": repr(why)}
    print(json.dumps(answer), flush=True)
