"""Judges a run: its operations, its requests and its end state. README.md explains the rules.

A run is a dict: `operations`, `requests` (records of the proxy), `tasks` and `feed` of the server, `clients`
(name, tasks, rejected), `token`, and `adapter` (sentences about adapters that broke the protocol).
"""

import collections
import json
import urllib.parse

COPIED = "key", "status", "description", "project", "annotations", "etag"
SAME_MAX, WITHIN = 20, 1.0  # requests, seconds


def judge(run):
    """Returns (rule, evidence) for each violation. A broken adapter leaves nothing else to judge."""
    rules = {"adapter": adapter} if run["adapter"] else RULES
    return [(name, evidence) for name, rule in rules.items() for evidence in rule(run)]


# ---- what was said ----

def parse(text):
    """A JSON object; {} if the body is none, such as a proxy's page."""
    try:
        value = json.loads(text or "")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def path_of(request):
    return request["target"].partition("?")[0]


def key_of(request):
    return request["fields"].get("idempotency-key", "").strip('"')


def is_creation(request):
    return request["method"] == "POST" and path_of(request) in ("/v1/tasks", "/v1/tasks:batchCreate")


def creations(request):
    """(key, task) of each creation in a request."""
    body = parse(request["body"])
    if not is_creation(request) or not body:
        return []
    if path_of(request) == "/v1/tasks":
        return [(key_of(request), body)]
    return [(item.get("idempotencyKey"), item.get("task", {})) for item in body.get("items", [])]


def outcomes(request):
    """(key, receipt or task, code of a problem) of each answer, in a batch of each item."""
    for answer in request["answers"]:
        result = parse(answer["body"])
        if "results" in result:
            for item, each in zip(parse(request["body"])["items"], result["results"]):
                yield (item.get("idempotencyKey"), each.get("receipt") or each.get("task"),
                       each.get("problem", {}).get("code"))
        else:
            yield key_of(request), result if answer["status"] < 300 else None, result.get("code")


# ---- evidence ----

def show(request, key=""):
    statuses = ", ".join(str(answer["status"]) for answer in request["answers"]) or "no answer"
    key = key or key_of(request)
    fault = f" (fault: {request['fault']})" if request["fault"] else ""
    return (f"{request['client']}: {request['method']} {request['target'][:120]}"
            f"{', key ' * bool(key)}{key} -> {statuses}{fault}")


def about(run, uuid):
    """The last requests that name the task."""
    found = [request for request in run["requests"]
             if uuid and (uuid in request["target"] or uuid in (request["body"] or ""))]
    keys = [next((key for key, task in creations(each) if task.get("uuid") == uuid), "") for each in found]
    lines = [show(*each) for each in zip(found, keys)]
    return "".join(f"\n    {line}" for line in lines[-4:]) or "\n    no request names it"


def operation(op):
    return f"{op['client']} {'noted' if op['isNoted'] else 'may have noted'} {op['do']} {op['text']}"


# ---- rules ----

def noted_on_tasks(run, *kinds):
    """(operation, its task) of noted operations. Lost tasks have a rule of their own."""
    tasks = {task["uuid"]: task for task in run["tasks"]}
    return [(op, tasks[op["uuid"]]) for op in run["operations"]
            if op["isNoted"] and op["do"] in kinds and op["uuid"] in tasks]


def adapter(run):
    return run["adapter"]


def lost(run):
    there = {(task["uuid"], task.get("description")) for task in run["tasks"]}
    for op in run["operations"]:
        if op["do"] == "add" and op["isNoted"] and (op["uuid"], op["text"]) not in there:
            yield f"{op['uuid']} is not on the server: {operation(op)}{about(run, op['uuid'])}"


def doubled(run):
    for field in "description", "uuid":
        tasks = collections.defaultdict(list)
        for task in run["tasks"]:
            tasks[task.get(field)].append(task)
        for value, found in tasks.items():
            if len(found) > 1:
                keys = ", ".join(f"{task['key']} {task['uuid']}" for task in found)
                yield f"{field} {value!r}: {keys}{about(run, found[1]['uuid'])}"


def phantom(run):
    added = {op["text"] for op in run["operations"] if op["do"] == "add"}
    for task in run["tasks"]:
        if task.get("description") not in added:
            yield f"{task['key']} {task['uuid']} {task.get('description')!r}{about(run, task['uuid'])}"


def numbers(run):
    """The feed also has the numbers of purged tasks."""
    tasks = {task["uuid"]: task for task in [change["task"] for change in run["feed"]] + run["tasks"]}
    series = collections.defaultdict(list)
    for task in tasks.values():
        series[task.get("prefix", ""), task.get("period", "")].append(task.get("number", 0))
    for name, used in series.items():
        if sorted(used) != list(range(1, len(used) + 1)):
            wrong = sorted(set(range(1, len(used) + 1)) ^ set(used))
            yield f"series {' '.join(filter(None, name))}: {len(used)} tasks; missing or wrong: {wrong[:10]}"


def receipt(run):
    first = {}
    for request in run["requests"]:
        for key, result, _ in outcomes(request):
            if key and result:
                result = {name: value for name, value in result.items() if name != "replayed"}
                expected = first.setdefault((is_creation(request), key), result)
                if result != expected:
                    yield f"key {key}: first {expected}, then {result}\n    {show(request, key)}"


def key_reused(run):
    """Only in answers that the client got. After a 412 a key may be sent with another body. A late copy of
    the first request, whose client was killed, then gets this code, too."""
    for request in filter(lambda request: request["delivered"], run["requests"]):
        for key, _, code in outcomes(request):
            if code == "idempotency-key-reused":
                yield f"key {key}\n    {show(request, key)}"


def no_uuid(run):
    for request in run["requests"]:
        for key, task in creations(request):
            if not task.get("uuid"):
                yield f"{task.get('description')!r}\n    {show(request, key)}"


def new_key(run):
    """A retry has the key of the first request. Only a failed reservation calls for another one."""
    first, failed = {}, {key for request in run["requests"] for key, _, code in outcomes(request)
                         if code == "slot-failed"}
    for request in run["requests"]:
        for key, task in creations(request):
            known = first.setdefault((request["client"], task.get("uuid")), key)
            if task.get("uuid") and key != known and known not in failed:
                yield f"{task['uuid']} had the key {known}\n    {show(request, key)}"


def annotation(run):
    tasks = {task["uuid"]: task for task in run["tasks"]}
    for op in run["operations"]:
        if op["do"] == "annotate" and op["uuid"] in tasks:
            texts = [each["description"] for each in tasks[op["uuid"]].get("annotations", [])]
            if texts.count(op["text"]) not in ((1,) if op["isNoted"] else (0, 1)):
                yield (f"{op['uuid']} has it {texts.count(op['text'])} times: {operation(op)}"
                       f"{about(run, op['uuid'])}")


def tag(run):
    for op, task in noted_on_tasks(run, "add", "edit"):
        if missing := set(op["tags"]) - set(task.get("tags", [])):
            yield f"{op['uuid']} has no {', '.join(missing)}: {operation(op)}{about(run, op['uuid'])}"


def status(run):
    for op, task in noted_on_tasks(run, "complete"):
        if task["status"] != "completed":
            yield f"{op['uuid']} is {task['status']}: {operation(op)}{about(run, op['uuid'])}"


def state(task):
    return {**{name: task.get(name) or None for name in COPIED}, "tags": sorted(set(task.get("tags") or []))}


def copy(run):
    server = {task["uuid"]: state(task) for task in run["tasks"]}
    for client in run["clients"]:
        has = {task["uuid"]: state(task) for task in client["tasks"]}
        if len(has) < len(client["tasks"]):
            yield f"{client['name']} has a task twice"
        for uuid in sorted(server.keys() | has.keys()):
            ours, theirs = server.get(uuid), has.get(uuid)
            if not ours or not theirs:
                yield f"{client['name']} {'has only it' if theirs else 'has it not'}: {uuid}"
            elif ours != theirs:
                fields = [f"{name} {theirs[name]!r}, server {ours[name]!r}" for name in ours
                          if ours[name] != theirs[name]]
                yield f"{client['name']} {ours['key']} {uuid}: {'; '.join(fields)}"


def rejected(run):
    for client in run["clients"]:
        for entry in client["rejected"]:
            yield f"{client['name']}: {json.dumps(entry, ensure_ascii=False)[:500]}"


def hammering(run):
    alike = collections.defaultdict(list)
    for request in sorted(run["requests"], key=lambda request: request["at"]):
        what = [request[name] for name in ("client", "method", "target", "body", "fields")]
        alike[json.dumps(what)].append(request)
    for same in alike.values():
        if any(late["at"] - early["at"] < WITHIN for early, late in zip(same, same[SAME_MAX:])):
            yield f"{len(same)} times, more than {SAME_MAX} of them within a second\n    {show(same[-1])}"


def secret(run):
    for request in run["requests"]:
        if run["token"] in urllib.parse.unquote(request["target"]):
            yield f"{request['client']}: {request['method']} {urllib.parse.unquote(request['target'])}"


RULES = {"adapter": adapter, "lost": lost, "doubled": doubled, "phantom": phantom, "numbers": numbers,
         "receipt": receipt, "key-reused": key_reused, "no-uuid": no_uuid, "new-key": new_key,
         "annotation": annotation, "tag": tag, "status": status, "copy": copy, "rejected": rejected,
         "hammering": hammering, "secret": secret}
