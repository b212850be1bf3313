"""The lock files hold what the project asks for, agree with each other, and name no place."""

import re
from pathlib import Path

import make_lock
import pytest

LOCKS = ("run", "build", "test")
PIN = re.compile(r"^([a-z0-9][a-z0-9.-]*)==(\S+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall((make_lock.LOCK / f"{name}.txt").read_text()))


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    text = (make_lock.LOCK / f"{name}.txt").read_text()
    wanted = make_lock.requirements(make_lock.ROOT / "pyproject.toml")[name]
    assert {re.split(r"[<>=!~ ;\[]", line)[0] for line in wanted} <= set(pins(name))
    blocks = re.split(r"\n(?=[a-z0-9])", text.removeprefix(make_lock.HEADER))
    assert [block for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("name", ["run", "build"])
def test_the_tests_environment_holds_the_others(name: str) -> None:
    assert pins(name).items() <= pins("test").items()


@pytest.mark.parametrize("name", LOCKS)
def test_no_address_is_written_down(name: str) -> None:
    text = (make_lock.LOCK / f"{name}.txt").read_text()
    assert "://" not in text
    assert "--index" not in text


def test_requirements_come_from_the_project_file(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(
        '[build-system]\nrequires = ["b"]\n[project]\ndependencies = ["r"]\n'
        '[dependency-groups]\ntest = ["t"]\n'
    )
    assert make_lock.requirements(path) == {
        "run": ["r"],
        "build": ["b", "editables"],
        "test": ["r", "b", "editables", "t"],
    }
