"""Builds and runs mutants in a copy of the sources, so that the sources contain no switches."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from records import Fault, changed
from switch import HEADER, HEADER_NAME, VARIABLE, Switched, switched

ERROR = re.compile(r"^(\S+?):(\d+):(?:\d+:)? (?:fatal )?error: ", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\S+?),? ", re.MULTILINE)
BEGUN = re.compile(r"^\[ RUN      \] (\S+)", re.MULTILINE)
# The number and size of generated inputs: with a mutant until a failure is found, without one twice
# as many as in the suite. Failing inputs need not be shrunk.
DRAWN = "max_size=120 noshrink=1 max_success="
RUNS, RUNS_WITHOUT_FAULT = 1000, 60


@dataclass
class Fate:
    fault: Fault
    is_caught: bool
    how: str
    seconds: float = 0


class Runner:
    def __init__(self, root: Path, jobs: int, timeout: int) -> None:
        self.root, self.jobs, self.timeout = root, jobs, timeout
        self.tree = root / "build/faults/tree"
        self.build = root / "build/faults/build"
        self.logs = root / "build/faults/logs"
        self.sources: dict[str, bytes] = {}
        self.passed: set[tuple[str, str]] = set()  # programs and filters, without mutants
        self.done = self.total = 0

    def put(self, file: str, content: bytes) -> None:
        """Leaves unchanged files alone, so that they are not compiled again."""
        path = self.tree / file
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def copy_sources(self) -> None:
        """Returns the files of the working tree: those tracked by git, and those it does not ignore."""
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=self.root, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        for file in filter(None, listed.split("\0")):
            source = self.root / file
            if source.is_file():
                self.sources[file] = source.read_bytes()
                if not (self.tree / file).is_file():
                    self.put(file, self.sources[file])
                shutil.copymode(source, self.tree / file)
        for path in self.tree.rglob("*"):
            if path.is_file() and str(path.relative_to(self.tree)) not in self.sources:
                path.unlink()

    def write(self, with_faults: dict[str, bytes]) -> None:
        for file, content in self.sources.items():
            self.put(file, with_faults.get(file, content))

    def configure(self) -> None:
        folder = self.build / "switch"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / HEADER_NAME).write_text(HEADER)
        self.logs.mkdir(parents=True, exist_ok=True)
        command = [
            "cmake", "-S", str(self.tree), "-B", str(self.build), "-G", "Ninja",
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DCALLSIGN_BENCH=OFF",
            f"-DCMAKE_CXX_FLAGS=-w -I{folder}",
        ]  # fmt: skip
        self.note(f"configures {self.build}")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def compile(self, programs: set[str], keep_going: bool = False) -> str:
        """Returns the compilers' output if a build fails, else nothing."""
        jobs = subprocess.run([self.root / "scripts/jobs"], capture_output=True, text=True, check=True)
        command = ["cmake", "--build", str(self.build), "-j", jobs.stdout.strip(), "--target"]
        command += sorted(programs) + (["--", "-k", "0"] if keep_going else [])
        said = ""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as building:
            for line in building.stdout or []:
                said += line
                if sys.stdout.isatty() and line.startswith("["):
                    print(line.split(" ")[0], end=" \r", flush=True)
        return said if building.returncode != 0 else ""

    def run(self, program: str, tests: str, number: int, log: Path, runs: int = RUNS) -> str:
        """Returns the reason of a failure, or nothing if the tests passed."""
        scratch = tempfile.mkdtemp(prefix="fault-")
        surroundings = {**os.environ, "RC_PARAMS": f"{DRAWN}{runs}", "TMPDIR": scratch, VARIABLE: str(number)}
        command = [str(self.build / program), "--gtest_fail_fast", f"--gtest_filter={tests}"]
        with log.open("w") as out:
            process = subprocess.Popen(
                command, cwd=scratch, env=surroundings, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            try:
                status: int | None = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                status = None
            try:
                os.killpg(process.pid, signal.SIGKILL)  # including processes that it started
            except ProcessLookupError:
                pass
            process.wait()
        shutil.rmtree(scratch, ignore_errors=True)
        said = log.read_text(errors="replace")
        if status == 0:
            return "" if BEGUN.search(said) else "no test was run"
        if status is None:
            return f"{program} took more than {self.timeout} s"
        if failed := FAILED.search(said):
            return failed[1]
        begun = BEGUN.findall(said)
        return f"{begun[-1] if begun else program} ended with {status}"

    def note(self, text: str) -> None:
        print(text, flush=True)

    def tell(self, fate: Fate) -> Fate:
        self.done += 1
        word = "caught " if fate.is_caught else "ESCAPES"
        self.note(f"[{self.done}/{self.total}] {word} {fate.fault.title}: {fate.how} ({fate.seconds:.0f} s)")
        return fate

    def try_fault(self, fault: Fault, number: int) -> Fate:
        """Every program that the record names must fail."""
        begun = time.monotonic()
        how: list[str] = []
        for test in fault.tests:
            log = self.logs / f"{fault.number:02}_{test.program}.log"
            failed = self.run(test.program, test.filter, number, log)
            if not failed or failed == "no test was run":
                return Fate(fault, False, failed or f"{test.program} passes", time.monotonic() - begun)
            how.append(failed)
        return Fate(fault, True, ", ".join(how), time.monotonic() - begun)

    def expect_passing(self, faults: list[Fault]) -> None:
        """Without a mutant all tests must pass."""
        wanted: dict[str, set[str]] = {}
        for test in (test for fault in faults for test in fault.tests):
            if (test.program, test.filter) not in self.passed:
                wanted.setdefault(test.program, set()).add(test.filter)
                self.passed.add((test.program, test.filter))
        runs = [(program, some) for program, filters in wanted.items() for some in joined(filters)]
        self.note(f"runs {len(wanted)} programs without a mutant")
        with ThreadPoolExecutor(self.jobs) as pool:
            logs = [self.logs / f"none_{i}_{program}.log" for i, (program, _) in enumerate(runs)]
            all_failed = list(
                pool.map(lambda run, log: self.run(*run, 0, log, RUNS_WITHOUT_FAULT), runs, logs)
            )
        for failed, log in zip(all_failed, logs):
            if failed:
                raise SystemExit(f"the tests must pass without a mutant; {failed}, see {log}")

    def build_switched(self, faults: list[Fault]) -> tuple[list[Fault], list[Fault]]:
        """Builds as many mutants with switches as possible: returns these, and the others."""
        alone: list[Fault] = []
        while faults:
            files, others = switched(faults, self.root)
            alone += others
            faults = [fault for fault in faults if fault not in others]
            self.write({file: form.text.encode() for file, form in files.items()})
            self.note(f"builds {len(faults)} mutants at once, in {len(files)} files")
            said = self.compile(programs_of(faults), keep_going=True)
            if not said:
                break
            (self.logs / "switched.log").write_text(said)
            wrong = self.blamed(said, files)
            if not wrong:
                raise SystemExit(f"the build failed; see {self.logs / 'switched.log'}")
            self.note("cannot be switched: " + ", ".join(fault.title for fault in wrong))
            alone += wrong
            faults = [fault for fault in faults if fault not in wrong]
        return faults, alone

    def blamed(self, said: str, files: dict[str, Switched]) -> list[Fault]:
        blamed: dict[int, Fault] = {}
        for file, line in ERROR.findall(said):
            name = os.path.relpath(os.path.join(self.build, file), self.tree)
            for fault in files[name].at_line(int(line)) if name in files else []:
                blamed[fault.number] = fault
        return list(blamed.values())

    def try_alone(self, fault: Fault) -> Fate:
        begun = time.monotonic()
        self.write({file: text.encode() for file, text in changed(fault, self.root).items()})
        if said := self.compile(programs_of([fault])):
            (self.logs / f"{fault.number:02}_build.log").write_text(said)
            return Fate(fault, False, "does not build", time.monotonic() - begun)
        fate = self.try_fault(fault, 0)
        fate.seconds = time.monotonic() - begun
        return fate

    def try_all(self, faults: list[Fault]) -> list[Fate]:
        self.total = len(faults)
        self.copy_sources()
        self.write({})
        self.configure()
        # Tests that read the sources must not find switches in them.
        reading = [f for f in faults if any(test.program == "dependencies_tests" for test in f.tests)]
        together, alone = self.build_switched([fault for fault in faults if fault not in reading])
        self.expect_passing(together)
        fates: list[Fate] = []
        with ThreadPoolExecutor(self.jobs) as pool:
            for future in as_completed(pool.submit(self.try_fault, f, f.number) for f in together):
                fate = future.result()
                if fate.is_caught:
                    fates.append(self.tell(fate))
                else:
                    alone.append(fate.fault)  # the switch may not affect the changed code
        alone = sorted(alone + reading, key=lambda fault: fault.number)
        if alone:
            self.note(f"builds {len(alone)} mutants one by one")
            self.write({})
            if said := self.compile(programs_of(alone)):
                print(said[-4000:], file=sys.stderr)
                raise SystemExit("the sources do not build without a mutant")
            self.expect_passing(alone)
        fates += [self.tell(self.try_alone(fault)) for fault in alone]
        return fates


def programs_of(faults: list[Fault]) -> set[str]:
    return {test.program for fault in faults for test in fault.tests}


def joined(filters: set[str]) -> list[str]:
    """Returns a minimal list of filters for the same tests; filters with exclusions stay separate."""
    if "*" in filters:
        return ["*"]
    plain = sorted(some for some in filters if "-" not in some)
    return ([":".join(plain)] if plain else []) + sorted(filters - set(plain))
