"""Pod addresses: in turn, never twice at a time."""

import pytest

from app.sim.addresses import AddressesExhausted, PodAddresses


def test_addresses_come_in_turn_and_leave_the_bridge_alone() -> None:
    pool = PodAddresses("10.244.1.0/29")
    assert [pool.take() for _ in range(3)] == ["10.244.1.2", "10.244.1.3", "10.244.1.4"]


def test_one_that_was_given_back_is_used_last() -> None:
    pool = PodAddresses("10.244.1.0/29")
    first = pool.take()
    pool.give_back(first)
    others = [pool.take() for _ in range(4)]
    assert first not in others
    assert pool.take() == first


def test_no_address_is_given_out_twice_and_none_beyond_the_network() -> None:
    pool = PodAddresses("10.244.1.0/29")
    taken = {pool.take() for _ in range(5)}
    assert len(taken) == 5
    with pytest.raises(AddressesExhausted, match="no pod address is left"):
        pool.take()
    pool.give_back("10.244.1.4")
    assert pool.take() == "10.244.1.4"


def test_giving_back_what_was_not_taken_changes_nothing() -> None:
    pool = PodAddresses("10.244.1.0/29")
    pool.give_back("10.244.1.5")
    assert pool.take() == "10.244.1.2"
