"""The help page's live picture shows the newest stop whose event is known, as it was found."""

from __future__ import annotations

import msgspec

from app.engine.records import Record, RelistStarted
from app.web import livechain
from tests.build import SECOND, died, note
from tests.web.test_pages import pod

PODS = [pod("u1", name="web-1")]
MS = 1_000_000


def changed(record: Record, **fields: object) -> Record:
    return msgspec.structs.replace(record, **fields)


def found(seq: int, **fields: object) -> Record:
    told: dict[str, object] = {
        "seq": seq,
        "relist": 7,
        "stop_t": 10 * SECOND - 8 * MS,
        "after_ns": 8 * MS,
        "poll_due_t": 10 * SECOND + 600 * MS,
    }
    return changed(died("u1", 10 * SECOND), **(told | fields))


def began(t: int) -> Record:
    return RelistStarted(t=t, wall=t, relist=7, scope="pod", source="evented_pleg", uid="u1")


def test_a_hints_chain_is_drawn_to_scale() -> None:
    records = [began(10 * SECOND - 6 * MS), note(), found(5), note()]
    chain = livechain.newest(records, PODS, 12 * SECOND)
    assert chain is not None
    assert (chain.how, chain.pod, chain.seq) == ("hint", "web-1", 5)
    assert (chain.wait_ns, chain.after_ns, chain.ago_ns, chain.later_ns) == (
        *(2 * MS, 8 * MS),
        *(2 * SECOND, 600 * MS),
    )
    quarter = livechain.STOP_X + (livechain.FOUND_X - livechain.STOP_X) / 4
    assert chain.relist_x == quarter


def test_what_only_the_global_relist_found_has_no_request() -> None:
    chain = livechain.newest([found(5, source="global")], PODS, 12 * SECOND)
    assert chain is not None
    assert (chain.how, chain.wait_ns) == ("poll", None)


def test_what_is_no_stop_or_has_no_event_is_passed_over() -> None:
    stop = found(1)
    others = [
        found(2, after_ns=None),
        found(3, baseline=True),
        found(4, is_sandbox=True),
        found(5, relist=0),
        changed(found(6), type="ContainerStarted"),
        found(7, source="post_sync"),
    ]
    chain = livechain.newest([stop, *others], [], 12 * SECOND)
    assert chain is not None
    assert (chain.seq, chain.pod) == (1, "")
    assert livechain.newest(others, [], 12 * SECOND) is None
