"""One mutant on trial: a forked child imports it and runs the engine's tests until one fails."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path

import hypothesis
import pytest

from tests.mutate.mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "app" / "engine"
TESTS = ROOT / "tests" / "engine"

CPU_S = 8
MEMORY = 1 << 30
"""What a child may use (seconds, bytes): a mutant that never ends is noticed by that."""

SEEDS = 40
"""Lives of the sweep that a mutant has to get through when all tests have passed."""

QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Plugins were loaded by the parent already, which pytest warns of."""

NOT_FOR_THIS = ("test_laws.py", "test_purity.py")
"""The first looks for examples (the sweep's lives are quicker); the second reads files."""


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the mutant where its module is asked for."""

    def __init__(self, mutant: Mutant) -> None:
        self._name = f"app.engine.{mutant.module}"
        self._path = str(ENGINE / f"{mutant.module}.py")
        self._tree = mutant.tree

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self._tree, self._path, "exec"), module.__dict__)


def files_for(module: str) -> list[list[str]]:
    """The engine's test files: this module's own, which notice most, then the others."""
    files = [path for path in sorted(TESTS.glob("test_*.py")) if path.name not in NOT_FOR_THIS]
    own = [str(path) for path in files if path.stem == f"test_{module}"]
    return [own, [str(path) for path in files if str(path) not in own]]


def begin(mutant: Mutant | None, module: str) -> int:
    """Start a trial in a child; returns its process id. None: the module as it is."""
    loaded = sorted(name for name in sys.modules if name.startswith(("app.", "tests.engine")))
    assert not loaded, f"loaded too early to be changed: {loaded}"
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = _trial(mutant, module)
        finally:
            os._exit(code)
    return child


def _trial(mutant: Mutant | None, module: str) -> int:
    """0 when nothing was noticed."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    if mutant is not None:
        sys.meta_path.insert(0, _Finder(mutant))
    hypothesis.settings.register_profile("mutate", deadline=None, derandomize=True, database=None)
    hypothesis.settings.load_profile("mutate")
    options = ["-x", "-q", "--noconftest", "-p", "no:cacheprovider", *QUIET]
    for files in files_for(module):
        if files and pytest.main([*options, *files]) != 0:
            return 1
    return _noticed(_lives)


def _noticed(play: Callable[[], None]) -> int:
    try:
        play()
    except Exception:
        return 1  # whatever it is, it was noticed
    return 0


def _lives() -> None:
    from tests.engine.director import play
    from tests.sweep.run import MODES, Life

    for seed in range(SEEDS):
        Life(seed, MODES[seed % 2]).live()
        play(seed, 120)
