"""What records weigh. A bound by number alone is none: one may carry all the texts of a pod."""

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter

import msgspec
from msgspec import inspect

from app.engine.records import Record

STATUS = 64
"""Characters that a status within a record weighs beside its texts."""


def weight(record: Record) -> int:
    """Characters of the texts that a record carries, those of its statuses included."""
    return _texts(record)


def first_of(records: Iterable[Record], limit: int) -> int:
    """How many of ``records``, from the first, weigh ``limit`` together at most.

    One at least, if there is one: what is read piece by piece must come to its end.
    """
    total = count = 0
    for record in records:
        total += weight(record)
        if count and total > limit:
            break
        count += 1
    return count


def _texts(thing: msgspec.Struct) -> int:
    texts, tuples = _parts(type(thing))
    total = sum(map(len, filter(None, texts(thing))))
    for name in tuples:
        for one in getattr(thing, name):
            total += len(one) if isinstance(one, str) else STATUS + _texts(one)
    return total


@cache
def _parts(kind: type[msgspec.Struct]) -> tuple[Callable[[object], tuple[str, ...]], list[str]]:
    """What gets the texts of a struct (words of a fixed choice left out), and its tuples' names."""
    texts: list[str] = []
    tuples: list[str] = []
    for field in msgspec.structs.fields(kind):
        info = inspect.type_info(field.type)
        parts = info.types if isinstance(info, inspect.UnionType) else (info,)
        texts += [field.name for part in parts if isinstance(part, inspect.StrType)]
        tuples += [field.name for part in parts if isinstance(part, inspect.VarTupleType)]
    # Of a single name it would get the bare value.
    if len(texts) > 1:
        return attrgetter(*texts), tuples
    return (lambda one: tuple(getattr(one, name) for name in texts)), tuples
