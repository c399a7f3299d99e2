"""Many mutants in one build: a function with mutants becomes

    { if (deliberate_fault(7)) {with 7} else if (deliberate_fault(8)) {with 8} else {original} }

which works for any change within functions. Mutants that change other code (declarations, constants), and
those that do not compile in this form, are built separately.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from records import Fault, Replacement, replacements

VARIABLE = "DELIBERATE_FAULT"  # not CALLSIGN_...: the programs reject unknown ones
HEADER_NAME = "deliberate_fault.hpp"
HEADER = f"""#pragma once
#include <cstdlib>
#include <type_traits>
inline bool deliberate_fault_now(int number) {{
    static const int now = [] {{
        const char* const text = std::getenv("{VARIABLE}");
        return text ? std::atoi(text) : 0;
    }}();
    return now == number;
}}
constexpr bool deliberate_fault(int number) {{
    if (std::is_constant_evaluated()) return false;
    return deliberate_fault_now(number);
}}
"""
NOT_CODE = re.compile(
    r'R"(?P<end>[^()\\\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"'  # texts
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'"  # characters, but not 1'000
    r"|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*",  # comments, the preprocessor
    re.DOTALL | re.MULTILINE,
)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def blanked(source: str) -> str:
    """Replaces everything that is not code by spaces, which preserves all positions."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def without(pattern: str, put: str, text: str) -> str:
    """Replaces all matches by `put`, from the innermost outwards."""
    while (less := re.sub(pattern, put, text)) != text:
        text = less
    return text


def is_function(head: str) -> bool:
    """Returns whether the brace after this begins a function's body, not a class, namespace or value."""
    if head.count("(") > head.count(")"):
        return False  # an argument
    flat = without(r"\([^()]*\)", "@", re.sub(r"operator\s*[^\w\s(]+", "operator", head))
    flat = without(r"<[^<>]*>", "", without(r"\{[^{}]*\}", "", flat))
    if "@" not in flat or "=" in flat:
        return False
    is_behind_initializers = re.search(r"@[^:]*[^:]:[^:]", flat)
    return not is_behind_initializers or head.rstrip()[-1] in ")}"


def closing(code: str, opening: int) -> int:
    depth = 0
    for brace in re.compile("[{}]").finditer(code, opening):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return len(code) - 1


def bodies(source: str) -> list[tuple[int, int]]:
    """Returns the ranges of function bodies, including their braces."""
    code = blanked(source)
    found: list[tuple[int, int]] = []
    at = head = 0
    while mark := re.compile("[{};]").search(code, at):
        at = mark.end()
        before = code[head : mark.start()]
        if mark[0] == "{" and not (SCOPE.search(before) and "(" not in before):
            end = closing(code, mark.start()) + 1
            at = end
            if not is_function(before):
                continue
            found.append((mark.start(), end))
        head = at
    return found


@dataclass
class Switched:
    """A file with mutants, and the lines of each."""

    text: str
    lines: dict[range, Fault] = field(default_factory=dict)

    def at_line(self, line: int) -> list[Fault]:
        """Returns the mutant of the line, or all of the file if the line belongs to none."""
        return [f for lines, f in self.lines.items() if line in lines] or list(self.lines.values())


def trimmed(r: Replacement, source: str) -> Replacement:
    """Removes the unchanged beginning and end."""
    old, start = source[r.start : r.end], 0
    while start < min(len(old), len(r.text)) and old[start] == r.text[start]:
        start += 1
    rest, end = min(len(old), len(r.text)) - start, 0
    while end < rest and old[-1 - end] == r.text[-1 - end]:
        end += 1
    return Replacement(r.file, r.start + start, r.end - end, r.text[start : len(r.text) - end])


def in_functions(fault: Fault, texts: dict[str, str]) -> dict[tuple[str, int, int], str] | None:
    """Returns the changed function bodies, or None if the mutant changes other code."""
    changed: dict[tuple[str, int, int], str] = {}
    for r in (trimmed(r, texts[r.file]) for r in replacements(fault, texts)):
        body = next(((a, b) for a, b in bodies(texts[r.file]) if a < r.start and r.end < b), None)
        if not body:
            return None
        key = (r.file, *body)
        old = changed.get(key, texts[r.file][body[0] : body[1]])
        changed[key] = old[: r.start - body[0]] + r.text + old[r.end - body[0] :]  # in reverse order
    return changed


def switched(faults: list[Fault], root: Path) -> tuple[dict[str, Switched], list[Fault]]:
    """Returns the files with switches for these mutants, and the mutants that cannot have one."""
    texts = {edit.file: (root / edit.file).read_text() for fault in faults for edit in fault.edits}
    forms: defaultdict[tuple[str, int, int], list[tuple[Fault, str]]] = defaultdict(list)
    alone: list[Fault] = []
    for fault in faults:
        changed = in_functions(fault, texts)
        if changed is None:
            alone.append(fault)
        for place, form in (changed or {}).items():
            forms[place].append((fault, form))
    files: dict[str, Switched] = {}
    ends: defaultdict[str, int] = defaultdict(int)
    for (file, start, end), of_faults in sorted(forms.items(), key=lambda form: form[0]):
        to = files.setdefault(file, Switched(f'#include "{HEADER_NAME}"\n'))
        to.text += texts[file][ends[file] : start] + "{ "
        for fault, form in of_faults:
            line = to.text.count("\n") + 1
            to.text += f"if (deliberate_fault({fault.number})) {form} else "
            to.lines[range(line, to.text.count("\n") + 2)] = fault
        to.text += texts[file][start:end] + " }"
        ends[file] = end
    for file, to in files.items():
        to.text += texts[file][ends[file] :]
    return files, alone
