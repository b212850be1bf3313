"""A resize in place: allocated, actuated, and seen to hold only in what was read after that."""

import pytest

from app.sim.pods import Resources
from app.sim.sizes import Sizes
from tests.sim.orders import order, runs_on

MORE = Resources(500, 256)


@pytest.fixture
def sizes() -> Sizes:
    return Sizes(order("web", runs_on("app"), runs_on("side")))


def test_a_pod_as_it_was_ordered_has_nothing_due(sizes: Sizes) -> None:
    assert sizes.due() == frozenset()
    assert sizes.of("app") == Resources()
    assert list(sizes.take_seen(10**18)) == []


def test_what_is_allocated_is_due_until_it_is_actuated(sizes: Sizes) -> None:
    sizes.allocate("app", MORE, 5)
    assert sizes.due() == {"app"}
    assert sizes.of("app") == MORE
    sizes.actuate("app", 20)
    assert sizes.due() == frozenset()


def test_it_is_seen_only_in_a_status_that_was_read_afterwards_and_once(sizes: Sizes) -> None:
    sizes.allocate("app", MORE, 5)
    assert list(sizes.take_seen(100)) == []
    sizes.actuate("app", 20)
    assert list(sizes.take_seen(19)) == []
    assert list(sizes.take_seen(20)) == [5]
    assert list(sizes.take_seen(30)) == []


def test_a_second_wish_before_the_first_is_seen_is_one_resize(sizes: Sizes) -> None:
    sizes.allocate("app", MORE, 5)
    sizes.actuate("app", 20)
    sizes.allocate("app", Resources(900, 256), 30)
    assert sizes.due() == {"app"}
    assert list(sizes.take_seen(40)) == []
    sizes.actuate("app", 50)
    assert list(sizes.take_seen(60)) == [5]


def test_a_container_that_was_started_with_them_needs_no_update(sizes: Sizes) -> None:
    sizes.actuate("side", 10)
    sizes.allocate("side", MORE, 11)
    assert sizes.due() == {"side"}
    sizes.actuate("side", 12)
    assert sizes.due() == frozenset()
