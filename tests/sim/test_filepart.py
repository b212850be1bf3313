"""Checks of what a file says: what they refuse, and in which words."""

import pytest

from app.sim.filepart import at_least, known, ordered, recurring
from app.sim.units import Ns, millis, seconds


def test_what_is_as_it_should_be_passes() -> None:
    ordered("runs", (seconds(1), seconds(1)))
    recurring("every", (millis(10), seconds(1)))
    at_least("period", millis(10), millis(10))
    known(("app", "side"), ("side",))
    known(("app",), ())


def test_a_span_the_wrong_way_round_is_refused() -> None:
    with pytest.raises(ValueError, match="`runs` is the shortest and the longest"):
        ordered("runs", (seconds(2), seconds(1)))


def test_pauses_that_are_hardly_any_are_refused() -> None:
    with pytest.raises(ValueError, match="`every` is 10 ms at least"):
        recurring("every", (Ns(0), seconds(1)))
    with pytest.raises(ValueError, match="in this order"):
        recurring("every", (seconds(2), seconds(1)))


def test_names_of_containers_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="no container db; there is app, side"):
        known(("app", "side"), ("app", "db"))
