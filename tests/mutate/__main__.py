"""The mutation run's command line; see ``tests/mutate/__init__.py``."""

import argparse
import hashlib
import json
import os
import sys
import time
from pathlib import Path

from tests.mutate.mutants import Mutant, mutants
from tests.mutate.trial import ENGINE, ROOT, begin

CACHE = ROOT / ".cache" / "mutate"
SURVIVORS = ROOT / "tests" / "engine" / "SURVIVORS.md"
LEFT_OUT = ("__init__", "records", "inputs", "effects", "model", "state")
"""Words without behaviour: there is nothing in them that could be done wrongly."""


def main(arguments: list[str]) -> int:
    """Entry point; returns the exit code: 1 if a survivor is not explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("modules", nargs="*", help="of app/engine; all of them if none is named")
    parser.add_argument("--again", action="store_true", help="try survivors once more")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args(arguments)
    known = sorted(path.stem for path in ENGINE.glob("*.py") if path.stem not in LEFT_OUT)
    unknown = [name for name in given.modules if name not in known]
    if unknown:
        print(f"No such module: {', '.join(unknown)}; there are {', '.join(known)}.")
        return 2
    child = begin(None, "engine")
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        print("The engine's tests fail without any mutant. Make them pass first.")
        return 2
    survivors: list[str] = []
    count = 0
    for module in given.modules or known:
        run = Run(module, given.processes, again=given.again)
        run.run()
        survivors += [key for key, lived in run.results.items() if lived]
        count += len(run.results)
        print(f"{module}: {len(run.results)} mutants, {sum(run.results.values())} survived")
    explained = SURVIVORS.read_text(encoding="utf-8") if SURVIVORS.exists() else ""
    news = [key for key in survivors if f"`{key}`" not in explained]
    print(f"{count} mutants, {len(survivors)} survived, {len(news)} of them not explained")
    for key in news:
        print(f"* `{key}`")
    return 1 if news else 0


class Run:
    """All mutants of a module, those already known left out. ``results``: by key, whether alive."""

    def __init__(self, module: str, processes: int, *, again: bool) -> None:
        source = (ENGINE / f"{module}.py").read_text(encoding="utf-8")
        self.module = module
        self.processes = processes
        self._source = source
        digest = hashlib.sha256(source.encode()).hexdigest()[:16]
        self.path = CACHE / f"{module}-{digest}.jsonl"
        self.results: dict[str, bool] = {}
        self._running: dict[int, Mutant] = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                key, lived = json.loads(line)
                self.results[key] = lived
        if again:
            self.results = {key: lived for key, lived in self.results.items() if not lived}

    def run(self) -> None:
        """Try what is not known yet."""
        began = time.monotonic()
        todo = (one for one in mutants(self.module, self._source) if one.key not in self.results)
        for number, mutant in enumerate(todo, 1):
            if len(self._running) >= self.processes:
                self._wait()
            self._running[begin(mutant, self.module)] = mutant
            if number % 50 == 0:
                spent = time.monotonic() - began
                print(f"{self.module}: {number}, {spent:.0f} s", flush=True)
        while self._running:
            self._wait()

    def _wait(self) -> None:
        child, status = os.wait()
        mutant = self._running.pop(child)
        lived = os.waitstatus_to_exitcode(status) == 0
        self.results[mutant.key] = lived
        _append(self.path, json.dumps([mutant.key, lived]))


def _append(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
