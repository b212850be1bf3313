"""How much an object holds: the entries of every container that can be reached from it."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec


def weigh(root: object) -> int:
    """Entries of all dicts, lists, tuples, sets and deques below ``root``.

    Parts of the engine are entered once. Data is counted wherever it is held, so that it weighs the
    same whether two holders share it or have a copy each. Texts and numbers weigh nothing: what is
    looked for is growth, not size.
    """
    seen: set[int] = set()
    weight, waiting = 0, [root]
    while waiting:
        one = waiting.pop()
        if one is None or isinstance(one, str | bytes | int | float | type):
            continue
        if isinstance(one, dict | list | tuple | set | frozenset | deque):
            weight += len(one)
        elif not isinstance(one, msgspec.Struct):
            if id(one) in seen:
                continue
            seen.add(id(one))
        waiting.extend(_below(one))
    return weight


def _below(one: Any) -> Iterable[object]:
    if isinstance(one, Mapping):
        return (*one.keys(), *one.values())
    if isinstance(one, Collection):
        return tuple(one)
    if isinstance(one, msgspec.Struct):
        return tuple(getattr(one, name) for name in one.__struct_fields__)
    if type(one).__module__.startswith("app.engine"):
        return tuple(vars(one).values())
    return ()
