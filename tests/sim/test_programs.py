"""What a container's command does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sim.flavour import MS, SECOND
from app.sim.programs import AT_ONCE, HEEDS, Program, program

TRAPS = "trap 'exit 0' TERM; sleep 1000 & wait"


def sh(script: str, memory_limit: int = 0) -> Program:
    return program(["sh", "-c", script], memory_limit)


def ends(made: Program) -> tuple[int, str, float]:
    """Exit code, reason, and after how many seconds at least (rounded)."""
    assert made.lasts is not None
    assert made.lasts[0] <= made.lasts[1] <= made.lasts[0] + 100 * MS
    return made.ending.exit_code, made.ending.reason, round(made.lasts[0] / SECOND, 1)


@pytest.mark.parametrize(
    ("command", "end"),
    [
        (["true"], (0, "Completed", 0)),
        (["/bin/false"], (1, "Error", 0)),
        (["sleep", "2"], (0, "Completed", 2)),
        (["sleep", "1.5m"], (0, "Completed", 90)),
        (["sleep", "nonsense"], (1, "Error", 0)),
        (["sleep"], (1, "Error", 0)),
        (["sh", "-c", "exit 0"], (0, "Completed", 0)),
        (["sh", "-c", "exit 3"], (3, "Error", 0)),
        (["sh", "-c", "exit 259"], (3, "Error", 0)),
        (["sh", "-c", "sleep 2; exit 1"], (1, "Error", 2)),
        (["sh", "-c", "sleep 1\nsleep 1\nfalse"], (1, "Error", 2)),
        (["sh", "-c", "sleep 5 & exit 0"], (0, "Completed", 0)),
        (["sh", "-c", "false; exit"], (1, "Error", 0)),
        (["sh", "-c", "/no/such/program"], (127, "Error", 0)),
        (["sh", "-c", "echo 'no end"], (2, "Error", 0)),
        (["sh", "-c", "sleep 1; exec sleep 2"], (0, "Completed", 3)),
        (["sh", "-c", ""], (0, "Completed", 0)),
    ],
)
def test_ends_by_itself(command: list[str], end: tuple[int, str, float]) -> None:
    made = program(command)
    assert ends(made) == end
    assert made.term is None


@pytest.mark.parametrize("command", [[], [""], ["nginx"], ["/coredns", "-conf", "x"], ["sh"]])
def test_what_is_not_known_runs_until_it_is_stopped(command: list[str]) -> None:
    assert program(command) == Program(lasts=None, term=HEEDS)


@pytest.mark.parametrize("command", [["sleep", "infinity"], ["sleep", "999999999999"]])
def test_sleeping_for_ever(command: list[str]) -> None:
    assert program(command) == Program(lasts=None, term=None)


def test_a_first_process_without_a_handler_ignores_sigterm() -> None:
    assert program(["sleep", "1000"]).term is None
    assert sh("sleep 1000").term is None


def test_a_shell_that_waits_runs_its_handler() -> None:
    assert sh(TRAPS).term == AT_ONCE
    assert sh("sleep 1000 & wait").term is None
    # In front of a program that runs in the foreground it has to wait itself.
    assert sh("trap 'exit 0' TERM; sleep 1000").term is None


def test_more_memory_than_allowed_is_an_oom_kill() -> None:
    script = "sleep 1; exec dd if=/dev/zero of=/dev/null bs=256M count=1"
    assert ends(sh(script, 32 * 2**20)) == (137, "OOMKilled", 1)
    assert ends(sh(script)) == (0, "Completed", 1)
    assert ends(sh("dd bs=256M; exit 0", 2**20)) == (137, "OOMKilled", 0)


@pytest.mark.parametrize("path", ["/no/such/program", "./program", "../bin/sh", "/etc/passwd"])
def test_a_path_that_leads_nowhere_cannot_be_started(path: str) -> None:
    made = program([path, "x"])
    assert made.cannot_start.endswith(f'exec: "{path}": stat {path}: no such file or directory')


@pytest.mark.parametrize("path", ["/bin/sh", "/usr/local/bin/app", "/app", "/opt/a/b", "/home/x/y"])
def test_a_path_to_where_programs_are_can(path: str) -> None:
    assert program([path]).cannot_start == ""


def test_it_is_a_containers_process() -> None:
    spec = program(["sleep", "2"]).spec("app", "image")
    assert (spec.name, spec.image, spec.term) == ("app", "image", None)
    assert spec.lifetime is not None
    assert spec.lifetime.span == (2 * SECOND, 2 * SECOND)
    assert program([]).spec("app", "image").lifetime is None


@given(st.lists(st.text(max_size=60), max_size=4), st.integers(0, 2**40))
def test_any_command_line_does_something(command: list[str], limit: int) -> None:
    for made in (program(command, limit), sh(" ".join(command), limit)):
        assert made.lasts is None or 0 <= made.lasts[0] <= made.lasts[1]
        assert 0 <= made.ending.exit_code <= 255
