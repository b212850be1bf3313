"""The engine is a plain function: no clock, no I/O, no chance, and the same bytes every time."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "app" / "engine"
MODULES = sorted(path.stem for path in ENGINE.glob("*.py") if path.stem != "__init__")

ALLOWED = {"collections", "collections.abc", "ipaddress", "msgspec", "typing"}
"""What engine modules may import besides each other; each of these only computes."""

IMPORTED = """
import sys
import {allowed}
before = set(sys.modules)
import {modules}
print(*sorted(set(sys.modules) - before), sep="\\n")
"""

JOURNAL = """
import sys
import msgspec
from tests.engine.director import play
out = play(int(sys.argv[1]), int(sys.argv[2]))
sys.stdout.buffer.write(msgspec.json.encode(out.stage.records))
sys.stdout.buffer.write(msgspec.json.encode(out.stage.effects))
sys.stdout.buffer.write(msgspec.json.encode(out.stage.state()))
"""

CUT_OFF = """
import builtins, io, os, random, socket, sys, threading, time
from tests.engine.director import Director
dice = random.Random(5)
director = Director(dice.randrange)
def cut_off(*args, **kwargs):
    raise AssertionError("the engine reached out")
for module, names in (
    (builtins, ("open", "print", "input")), (io, ("open",)),
    (os, ("getenv", "getpid", "open", "read", "urandom", "write")),
    (random, ("choice", "random", "randint", "randrange", "shuffle", "uniform")),
    (socket, ("create_connection", "getaddrinfo", "socket")),
    (threading, ("Thread", "Timer")),
    (time, ("monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "sleep", "time",
            "time_ns")),
):
    for name in names:
        setattr(module, name, cut_off)
for _ in range(400):
    director.act()
director.heal()
sys.stdout.write(str(len(director.stage.records)))
"""


def python(code: str, *args: str, hash_seed: str = "0") -> bytes:
    """What a fresh interpreter writes that runs this code."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("module", MODULES)
def test_each_module_imports_only_what_computes(module: str) -> None:
    tree = ast.parse((ENGINE / f"{module}.py").read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    outside = {one for one in imported if not one.startswith("app.engine.")}
    assert outside <= ALLOWED
    assert not {"__import__", "eval", "exec", "open", "print"} & {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
    }


def test_importing_the_engine_brings_in_the_engine_and_nothing_else() -> None:
    """Beyond what the allowed modules bring with them: no asyncio, no grpc, no web, no clock."""
    code = IMPORTED.format(
        allowed=", ".join(sorted(ALLOWED)),
        modules=", ".join(f"app.engine.{module}" for module in MODULES),
    )
    brought = set(python(code).decode().split())
    assert brought == {"app", "app.engine", *(f"app.engine.{module}" for module in MODULES)}


def test_a_play_needs_no_clock_no_file_no_socket_and_no_chance() -> None:
    assert int(python(CUT_OFF)) > 100


def test_two_processes_with_other_hashes_write_the_same_bytes() -> None:
    one, two = (python(JOURNAL, "11", "300", hash_seed=seed) for seed in ("1", "4242"))
    assert len(one) > 10_000
    assert one == two


def test_another_seed_is_another_play() -> None:
    assert python(JOURNAL, "12", "50") != python(JOURNAL, "13", "50")
