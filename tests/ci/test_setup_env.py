"""The environment is made once, and again when what it was made from has changed."""

import json
from pathlib import Path

import pytest
import setup_env
from setup_env import SetupError


class Pip:
    """Stands in for pip: remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.works = True

    def __call__(self, *arguments: str) -> bool:
        self.asked.append(arguments)
        return self.works

    def kinds(self) -> list[str]:
        """What was installed since the last call: "packages" or "plegscope"."""
        kinds = ["plegscope" if "-e" in asked else "packages" for asked in self.asked]
        self.asked.clear()
        return kinds


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with lock files, a project file and everything that is made."""
    for name in (
        *(".ci/lock/run.txt", ".ci/lock/build.txt", ".ci/lock/test.txt"),
        *("pyproject.toml", "proto/cri.proto", ".venv/bin/python", *setup_env.MADE),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(setup_env, "ROOT", tmp_path)
    monkeypatch.setattr(setup_env, "STAMP", tmp_path / ".venv" / "stamp.json")
    return tmp_path


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    made = Pip()
    monkeypatch.setattr(setup_env, "pip", made)
    return made


def test_the_second_time_nothing_is_done(tree: Path, pip: Pip) -> None:
    setup_env.install("run")
    assert pip.kinds() == ["packages", "plegscope"]
    setup_env.install("run")
    assert pip.kinds() == []


def test_packages_are_installed_by_hash_only(tree: Path, pip: Pip) -> None:
    setup_env.install("run")
    assert pip.asked[0][0] == "--require-hashes"
    assert [Path(part[2:]).name for part in pip.asked[0][1:]] == ["run.txt", "build.txt"]
    assert "--no-index" in pip.asked[1]


def test_what_tests_need_holds_what_running_needs(tree: Path, pip: Pip) -> None:
    setup_env.install("test")
    pip.kinds()
    setup_env.install("run")
    assert pip.kinds() == []


def test_running_does_not_hold_what_tests_need(tree: Path, pip: Pip) -> None:
    setup_env.install("run")
    pip.kinds()
    setup_env.install("test")
    assert pip.kinds() == ["packages", "plegscope"]


@pytest.mark.parametrize(
    ("changed", "redone"),
    [
        (".ci/lock/run.txt", ["packages", "plegscope"]),
        ("pyproject.toml", ["plegscope"]),
        ("proto/cri.proto", ["plegscope"]),
    ],
)
def test_a_change_redoes_what_depends_on_it(
    tree: Path, pip: Pip, changed: str, redone: list[str]
) -> None:
    setup_env.install("run")
    pip.kinds()
    (tree / changed).write_text("changed")
    setup_env.install("run")
    assert pip.kinds() == redone


@pytest.mark.parametrize("made", setup_env.MADE)
def test_what_was_made_and_is_gone_is_made_again(tree: Path, pip: Pip, made: str) -> None:
    setup_env.install("run")
    pip.kinds()
    (tree / made).unlink()
    setup_env.install("run")
    assert pip.kinds() == ["plegscope"]


@pytest.mark.parametrize("stamp", ["", "[1, 2]", "{"])
def test_a_broken_stamp_is_no_stamp(tree: Path, pip: Pip, stamp: str) -> None:
    setup_env.STAMP.write_text(stamp)
    setup_env.install("run")
    assert pip.kinds() == ["packages", "plegscope"]
    assert set(json.loads(setup_env.STAMP.read_text())) == {"run", "build"}


def test_when_pip_fails_it_is_said_and_not_stamped(tree: Path, pip: Pip) -> None:
    pip.works = False
    with pytest.raises(SetupError, match=r"could not be installed.*run the same command again\."):
        setup_env.install("run")
    assert not setup_env.STAMP.exists()


def test_an_old_python_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup_env, "OLDEST", (9, 9))
    monkeypatch.setattr(setup_env, "find_newer_python", lambda: None)
    assert setup_env.main(["run"]) == 1
    assert "plegscope needs Python 9.9 or newer, and python3 is 3." in capsys.readouterr().err


def test_an_unknown_purpose_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert setup_env.main(["walk"]) == 1
    assert "say one of: run, test" in capsys.readouterr().err
