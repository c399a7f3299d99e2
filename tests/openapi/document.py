"""The OpenAPI document: parses and verifies it, and compares it with the sources, without a server."""

import json
import re
from urllib.parse import quote

import yaml
from jsonschema import Draft202012Validator

METHODS = ("get", "put", "post", "delete", "patch")
JSON_FORMS = ("application/json", "application/merge-patch+json", "application/problem+json")
PROTOBUF = "application/x-protobuf"
# Messages that become JSON arrays, so they have no schemas of their own.
LISTS_ONLY = {"TextList": "string", "AnnotationList": "Annotation"}
# Classes of JavaScript that a generated type of the same name would hide.
JAVASCRIPT_NAMES = {"Array", "Boolean", "Date", "Error", "Map", "Number", "Object", "Set", "String", "Text", "URL"}


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Parses YAML as OpenAPI does: keys are unique strings; dates, yes and no are strings, too."""

    def construct_mapping(self, node, deep=False):
        names = [self.construct_object(key) for key, _ in node.value]
        for name in names:
            if not isinstance(name, str) or names.count(name) > 1:
                raise yaml.YAMLError(f"{node.start_mark}: the name {name!r} comes twice, or is no text")
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in some if not tag.endswith(("timestamp", "bool", "merge"))]
    for first, some in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), "tf")


def narrowed(schema):
    """Returns the properties that the schema narrows, beside a reference in allOf."""
    return {name: each for part in [schema, *schema.get("allOf", [])] for name, each in part.get("properties", {}).items()}


def closed(node):
    """Returns the schema without the permission for additional properties, which answers give to newer servers."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    all_named = {"additionalProperties": False} if node.get("type") == "object" and "properties" in node else {}
    return all_named | {name: closed(each) for name, each in node.items()}


class Operation:
    def __init__(self, document, method, path, item, said):
        self.method, self.path, self.said = method.upper(), path, said
        self.name = f"{self.method} {path}"
        resolve = document.resolve
        self.parameters = [resolve(p) for p in item.get("parameters", []) + said.get("parameters", [])]
        self.body = resolve(said["requestBody"]) if "requestBody" in said else None
        self.responses = {status: resolve(answer) for status, answer in said.get("responses", {}).items()}
        self.scope = "anyone"
        for needed in said.get("security", []):
            self.scope = needed["bearer"][0] if "bearer" in needed else "device"
        self.codes = {}  # by status
        for status, answer in self.responses.items():
            schema = answer.get("content", {}).get("application/problem+json", {}).get("schema", {})
            self.codes[status] = narrowed(schema).get("code", {}).get("enum", [])

        self.takes_message = PROTOBUF in (self.body or {}).get("content", {})
        self.is_of_account = self.scope in ("read", "write", "admin")
        usual = self.responses.get("200", {}).get("content", {})
        self.is_feed = "101" in self.responses or "text/event-stream" in usual

    def has(self, code):
        return any(code in some for some in self.codes.values())

    def takes(self, place):
        return [p for p in self.parameters if p["in"] == place]


class Document:
    def __init__(self, text):
        self.text = text
        self.root = yaml.load(text, Loader)
        self.faults = []
        self._validators = {}
        self._complete = closed(self.root["components"])
        self._check_references(self.root, "")
        if self.faults:
            return  # unresolved references cannot be verified
        self.operations = self._operations(self.root["paths"])
        self.webhooks = self._operations(self.root["webhooks"])
        # A template with more literal text before its first parameter takes precedence.
        self._patterns = [(re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(o.path)) + "$"), o)
                          for o in sorted(self.operations, key=lambda o: (o.path.count("{"), -len(o.path)))]

    def _operations(self, items):
        return [Operation(self, method, path, item, item[method])
                for path, item in items.items() for method in METHODS if method in item]

    def find(self, method, path):
        """Returns the operation, or the names of the path's operations."""
        matching = [o for pattern, o in self._patterns if pattern.match(path)]
        for operation in matching:
            if operation.method == method:
                return operation
        return [o.name for o in matching]

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            at = self.root
            for step in node["$ref"].removeprefix("#/").split("/"):
                at = at[step.replace("~1", "/").replace("~0", "~")]
            node = at
        return node

    def schema(self, name):
        return {"$ref": f"#/components/schemas/{name}"}

    def errors(self, schema, value):
        """Returns the schema violations of the value, one per line."""
        if id(schema) not in self._validators:
            whole = {"allOf": [closed(schema)], "components": self._complete}
            self._validators[id(schema)] = (Draft202012Validator(whole), schema)
        found = self._validators[id(schema)][0].iter_errors(value)
        return [f"{error.json_path}: {error.message[:300]}" for error in found]

    # ---- examples ----

    def example_of(self, part):
        """Returns the first example of a parameter or media type."""
        schema = self.resolve(part.get("schema", {}))
        if "example" in part:
            return part["example"]
        for example in part.get("examples", {}).values():
            return self.resolve(example)["value"]
        for value in schema.get("examples", schema.get("enum", [])):
            return value
        return schema.get("default")

    def request_of(self, operation, **given):
        """Returns path, headers and JSON (or None) of a request that the schemas allow."""
        value = lambda p: given.get(p["name"], self.example_of(p))
        path = operation.path
        for p in operation.takes("path"):
            path = path.replace("{%s}" % p["name"], quote(str(value(p)), safe=""))
        query = "&".join(f"{p['name']}={quote(str(value(p)))}" for p in operation.takes("query") if p.get("required"))
        fields = {p["name"]: value(p) for p in operation.takes("header") if p.get("required")}
        body = None
        for form, part in (operation.body or {}).get("content", {}).items():
            if form != PROTOBUF:
                fields["Content-Type"] = form
                body = json.dumps(self.example_of(part)).encode() if form in JSON_FORMS else b"sealed"
                break
        return path + (f"?{query}" if query else ""), fields, body

    # ---- validity of the document ----

    def check(self):
        parts = list(self._parts(self.root, ""))
        for where, part in parts:
            for name, schema in part["schemas"].items() if where == "/components" else []:
                self._check_schema(schema, f"{where}/schemas/{name}")
            if "schema" in part:
                self._check_schema(part["schema"], f"{where}/schema")
        if self.faults:
            return  # invalid schemas cannot be compared
        for name, schema in self.root["components"]["schemas"].items():
            self._check_examples(schema, schema.get("examples", []), f"/components/schemas/{name}")
        for where, part in parts:
            if "schema" in part:
                shown = [part["example"]] if "example" in part else []
                shown += [self.resolve(e)["value"] for e in part.get("examples", {}).values()]
                self._check_examples(part["schema"], shown, where)
            self._check_forms(part.get("content", {}), where)
        for operation in self.operations + self.webhooks:
            self._check_operation(operation)
        self._check_use()

    def _check_references(self, node, where):
        for name, each in node.items() if isinstance(node, dict) else enumerate(node):
            if name == "$ref":
                try:
                    self.resolve(node)
                except KeyError:
                    self.faults.append(f"{where}: there is no {each}")
            elif isinstance(each, (dict, list)):
                self._check_references(each, f"{where}/{name}")

    def _parts(self, node, where):
        """Returns all named parts of the document, except those inside schemas and examples."""
        if isinstance(node, dict):
            yield where, node
        for name, each in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(each, (dict, list)) and name not in ("schema", "schemas", "example", "value"):
                yield from self._parts(each, f"{where}/{name}")

    def _check_operation(self, o):
        complain = lambda what: self.faults.append(f"{o.name}: {what}")
        ids = [other.said.get("operationId") for other in self.operations + self.webhooks]
        if ids.count(o.said.get("operationId")) != 1:
            complain("has no operationId of its own")
        for needed in ("summary", "security", "responses", "tags"):
            if needed not in o.said:
                complain(f"has no {needed}")
        if not set(o.said.get("tags", [])) <= {tag["name"] for tag in self.root["tags"]}:
            complain("has a tag that is not explained")
        if {p["name"] for p in o.takes("path")} != set(re.findall(r"{(\w+)}", o.path)):
            complain("does not describe the parameters of its path")
        for what, part in [("its body", o.body or {})] + [(f"its {s}", r) for s, r in o.responses.items()]:
            for form, shown in part.get("content", {}).items():
                is_text = form in JSON_FORMS or form.startswith("text/")
                if is_text and self.example_of({**shown, "schema": {}}) is None:
                    complain(f"{what} as {form} has no example")

    def _check_schema(self, schema, where):
        for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema):
            self.faults.append(f"{where}: is no schema: {error.json_path}: {error.message}")

    def _check_use(self):
        """What generated clients need."""
        for name in JAVASCRIPT_NAMES & self.root["components"]["schemas"].keys():
            self.faults.append(f"/components/schemas/{name}: is a class of JavaScript")
        sent = self._reachable([o.body or {} for o in self.operations])
        received = self._reachable([[*o.responses.values()] for o in self.operations] + [w.body for w in self.webhooks])
        for node in sent:
            if "properties" in node and "additionalProperties" not in node and node not in received:
                self.faults.append(f"{node}: is sent by clients and not closed")
            if "default" in node:
                self.faults.append(f"{node}: a default makes a property required")
        for node in received:
            if node.get("additionalProperties") is False:
                self.faults.append(f"{node}: is received by clients and closed, so that no property can be added")
            if isinstance(node.get("const"), str) and not node["const"].isprintable():
                self.faults.append(f"{node}: is no name")
        for node in sent + received + self._reachable([o.parameters for o in self.operations]):
            if node.get("type") == "integer" and node.get("maximum", 2**31) >= 2**31 and node.get("format") != "int64":
                self.faults.append(f"{node}: exceeds 32 bits without format int64")

    def _reachable(self, nodes):
        """Returns all objects in the nodes and in what these refer to, without examples."""
        found, todo = {}, [*nodes]
        while todo:
            node = todo.pop()
            if isinstance(node, dict) and id(node) not in found:
                found[id(node)] = node
                todo += [self.resolve(node)] if "$ref" in node else []
                todo += [each for name, each in node.items() if name not in ("example", "examples")]
            elif isinstance(node, list):
                todo += node
        return [*found.values()]

    def _check_examples(self, schema, shown, where):
        for value in shown:
            for error in self.errors(schema, value):
                self.faults.append(f"{where}: its example is not what it says: {error}")

    def _check_forms(self, content, where):
        """The protobuf message of a body must match its JSON schema."""
        titles = {part["schema"].get("title", "") for form, part in content.items() if form == PROTOBUF}
        named = set()
        for form, part in content.items():
            if form in JSON_FORMS:
                named |= {f"callsign.v1.{name}" for name in self._names(part["schema"])}
        if titles and not titles <= named:
            self.faults.append(f"{where}/content: the protobuf message {titles} is not the JSON one")

    def _names(self, schema):
        """Returns the names of its schemas."""
        found = {schema["$ref"].rpartition("/")[2]} if "$ref" in schema else set()
        for other in [self.resolve(schema)] * ("$ref" in schema) + [
                s for word in ("allOf", "anyOf", "oneOf") for s in schema.get(word, [])]:
            found |= self._names(other)
        return found

    # ---- comparison with the sources ----

    def compare_routes(self, text):
        routes = re.findall(r'\{verb::(\w+),\s*"([^"]+)",\s*access::(\w+),\s*body::(\w+),', text)
        listed = {f"{verb.rstrip('_').upper()} {path}": (access, body) for verb, path, access, body in routes}
        described = {o.name: o for o in self.operations}
        for name in listed.keys() - described.keys():
            self.faults.append(f"{name}: is a route, and not in the document")
        for name in described.keys() - listed.keys():
            self.faults.append(f"{name}: is in the document, and no route")
        for name in described.keys() & listed.keys():
            o, (access, body) = described[name], listed[name]
            if o.scope != {"operators": "operator"}.get(access, access):
                self.faults.append(f"{name}: needs {access}, where the document says {o.scope}")
            forms = (o.body or {}).get("content", {})
            taken = ("message" if PROTOBUF in forms else "segment" if any("segment" in f for f in forms)
                     else "snapshot" if forms else "none")
            if taken != body:
                self.faults.append(f"{name}: takes {body}, where the document says {taken}")

    def compare_problems(self, header, machinery):
        """`machinery`: sources that reject requests before routing."""
        known = {code: status for status, code in re.findall(r'DO\(\w+, (\d+), "([a-z-]+)"', header)}
        known |= {code: status for status, code in re.findall(r'\b(\d{3}), "([a-z]+(?:-[a-z]+)+)",', machinery)}
        described = {}
        for name, answer in self.root["components"]["responses"].items():
            part = narrowed(answer.get("content", {}).get("application/problem+json", {}).get("schema", {}))
            for code in part.get("code", {}).get("enum", []):
                described.setdefault(code, set()).add(str(part["status"]["const"]))
        for code in known.keys() - described.keys():
            self.faults.append(f"{code}: is a problem's code, and not in the document")
        for code in described.keys() - known.keys():
            self.faults.append(f"{code}: is in the document, and no problem's code")
        for code in described.keys() & known.keys():
            if described[code] != {known[code]}:
                self.faults.append(f"{code}: has the status {known[code]}, where the document says {described[code]}")

    def compare_messages(self, proto):
        proto = re.sub(r"//.*", "", proto)
        schemas = self.root["components"]["schemas"]
        messages = dict(re.findall(r"\bmessage (\w+) \{(.*?)\n\}", proto, re.S))
        described = {name for name, schema in schemas.items() if "properties" in schema}
        for name in (messages.keys() - LISTS_ONLY.keys()) ^ described:
            self.faults.append(f"{name}: is a message or a schema, and not both")
        for name in described & messages.keys():
            fields = re.findall(r"(repeated |optional )?(map<string, string>|[\w.]+) (\w+) = \d+;", messages[name])
            properties = schemas[name]["properties"]
            wanted = {re.sub(r"_(\w)", lambda m: m[1].upper(), field): (repeated, kind)
                      for repeated, kind, field in fields if field != "clear"}
            for field in wanted.keys() ^ properties.keys():
                self.faults.append(f"{name}.{field}: is in the message or in the schema, and not in both")
            for field in wanted.keys() & properties.keys():
                if not self._is_of(properties[field], *wanted[field]):
                    self.faults.append(f"{name}.{field}: is {''.join(wanted[field])}, and not so in the document")

    def _is_of(self, schema, repeated, kind):
        types = self._types(schema) - {"null"}
        if repeated.strip() == "repeated" or kind in LISTS_ONLY:
            items = [self.resolve(schema).get("items", {})]
            return types == {"array"} and all(self._is_of(i, "", LISTS_ONLY.get(kind, kind)) for i in items)
        if kind.startswith("map"):
            return types == {"object"} and not self.resolve(schema).get("properties")
        if kind == "google.protobuf.Timestamp":
            return "Instant" in self._names(schema)
        simple = {"string": "string", "int64": "integer", "bool": "boolean"}.get(kind)
        return types == {simple} if simple else kind in self._names(schema)

    def _types(self, schema):
        if "$ref" in schema:
            return self._types(self.resolve(schema))
        if "type" in schema:
            return set([schema["type"]] if isinstance(schema["type"], str) else schema["type"])
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        found = {{str: "string", bool: "boolean", int: "integer"}.get(type(v), "null") for v in values}
        for word in ("allOf", "anyOf", "oneOf"):
            for each in schema.get(word, []):
                found |= self._types(each)
        return found
