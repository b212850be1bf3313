"""The scenarios that come with plegscope, and files of the same kind from elsewhere."""

import difflib
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec

from app.errors import ScenarioError, SettingsError
from app.sim.explain import explain
from app.sim.flavours import rules_of
from app.sim.scenario import Scenario
from app.sim.scenariofile import ScenarioFile
from app.sim.units import Ns, Offset, parse_ns, parse_offset

LARGEST = 256 * 1024
"""Bytes of a scenario file."""

SUFFIX = ".toml"
NAME = re.compile(r"[a-z0-9-]+")

MOST_NAME = 60
"""Characters of a file's name that its scenario is called by."""

MOST_DOTS = 200
"""Dots in a line before its value: a key of very many parts takes the TOML reader for ever."""


def names() -> tuple[str, ...]:
    """The names of the scenarios that come with plegscope."""
    return tuple(sorted(one.name.removesuffix(SUFFIX) for one in _shipped()))


def load(name_or_path: str, runtime_like: str = "") -> Scenario:
    """The scenario of that name, or the one that a file describes.

    ``runtime_like``: the name of the runtime to behave like; empty: as the scenario says.

    Raises:
        ScenarioError: there is none, or its file cannot be read or says something that cannot be.
        SettingsError: there is no such runtime.
    """
    scenario = _load(name_or_path)
    if not runtime_like:
        return scenario
    try:
        rules = rules_of(runtime_like)
    except SettingsError as error:
        raise SettingsError(f"--runtime-like: {error}") from None
    return msgspec.structs.replace(scenario, rules=rules)


def _load(name_or_path: str) -> Scenario:
    if NAME.fullmatch(name_or_path) and name_or_path in names():
        source = resources.files("app.sim") / "scenarios" / f"{name_or_path}{SUFFIX}"
        return parse(source.read_text(encoding="utf-8"), name_or_path)
    path = Path(name_or_path)
    if not path.is_file():
        raise ScenarioError(_missing(name_or_path, path))
    return parse(_read(path), _called(path), str(path))


def _missing(given: str, path: Path) -> str:
    """What is wrong with what was given, and what to give instead."""
    if "/" in given or given.endswith(SUFFIX):
        if path.exists():
            return f"{given!r} is neither a scenario nor a file. Give the path of a scenario file."
        return f"There is no such file as {given}. Give the path of one that is there."
    near = difflib.get_close_matches(given, names(), n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return (
        f"{given!r} is neither a scenario nor a file. {meant}`plegscope scenarios` lists the "
        "scenarios; a file is given by its path."
    )


def parse(text: str, name: str, source: str = "") -> Scenario:
    """The scenario that a file's text describes; ``source`` is what messages call the file.

    Raises:
        ScenarioError: something in it cannot be; says where, and what may stand there.
    """
    source = source or f"{name}{SUFFIX}"
    if any(line.partition("=")[0].count(".") > MOST_DOTS for line in text.splitlines()):
        raise ScenarioError(f"{source} is nested too deeply; take some of it out.")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ScenarioError(f"{source} is nested too deeply; take some of it out.") from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{source} is not TOML: {error}. Correct that line.") from None
    except ValueError:
        # Python reads no number of thousands of digits.
        raise ScenarioError(f"{source} has a number that is far too long; shorten it.") from None
    try:
        read = msgspec.convert(data, ScenarioFile, dec_hook=special)
    except msgspec.ValidationError as error:
        where, what = explain(error, data, ScenarioFile)
        place = f"{source}: {where}: " if where else f"{source}: "
        raise ScenarioError(f"{place}{what}. Correct it there.") from None
    return read.scenario(name)


def _called(path: Path) -> str:
    """A file's name as its scenario is called: it goes into links, pages and terminals."""
    return "".join(one if one.isprintable() else "\ufffd" for one in path.stem[:MOST_NAME])


def _shipped() -> Iterator[Traversable]:
    folder = resources.files("app.sim") / "scenarios"
    return (one for one in folder.iterdir() if one.name.endswith(SUFFIX))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise ScenarioError(
                f"{path} is larger than {LARGEST // 1024} KiB, which no scenario is; "
                "give the path of a scenario file."
            )
        return raw.decode("utf-8")
    except OSError as error:
        raise ScenarioError(
            f"{path} cannot be read ({error.strerror}); give the path of a file that can."
        ) from error
    except UnicodeDecodeError:
        raise ScenarioError(f"{path} is no UTF-8 text; save it as UTF-8.") from None


def special(wanted: type, given: object) -> Any:
    """The two kinds of numbers that are written as texts."""
    if wanted is Ns:
        return parse_ns(given if isinstance(given, str) else "")
    if wanted is Offset:
        return parse_offset(given if isinstance(given, str) else "")
    raise NotImplementedError(f"a scenario file holds no {wanted}")
