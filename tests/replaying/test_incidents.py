"""Incidents: what somebody looks for in a recording, and what is none."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.engine.records import (
    Gap,
    HealthChanged,
    Lifecycle,
    Note,
    Record,
    RequestMade,
    RequestMoved,
    RuntimeHung,
    StreamChanged,
)
from app.replaying.incidents import BURST_NS, Incidents

S = 1_000_000_000


def stream(state: Any, code: Any = None, t: int = S) -> StreamChanged:
    return StreamChanged(t=t, wall=t, state=state, meaning="The stream is lost.", code=code)


def died(**changed: Any) -> Lifecycle:
    plain = Lifecycle(
        t=S, wall=S, type="ContainerDied", uid="u", container_id="c", container_name="app",
        is_sandbox=False, old_state="running", new_state="exited", relist=1, source="global",
        delivery="sent", exit_code=1,
    )  # fmt: skip
    return msgspec.structs.replace(plain, **changed)


def request(kind: Any, outcome: Any) -> Record:
    made: Record = kind(
        t=S, wall=S, request=1, uid="u", source="evented_pleg", outcome=outcome, depth=200,
        **({"event": 1} if kind is RequestMade else {}),
    )  # fmt: skip
    return made


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (HealthChanged(t=S, wall=S, healthy=False, message="pleg was last seen"), "unhealthy"),
        (stream("waiting", "unavailable"), "stream_down"),
        (stream("closed", "internal"), "stream_down"),
        (RuntimeHung(t=S, wall=S, hung=True, method="ListPodSandbox", age_ns=S), "hung"),
        (Gap(t=S, wall=S, hop="stream", count=3, from_t=0, reason="too many"), "gap"),
        (died(delivery="discarded", exit_code=0), "discarded"),
        (request(RequestMade, "dropped"), "dropped"),
        (request(RequestMoved, "dropped"), "dropped"),
        (died(reason="OOMKilled", exit_code=137, source="evented_pleg"), "oom"),
        (died(), "late"),
    ],
)
def test_each_kind_is_one(record: Record, kind: str) -> None:
    incident = Incidents().apply(msgspec.structs.replace(record, seq=7))
    assert incident is not None
    assert (incident.seq, incident.t, incident.kind) == (7, S, kind)
    assert incident.text


@pytest.mark.parametrize(
    "record",
    [
        Note(t=S, wall=S, level="warning", text="something"),
        HealthChanged(t=S, wall=S, healthy=True, message=""),
        RuntimeHung(t=S, wall=S, hung=False, method="ListPodSandbox", age_ns=S),
        stream("connected"),
        stream("off"),
        # plegscope itself was stopped.
        stream("closed"),
        # A runtime without a stream has nothing that could break.
        stream("waiting", "unimplemented"),
        stream("closed", "immediate_eof"),
        stream("connecting", "unavailable"),
        request(RequestMade, "coalesced"),
        died(exit_code=0),
        died(exit_code=None),
        died(source="evented_pleg"),
        died(is_sandbox=True),
        died(baseline=True, reason="OOMKilled"),
        died(type="ContainerRemoved"),
    ],
)
def test_what_is_as_it_should_be_is_none(record: Record) -> None:
    assert Incidents().apply(record) is None


def test_a_stream_is_lost_once_until_it_is_back() -> None:
    incidents = Incidents()
    told = [
        incidents.apply(stream(state, code, t))
        for t, state, code in (
            (S, "waiting", "unavailable"),
            (9 * S, "connecting", None),
            (20 * S, "waiting", "unavailable"),
            (30 * S, "connected", None),
            (40 * S, "waiting", "unavailable"),
        )
    ]
    assert [one.t for one in told if one] == [S, 40 * S]
    assert incidents.down
    incidents.apply(stream("connected", t=41 * S))
    assert not incidents.down


def test_a_burst_is_one_incident_and_other_kinds_are_others() -> None:
    incidents = Incidents()
    times = [S, S + BURST_NS - 1, S + 2 * BURST_NS - 2, S + 3 * BURST_NS]
    assert [incidents.apply(died(t=t)) is not None for t in times] == [True, False, False, True]
    assert incidents.apply(died(t=times[-1] + 1, reason="OOMKilled")) is not None


def test_whether_it_is_unhealthy_now_is_known() -> None:
    incidents = Incidents()
    incidents.apply(HealthChanged(t=S, wall=S, healthy=False, message="m"))
    assert incidents.unhealthy
    incidents.apply(HealthChanged(t=2 * S, wall=S, healthy=True, message=""))
    assert not incidents.unhealthy
