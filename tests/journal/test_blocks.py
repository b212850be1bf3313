"""Blocks: what was packed is there again, and only what was asked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.journal.blocks import KIND_BITS, LAST_PLACE, MOST_PODS, Block, Ended, key_of

keys = st.tuples(st.sampled_from([0, 1, 7, MOST_PODS - 1]), st.integers(0, 31), st.integers(0, 50))
counts = st.dictionaries(keys, st.integers(1, 2**32 - 1), max_size=40)
relists = st.dictionaries(
    st.integers(0, 50),
    st.builds(Ended, st.integers(1, 2**40), st.integers(0, 2**60), st.integers(0, 9)),
)


@given(counts, relists, st.integers(0, 50), st.integers(0, 50))
def test_what_was_packed_is_there_again(
    told: dict[tuple[int, int, int], int], ended: dict[int, Ended], first: int, end: int
) -> None:
    block = Block({key_of(*key): count for key, count in told.items()}, ended)
    for one in (block, Block.unpacked(block.packed())):
        found: dict[int, dict[int, int]] = {0: {}, 7: {}, 5: {}}
        for pod, where in one.where(sorted(found)):
            one.add_to(found[pod], where, first, end)
        for pod, there in found.items():
            assert there == {
                place << KIND_BITS | kind: count
                for (number, kind, place), count in told.items()
                if number == pod and first <= place < end
            }
        relists_found: dict[int, Ended] = {}
        one.add_relists(relists_found, first, end)
        assert relists_found == {t: each for t, each in ended.items() if first <= t < end}


def test_two_blocks_that_share_a_bin_come_to_their_sum() -> None:
    found: dict[int, dict[int, int]] = {3: {}}
    ended: dict[int, Ended] = {}
    for count, longest in ((2, 7), (5, 3)):
        block = Block({key_of(3, 1, LAST_PLACE): count}, {9: Ended(count, longest, 1)})
        assert (block.first, block.last) == (LAST_PLACE, LAST_PLACE)
        for pod, where in block.where(found):
            block.add_to(found[pod], where, 0, LAST_PLACE + 1)
        block.add_relists(ended, 0, 10)
    assert found == {3: {LAST_PLACE << KIND_BITS | 1: 7}}
    assert ended == {9: Ended(7, 7, 2)}
