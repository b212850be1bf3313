"""Questions to the journal: a page of records, filtered, with a cursor to go on from."""

from collections.abc import Iterable, Set
from itertools import islice
from typing import cast, get_args

import msgspec

from app.engine.records import AnyRecord, Record
from app.journal.journal import Journal
from app.journal.weight import first_of

KINDS: dict[str, type[Record]] = {
    str(cls.__struct_config__.tag): cls for cls in get_args(AnyRecord)
}
"""All kinds of records by the word that stands in a record's ``kind`` field."""


MAX_WEIGHT = 8 * 1024 * 1024
"""Characters of text on a page, or of one record that has more."""


class Page(msgspec.Struct, frozen=True):
    """Some records and where to go on.

    Ask again with ``since`` set to ``next`` for what follows; ``complete`` says that nothing
    follows for now. ``missed`` is the number of records after ``since`` that the journal no longer
    keeps (all kinds and pods: what they were is not known any more).
    """

    records: tuple[AnyRecord, ...]
    next: int
    complete: bool
    missed: int
    first_seq: int
    last_seq: int


def query(
    journal: Journal,
    since: int = 0,
    limit: int = 1000,
    uids: Set[str] | None = None,
    kinds: Iterable[str] | None = None,
) -> Page:
    """Records numbered above ``since``, oldest first, at most ``limit``; fewer of heavy ones.

    Args:
        journal: where to look.
        since: the last number already known; 0 for everything that is kept.
        limit: at least 1.
        uids: only records about one of these pods; None for all, also those about no pod.
        kinds: only these kinds (keys of ``KINDS``); None for all.

    Raises:
        KeyError: a kind that does not exist.
    """
    classes = None if kinds is None else frozenset(KINDS[kind] for kind in kinds)
    if uids is None and classes is None:
        found = journal.since(since, limit + 1)
    else:
        kept = journal.since(since)
        found = tuple(islice((r for r in kept if _wanted(r, uids, classes)), limit + 1))
    records = found[: min(limit, first_of(found, MAX_WEIGHT))]
    complete = len(records) == len(found)
    return Page(
        # Every class of records is a part of AnyRecord; a test holds that.
        records=cast("tuple[AnyRecord, ...]", records),
        next=journal.last_seq if complete else records[-1].seq,
        complete=complete,
        missed=max(0, journal.first_seq - 1 - max(0, since)),
        first_seq=journal.first_seq,
        last_seq=journal.last_seq,
    )


def newest_about(journal: Journal, uid: str, limit: int) -> tuple[AnyRecord, ...]:
    """The newest ``limit`` kept records about one pod, oldest first."""
    found = [r for r in journal.since(0) if getattr(r, "uid", None) == uid]
    return cast("tuple[AnyRecord, ...]", tuple(found[-limit:]))


def _wanted(record: Record, uids: Set[str] | None, classes: Set[type[Record]] | None) -> bool:
    if classes is not None and type(record) not in classes:
        return False
    return uids is None or getattr(record, "uid", None) in uids
