"""Counts that will not change any more, packed: some bytes for what is a hundred in a dictionary.

A count's *key* says what is counted: the pod's number, the mark's kind and the bin's place, in that
order from the highest bit (``key_of``). Pod 0 stands for all together. Places are counted in the
narrowest width, whatever the bin's own, so that a wider bin's key is a narrower one's with some of
its lowest bits cleared; of a block they stand in columns, which pack well.
"""

import struct
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Union

KIND_BITS = 5
PLACE_BITS = 32
MOST_PODS = 1 << PLACE_BITS - KIND_BITS
"""Numbers of pods are below this, and kinds below ``1 << KIND_BITS``."""
LAST_PLACE = (1 << PLACE_BITS) - 1

_KINDS = (1 << KIND_BITS) - 1
_HEAD = struct.Struct("<Q")
_LEVEL = 1


Column = Union["array[int]", "memoryview[int]"]


class Ended(NamedTuple):
    """Global relists that ended in a bin: how many, the longest (ns), how many failed."""

    many: int
    longest: int
    failed: int

    def and_more(self, other: "Ended") -> "Ended":
        """Both together."""
        return Ended(
            self.many + other.many,
            max(self.longest, other.longest),
            self.failed + other.failed,
        )


def key_of(pod: int, kind: int, place: int) -> int:
    """What a mark is counted by."""
    return (pod << KIND_BITS | kind) << PLACE_BITS | place


class Block:
    """Counts of one width in columns, in order of pod, kind and place.

    Args:
        counts: by key.
        relists: by place.
    """

    def __init__(self, counts: Mapping[int, int], relists: Mapping[int, Ended]) -> None:
        keys = sorted(counts)
        self._groups: Column = array("I", map(PLACE_BITS.__rrshift__, keys))
        self._places: Column = array("I", map(LAST_PLACE.__and__, keys))
        self._counts: Column = array("I", map(counts.__getitem__, keys))
        self._relists: Column = array(
            "Q", (one for place in sorted(relists) for one in (place, *relists[place]))
        )

    def packed(self) -> bytes:
        """As bytes, for ``unpacked``."""
        columns = (self._groups, self._places, self._counts, self._relists)
        told = b"".join(bytes(memoryview(column)) for column in columns)
        return zlib.compress(_HEAD.pack(len(self._groups)) + told, _LEVEL)

    @classmethod
    def unpacked(cls, packed: bytes) -> "Block":
        """What was packed."""
        block = cls.__new__(cls)
        view = memoryview(zlib.decompress(packed))
        (size,) = _HEAD.unpack_from(view)
        at = _HEAD.size
        block._groups, block._places, block._counts = (
            view[at + 4 * size * n : at + 4 * size * (n + 1)].cast("I") for n in range(3)
        )
        block._relists = view[at + 12 * size :].cast("Q")
        return block

    @property
    def first(self) -> int:
        """The first place."""
        return min(self._places)

    @property
    def last(self) -> int:
        """The last place."""
        return max(self._places)

    def where(self, pods: Iterable[int]) -> Iterator[tuple[int, slice]]:
        """Where the counts of pods are (their numbers in order), of those that have any."""
        groups = list(self._groups)
        size = len(groups)
        begin = 0
        for pod in pods:
            begin = bisect_left(groups, pod << KIND_BITS, begin)
            if begin == size:
                return
            if groups[begin] >> KIND_BITS == pod:
                stop = bisect_left(groups, pod + 1 << KIND_BITS, begin)
                yield pod, slice(begin, stop)
                begin = stop

    def add_to(self, found: dict[int, int], where: slice, first: int, end: int) -> None:
        """Add a pod's counts from place ``first`` to before ``end``; in ``found`` they are counted
        by place and kind, as ``place << KIND_BITS | kind``."""
        own = zip(self._groups[where], self._places[where], self._counts[where], strict=True)
        here = {
            place << KIND_BITS | group & _KINDS: count
            for group, place, count in own
            if first <= place < end
        }
        # A bin may have been going on when the block was packed.
        for key in found.keys() & here.keys():
            here[key] += found[key]
        found.update(here)

    def add_relists(self, found: dict[int, Ended], first: int, end: int) -> None:
        """Add the relists from place ``first`` to before ``end``, by place."""
        told = self._relists
        for at in range(0, len(told), 4):
            place = told[at]
            if first <= place < end:
                one = Ended(told[at + 1], told[at + 2], told[at + 3])
                found[place] = one.and_more(found[place]) if place in found else one
