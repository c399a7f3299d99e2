"""Records of mutants, in the format of README.md: parses them, and finds their texts in the sources."""

import re
from dataclasses import dataclass, field
from pathlib import Path

INDENT = "    "
HEADER = re.compile(r"(\d{2,}) ([a-z0-9_]+)")


@dataclass
class Edit:
    """Replaces the lines of `before`, which must occur once in the file at any indentation, by `after`."""

    file: str
    before: str
    after: str
    line: int

    def places(self, source: str) -> list[re.Match[str]]:
        first, *others = self.before.split("\n")
        pattern = r"^(?P<indent>[ \t]*)" + re.escape(first)
        for other in others:
            pattern += r"\n(?P=indent)" + re.escape(other) if other else r"\n"
        return list(re.finditer(pattern + "$", source, re.MULTILINE))


@dataclass
class Test:
    """A test program, and the filter of its tests, one of which must fail."""

    program: str
    filter: str
    line: int


@dataclass
class Fault:
    path: Path
    line: int
    number: int
    name: str
    description: str = ""
    sign: str = ""
    edits: list[Edit] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)

    @property
    def room(self) -> str:
        return self.path.stem

    @property
    def title(self) -> str:
        return f"{self.number:02} {self.name}"


class Complaints:
    """Errors in the records, with file and line."""

    def __init__(self) -> None:
        self.all: list[tuple[Path, int, str]] = []

    def add(self, path: Path, line: int, text: str) -> None:
        self.all.append((path, line, text))

    def lines(self, root: Path) -> list[str]:
        return [f"{path.relative_to(root)}:{line}: {text}" for path, line, text in sorted(self.all)]


def indented(text: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in text.split("\n"))


class Reader:
    """Parses one file of records."""

    def __init__(self, path: Path, complaints: Complaints) -> None:
        self.path = path
        self.complaints = complaints
        self.lines = path.read_text().split("\n")
        self.at = 0
        self.faults: list[Fault] = []

    def complain(self, text: str, line: int | None = None) -> None:
        self.complaints.add(self.path, line or self.at + 1, text)

    def read(self) -> list[Fault]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if header := HEADER.fullmatch(line):
                self.faults.append(Fault(self.path, self.at + 1, int(header[1]), header[2]))
            elif line and not line.startswith("#"):
                if self.faults:
                    self.take(line, self.faults[-1])
                else:
                    self.complain("this line belongs to no mutant")
            self.at += 1
        for fault in self.faults:
            self.look_at(fault)
        return self.faults

    def take(self, line: str, fault: Fault) -> None:
        word, colon, rest = line.partition(":")
        if word == "file" and colon:
            fault.edits.append(Edit(rest.strip(), "", "", self.at + 1))
        elif line == "before:" and fault.edits:
            edit = fault.edits[-1]
            if edit.before:  # another edit of the same file
                edit = Edit(edit.file, "", "", self.at + 1)
                fault.edits.append(edit)
            edit.line = self.at + 1
            edit.before = self.block()
        elif line == "after:" and fault.edits:
            if fault.edits[-1].after:
                self.complain("a second after: for one before:")
            fault.edits[-1].after = self.block()
        elif word == "fails" and colon and len(rest.split()) == 2:
            fault.tests.append(Test(*rest.split(), self.at + 1))
        elif word == "sign" and colon and not fault.sign:
            fault.sign = rest.strip()
        elif not fault.description and not line.startswith(" ") and line.endswith("."):
            fault.description = line
        else:
            self.complain(f"not understood: {line.strip()}")

    def block(self) -> str:
        """Returns the indented lines that follow, including empty ones between them."""
        text: list[str] = []
        while self.at + 1 < len(self.lines):
            line = self.lines[self.at + 1]
            if line and not line.startswith(INDENT):
                break
            text.append(line.removeprefix(INDENT))
            self.at += 1
        return "\n".join(text).rstrip("\n")

    def look_at(self, fault: Fault) -> None:
        for what, missing in (
            ("description, a line that ends with a full stop", not fault.description),
            ("file:", not fault.edits),
            ("fails: PROGRAM FILTER", not fault.tests),
        ):
            if missing:
                self.complain(f"{fault.title} has no {what}", fault.line)
        for edit in fault.edits:
            if not edit.before.strip():
                self.complain(f"{fault.title} has no before:", edit.line)
            elif edit.before == edit.after:
                self.complain(f"{fault.title}: after: equals before:", edit.line)


def read_all(folder: Path, complaints: Complaints) -> list[Fault]:
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.faults")):
        faults += Reader(path, complaints).read()
    return sorted(faults, key=lambda fault: fault.number)


@dataclass(frozen=True, order=True)
class Replacement:
    file: str
    start: int
    end: int
    text: str


def replacements(fault: Fault, texts: dict[str, str]) -> list[Replacement]:
    """Returns the mutant's replacements in its files with these texts, the last one first."""
    found: list[Replacement] = []
    for edit in fault.edits:
        places = edit.places(texts[edit.file])
        if len(places) != 1:
            raise ValueError(f"{edit.file}: the text of {fault.title} occurs {len(places)} times")
        place = places[0]
        end = place.end() if edit.after else place.end() + 1  # removes the line's end, too
        found.append(Replacement(edit.file, place.start(), end, indented(edit.after, place["indent"])))
    found.sort(reverse=True)
    for later, earlier in zip(found, found[1:]):
        if later.file == earlier.file and later.start < earlier.end:
            raise ValueError(f"{later.file}: two edits of {fault.title} overlap")
    return found


def changed(fault: Fault, root: Path) -> dict[str, str]:
    """Returns the contents of the changed files."""
    texts = {edit.file: (root / edit.file).read_text() for edit in fault.edits}
    for r in replacements(fault, texts):
        texts[r.file] = texts[r.file][: r.start] + r.text + texts[r.file][r.end :]
    return texts
