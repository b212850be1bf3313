"""The mutator: which faults it makes, that each is one, and that a fault is noticed."""

import ast
import sys

import pytest

import app.engine.engine
from tests.mutate.__main__ import LEFT_OUT, main
from tests.mutate.mutants import mutants
from tests.mutate.trial import ENGINE, begin, files_for


def made(source: str) -> list[str]:
    return [ast.unparse(mutant.tree) for mutant in mutants("m", source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a is b", ["a is not b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("if a:\n    pass", ["if not a:\n    pass"]),
        ("x = a // b", ["x = a * b"]),
        ("x = 1", ["x = 2"]),
        ("x = True", ["x = False"]),
        ("x = 'word'", ["x = 'not word'"]),
        ("x = 'a sentence of words'", []),
        ("a()", ["pass"]),
        ("a.b = c", ["pass"]),
        ("a += b", ["pass", "a -= b"]),
        ("x = a if b else c", ["x = a", "x = c", "x = a if not b else c"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("while a():\n    break", ["while not a():\n    break", "while a():\n    continue"]),
        ("'''A docstring.'''\nimport os\nT = Literal['a', 'b']", []),
        ("def f(a: 'word') -> 'word':\n    pass", []),
    ],
)
def test_faults(source: str, expected: list[str]) -> None:
    assert made(source) == expected


def test_a_key_is_the_lines_text_and_unique() -> None:
    keys = [mutant.key for mutant in mutants("m", "x = 1\nx = 1\n")]
    assert keys == ["m.py: x = 1: 1 to 2", "m.py: x = 1: 1 to 2 (2)"]


def test_every_mutant_of_the_engine_can_be_compiled_and_differs() -> None:
    count = 0
    for name in ("transitions", "requests", "health"):
        source = (ENGINE / f"{name}.py").read_text(encoding="utf-8")
        plain = ast.unparse(ast.parse(source))
        for mutant in mutants(name, source):
            compile(mutant.tree, "mutant", "exec")
            assert ast.unparse(mutant.tree) != plain
            count += 1
    assert count > 150


def test_a_modules_own_tests_come_first_and_the_others_after_them() -> None:
    own, others = files_for("health")
    assert [path.rpartition("/")[2] for path in own] == ["test_health.py"]
    assert len(others) > 10


def test_an_engine_that_is_loaded_already_cannot_be_changed() -> None:
    """As it is in this process; the command line starts without it."""
    assert app.engine.engine.__name__ in sys.modules
    with pytest.raises(AssertionError, match="loaded too early"):
        begin(None, "health")


def test_a_module_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 2
    said = capsys.readouterr().out
    assert said.startswith("No such module: nothing; there are ")
    assert not [name for name in LEFT_OUT if f" {name}," in said]
