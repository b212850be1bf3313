"""What records weigh, and how many of them a limit allows."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from app.engine.records import AnyRecord
from app.journal.weight import STATUS, first_of, weight
from tests.build import container, note, pod_cached, pod_seen


def test_a_record_weighs_its_texts() -> None:
    assert weight(note(text="x" * 100)) == 100


def test_the_texts_of_its_statuses_and_addresses_count() -> None:
    bare = weight(pod_cached())
    with_ips = weight(pod_cached(ips=("10.0.0.1", "fd00::1")))
    assert with_ips - bare == len("10.0.0.1") + len("fd00::1")
    status = container()
    loud = msgspec.structs.replace(status, message="m" * 1000)
    two, louder = pod_cached("u1", 0, status, status), pod_cached("u1", 0, status, loud)
    assert weight(louder) - weight(two) == 1000
    assert weight(two) - bare >= 2 * STATUS


KNOWN = (
    msgspec.inspect.IntType,
    msgspec.inspect.BoolType,
    msgspec.inspect.NoneType,
    msgspec.inspect.LiteralType,
    msgspec.inspect.StrType,
    msgspec.inspect.VarTupleType,
    # By container state, of which there are five.
    msgspec.inspect.DictType,
)


def test_every_field_of_every_record_is_of_a_kind_that_is_weighed_or_weighs_nothing() -> None:
    for record in get_args(AnyRecord):
        for field in msgspec.structs.fields(record):
            kind = msgspec.inspect.type_info(field.type)
            kinds = kind.types if isinstance(kind, msgspec.inspect.UnionType) else (kind,)
            assert all(isinstance(one, KNOWN) for one in kinds), (record, field.name)


@pytest.mark.parametrize(
    ("limit", "expected"), [(0, 1), (9, 1), (10, 1), (19, 1), (20, 2), (30, 3), (1000, 3)]
)
def test_the_first_records_that_a_limit_allows(limit: int, expected: int) -> None:
    three = [note(text="x" * 10) for _ in range(3)]
    assert weight(three[0]) == 10
    assert first_of(three, limit) == expected


def test_of_no_records_none() -> None:
    assert first_of([], 10) == 0


def test_of_one_that_is_too_heavy_one() -> None:
    assert first_of([pod_seen("u" * 100), pod_seen()], 10) == 1
