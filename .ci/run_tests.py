"""Runs every check and test in groups, and says at the end what was left out and why.

    python .ci/run_tests.py [group ...]

Each group runs in a process group of its own with a deadline. Afterwards a table shows what
passed, failed and was left out; then, for whatever was left out, the reason and the command
that would bring it in; last a line ``N passed, N failed`` with the sum.

The exit code is 1 if something failed. With ``CI=true`` it is also 1 if anything was left
out, be it a group, an empty group or a single skipped test.

What a group needs from the system is in ``ci_needs.py``; as root on Debian it is installed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import ci_needs
from ci_needs import Missing

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
REPORTS = ROOT / "artifacts" / "junit"

#: Directories below tests/ that are groups of their own; everything else is "unit".
OWN_DIRECTORIES = ("integration", "reader", "runtime", "browser")

#: Percent of the engine's lines and branches that tests/engine has to reach.
ENGINE_COVERAGE = 95

#: pytest's exit code for "no tests collected".
NOTHING_COLLECTED = 5


@dataclass
class Result:
    """What came of one group.

    Attributes:
        passed: how many tests or checks passed.
        failed: how many did not, errors and missed deadlines included.
        left_out: what did not run: why, and how to bring it in.
        seconds: how long it took.
    """

    passed: int = 0
    failed: int = 0
    left_out: list[Missing] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Group:
    """A group of checks or tests.

    Attributes:
        name: as on the command line.
        run: does the work.
        needs: what the machine lacks for it, or None; may install things.
    """

    name: str
    run: Callable[[], Result]
    needs: Callable[[], Missing | None] = lambda: None


def execute(command: Sequence[str | Path], deadline: float) -> int | None:
    """Run a command with its output shown.

    Args:
        command: program and arguments.
        deadline: seconds it may take.

    Returns:
        Its exit code, or None if it was ended at the deadline, along with its children.
    """
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT, start_new_session=True)
    try:
        return process.wait(deadline)
    except subprocess.TimeoutExpired:
        print(f"Not finished after {deadline:.0f} s; ended.", flush=True)
        return None
    finally:
        if process.poll() is None:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process group: politely, then not."""
    for sign, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, sign)
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            pass
        return


def checks(*commands: Sequence[str | Path], deadline: float = 900) -> Result:
    """Run commands that pass or fail as a whole."""
    result = Result()
    for command in commands:
        if execute(command, deadline) == 0:
            result.passed += 1
        else:
            result.failed += 1
    return result


def lint() -> Result:
    """Style of the Python code, and the syntax of the browser's."""
    ruff = BIN / "ruff"
    result = checks((ruff, "check", "."), (ruff, "format", "--check", "--quiet", "."))
    node = ci_needs.node()
    if node is None:
        result.left_out.append(Missing("there is no Node for the scripts' syntax", "make clean"))
        return result
    scripts = [path for path in (ROOT / "static").rglob("*.js") if "vendor" not in path.parts]
    broken = [path for path in sorted(scripts) if not is_module(node, path)]
    result.passed += not broken
    result.failed += bool(broken)
    return result


def is_module(node: Path, script: Path) -> bool:
    """Whether a script can be read as an ES module; what is wrong with it is printed."""
    with script.open("rb") as source:
        # From standard input, because a file called .js is not taken for a module when checked.
        done = subprocess.run([str(node), "--input-type=module", "--check"], stdin=source)
    if done.returncode:
        print(f"{script.relative_to(ROOT)} is not valid JavaScript; see above.", flush=True)
    return done.returncode == 0


def types() -> Result:
    """Types, strictly: of the Python code with its tests, and of the browser's modules."""
    result = checks((BIN / "mypy",))
    node = ci_needs.node()
    compiler = ci_needs.typescript()
    if node is None:
        result.left_out.append(Missing("there is no Node for the scripts' types", "make clean"))
    elif isinstance(compiler, Missing):
        result.left_out.append(compiler)
    else:
        scripts = checks((node, compiler, "--project", ROOT / ".ci" / "tsconfig.json"))
        result.passed += scripts.passed
        result.failed += scripts.failed
    return result


def contracts() -> Result:
    """Who imports whom."""
    return checks((BIN / "lint-imports", "--no-logo"))


def coverage() -> Result:
    """How much of the engine its own tests reach: it is pure, so nearly everything can be."""
    command = BIN / "coverage"
    data = f"--data-file={ROOT / '.coverage'}"
    engine = ROOT / "tests" / "engine"
    run = (command, "run", data, "--source=app/engine", "-m", "pytest", "-q", engine)
    return checks(run, (command, "report", data, f"--fail-under={ENGINE_COVERAGE}"))


def tests(name: str, deadline: float) -> Result:
    """Run one group of pytest tests.

    Args:
        name: ``unit`` or one of OWN_DIRECTORIES.
        deadline: seconds for the whole group.
    """
    where = ROOT / "tests" if name == "unit" else ROOT / "tests" / name
    if not any(where.rglob("test_*.py")):
        return Result(left_out=[Missing("there are no tests in it", f"write tests/{name}")])
    REPORTS.mkdir(parents=True, exist_ok=True)
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    command: list[str | Path] = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}"]
    if name == "unit":
        command += [f"--ignore={ROOT / 'tests' / other}" for other in OWN_DIRECTORIES]
    code = execute([*command, where], deadline)
    result = read_report(report)
    if code == NOTHING_COLLECTED:
        result.left_out.append(Missing("pytest found no tests in it", f"write tests/{name}"))
    elif code != 0 and result.failed == 0:
        result.failed = 1  # pytest itself broke, or the deadline ended it
    return result


def read_report(path: Path) -> Result:
    """Count what a JUnit file says; nothing at all if the file is not there or is torn."""
    result = Result()
    try:
        cases = list(ET.parse(path).getroot().iter("testcase"))
    except (OSError, ET.ParseError):
        return result
    for case in cases:
        kinds = {child.tag: child for child in case}
        if "failure" in kinds or "error" in kinds:
            result.failed += 1
        elif "skipped" in kinds:
            reason = kinds["skipped"].get("message") or "no reason given"
            name = f"{case.get('classname', '')}::{case.get('name', '')}"
            result.left_out.append(Missing(f"{name}: {reason}", ""))
        else:
            result.passed += 1
    return result


# The deadlines are for what hangs: several times what a group takes on two busy cores.
GROUPS = (
    Group("lint", lint),
    Group("types", types),
    Group("contracts", contracts),
    Group("unit", lambda: tests("unit", 2400)),
    Group("coverage", coverage),
    Group("integration", lambda: tests("integration", 1800)),
    Group("reader", lambda: tests("reader", 600), ci_needs.reader),
    Group("runtime", lambda: tests("runtime", 3600), ci_needs.runtime),
    Group("browser", lambda: tests("browser", 3600), ci_needs.browser),
)


def run_group(group: Group) -> Result:
    """Run one group under a headline."""
    print(f"\n{f' {group.name} ':=^78}", flush=True)
    begun = time.monotonic()
    missing = group.needs()
    if missing is None:
        result = group.run()
    else:
        print(f"Left out: {missing.why}.", flush=True)
        result = Result(left_out=[missing])
    result.seconds = time.monotonic() - begun
    return result


def summary(results: dict[str, Result], in_ci: bool) -> tuple[str, int]:
    """Make the closing text.

    Args:
        results: by group name, in order.
        in_ci: whether leaving something out counts as failing.

    Returns:
        The text, whose last line is the sum, and the exit code.
    """
    lines = [f"{'group':<14}{'passed':>8}{'failed':>8}{'left out':>10}{'seconds':>9}"]
    for name, result in results.items():
        lines.append(
            f"{name:<14}{result.passed:>8}{result.failed:>8}"
            f"{len(result.left_out) or '-':>10}{result.seconds:>9.1f}"
        )
    left_out = [(name, missing) for name, result in results.items() for missing in result.left_out]
    if left_out:
        lines += ["", "Left out:"]
        for name, missing in left_out:
            how = f" To bring it in: {missing.command}" if missing.command else ""
            lines.append(f"  {name}: {missing.why.rstrip('.')}.{how}")
    failed = sum(result.failed for result in results.values())
    if left_out and in_ci:
        lines += ["", "CI leaves nothing out: what was left out counts as failed."]
        failed += len(left_out)
    passed = sum(result.passed for result in results.values())
    lines += ["", f"{passed} passed, {failed} failed"]
    return "\n".join(lines), 1 if failed else 0


def main(wanted: list[str]) -> int:
    """Entry point; returns the exit code."""
    known = [group.name for group in GROUPS]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(
            f"There is no group {', '.join(unknown)}; say one or more of: {', '.join(known)}.",
            file=sys.stderr,
        )
        return 2
    in_ci = ci_needs.in_ci()
    results = {
        group.name: run_group(group) for group in GROUPS if not wanted or group.name in wanted
    }
    text, code = summary(results, in_ci)
    print(f"\n{' summary ':=^78}\n{text}", flush=True)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
