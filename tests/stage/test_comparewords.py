"""What a comparison is said to come to."""

from __future__ import annotations

import pytest

from app.stage.compare import Side, compare
from app.stage.comparewords import Parts, meaning, notes, sentence
from tests.stage.hand import MS, moment, overwritten, side, who
from tests.stage.watched import LOST, ONE_POD, played

HAD_ONE = "had 1 end still unseen at the end"
NBSP = "\N{NO-BREAK SPACE}"
HINT = side("kep", moment("end", 0, 80), calls={"ListPodSandbox": 103})
POLL = side("generic", moment("end", 0, 600))


def flat(parts: Parts) -> str:
    return "".join(text for text, _ in parts).replace(NBSP, " ").strip()


def said(*sides: Side, against: int = 0) -> str:
    return flat(sentence([one.name for one in sides], compare(sides, against)))


def meant(*sides: Side, against: int = 0) -> str:
    called = [one.name for one in sides]
    compared = compare(sides, against)
    return flat((*meaning(called, compared, called), *notes(called, compared)))


def test_who_was_sooner_by_how_much_and_at_what_price() -> None:
    assert said(HINT, POLL, against=1) == (
        "With kep, the median end was noticed 520 ms sooner than with generic: 80 ms after it "
        "happened instead of 600 ms, with 3 % more runtime calls (1 end that both had and noticed)."
    )
    assert said(HINT, POLL) == (
        "With generic, the median end was noticed 520 ms later than with kep: 600 ms after it "
        "happened instead of 80 ms, with 3 % fewer runtime calls (1 end that both had and noticed)."
    )


def test_the_first_of_the_others_is_spoken_of_however_well_a_later_one_did() -> None:
    best = side("legacy", moment("end", 0, 60))
    assert said(HINT, POLL, best, against=1).startswith("With kep, ")


def test_as_soon() -> None:
    same = side("1.37", moment("end", 0, 85), moment("start", 500, 900, whose=who(attempt=1)))
    other = side("kep", moment("end", 0, 80), moment("start", 500, 4, whose=who(attempt=1)))
    assert said(other, same) == (
        "With 1.37, the median end was noticed as soon as with kep, 85 ms after it happened, with "
        "as many runtime calls (1 end that both had and noticed)."
    )


def test_starts_are_spoken_of_where_nothing_ended() -> None:
    a, b = side("a", moment("start", 0, 5)), side("b", moment("start", 0, 900))
    assert said(a, b).startswith("With b, the median start was noticed 895 ms later")


def test_no_difference() -> None:
    assert said(HINT, HINT) == "No difference. All noticed 1 end or start alike."
    dear = side("kep, queue of 9", moment("end", 0, 80), calls={"ListPodSandbox": 3180})
    assert said(HINT, dear) == (
        "All noticed 1 end or start alike, but not with as many runtime calls. Kep made 103 and "
        "kep, queue of 9 made 3,180."
    )
    assert said(side("a"), side("b")) == "Nothing to compare. No process ended or began."


def test_nothing_in_common_is_said() -> None:
    full = side("kep", moment("end", 0, 80, delivered=False), moment("start", 0, 9))
    late = side("legacy", moment("end", 0, 90, delivered=False))
    assert said(full, late).startswith("Nothing was noticed by all of them, so none was")


# Harm comes first


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        ((moment("end", 0, 61_000),), "left 1 end unseen for over a minute"),
        ((moment("end", 0, None, fate="never"),), "missed 1 end"),
        ((moment("end", 0, 80, delivered=False),), "missed 1 end"),
        (
            (moment("end", 0, None), moment("start", 0, None, fate="never")),
            f"missed 1 start, left 1 end unseen for over a minute and {HAD_ONE}",
        ),
        ((moment("end", 590_000, None),), "had 1 end still unseen at the end"),
        (
            (moment("end", 0, 70_000), moment("start", 0, 70_000)),
            "left 1 end and 1 start unseen for over a minute",
        ),
    ],
)
def test_who_was_blind_is_said_before_anything_else(
    moments: tuple[object, ...], words: str
) -> None:
    blind = side("legacy", *moments)  # type: ignore[arg-type]
    assert said(HINT, blind) == f"legacy {words}. Nothing of that with kep."


def test_who_took_what_was_not_so_for_true_is_not_praised_for_its_speed() -> None:
    wrong = side(
        "legacy",
        moment("end", 0, 60, believed=True, source="evented_pleg"),
        wrongs=(overwritten(0, 9), overwritten(10, 19)),
        wrong_ns=120_000 * MS,
        calls={"ListContainers": 3},
    )
    assert said(HINT, POLL, wrong) == (
        "legacy believed what was not so twice and had a wrong cache for 2 min (summed over "
        "containers). Nothing of that with kep and generic."
    )
    below = meant(HINT, POLL, wrong)
    assert below.startswith(
        "Of the 1 end that all had and noticed, the median was noticed after 80 ms with kep, "
        "600 ms with generic and 60 ms with legacy. legacy is quicker by the look it spares: it "
        "believes an event without asking the runtime"
    )
    assert "legacy makes only 3 runtime calls, as it lists the node every 5 min while" in below


def test_each_harm_has_its_own_words_where_none_is_clean() -> None:
    a = side("generic", moment("start", 0, None, fate="never"))
    b = side("legacy", moment("start", 0, 61_000))
    assert said(a, b) == ("generic missed 1 start. legacy left 1 start unseen for over a minute.")


def test_waiting_for_the_next_poll_is_slow_and_no_harm() -> None:
    poll = side("generic", moment("end", 0, 1900), wrong_ns=1850 * MS)
    assert said(HINT, poll).startswith("With generic, the median end was noticed 1.8 s later")


def test_no_speed_is_told_of_different_ends() -> None:
    seen = [moment("end", n, 900, whose=who(attempt=n)) for n in range(1, 12)]
    many = side("kep", moment("end", 0, 80), *seen)
    few = side("legacy", moment("end", 0, 75), moment("end", 1, None, whose=who(attempt=1)))
    assert said(many, few).startswith("legacy left 1 end unseen for over a minute and had 1 end")
    assert meant(many, few).startswith(
        "Of the 1 end that both had and noticed, the median was noticed after 80 ms with kep and "
        "75 ms with legacy."
    )


def test_harm_that_all_have_is_told_below() -> None:
    both = [
        side(
            name, moment("end", 0, ms), moment("end", 9, 80, whose=who(attempt=1), delivered=False)
        )
        for name, ms in (("kep", 80), ("generic", 600))
    ]
    assert said(*both).startswith("With generic, the median end was noticed 520 ms later")
    assert meant(*both).startswith("All of them missed 1 end.")


def test_a_poll_that_was_only_lucky_is_called_so() -> None:
    stream = ((0, "connecting"), (1, "waiting"), (2, "closed"))
    lucky = side("legacy", moment("end", 0, 168), stream=stream)
    told = meant(side("kep", moment("end", 0, 667)), lucky)
    assert "1 end legacy found by a poll that came sooner: each of the 2 times its stream" in told
    assert "believes an event" not in told
    assert "luck" not in meant(
        side("kep", moment("end", 0, 667)), side("generic", *[moment("end", 0, 168)])
    )


def test_the_lost_stop_event_that_the_lessons_show() -> None:
    """Played: whoever wins by what it never saw is not said to have won."""
    sides = [Side(name, name, "", played(ONE_POD + LOST, name)[0]) for name in ("kep", "legacy")]
    told = said(*sides)
    assert told.startswith("legacy had 1 end still unseen at the end and had a wrong cache for ")
    # Two polls' worth is no harm, and not nothing.
    assert told.endswith(". Nothing of that with kep, whose cache was wrong for 1.6 s.")
    assert "sooner" not in told


# What else


def test_what_else_is_to_be_said() -> None:
    assert meant(HINT, POLL, against=1) == (
        "1 end in each. Every one was noticed: by kep within 80 ms and generic within 600 ms. The "
        "runtime itself took 50 ms to know of an end (median of all ends); before it knows of one, "
        "no PLEG can."
    )


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
    assert meant(more, POLL).startswith("In all there were 2 ends with kep and 1 end with generic.")
