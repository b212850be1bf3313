"""Scenarios by name and by file; and files that are wrong, or hostile."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import ScenarioError, SettingsError
from app.sim import library
from app.sim.flavours import CONTAINERD_2, CRI_O
from app.sim.library import LARGEST, load, names, parse

HEAD = 'title = "A title"\nshows = "Something."\n'


@pytest.mark.parametrize("name", names())
def test_each_scenario_of_ours_can_be_loaded_and_says_what_it_shows(name: str) -> None:
    made = load(name)
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert made.name == name
    assert len(made.shows.split()) > 20
    assert made.shows.endswith(".")
    assert made.workloads


@pytest.mark.parametrize("name", names())
def test_each_file_of_ours_is_commented(name: str) -> None:
    path = Path(library.__file__).parent / "scenarios" / f"{name}.toml"
    assert path.read_text(encoding="utf-8").startswith("# ")


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD, encoding="utf-8")
    assert load(str(path)).name == "mine"


def test_a_file_named_as_one_of_ours_needs_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "churn").write_text(HEAD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load("churn").title != "A title"
    assert load("./churn").title == "A title"


def test_a_scenario_on_another_runtime_than_its_own() -> None:
    assert load("churn").rules is CONTAINERD_2
    assert load("churn", "cri-o").rules is CRI_O
    with pytest.raises(SettingsError, match=r"^--runtime-like: 'docker' .* choose one of"):
        load("churn", "docker")


def refused(source: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(source)
    return str(caught.value)


def test_what_is_not_there_is_answered_with_what_is(tmp_path: Path) -> None:
    told = refused("no-such")
    assert "`plegscope scenarios` lists" in told
    assert "Did you mean" not in told
    assert all(f"Did you mean {name}?" in refused(f"{name}x") for name in names())
    assert "no such file" in refused("no-such.toml")
    assert "neither a scenario nor a file" in refused(str(tmp_path))
    assert "neither a scenario nor a file" in refused("")


def test_a_file_that_never_ends_is_not_read(tmp_path: Path) -> None:
    assert "neither a scenario nor a file" in refused("/dev/zero")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert "neither a scenario nor a file" in refused(str(fifo))


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_bytes(b"#" * (LARGEST + 1))
    assert "larger than 256 KiB" in refused(str(path))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe")
    assert "UTF-8" in refused(str(path))


def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret.toml"
    path.write_text(HEAD, encoding="utf-8")

    def closed(*_args: object, **_more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", closed)
    told = refused(str(path))
    assert "Permission denied" in told
    assert told.endswith("that can.")


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 120_000) + " = 1\n",
        "[" + ".".join("a" * 1000) + "]\n",
        "seed = " + "9" * 5000 + "\n",
    ],
    ids=["a key of many parts", "a table of many parts", "a number of many digits"],
)
def test_what_would_keep_the_reader_busy_is_refused_at_once(text: str) -> None:
    with pytest.raises(ScenarioError, match=r"^mine\.toml (is nested too deeply|has a number)"):
        parse(HEAD + text, "mine")


@pytest.mark.parametrize(
    ("file", "name"),
    [("n" * 100, "n" * 60), ("\udcff\udcfe", "\ufffd\ufffd"), ("a\x1b[2Jb", "a\ufffd[2Jb")],
)
def test_a_scenario_is_called_by_what_can_be_shown_of_its_files_name(
    file: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{file}.toml"
    path.write_text(HEAD, encoding="utf-8")
    assert load(str(path)).name == name


def wrong(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(HEAD + text, "mine", "a/mine.toml")
    told = str(caught.value)
    assert told.startswith("a/mine.toml")
    assert told.endswith(".")
    assert "$" not in told
    return told


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "x = [",
        "a = " + "[" * 100_000,
        "x = 1\nx = 2",
        '"\\ud800" = 1',
    ],
)
def test_what_is_no_toml_is_told_with_its_line(text: str) -> None:
    told = wrong(text)
    assert "not TOML" in told or "nested too deeply" in told


def test_the_message_for_toml_has_the_line() -> None:
    assert "line 3" in wrong("nonsense\n")


def test_a_title_of_one_line_and_no_more() -> None:
    with pytest.raises(ScenarioError, match="title: it is a text with a length"):
        parse('title = ""\nshows = "x"', "mine")


@given(st.text(max_size=200))
def test_any_text_is_a_scenario_or_an_error_in_a_sentence(text: str) -> None:
    told = "."
    try:
        parse(text, "mine")
    except ScenarioError as error:
        told = str(error)
    assert told.endswith(".")
