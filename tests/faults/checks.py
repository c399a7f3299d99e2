"""Verifies the records against the sources, the tests, and the table in README.md."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

from records import Complaints, Fault, changed

TEST = re.compile(
    r"^\s*(?:TEST|TEST_F|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+)", re.MULTILINE
)
TEST_P = re.compile(r"^\s*TEST_P\(\s*(\w+),\s*(\w+)", re.MULTILINE)
INSTANCES = re.compile(r"^\s*INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+)", re.MULTILINE)
PROGRAM = re.compile(r"^\s*callsign_(unit_)?tests\((\w+)([^)]*)\)", re.MULTILINE)
FOLDER = re.compile(r"\bFOLDER\s+(\S+)")
TABLE = re.compile(r"(?<=<!-- table -->\n).*(?=<!-- end of the table -->)", re.DOTALL)


def programs(tests: Path) -> dict[str, Path]:
    """Returns the test programs with the folders of their sources."""
    found: dict[str, Path] = {}
    for unit, name, rest in PROGRAM.findall((tests / "CMakeLists.txt").read_text()):
        folder = FOLDER.search(rest)
        if unit:
            found[f"unit_{name}_tests"] = tests / "unit" / name
        else:
            found[f"{name}_tests"] = tests / (folder[1] if folder else name)
    return found


def tests_in(folder: Path) -> list[str]:
    """Returns the tests' full names; '?' stands for the parameters of an instance."""
    sources = [path.read_text() for path in folder.rglob("*.[ch]pp")]
    instances = [found for source in sources for found in INSTANCES.findall(source)]
    names: list[str] = []
    for source in sources:
        names += [f"{suite}.{test}" for suite, test in TEST.findall(source)]
        for suite, test in TEST_P.findall(source):
            names += [f"{prefix}/{suite}.{test}/?" for prefix, of in instances if of == suite]
    return names


def is_a_test(pattern: str, names: list[str]) -> bool:
    suite, dot, test = pattern.partition(".")
    pattern = suite + dot + re.sub("/.*", "/*", test)
    return any(fnmatchcase(name, pattern) for name in names)


def check_edits(fault: Fault, root: Path, complaints: Complaints) -> None:
    for edit in fault.edits:
        path = root / edit.file
        if not path.is_file():
            complaints.add(fault.path, edit.line, f"{fault.title}: {edit.file} does not exist")
            return
        if edit.before.strip() and (count := len(edit.places(path.read_text()))) != 1:
            complaints.add(
                fault.path, edit.line, f"{fault.title}: the text occurs {count} times in {edit.file}"
            )
            return
    try:
        changed(fault, root)
    except (OSError, ValueError) as error:
        complaints.add(fault.path, fault.line, str(error))


def check(faults: list[Fault], root: Path, complaints: Complaints) -> None:
    taken: dict[int | str, Fault] = {}
    known = programs(root / "tests")
    tests: dict[str, list[str]] = {}
    for fault in faults:
        if other := taken.get(fault.number) or taken.get(fault.name):
            complaints.add(
                fault.path, fault.line, f"{fault.title}: {other.title} in {other.path.name} has this number or name"
            )
        taken[fault.number] = taken[fault.name] = fault
        check_edits(fault, root, complaints)
        for test in fault.tests:
            if test.program not in known:
                complaints.add(fault.path, test.line, f"{fault.title}: no program {test.program}")
                continue
            if test.program not in tests:
                tests[test.program] = tests_in(known[test.program])
            for pattern in test.filter.split("-")[0].split(":"):
                if not is_a_test(pattern, tests[test.program]):
                    complaints.add(
                        fault.path, test.line, f"{fault.title}: {test.program} has no test {pattern}"
                    )


def table(faults: list[Fault]) -> str:
    lines = ["| fault | what it does | where | what fails |", "| --- | --- | --- | --- |"]
    for fault in faults:
        files = ", ".join(dict.fromkeys(f"`{edit.file}`" for edit in fault.edits))
        fails = ", ".join(f"`{test.program}`" for test in fault.tests)
        sign = f": {fault.sign}" if fault.sign else ""
        lines.append(f"| {fault.number:02} | {fault.description} | {files} | {fails}{sign} |")
    return "\n".join(lines) + "\n"


def with_table(readme: str, faults: list[Fault]) -> str:
    if not TABLE.search(readme):
        raise ValueError("README.md has no place for the table")
    return TABLE.sub(lambda _: table(faults), readme, count=1)
