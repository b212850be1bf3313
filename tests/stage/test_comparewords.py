"""What a comparison is said to come to."""

from __future__ import annotations

import pytest

from app.stage.compare import Side, compare
from app.stage.comparewords import Parts, meaning, sentence
from tests.stage.hand import moment, overwritten, side, who

NBSP = "\N{NO-BREAK SPACE}"
HINT = side("kep", moment("end", 0, 80), calls={"ListPodSandbox": 103})
POLL = side("generic", moment("end", 0, 600))


def flat(parts: Parts) -> str:
    return "".join(text for text, _ in parts).replace(NBSP, " ").strip()


def said(*sides: Side, against: int = 0) -> str:
    return flat(sentence([one.name for one in sides], compare(sides, against)))


def meant(*sides: Side, against: int = 0) -> str:
    return flat(meaning([one.name for one in sides], compare(sides, against)))


def test_who_was_sooner_by_how_much_and_at_what_price() -> None:
    assert said(HINT, POLL, against=1) == (
        "With kep, the median end was noticed 520 ms sooner than with generic: 80 ms after it "
        "happened instead of 600 ms, with 3 % more runtime calls."
    )
    assert said(HINT, POLL) == (
        "With generic, the median end was noticed 520 ms later than with kep: 600 ms after it "
        "happened instead of 80 ms, with 3 % fewer runtime calls."
    )


def test_the_first_of_the_others_is_spoken_of_however_well_a_later_one_did() -> None:
    best = side("legacy", moment("end", 0, 60))
    assert said(HINT, POLL, best, against=1).startswith("With kep, ")


def test_as_soon() -> None:
    same = side("1.37", moment("end", 0, 85), moment("start", 500, 900, whose=who(attempt=1)))
    other = side("kep", moment("end", 0, 80), moment("start", 500, 4, whose=who(attempt=1)))
    assert said(other, same) == (
        "With 1.37, the median end was noticed as soon as with kep, 85 ms after it happened, with "
        "as many runtime calls."
    )


def test_starts_are_spoken_of_where_nothing_ended() -> None:
    a, b = side("a", moment("start", 0, 5)), side("b", moment("start", 0, 900))
    assert said(a, b).startswith("With b, the median start was noticed 895 ms later")


def test_no_difference() -> None:
    assert said(HINT, HINT) == "No difference. All noticed 1 end or start alike."
    assert said(side("a"), side("b")) == "Nothing to compare. No process ended or began."


def test_one_alone_noticed_anything() -> None:
    blind = side("legacy", moment("end", 0, None, fate="never"))
    assert said(HINT, blind) == "Only some of them noticed anything at all."


def test_what_else_is_to_be_said() -> None:
    assert meant(HINT, POLL, against=1) == (
        "1 end in each. Every one was noticed: by kep within 80 ms and generic within 600 ms. The "
        "runtime itself needs 50 ms of that (median); no PLEG is quicker."
    )


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        ((moment("end", 0, 61_000),), "legacy left 1 end unseen for over a minute."),
        ((moment("end", 0, None, fate="never"),), "legacy missed 1 end for good."),
        (
            (moment("end", 0, None), moment("start", 0, None, fate="never")),
            "legacy left 1 end unseen for over a minute and missed 1 start for good.",
        ),
        (
            (moment("end", 0, None), moment("start", 0, 70_000)),
            "legacy left 1 end and 1 start unseen for over a minute.",
        ),
    ],
)
def test_who_was_blind(moments: tuple[object, ...], words: str) -> None:
    assert words in meant(HINT, side("legacy", *moments))  # type: ignore[arg-type]


def test_runs_that_missed_the_same_are_named_together() -> None:
    full = [side(name, moment("end", 0, 80, delivered=False)) for name in ("kep", "generic")]
    assert "kep and generic missed 1 end for good." in meant(*full)


def test_who_took_what_was_not_so_for_true() -> None:
    wrong = side("legacy", moment("end", 0, 60), wrongs=(overwritten(0, 9), overwritten(10, 19)))
    assert "legacy believed what was not so, twice." in meant(HINT, wrong)


def test_what_cannot_be_compared_is_admitted() -> None:
    more = side(
        "kep",
        moment("end", 0, 80),
        moment("end", 5000, 80, whose=who(attempt=1)),
        moment("start", 9000, 3, whose=who(attempt=2)),
    )
    less = side("generic", moment("end", 0, 600), moment("end", 5600, 600, whose=who(attempt=1)))
    told = meant(more, less, against=1)
    assert "2 and 2 ends" not in told
    assert "1 of 2 happenings came at another time than in generic" in told
    assert "1 happening did not come in every run and cannot be compared." in told


def test_other_numbers_of_ends_are_told_one_by_one() -> None:
    more = side("kep", moment("end", 0, 80), moment("end", 9, 80, whose=who(attempt=1)))
    assert meant(more, POLL).startswith("2 and 1 ends.")
