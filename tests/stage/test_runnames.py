"""What compared runs are called, and what they are said to have in common."""

from __future__ import annotations

import pytest

from app.stage.runnames import names, premise
from app.stage.spec import Press, RunSpec

MS = 1_000_000
NBSP = "\N{NO-BREAK SPACE}"
BROKEN = Press(12_500 * MS, "break-stream")
LATE = Press(20_000 * MS, "lose-stops")
LATER = Press(30_000 * MS, "heal")


def spec(profile: str = "kep", *presses: Press, runtime: str = "") -> RunSpec:
    return RunSpec(
        scenario="demo",
        seed=7,
        profile=profile,
        runtime=runtime,
        duration_ns=60_000 * MS,
        presses=presses,
    )


def called(*specs: RunSpec) -> list[str]:
    return [name.replace(NBSP, " ") for name in names(specs)]


def test_profiles_are_enough_where_nothing_else_differs() -> None:
    assert called(spec("kep"), spec("legacy")) == ["kep", "legacy"]
    assert called(spec("kep", BROKEN), spec("legacy", BROKEN)) == ["kep", "legacy"]


def test_presses_are_told_where_they_differ_also_beside_other_profiles() -> None:
    assert called(spec(), spec("kep", BROKEN), spec("kep", BROKEN, LATE)) == [
        "kep (nothing pressed)",
        "kep (break-stream at 12 s)",
        "kep (break-stream at 12 s, lose-stops at 20 s)",
    ]
    assert called(spec("kep", BROKEN), spec("legacy", LATE)) == [
        "kep (break-stream at 12 s)",
        "legacy (lose-stops at 20 s)",
    ]


def test_what_was_pressed_in_all_of_them_is_left_out() -> None:
    assert called(spec("kep", BROKEN), spec("kep", BROKEN, LATE)) == [
        "kep (nothing more pressed)",
        "kep (lose-stops at 20 s)",
    ]


def test_many_presses_are_counted_unless_that_hides_what_differs() -> None:
    assert called(spec(), spec("kep", BROKEN, LATE, LATER)) == [
        "kep (nothing pressed)",
        "kep (break-stream at 12 s, lose-stops at 20 s and 1 more)",
    ]
    near = [Press(ms * MS, "break-stream") for ms in (12_300, 12_400)]
    assert called(*(spec("kep", one) for one in near)) == [
        "kep (break-stream at 12.3s)",
        "kep (break-stream at 12.4s)",
    ]


def test_the_pod_that_was_meant_is_named() -> None:
    both = [spec("kep", Press(1_000 * MS, "kill-container", f"shop/web-{n}")) for n in (0, 1)]
    assert called(*both) == [
        "kep (kill-container shop/web-0 at 1.0 s)",
        "kep (kill-container shop/web-1 at 1.0 s)",
    ]


def test_runtimes_and_at_last_a_number() -> None:
    assert called(spec(), spec()) == [
        "kep (nothing pressed), run 1",
        "kep (nothing pressed), run 2",
    ]
    assert called(spec(), spec(runtime="crio")) == [
        "kep (nothing pressed; own runtime)",
        "kep (nothing pressed; crio)",
    ]


@pytest.mark.parametrize(
    ("specs", "words"),
    [
        ((spec("kep"), spec("legacy")), "Same node, same faults"),
        ((spec("kep", BROKEN), spec("legacy", BROKEN)), "Same node, same faults"),
        ((spec(), spec("kep", BROKEN)), "Same node, other presses"),
        ((spec(), spec("legacy", BROKEN)), "Same node, other profiles and presses"),
        ((spec(), spec(runtime="crio")), "Same scenario, other runtimes"),
    ],
)
def test_what_is_the_same_is_claimed_only_where_it_is(
    specs: tuple[RunSpec, ...], words: str
) -> None:
    assert premise(specs) == words
